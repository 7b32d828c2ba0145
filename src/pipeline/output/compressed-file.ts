import type { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReplacementFile } from '../../files/replacement-file.js';

/** A file whose bytes are compressed on their way. One compressed stream holds all inputs. */
export class CompressedFile {
  readonly #compressor: Transform;
  readonly #written: Promise<void>;

  constructor(compressor: Transform, file: ReplacementFile) {
    this.#compressor = compressor;
    this.#written = pipeline(compressor, async (source: AsyncIterable<Uint8Array>) => {
      for await (const bytes of source) await file.write(bytes);
    });
    // The stream fails with the same error; `finish` reports it, too.
    this.#written.catch(() => {});
  }

  /** What is written here comes out compressed. Fails with a RobotsFilterError `output`. */
  get stream(): Writable {
    return this.#compressor;
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

  /** Gives an unfinished stream up; resolves when the file is no longer written to. */
  async abandon(): Promise<void> {
    this.#compressor.destroy();
    await this.#written.catch(() => {});
  }
}
