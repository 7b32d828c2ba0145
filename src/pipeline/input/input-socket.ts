import { readSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * A socket from which an input is read. Fails with `ECONNRESET` if the writer reset the connection.
 *
 * libuv reports an end if a reset came together with the last bytes. A truncated input would then
 * pass as complete. The error is still pending in the system, so one more read reports it.
 */
export class InputSocket extends Socket {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    super({ fd: descriptor, readable: true, writable: false });
    this.#descriptor = descriptor;
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) {
      try {
        readSync(this.#descriptor, Buffer.alloc(1));
      } catch (error) {
        this.destroy(error instanceof Error ? error : undefined);
        return false;
      }
    }
    return super.push(chunk, encoding);
  }
}
