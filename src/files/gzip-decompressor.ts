import { Duplex } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { memberError, paddingError } from './gunzip.js';
import { decodedBeforeFault, MAX_REPLAY_BYTES, ONE_CHUNK } from './gzip-replay.js';

type Callback = (error?: Error | null) => void;

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
  /** The chunks so far, to decode them again after an error; `undefined` if they are too many. */
  #kept: Buffer[] | undefined = [];
  /** Number of decoded bytes that came out. */
  #decoded = 0;
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
        this.#decoded += bytes.length;
        if (!this.push(bytes)) this.#gunzip.pause();
      })
      .on('error', (error) => this.#failAfterReplay(memberError(error)))
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
    if (this.#written > MAX_REPLAY_BYTES) this.#kept = undefined;
    this.#kept?.push(Buffer.from(chunk));
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
    // All that has been written is decoded, so an error in `end` loses nothing.
    this.#kept = undefined;
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

  /** Fails after what zlib had decoded before its error, but has not given. */
  #failAfterReplay(error: Error): void {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept === undefined) {
      this.#fail(error);
      return;
    }
    decodedBeforeFault(kept, this.#decoded).then((bytes) => {
      if (this.destroyed) return;
      if (bytes.length > 0) this.push(bytes);
      this.#fail(error);
    }, this.destroy.bind(this));
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
