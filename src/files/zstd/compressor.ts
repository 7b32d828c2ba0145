import { Transform, type TransformCallback } from 'node:stream';
import { encodeZstd, prepareZstdEncoder } from './encode.js';

/** Bytes of content in a frame; the last frame may have fewer. */
export const FRAME_CONTENT_BYTES = 4 * 1024 * 1024;

/**
 * A stream that compresses to Zstandard data. Each frame can be decoded without the others, so that
 * memory is bounded; nothing written becomes one empty frame.
 */
export class ZstdCompressor extends Transform {
  readonly #content = Buffer.allocUnsafeSlow(FRAME_CONTENT_BYTES);
  /** Bytes of `#content` that are yet to be encoded. */
  #filled = 0;
  #hasFrame = false;

  /** Makes a stream, once its codec is loaded. */
  static async create(): Promise<ZstdCompressor> {
    await prepareZstdEncoder();
    return new ZstdCompressor();
  }

  private constructor() {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    try {
      for (let at = 0; at < chunk.length; ) {
        const copied = chunk.copy(this.#content, this.#filled, at);
        at += copied;
        this.#filled += copied;
        if (this.#filled === FRAME_CONTENT_BYTES) this.#encode();
      }
      callback();
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _flush(callback: TransformCallback): void {
    try {
      if (this.#filled > 0 || !this.#hasFrame) this.#encode();
      callback();
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #encode(): void {
    this.push(encodeZstd(this.#content.subarray(0, this.#filled)));
    this.#filled = 0;
    this.#hasFrame = true;
  }
}
