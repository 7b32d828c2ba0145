import type { RowSink } from './row-sink.js';
import type { Cell, Column } from './rows.js';

/** Maximum number of rows that a page shows. */
const SHOWN = 1000;

/** The first rows of a report, and how many there are. Memory does not grow with their number. */
export class HeldRows implements RowSink {
  readonly isClosed = false;
  readonly columns: readonly Column[];
  readonly rows: (readonly Cell[])[] = [];
  total = 0;

  constructor(columns: readonly Column[]) {
    this.columns = columns;
  }

  add(row: readonly Cell[]): void {
    this.total++;
    if (this.rows.length < SHOWN) this.rows.push(row);
  }

  end(): void {}
}
