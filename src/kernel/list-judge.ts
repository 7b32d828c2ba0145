import { CR } from '../ascii.js';
import { RobotsFilterError } from '../errors.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../protocol/verdict.js';
import { AgentQueries, type AgentQuery, type JudgeTarget } from './agent-queries.js';
import type { Arena } from './arena.js';
import type { Judge } from './judge.js';
import { MARGIN, RUN_DONE, TASK_BYTES, TASK_LINES, TASK_OUTPUT } from './layout.js';
import { scratchBytes } from './scratch.js';
import { writeTask } from './task.js';

/** Greatest number of URLs of a batch, and of their UTF-16 code units with a newline after each. */
const BATCH_URLS = 512;
const BATCH_UNITS = 1 << 15;
/** Bytes of UTF-8 that a batch may take. */
const BATCH_BYTES = 3 * BATCH_UNITS;

/** Reasons that only a line can have: its URL is judged alone. */
const REASONS_OF_LINES: readonly Reason[] = ['tab-in-line', 'return-in-line', 'line-too-long'];

/** The verdict of each outcome, `verdict << 4 | reason`; `undefined` for a reason of lines. */
const VERDICT_OF_OUTCOME: readonly (Verdict | undefined)[] = VERDICTS.flatMap((verdict) =>
  Array.from({ length: 16 }, (_, reason) =>
    REASONS_OF_LINES.includes(REASONS[reason] as Reason) ? undefined : verdict,
  ),
);

/** Where the blocks of a batch lie. */
interface Blocks {
  readonly worker: number;
  readonly task: Uint32Array;
  readonly taskAddress: number;
  readonly input: number;
  readonly inputBytes: Uint8Array;
  readonly scratch: number;
  readonly output: number;
  readonly outcomes: Uint8Array;
}

/**
 * Judges lists of URLs on the calling thread. Many URLs go through the kernel as the lines of a
 * batch, whose output is one outcome for each. A URL that a line cannot hold is judged alone.
 */
export class ListJudge {
  readonly #arena: Arena;
  readonly #judge: Judge;
  readonly #queries: AgentQueries;
  readonly #encoder = new TextEncoder();
  #blocks: Blocks | undefined;

  constructor(arena: Arena, judge: Judge) {
    this.#arena = arena;
    this.#judge = judge;
    this.#queries = new AgentQueries(arena, 'outcomes');
  }

  /**
   * The verdicts on URLs, in their order.
   *
   * @throws RobotsFilterError as `Judge.judge`
   */
  judge(
    urls: readonly string[],
    agent: string | readonly string[],
    target: JudgeTarget,
  ): Verdict[] {
    const asked = this.#queries.of(agent, target);
    this.#blocks ??= this.#takeBlocks(asked);
    const blocks = this.#blocks;
    const verdicts: Verdict[] = [];
    const alone = (index: number): Verdict => {
      if (typeof urls[index] === 'string') return this.#judge.verdict(urls[index], agent, target);
      throw new RobotsFilterError('usage', `urls[${index}] is not a string`);
    };
    for (let start = 0; start < urls.length; ) {
      const end = endOfBatch(urls, start);
      const outcomes = end > start ? this.#run(blocks, asked, urls.slice(start, end)) : undefined;
      if (outcomes === undefined) {
        // A newline within a URL, or a blank URL, moves the lines: each URL is judged alone.
        const last = Math.max(end, start + 1);
        for (let index = start; index < last; index++) verdicts.push(alone(index));
        start = last;
        continue;
      }
      for (let index = start; index < end; index++) {
        verdicts.push(VERDICT_OF_OUTCOME[outcomes[index - start] as number] ?? alone(index));
      }
      start = end;
    }
    return verdicts;
  }

  /** The outcomes of a batch; `undefined` if the URLs and the lines are not one to one. */
  #run(blocks: Blocks, { query }: AgentQuery, urls: readonly string[]): Uint8Array | undefined {
    const { task, taskAddress, input, scratch, output, outcomes } = blocks;
    const { written } = this.#encoder.encodeInto(urls.join('\n'), blocks.inputBytes);
    writeTask(
      task,
      {
        query: query.address,
        worker: blocks.worker,
        scratch,
        scratchEnd: scratch + scratchBytes(BATCH_BYTES),
        input,
        inputEnd: input + written,
        output,
        outputEnd: output + outcomes.length,
      },
      0,
    );
    const ended = this.#judge.kernel.run(taskAddress);
    if (ended !== RUN_DONE)
      throw new Error(`the kernel stopped in a list of URLs (result ${ended})`);
    const count = (task[TASK_OUTPUT / 4] as number) - output;
    return task[TASK_LINES / 4] === urls.length && count === urls.length ? outcomes : undefined;
  }

  #takeBlocks({ query }: AgentQuery): Blocks {
    const { memory } = this.#arena;
    const outputBytes =
      BATCH_URLS + query.lineFactor * BATCH_BYTES + query.lineOverhead + 2 * MARGIN;
    const sizes = [
      query.workerBytes,
      TASK_BYTES,
      BATCH_BYTES,
      scratchBytes(BATCH_BYTES),
      outputBytes,
    ];
    const all = sizes.reduce((sum, bytes) => sum + bytes + 2 * MARGIN, MARGIN);
    let free = this.#arena.take(all).address + MARGIN;
    const [worker = 0, taskAddress = 0, input = 0, scratch = 0, output = 0] = sizes.map((bytes) => {
      const address = free;
      // Each block begins at a cache line, with a margin before and after it.
      free += (bytes + MARGIN + 63) & ~63;
      return address;
    });
    return {
      worker,
      task: new Uint32Array(memory.buffer, taskAddress, TASK_BYTES / 4),
      taskAddress,
      input,
      inputBytes: new Uint8Array(memory.buffer, input, BATCH_BYTES),
      scratch,
      output,
      outcomes: new Uint8Array(memory.buffer, output, outputBytes - MARGIN),
    };
  }
}

/**
 * The index after the URLs that are judged as one batch from `start` on; `start` if the first of
 * them can only be judged alone. The reader of lines would cut a CR or LF from a URL's end.
 */
function endOfBatch(urls: readonly string[], start: number): number {
  const last = Math.min(urls.length, start + BATCH_URLS);
  let units = 0;
  for (let index = start; index < last; index++) {
    const url = urls[index];
    if (typeof url !== 'string' || url.length === 0) return index;
    units += url.length + 1;
    if (units > BATCH_UNITS || url.charCodeAt(url.length - 1) <= CR) return index;
  }
  return last;
}
