import { type Cell, type Column, type RowFormat, Rows } from './rows.js';
import { TextBatches } from './text-batches.js';

/** Receives the rows of a report, in order. */
export interface RowSink {
  /** Whether nobody reads what is added. */
  readonly isClosed: boolean;
  /** Adds a row: a value for each column. */
  add(row: readonly Cell[]): void;
  end(): void;
}

/** Writes rows to standard output; without any row nothing, not even a header. */
export class TextRows implements RowSink {
  readonly #rows: Rows;
  readonly #out = new TextBatches();
  #isBegun = false;

  constructor(format: RowFormat, columns: readonly Column[], isForSpreadsheet = false) {
    this.#rows = new Rows(format, columns, isForSpreadsheet);
  }

  get isClosed(): boolean {
    return this.#out.isClosed;
  }

  /** Which columns do not fit the window, if there was a row. */
  get omission(): string | undefined {
    return this.#isBegun ? this.#rows.omission : undefined;
  }

  add(row: readonly Cell[]): void {
    if (!this.#isBegun) this.#out.add(this.#rows.header);
    this.#isBegun = true;
    this.#out.add(this.#rows.part(0, row));
  }

  end(): void {
    this.#out.flush();
  }
}
