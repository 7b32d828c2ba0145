import type { ColumnChunk } from './footer.js';
import type { PlainValues } from './page-values.js';
import type { DataPage, DictionaryPage } from './pages.js';
import type { ParquetFile } from './parquet-file.js';

/**
 * Reads the values of a column of a row group, one after another. The column must not be repeated.
 */
export class ColumnCursor {
  readonly #pages: AsyncGenerator<DataPage | DictionaryPage>;
  readonly #present: number;
  #dictionary: PlainValues | undefined;
  #page: DataPage | undefined;
  #entry = 0;
  #value = 0;

  constructor(file: ParquetFile, chunk: ColumnChunk) {
    this.#pages = file.pages(chunk);
    this.#present = chunk.leaf.maxDefinition;
  }

  /**
   * Returns the bytes of the next value, valid until the next call; `null` for a null, `undefined`
   * after the last value.
   *
   * @throws RobotsFilterError `input`
   */
  async next(): Promise<Uint8Array | null | undefined> {
    while (this.#page === undefined || this.#entry === this.#page.entries) {
      const { value: page, done } = await this.#pages.next();
      if (done) return undefined;
      if (page.kind === 'dictionary') this.#dictionary = page.values;
      else this.#page = page;
      this.#entry = 0;
      this.#value = 0;
    }
    const { definitions, values } = this.#page;
    const isNull = definitions !== undefined && definitions[this.#entry] !== this.#present;
    this.#entry++;
    if (isNull) return null;
    const place = this.#value++;
    return values.kind === 'indices'
      ? bytesAt(this.#dictionary as PlainValues, values.indices[place] as number)
      : bytesAt(values, place);
  }

  /** Ends the reading, and waits for a pending read. */
  async close(): Promise<void> {
    await this.#pages.return(undefined);
  }
}

function bytesAt(values: PlainValues, place: number): Uint8Array {
  switch (values.kind) {
    case 'byte arrays':
      return values.bytes.subarray(values.starts[place], values.ends[place]);
    case 'fixed':
      return values.bytes.subarray(place * values.width, (place + 1) * values.width);
    case 'booleans':
      return values.values.subarray(place, place + 1);
  }
}
