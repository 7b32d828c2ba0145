import { constants } from 'node:fs';
import { Socket } from 'node:net';
import { openUnblocked } from '../../files/openings.js';
import type { Output } from './output.js';
import { isClosed, outputError } from './output-error.js';

/**
 * Opens a pipe again, as a handle that waits for room in the event loop. `fs.write` would block its
 * thread while the pipe is full, and `process.exit` would wait for that thread.
 *
 * `undefined` without /proc, and for the pipe of another user.
 */
export function openPipe(descriptor: number, name: string): PipeOutput | undefined {
  const fd = openUnblocked(descriptor, constants.O_WRONLY);
  if (fd === undefined) return undefined;
  try {
    return new PipeOutput(new Socket({ fd, readable: false, writable: true }), name);
  } catch {
    return undefined;
  }
}

/** Bytes per write: the capacity of a pipe. */
const PIPE_BYTES = 1 << 16;

/** Writes to a pipe straight from shared memory. */
export class PipeOutput implements Output {
  readonly #socket: Socket;
  readonly #name: string;
  taken = 0;

  constructor(socket: Socket, name: string) {
    this.#socket = socket;
    this.#name = name;
    // Each write gets its error from its callback.
    socket.on('error', () => {});
  }

  async write(bytes: Uint8Array): Promise<boolean> {
    for (let from = 0; from < bytes.length; from += PIPE_BYTES) {
      const part = bytes.subarray(from, from + PIPE_BYTES);
      const error = await new Promise<unknown>((resolve) => {
        this.#socket.write(part, resolve);
      });
      if (isClosed(error)) return false;
      if (error !== undefined && error !== null) throw outputError(this.#name, error);
      this.taken += part.length;
    }
    return true;
  }

  async end(): Promise<boolean> {
    return true;
  }

  abandon(): void {
    this.#socket.destroy();
  }

  release(): void {
    this.#socket.destroy();
  }
}
