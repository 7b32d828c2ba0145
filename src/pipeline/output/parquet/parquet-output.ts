import type { Writable } from 'node:stream';
import { RobotsFilterError } from '../../../errors.js';
import type { ByteSink } from '../../../parquet/chunk-writer.js';
import type { ParquetFile } from '../../../parquet/parquet-file.js';
import type { FilterSettings } from '../../filter.js';
import { ColumnRows } from './column-rows.js';
import { UrlRows } from './url-rows.js';

/** Writes a Parquet file: what the first input is decides which columns it has. */
export class ParquetOutput {
  readonly #target: ByteSink;
  readonly #settings: FilterSettings;
  #columns: ColumnRows | undefined;
  #urls: UrlRows | undefined;

  constructor(target: ByteSink, settings: FilterSettings) {
    this.#target = target;
    this.#settings = settings;
  }

  /** Rows written so far. */
  get rows(): number {
    return (this.#columns ?? this.#urls)?.rows ?? 0;
  }

  /**
   * A stream for what the kernel writes about the records of an input.
   *
   * @param file the input; `undefined` if it is not Parquet
   * @throws RobotsFilterError `input` if its columns cannot be written beside those before, `usage`
   *   if two columns would have the same name
   */
  async streamFor(name: string, file: ParquetFile | undefined): Promise<Writable> {
    if (file === undefined ? this.#columns !== undefined : this.#urls !== undefined) {
      throw new RobotsFilterError(
        'input',
        file === undefined
          ? `${name}: is not Parquet, but the inputs before are, and all their columns are written. Write them to two files`
          : `${name}: is Parquet, but the inputs before are not, so only URLs are written. Write them to two files`,
      );
    }
    if (file !== undefined) {
      this.#columns ??= new ColumnRows(this.#target, this.#settings);
      return this.#columns.streamFor(name, file);
    }
    this.#urls ??= new UrlRows(this.#target, this.#settings);
    return this.#urls.streamFor();
  }

  /** Writes the end of the file, after the last input. */
  async finish(): Promise<void> {
    await this.#columns?.finish();
    await this.#urls?.finish();
  }
}
