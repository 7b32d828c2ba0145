import { readSync, writeSync } from 'node:fs';
import { RobotsFilterError } from '../errors.js';
import { errorCode, errorText } from '../files/system-error.js';

/** Milliseconds between two attempts on a descriptor that another program made non-blocking. */
const RETRY = 1;
/** A word that never changes, to sleep on. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/** Thrown when nobody reads the answers any longer. */
export class ClosedError extends Error {}

/** Reads frames from a descriptor, on a thread that may block. */
export class FrameInput {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /**
   * Fills `bytes`, the beginning of a frame. Returns false if the input ends before it.
   *
   * @param part what the bytes are, for messages
   * @throws RobotsFilterError `input` if the input ends within it, or cannot be read
   */
  begin(bytes: Uint8Array, part: string): boolean {
    const read = this.#fill(bytes);
    if (read === 0 && bytes.length > 0) return false;
    if (read < bytes.length) throw truncated(part, read, bytes.length);
    return true;
  }

  /**
   * Fills `bytes`, a later part of a frame.
   *
   * @throws RobotsFilterError `input` if the input ends before all of it, or cannot be read
   */
  read(bytes: Uint8Array, part: string): void {
    const read = this.#fill(bytes);
    if (read < bytes.length) throw truncated(part, read, bytes.length);
  }

  /** Returns the number of bytes before the end of the input. */
  #fill(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length) {
      const read = this.#some(bytes, at);
      if (read === 0) break;
      if (read > 0) at += read;
      else Atomics.wait(NEVER, 0, 0, RETRY);
    }
    return at;
  }

  /** Returns the number of bytes read; 0 at the end, -1 if none can be read for now. */
  #some(bytes: Uint8Array, at: number): number {
    try {
      return readSync(this.#descriptor, bytes, at, bytes.length - at, null);
    } catch (cause) {
      const code = errorCode(cause);
      if (code === 'EOF') return 0;
      if (code === 'EAGAIN' || code === 'EINTR') return -1;
      throw new RobotsFilterError(
        'input',
        `standard input cannot be read (${errorText(cause)}). Connect it to a pipe`,
        { cause },
      );
    }
  }
}

function truncated(part: string, read: number, wanted: number): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `standard input ends within ${part}, after ${read} of its ${wanted} bytes. ` +
      'Send whole frames, and close standard input between two of them',
  );
}

/**
 * Writes all bytes to a descriptor.
 *
 * @throws ClosedError if nobody reads them
 * @throws RobotsFilterError `output`
 */
export function writeFrame(descriptor: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(descriptor, bytes, at, bytes.length - at);
    } catch (cause) {
      const code = errorCode(cause);
      if (code === 'EPIPE' || code === 'ECONNRESET') throw new ClosedError();
      if (code !== 'EAGAIN' && code !== 'EINTR') {
        throw new RobotsFilterError(
          'output',
          `standard output cannot be written (${errorText(cause)}). Connect it to a pipe`,
          { cause },
        );
      }
      Atomics.wait(NEVER, 0, 0, RETRY);
    }
  }
}
