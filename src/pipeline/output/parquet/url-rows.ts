import { Writable } from 'node:stream';
import { RobotsFilterError } from '../../../errors.js';
import { CONVERTED_URL } from '../../../kernel/query-settings.js';
import type { ByteSink } from '../../../parquet/chunk-writer.js';
import { TextRowsWriter } from '../../../parquet/text-rows-writer.js';
import type { FilterSettings } from '../../filter.js';
import { RowReader } from './row-reader.js';
import { addedColumns, VerdictRows } from './verdict-columns.js';

/** Bytes of the URLs of a page; a longer URL has a page of its own. */
const PAGE_BYTES = 1 << 20;
/** A row group ends after so many rows, or with a page that brings it to so many bytes of URLs. */
const GROUP_ROWS = 1 << 20;
const GROUP_BYTES = 1 << 27;

/** URLs that are complete as a page, and the verdicts of the row group that ends with them. */
interface Page {
  readonly rows: number;
  readonly urls: Buffer;
  readonly verdicts: VerdictRows | undefined;
}

/** Writes a row for each record of lines: the URL, and the verdicts. */
export class UrlRows {
  readonly #settings: FilterSettings;
  readonly #writer: TextRowsWriter;
  #begun = false;
  #verdicts: VerdictRows;
  #groupRows = 0;
  #groupBytes = 0;
  #page = Buffer.allocUnsafeSlow(PAGE_BYTES);
  #used = 0;
  #pageRows = 0;
  /** Pages that wait to be written. */
  readonly #complete: Page[] = [];

  /** @throws RobotsFilterError `usage` if two columns would have the same name */
  constructor(target: ByteSink, settings: FilterSettings) {
    const url = { name: CONVERTED_URL, type: 'text' as const, nullable: false };
    const columns = [url, ...addedColumns(settings)];
    const names = columns.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) {
      throw new RobotsFilterError(
        'usage',
        `the output would have two columns called "${twice}". Choose another name for the added one: --verdict-field NAME`,
      );
    }
    this.#settings = settings;
    this.#writer = new TextRowsWriter(target, columns);
    this.#verdicts = new VerdictRows(settings);
  }

  /** Rows written so far, in row groups that have ended. */
  get rows(): number {
    return this.#writer.rows;
  }

  /** A stream for the rows of an input, as the kernel writes them. */
  async streamFor(): Promise<Writable> {
    if (!this.#begun) await this.#writer.begin();
    this.#begun = true;
    const { agents, explain, output, preferences } = this.#settings;
    const hasOutcomes = output === 'annotate';
    const layout = { agents: agents.length, explain, hasUrl: true, hasOutcomes, preferences };
    const reader = new RowReader(layout, (bytes, start, end, verdicts, said) => {
      this.#add(bytes, start, end);
      if (hasOutcomes) this.#verdicts.add(verdicts, said);
      if (++this.#groupRows === GROUP_ROWS) this.#endPage(true);
    });
    const write = async (chunk: Buffer): Promise<void> => {
      reader.read(chunk);
      await this.#writePages();
    };
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => {
        write(chunk).then(() => callback(), callback);
      },
    });
  }

  /** Writes what is left, and the end of the file, after the last input. */
  async finish(): Promise<void> {
    this.#endPage(true);
    await this.#writePages();
    await this.#writer.finish();
  }

  /** Adds a URL, after its length, to the page. */
  #add(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#used + length > this.#page.length) {
      this.#endPage(this.#groupBytes >= GROUP_BYTES);
      if (length > PAGE_BYTES) this.#page = Buffer.allocUnsafeSlow(length);
    }
    bytes.copy(this.#page, this.#used, start, end);
    this.#used += length;
    this.#pageRows++;
    this.#groupBytes += length;
  }

  /** Ends the page, and the row group with it or not. */
  #endPage(endsGroup: boolean): void {
    if (this.#groupRows === 0) return;
    this.#complete.push({
      rows: this.#pageRows,
      urls: this.#page.subarray(0, this.#used),
      verdicts: endsGroup ? this.#verdicts : undefined,
    });
    this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    this.#used = 0;
    this.#pageRows = 0;
    if (!endsGroup) return;
    this.#verdicts = new VerdictRows(this.#settings);
    this.#groupRows = 0;
    this.#groupBytes = 0;
  }

  async #writePages(): Promise<void> {
    for (const { rows, urls, verdicts } of this.#complete.splice(0)) {
      if (rows > 0) await this.#writer.page(rows, urls);
      if (verdicts !== undefined) await this.#writer.endGroup(verdicts.added);
    }
  }
}
