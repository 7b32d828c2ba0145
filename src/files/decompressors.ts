/**
 * The streams that decode gzip and Zstandard data. They are loaded when data is compressed:
 * node:stream takes two milliseconds to load.
 */

import { Duplex, Transform, type TransformCallback } from 'node:stream';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { paddingError, TrailingBytesError } from './gzip.js';
import { BlockDecoder } from './zstd/decoder.js';
import { FrameScanner } from './zstd/frames.js';

/** The most gzip data and content that are kept and decoded again after an error, in bytes. */
export const KEPT_BYTES = 1 << 20;
export const KEPT_CONTENT_BYTES = 4 << 20;

/** Lets a stream hold one chunk: an error destroys what it holds. @types/node lacks the option. */
const ONE_CHUNK: object = { readableHighWaterMark: 1 };

type Callback = (error?: Error | null) => void;

/**
 * A stream that decodes gzip data of any number of members with zlib. Zeros may follow the last
 * member as padding, and any byte after the zeros is damage: zlib ends at the first zero, and would
 * lose members after it.
 *
 * At an error, zlib drops up to one chunk of content that it has decoded. The content of short data
 * is decoded again, so a short file comes out up to its damage.
 */
export class GzipDecompressor extends Duplex {
  readonly #chunkBytes: number;
  readonly #gunzip;
  /** The data so far; `undefined` if they are too many. */
  #kept: Buffer[] | undefined = [];
  #written = 0;
  #contentLength = 0;
  /** Whether zlib has ended, so that only padding may follow. */
  #isPadding = false;
  /** The chunk that is decoded, and what continues after it or after the end of all data. */
  #chunk: Buffer = Buffer.alloc(0);
  #done: Callback | undefined;
  #onDrained: (() => void) | undefined;
  /** An error that waits until the reader has taken what came out before. */
  #failure: Error | undefined;

  /** @param chunkBytes the size of the chunks that come out */
  constructor(chunkBytes: number) {
    // Each chunk waits to be read: `_read` tells when nothing is left that an error would destroy.
    super({ readableHighWaterMark: 1 });
    this.#chunkBytes = chunkBytes;
    this.#gunzip = createGunzip({ chunkSize: chunkBytes, ...ONE_CHUNK })
      .on('data', (content: Buffer) => {
        this.#contentLength += content.length;
        if (!this.push(content)) this.#gunzip.pause();
        if (this.#gunzip.readableLength === 0) this.#onDrained?.();
      })
      .on('end', () => {
        this.#isPadding = true;
        const unread = this.#written - this.#gunzip.bytesWritten;
        this.#settle(paddingError(this.#chunk.subarray(this.#chunk.length - unread)));
      })
      .on('error', (error) => this.#failAfterRest(error));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#done = callback;
    if (this.#isPadding) {
      this.#settle(paddingError(chunk));
      return;
    }
    this.#chunk = chunk;
    this.#written += chunk.length;
    if (this.#written > KEPT_BYTES || this.#contentLength > KEPT_CONTENT_BYTES) {
      this.#kept = undefined;
    }
    // Copied, because the buffer may be used again.
    this.#kept?.push(Buffer.from(chunk));
    this.#gunzip.write(chunk, () => {
      // zlib has ended if it left bytes: the end comes when all content is taken.
      if (this.#gunzip.bytesWritten < this.#written) return;
      // An error in the next chunk would destroy content that waits.
      if (this.#gunzip.readableLength === 0) this.#settle();
      else this.#onDrained = () => this.#settle();
    });
  }

  override _final(callback: Callback): void {
    this.#done = (error) => {
      if (!error) this.push(null);
      callback(error);
    };
    this.#chunk = Buffer.alloc(0);
    if (this.#isPadding) this.#settle();
    else this.#gunzip.end();
  }

  override _read(): void {
    const failure = this.#failure;
    // The reader takes the last chunk after this call.
    if (failure !== undefined) setImmediate(() => this.destroy(failure));
    this.#gunzip.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#gunzip.destroy();
    callback(error);
  }

  /** Continues after a chunk, or fails. */
  #settle(error?: Error): void {
    const done = this.#done;
    this.#done = undefined;
    this.#onDrained = undefined;
    if (error === undefined) done?.();
    else this.#fail(error);
  }

  /** Fails after the reader has taken what came out before. */
  #fail(error: Error): void {
    if (this.readableLength === 0) this.destroy(error);
    else this.#failure = error;
  }

  /** Fails after the content that zlib has decoded and dropped. */
  #failAfterRest(error: Error): void {
    const kept = this.#kept;
    if (kept !== undefined) {
      const data = Buffer.concat(kept);
      const sound = data.length - this.#chunk.length;
      const content = contentBeforeFault(data, sound, this.#contentLength + this.#chunkBytes);
      if (content.length > this.#contentLength) this.push(content.subarray(this.#contentLength));
    }
    // Only the beginning of the data is known to be a gzip header.
    const isTrailing = error.message === 'incorrect header check';
    this.#fail(isTrailing ? new TrailingBytesError() : error);
  }
}

/**
 * Decodes the longest beginning of gzip data that has no fault.
 *
 * @param sound number of bytes at the start that have none
 * @param most maximum number of bytes that come out
 */
function contentBeforeFault(data: Buffer, sound: number, most: number): Buffer {
  let content: Buffer = Buffer.alloc(0);
  let good = sound - 1;
  let bad = data.length + 1;
  while (bad - good > 1) {
    const end = good + Math.floor((bad - good) / 2);
    try {
      content = gunzipSync(data.subarray(0, end), {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: most,
      });
      good = end;
    } catch {
      bad = end;
    }
  }
  return content;
}

/**
 * A stream that decodes Zstandard data of any number of frames. It fails with a `ZstdError`.
 *
 * A chunk may decode to 30,000 times its length, so decoding waits whenever the reader is behind.
 * At most one block is held in addition to the stream's own buffers.
 */
export class ZstdDecompressor extends Transform {
  readonly #scanner = new FrameScanner();
  #decoder: BlockDecoder | undefined;
  /** Wakes decoding when the stream is read or destroyed. */
  #wake: (() => void) | undefined;

  constructor() {
    // An error destroys what the reader has not taken, so decoding waits until all of it is taken.
    super({ readableHighWaterMark: 1 });
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#decode(chunk).then(
      () => callback(),
      (error) => callback(error),
    );
  }

  override _flush(callback: TransformCallback): void {
    try {
      this.#scanner.end();
      callback();
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _read(size: number): void {
    this.#resume();
    super._read(size);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#resume();
    super._destroy(error, callback);
  }

  async #decode(chunk: Buffer): Promise<void> {
    this.#decoder ??= await createDecoder();
    for (const unit of this.#scanner.scan(chunk)) {
      const output = this.#decoder.decode(unit);
      if (output.length === 0 || this.push(Buffer.from(output))) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.destroyed) return;
    }
  }

  #resume(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** Loads the codec, which only Zstandard data needs. */
async function createDecoder(): Promise<BlockDecoder> {
  const { loadZstd } = await import('./zstd/codec.js');
  return new BlockDecoder(await loadZstd());
}
