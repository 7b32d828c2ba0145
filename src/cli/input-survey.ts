import { fstat, type Stats, stat } from 'node:fs';
import { promisify } from 'node:util';
import { RobotsFilterError } from '../errors.js';
import { takesAtOnce } from '../pipeline/at-once.js';
import { nearest } from './nearest.js';
import { STANDARD_INPUT } from './standard-streams.js';

const COMMANDS = ['compile', 'fetch', 'check', 'inspect', 'help'];

// Of node:fs, not of node:fs/promises, which takes a millisecond to load.
const statusOf = promisify(fstat);
const statusOfPath = promisify(stat);

/** What the inputs are. */
export interface InputSurvey {
  /** Octets of all inputs together; undefined if not all are regular files. */
  readonly octets: number | undefined;
  /** Whether standard input is the only one, and a pipe. */
  readonly isPipe: boolean;
  /** Whether the output takes at once what is written to it. */
  readonly outputTakesAtOnce: boolean;
}

/**
 * Sees that all inputs are there before the first is read, and that none of them is the output.
 *
 * @param output descriptor that is written to; undefined if the output replaces a file
 * @throws RobotsFilterError `input` for one that cannot be opened, `usage` for one that is the
 *   output
 */
export async function surveyInputs(
  paths: readonly string[],
  output: number | undefined,
): Promise<InputSurvey> {
  const target = output === undefined ? undefined : await statusOf(output).catch(() => undefined);
  let octets: number | undefined = 0;
  let isPipe = false;
  for (const path of paths) {
    let status: Stats;
    try {
      status = path === STANDARD_INPUT ? await statusOf(0) : await statusOfPath(path);
    } catch (cause) {
      throw await openingError(path, cause);
    }
    if (target !== undefined && isSameFile(status, target)) {
      throw new RobotsFilterError(
        'usage',
        path === STANDARD_INPUT
          ? 'standard input is also the output, and would grow as fast as it is read. Say -o FILE with its name to replace it'
          : `${path} is also the output, and would grow as fast as it is read. Say -o ${path} to replace it`,
      );
    }
    octets = status.isFile() && octets !== undefined ? octets + status.size : undefined;
    isPipe = path === STANDARD_INPUT && paths.length === 1 && status.isFIFO();
  }
  const outputTakesAtOnce =
    output === undefined || (target !== undefined && takesAtOnce(target, output));
  return { octets, isPipe, outputTakesAtOnce };
}

function isSameFile(input: Stats, output: Stats): boolean {
  return input.isFile() && input.size > 0 && input.ino === output.ino && input.dev === output.dev;
}

/** What opening the input says, and what may have been meant instead. */
async function openingError(path: string, cause: unknown): Promise<unknown> {
  const { openInput } = await import('../pipeline/input/open.js');
  try {
    await (await openInput(path)).close();
    return cause;
  } catch (error) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const command = isMissing ? nearest(path, COMMANDS) : undefined;
    if (command === undefined || !(error instanceof RobotsFilterError)) return error;
    const message = `${error.message} Or was the command ${command} meant?`;
    return new RobotsFilterError(error.code, message, { cause: error });
  }
}
