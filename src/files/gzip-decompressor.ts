import { Duplex } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { memberError, paddingError } from './gunzip.js';

type Callback = (error?: Error | null) => void;

/**
 * A stream that decodes gzip data of any number of members. Zeros may follow the last member as
 * padding, and any byte after the zeros is damage. Node's own stream ends at the first zero between
 * members, so the members after it would be lost.
 */
export class GzipDecompressor extends Duplex {
  readonly #gunzip;
  /** Number of bytes written to `#gunzip`, and the last of them. */
  #written = 0;
  #last: Uint8Array = Buffer.alloc(0);
  /** Completes the current write. */
  #onWritten: Callback | undefined;
  /** Whether all members have been decoded, so that only padding may follow. */
  #isPadding = false;

  /** @param chunkBytes the size of the chunks that come out */
  constructor(chunkBytes: number) {
    super();
    this.#gunzip = createGunzip({ chunkSize: chunkBytes })
      .on('data', (bytes: Buffer) => {
        if (!this.push(bytes)) this.#gunzip.pause();
      })
      .on('error', (error) => this.destroy(memberError(error)))
      .on('end', () => this.#endMembers());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    if (this.#isPadding) {
      callback(paddingError(chunk));
      return;
    }
    this.#written += chunk.length;
    this.#last = chunk;
    this.#onWritten = callback;
    this.#gunzip.write(chunk, () => this.#endWrite());
  }

  override _final(callback: Callback): void {
    if (this.#isPadding) {
      this.push(null);
      callback();
      return;
    }
    this.#onWritten = (error) => {
      if (error === undefined) this.push(null);
      callback(error);
    };
    this.#gunzip.end();
  }

  override _read(): void {
    this.#gunzip.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#gunzip.destroy();
    callback(error);
  }

  /** Notes that the members have ended, with the input or before it. */
  #endMembers(): void {
    this.#isPadding = true;
    const rest = this.#written - this.#gunzip.bytesWritten;
    const error = paddingError(this.#last.subarray(this.#last.length - rest));
    if (error !== undefined && this.#onWritten === undefined) this.destroy(error);
    else this.#endWrite(error);
  }

  #endWrite(error?: Error): void {
    const callback = this.#onWritten;
    this.#onWritten = undefined;
    callback?.(error);
  }
}
