import { type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReplacementFile } from '../../files/replacement.js';

/** Bytes that are given to the compressor at a time. */
const CHUNK_BYTES = 1 << 20;

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
}

/** A file that is compressed while it is written. All inputs share one compressed stream. */
export class CompressedFile {
  readonly #compressor: Transform;
  readonly #written: Promise<void>;

  constructor(compressor: Transform, file: ReplacementFile) {
    this.#compressor = compressor;
    // With a stream in place of a function, the file's error destroys the compressor.
    const target = new Writable({
      write(bytes: Buffer, _encoding, callback) {
        file.write(bytes).then(() => callback(), callback);
      },
    });
    this.#written = pipeline(compressor, target);
    // The stream fails with the same error, and `finish` reports it too.
    this.#written.catch(() => {});
  }

  /** Bytes that are written here come out compressed. Fails with a RobotsFilterError `output`. */
  get stream(): Writable {
    return this.#compressor;
  }

  /**
   * Writes bytes that are the whole file, and finishes the file.
   *
   * @throws RobotsFilterError `output`; the reason of the signal
   */
  async writeAll(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const written = pipeline(chunksOf(bytes), this.#compressor, { signal });
    // If the file could not be written, `finish` has the error.
    await written.catch(() => {});
    signal.throwIfAborted();
    await this.finish();
  }

  /**
   * Ends the compressed stream; resolves when all of it is written to the file.
   *
   * @throws RobotsFilterError `output`
   */
  async finish(): Promise<void> {
    this.#compressor.end();
    await this.#written;
  }

  /** Gives up an unfinished stream; resolves when the file is no longer written to. */
  async abandon(): Promise<void> {
    this.#compressor.destroy();
    await this.#written.catch(() => {});
  }
}
