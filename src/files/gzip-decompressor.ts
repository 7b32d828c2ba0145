import { Duplex } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { memberError, paddingError } from './gunzip.js';

type Callback = (error?: Error | null) => void;

/** Lets zlib hold one chunk: an error destroys what it holds. @types/node lacks the option. */
const ONE_CHUNK: object = { readableHighWaterMark: 1 };

/**
 * A stream that decodes gzip data of any number of members. Zeros may follow the last member as
 * padding, and any byte after the zeros is damage. Node's own stream ends at the first zero between
 * members, so the members after it would be lost.
 */
export class GzipDecompressor extends Duplex {
  readonly #gunzip;
  /** Number of bytes written to `#gunzip`, and the last chunk of them. */
  #written = 0;
  #last: Uint8Array = Buffer.alloc(0);
  /** Completes the current write. */
  #onWritten: Callback | undefined;
  /** Whether all members have been decoded, so that only padding may follow. */
  #isPadding = false;
  /** An error that waits until the reader has taken what came out before. */
  #failure: Error | undefined;

  /** @param chunkBytes the size of the chunks that come out */
  constructor(chunkBytes: number) {
    // Each chunk waits to be read: `_read` tells when nothing is left that an error would destroy.
    super({ readableHighWaterMark: 1 });
    this.#gunzip = createGunzip({ chunkSize: chunkBytes, ...ONE_CHUNK })
      .on('data', (bytes: Buffer) => {
        if (!this.push(bytes)) this.#gunzip.pause();
      })
      .on('error', (error) => this.#fail(memberError(error)))
      .on('end', () => this.#endMembers());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    if (this.#isPadding) {
      this.#onWritten = callback;
      this.#endWrite(paddingError(chunk));
      return;
    }
    this.#written += chunk.length;
    this.#last = chunk;
    this.#onWritten = callback;
    this.#gunzip.write(chunk, () => {
      // If zlib left bytes, the members have ended. Their end comes when all content is read.
      if (this.#gunzip.bytesWritten === this.#written) this.#endWrite();
    });
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
    const failure = this.#failure;
    // The reader takes the last chunk after this call.
    if (failure !== undefined) setImmediate(() => this.destroy(failure));
    else this.#gunzip.resume();
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
    this.#endWrite(error);
  }

  #fail(error: Error): void {
    if (this.readableLength === 0) this.destroy(error);
    else this.#failure = error;
  }

  /** Completes the current write; after an error, none is completed. */
  #endWrite(error?: Error): void {
    const callback = this.#onWritten;
    this.#onWritten = undefined;
    if (error === undefined) callback?.();
    else this.#fail(error);
  }
}
