import type { BigIntStats } from 'node:fs';
import { isatty } from 'node:tty';
import { RobotsFilterError } from '../../errors.js';
import { COMPRESSIONS } from '../../files/compressions.js';
import { exactStatus, findExactStatus, isSameFile } from '../../files/same-file.js';
import { STANDARD_INPUT } from '../../files/standard-input.js';
import { errorCode } from '../../files/system-error.js';
import { nearest } from '../../nearest.js';
import { type OpenInput, openInput } from '../../pipeline/input/open.js';
import { isNonBlocking } from '../../pipeline/output/non-blocking.js';
import { COMMAND_NAMES } from '../command-names.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { usageError } from '../usage-error.js';

/** The kinds of the inputs and the output. */
export interface InputSurvey {
  /** Bytes of all inputs together; undefined if not all of them are regular files. */
  readonly bytes: number | undefined;
  /** The same, with an estimate in place of the bytes of compressed inputs. */
  readonly contentBytes: number | undefined;
  /** The kind of standard input, if it is the only input, and a pipe or socket. */
  readonly soleStream: 'pipe' | 'socket' | undefined;
  /** Whether any input is a pipe. */
  readonly hasPipe: boolean;
  /** Whether writing to the output never waits for a reader. */
  readonly isOutputNonBlocking: boolean;
}

/** Bytes of content for each byte of an input that its name calls compressed, about as in lists. */
const EXPANSION = 5;

/**
 * Checks that all inputs exist before the first is read, and that none of them is the output.
 *
 * @param output descriptor to write to; undefined if the output replaces a file
 * @throws RobotsFilterError `input` for an input that cannot be opened, `usage` for one that is the
 *   output
 */
export async function surveyInputs(
  paths: readonly string[],
  output: number | undefined,
): Promise<InputSurvey> {
  const target = output === undefined ? undefined : findExactStatus(output);
  let bytes: number | undefined = 0;
  let contentBytes = 0;
  let soleStream: InputSurvey['soleStream'];
  let hasPipe = false;
  for (const path of paths) {
    let status: BigIntStats;
    try {
      status = exactStatus(path === STANDARD_INPUT ? 0 : path);
    } catch (cause) {
      throw await openingError(path, cause);
    }
    if (target !== undefined && status.size > 0 && isSameFile(status, target)) {
      throw usageError(
        path === STANDARD_INPUT
          ? 'standard input is also the output and would grow while it is read. To replace the file, use -o with its name'
          : `${path} is also the output and would grow while it is read. To replace it, use -o ${path}`,
      );
    }
    bytes = status.isFile() && bytes !== undefined ? bytes + Number(status.size) : undefined;
    contentBytes += Number(status.size) * (isCompressedName(path) ? EXPANSION : 1);
    hasPipe ||= status.isFIFO();
    if (path === STANDARD_INPUT && paths.length === 1) {
      soleStream = status.isFIFO() ? 'pipe' : status.isSocket() ? 'socket' : undefined;
    }
  }
  const isOutputNonBlocking =
    output === undefined || (target !== undefined && isNonBlocking(target, output));
  return {
    bytes,
    contentBytes: bytes === undefined ? undefined : contentBytes,
    soleStream,
    hasPipe,
    isOutputNonBlocking,
  };
}

/** Tells a user at a terminal that the program waits for input. */
export function noteTerminalInput(paths: readonly string[], diagnostics: Diagnostics): void {
  if (paths.includes(STANDARD_INPUT) && isatty(0)) {
    diagnostics.note('reading URLs from standard input, one per line; press Ctrl-D to end');
  }
}

/** Warns that the lines of an input may be rows, although they are read as URLs. */
export function noteDoubt({ name, doubt }: OpenInput, diagnostics: Diagnostics): void {
  if (doubt !== undefined) diagnostics.note(`warning: ${name}: ${doubt}`);
}

function isCompressedName(path: string): boolean {
  return COMPRESSIONS.some(({ ending }) => path.toLowerCase().endsWith(ending));
}

/** The error for an input that cannot be opened, with the command that may have been meant. */
async function openingError(path: string, cause: unknown): Promise<unknown> {
  try {
    await (await openInput(path)).close();
    return cause;
  } catch (error) {
    const isMissing = errorCode(cause) === 'ENOENT';
    const command = isMissing ? nearest(path, [...COMMAND_NAMES, 'help']) : undefined;
    if (command === undefined || !(error instanceof RobotsFilterError)) return error;
    const message = `${error.message} Or did you mean the command ${command}?`;
    return new RobotsFilterError(error.code, message, { cause: error });
  }
}
