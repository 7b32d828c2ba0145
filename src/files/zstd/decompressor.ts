import { Transform, type TransformCallback } from 'node:stream';
import { BlockDecoder } from './block-decoder.js';
import { FrameScanner } from './frame-scanner.js';

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
  const { loadZstd } = await import('./codec.js');
  return new BlockDecoder(await loadZstd());
}
