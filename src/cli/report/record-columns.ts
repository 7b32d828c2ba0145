import { STANDARD_OUTPUT_DESCRIPTOR } from '../process/standard-streams.js';
import { isForPeople, type Paint, paintOf, paintWords } from './colour.js';
import { widthOnTerminal } from './width-on-terminal.js';

/** Between two columns. */
export const GAP = '  ';
/** A column is never wider than this share of the window. */
const MOST_OF_WINDOW = 1 / 2;
const LEAST_CAP = 8;

/** Columns of a window whose width is unknown. */
export const USUAL_WINDOW = 80;

/**
 * Aligns rows for people as they come. A column is as wide as its longest value so far, up to half
 * of the window. A longer value comes out whole, and moves what follows it.
 */
export class RecordColumns {
  readonly #paint: Paint;
  readonly #window: () => number;
  readonly #widths: number[] = [];

  /** @param window the width of the window, which may change */
  constructor(paint: Paint, window: () => number) {
    this.#paint = paint;
    this.#window = window;
  }

  /** Lays out rows, whose first value is a verdict; each becomes a line without its end. */
  lines(rows: readonly (readonly string[])[]): string[] {
    const cap = Math.max(LEAST_CAP, Math.floor(this.#window() * MOST_OF_WINDOW));
    const widths = rows.map((row) => row.map(widthOnTerminal));
    for (const row of widths) {
      row.forEach((width, column) => {
        this.#widths[column] = Math.max(this.#widths[column] ?? 0, Math.min(width, cap));
      });
    }
    return rows.map((row, index) => this.#line(row, widths[index] ?? []));
  }

  #line(row: readonly string[], widths: readonly number[]): string {
    const texts = row.map((value, column) => {
      const text = column === 0 ? paintWords(this.#paint, value) : value;
      const missing = (this.#widths[column] ?? 0) - (widths[column] ?? 0);
      return missing > 0 ? text + ' '.repeat(missing) : text;
    });
    return texts.join(GAP).trimEnd();
  }
}

/** The width of the window of standard output; of a usual one if it is no terminal. */
export function windowOfOutput(): number {
  return process.stdout.columns || USUAL_WINDOW;
}

/** Rows as text for standard output: in columns for people, and with tabs for programs. */
export function rowsText(rows: readonly (readonly string[])[]): string {
  const columns = new RecordColumns(paintOf(STANDARD_OUTPUT_DESCRIPTOR), windowOfOutput);
  const lines = isForPeople(STANDARD_OUTPUT_DESCRIPTOR)
    ? columns.lines(rows)
    : rows.map((row) => row.join('\t'));
  return lines.map((line) => `${line}\n`).join('');
}
