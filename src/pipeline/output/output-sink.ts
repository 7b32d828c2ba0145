import type { ByteSink } from '../../parquet/chunk-writer.js';
import type { Output } from './output.js';

/** An output as the end of a Parquet file's bytes. */
export class OutputSink implements ByteSink {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  /** @throws an error with the code EPIPE if the reader of the output is gone */
  async write(bytes: Uint8Array): Promise<void> {
    if ((await this.#output.write(bytes)) && (await this.#output.end())) return;
    throw Object.assign(new Error('the reader of the output is gone'), { code: 'EPIPE' });
  }

  /** Gives up what is not written, and closes what was opened for the output. */
  close(): void {
    this.#output.abandon();
    this.#output.release();
  }
}
