/** Compresses to Zstandard data, and loads the package that also decodes with a dictionary. */

import { Transform, type TransformCallback } from 'node:stream';
import { compress, init } from '@bokuweb/zstd-wasm';
import xxhash from 'xxhash-wasm';

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

/** What the command `zstd` uses by default. */
const LEVEL = 3;
/** Where a frame header has its descriptor, and the descriptor's flag of a checksum. */
const DESCRIPTOR = 4;
const CHECKSUM_FLAG = 0x04;
const CHECKSUM_BYTES = 4;

let hash: ((content: Uint8Array) => bigint) | undefined;

/** Loads what `encodeZstd` needs. */
export async function prepareZstdEncoder(): Promise<void> {
  if (hash !== undefined) return;
  const [{ h64Raw }] = await Promise.all([xxhash(), loadWholeFrameCodec()]);
  hash = h64Raw;
}

/**
 * Encodes bytes as one frame, with its content size and its checksum (RFC 8878 section 3.1.1). Call
 * `prepareZstdEncoder` before.
 *
 * @param content at most some MiB, as all of them and the frame are in memory
 */
export function encodeZstd(content: Uint8Array): Buffer {
  if (hash === undefined) throw new Error('the zstd encoder has not been loaded');
  // The package cannot be asked for a checksum: the low half of XXH64, behind the blocks.
  const blocks = compress(content, LEVEL);
  const frame = Buffer.allocUnsafe(blocks.length + CHECKSUM_BYTES);
  frame.set(blocks);
  frame[DESCRIPTOR] = (frame[DESCRIPTOR] ?? 0) | CHECKSUM_FLAG;
  frame.writeUInt32LE(Number(hash(content) & 0xffff_ffffn), blocks.length);
  return frame;
}

let loading: Promise<void> | undefined;

/**
 * Loads the codec of `@bokuweb/zstd-wasm`, once: a second `init` replaces its memory under whoever
 * uses it.
 */
export function loadWholeFrameCodec(): Promise<void> {
  loading ??= init();
  return loading;
}
