import { writeSync } from 'node:fs';
import { outputError } from '../pipeline/output-error.js';

/** What stands for them among paths. */
export const STANDARD_INPUT = '-';
export const STANDARD_OUTPUT = '-';

export const STANDARD_OUTPUT_DESCRIPTOR = 1;
const STANDARD_ERROR_DESCRIPTOR = 2;

/** Milliseconds between two tries of a descriptor that somebody else has made non-blocking. */
const RETRY = 2;

/**
 * Writes text to standard output. Not through `process.stdout`, which would make a pipe
 * non-blocking for all processes that have it.
 *
 * @returns false if nobody reads it any more
 * @throws RobotsFilterError `output`
 */
export function writeOutput(text: string): boolean {
  try {
    return writeText(STANDARD_OUTPUT_DESCRIPTOR, text);
  } catch (error) {
    throw outputError('standard output', error, '');
  }
}

/** Writes text to standard error; that it is closed or full is no reason to stop. */
export function writeError(text: string): void {
  try {
    writeText(STANDARD_ERROR_DESCRIPTOR, text);
  } catch {
    // Nobody can be told.
  }
}

function writeText(descriptor: number, text: string): boolean {
  const octets = Buffer.from(text);
  let written = 0;
  while (written < octets.length) {
    try {
      written += writeSync(descriptor, octets, written);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EPIPE') return false;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY);
    }
  }
  return true;
}
