/** The program of a thread that answers requests. */

import { RobotsFilterError } from '../base/errors.js';
import { ColumnJudge, refusal, type ServedTable } from './column-judge.js';
import { ClosedError, type Request, readRequest, Turns, writeFrame } from './protocol.js';

/** The task of a thread: all requests until the input ends. */
export interface ServeTask extends ServedTable {
  /** The words of the turns, which all threads share. */
  readonly turns: SharedArrayBuffer;
  readonly input: number;
  readonly output: number;
}

/**
 * How a thread ended.
 *
 * - `done`: the input has ended.
 * - `refused`: no request can be read. The other threads answer what they have read, and end.
 * - `closed`: nobody reads the answers.
 * - `failed`: a request could not be answered.
 *
 * After the last two, and after an error that is thrown, other threads may be blocked for ever.
 */
export type ServeEnd =
  | { readonly end: 'done' | 'closed' }
  | { readonly end: 'refused' | 'failed'; readonly error: ErrorFacts };

/** An error as a message between threads. */
type ErrorFacts = Pick<RobotsFilterError, 'code' | 'message'>;

/** Answers requests, in turn with the other threads. Blocks its thread. */
export default function serveRequests(task: ServeTask): ServeEnd {
  const turns = new Turns(task.turns);
  let isReading = false;
  try {
    const judge = new ColumnJudge(task);
    const columnMemory = judge.columnMemory.bind(judge);
    for (;;) {
      isReading = true;
      const taken = turns.request(() => readRequest(task.input, columnMemory));
      isReading = false;
      if (taken === undefined) return { end: 'done' };
      const answer = answerTo(judge, taken.request);
      turns.answer(taken.number, () => writeFrame(task.output, answer));
    }
  } catch (error) {
    if (error instanceof ClosedError) return { end: 'closed' };
    if (!(error instanceof RobotsFilterError)) throw error;
    const { code, message } = error;
    return { end: isReading ? 'refused' : 'failed', error: { code, message } };
  }
}

function answerTo(judge: ColumnJudge, request: Request): Uint8Array {
  try {
    return judge.judge(request);
  } catch (error) {
    // A wrong agent ends no process: the next request may have another.
    if (error instanceof RobotsFilterError && error.code === 'usage') return refusal(error.message);
    throw error;
  }
}
