import { writeSync } from 'node:fs';
import { errorCode } from '../../files/system-error.js';
import { isClosed, outputError } from '../../pipeline/output/output-error.js';

/** The path that stands for standard output. */
export const STANDARD_OUTPUT = '-';

export const STANDARD_OUTPUT_DESCRIPTOR = 1;
export const STANDARD_ERROR_DESCRIPTOR = 2;

/** Milliseconds between two writes to a full descriptor that another process made non-blocking. */
const RETRY_INTERVAL = 2;

/**
 * Writes text or bytes to standard output. `process.stdout` would make a pipe non-blocking for all
 * processes that share it.
 *
 * @returns false if the reader has gone away
 * @throws RobotsFilterError `output`
 */
export function writeOutput(content: string | Uint8Array): boolean {
  try {
    return writeContent(STANDARD_OUTPUT_DESCRIPTOR, content);
  } catch (error) {
    throw outputError('standard output', error, '');
  }
}

/** Writes text to standard error. A closed or full standard error is ignored. */
export function writeError(text: string): void {
  try {
    writeContent(STANDARD_ERROR_DESCRIPTOR, text);
  } catch {
    // The failure cannot be reported anywhere.
  }
}

function writeContent(descriptor: number, content: string | Uint8Array): boolean {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (isClosed(error)) return false;
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_INTERVAL);
    }
  }
  return true;
}
