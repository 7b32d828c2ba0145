/** Rows of reports: a table for people, CSV, NDJSON or Parquet. */

import { csvField, printable, printableJson } from '../../base/control-characters.js';
import { isTerminal } from '../../files/openings.js';
import { escapeText } from '../../table/display-text.js';
import { writeOutput } from '../console.js';
import {
  cutToWidth,
  GAP,
  paintOf,
  paintWords,
  STANDARD_OUTPUT_DESCRIPTOR,
  widthOnTerminal,
  windowOfOutput,
} from '../text.js';

/** A value of a report: text, number, truth, a list of texts, an object, or nothing. */
export type Cell =
  | string
  | number
  | boolean
  | undefined
  | readonly string[]
  | Readonly<Record<string, unknown>>;

export interface Column {
  readonly name: string;
  /** Width in a table for people, until a longer value comes. */
  readonly width: number;
  /** Maximum width of a value in a table for people; `WIDEST` without it. */
  readonly widest?: number;
  /** Whether its values are verdicts, or how much is allowed, which a terminal shows in colours. */
  readonly isVerdict?: boolean;
  /** Whether its values are numbers, which a table for people aligns at the right. */
  readonly isNumber?: boolean;
  /** Whether it has a value in every row, as the schema of Parquet says. */
  readonly isRequired?: boolean;
}

export type RowFormat = 'table' | 'csv' | 'ndjson';

export const ROW_FORMATS: readonly RowFormat[] = ['table', 'csv', 'ndjson'];

/** Stands for nothing in a table for people. */
const NOTHING = '-';
/** Maximum width of a value in a table for people. */
const WIDEST = 60;
/** Width of a column of text that remains in a narrow window. */
const NARROWEST = 12;

/** Columns of which the column `agent` is as wide as the longest of some names. */
export function withAgents(columns: readonly Column[], names: readonly string[]): Column[] {
  let width = 'agent'.length;
  for (const name of names) width = Math.max(width, widthOnTerminal(name));
  return columns.map((column) =>
    column.name === 'agent' ? { ...column, width: Math.min(WIDEST, width) } : column,
  );
}

/**
 * The first columns that fit a window, at their narrowest, and what width is left for each. A
 * longer value is cut, and no line is wrapped. The widest column takes what others do not need.
 */
function fittingColumns(columns: readonly Column[], window: number): Column[] {
  const least = columns.map(({ width, isVerdict, isNumber }) =>
    isVerdict === true || isNumber === true ? width : Math.min(width, NARROWEST),
  );
  let left = window;
  let count = 0;
  for (const width of least) {
    const taken = width + (count === 0 ? 0 : GAP.length);
    if (taken > left) break;
    left -= taken;
    count++;
  }
  // In a window narrower than one column there is no table to fit.
  if (count === 0) return [...columns];
  const widths = least.slice(0, count);
  columns.slice(0, count).forEach(({ width }, at) => {
    const more = Math.min(left, width - (widths[at] ?? 0));
    widths[at] = (widths[at] ?? 0) + more;
    left -= more;
  });
  const at = widths.indexOf(Math.max(...widths));
  const width = widths[at] ?? 0;
  widths[at] = Math.min(Math.max(columns[at]?.widest ?? WIDEST, width), width + left);
  return columns.slice(0, count).map((column, at) => {
    const width = widths[at] ?? 0;
    return { ...column, width, widest: width };
  });
}

/**
 * Values that stand beside each other in rows, of which many may share them. What a row sink makes
 * of them is kept, so they belong to the sink that they were first added to.
 */
export interface RowPart {
  readonly cells: readonly Cell[];
  /** Their text, once they were written. */
  text?: string;
  /** Their values in Parquet, once they were written. */
  values?: readonly (string | number | undefined)[];
}

/** Receives the rows of a report, in order. */
export interface RowSink {
  /** Whether nobody reads what is added. */
  readonly isClosed: boolean;
  /** Says which columns do not fit the window of a terminal; `undefined` if all are shown. */
  readonly omission: string | undefined;
  /** Adds a row: parts that together have a value for each column. */
  add(...parts: readonly RowPart[]): void;
  /**
   * Whether `write` must be awaited before the next row: Parquet holds the rows of a group until
   * the group is written. Waiting after each row would take a tenth of an audit.
   */
  readonly isFull: boolean;
  write(): Promise<void>;
  end(): Promise<void>;
}

/** How rows are written. */
interface RowsOptions {
  /** Whether no text of CSV may be read as a formula. */
  readonly spreadsheet?: boolean | undefined;
  /** Whether nothing is written if there is no row, not even a header. */
  readonly headerNeedsRow?: boolean;
}

/** Formats of rows, and Parquet. */
export type ReportFormat = RowFormat | 'parquet';

/** Opens the rows of a report in a format, to be written to standard output. */
export async function openRows(
  format: ReportFormat,
  columns: readonly Column[],
  options: RowsOptions,
): Promise<RowSink> {
  switch (format) {
    case 'table':
    case 'csv':
    case 'ndjson':
      return new TextRows(format, columns, options);
    case 'parquet':
      return parquetRows(columns);
  }
}

/** Writes rows as lines of text. */
export class TextRows implements RowSink {
  readonly isFull = false;
  readonly #format: RowFormat;
  readonly #columns: readonly Column[];
  /** The widths of the columns so far, in a table for people. */
  readonly #widths: number[];
  readonly #paint = paintOf();
  readonly #isTerminal = isTerminal(STANDARD_OUTPUT_DESCRIPTOR);
  readonly #isForSpreadsheet: boolean;
  readonly #out = new TextBatches();
  #hasHeader = false;

  /** Number of columns that are written. */
  readonly #shown: number;

  constructor(format: RowFormat, columns: readonly Column[], options: RowsOptions = {}) {
    this.#format = format;
    this.#isForSpreadsheet = options.spreadsheet ?? false;
    const fitting =
      format === 'table' && this.#isTerminal ? fittingColumns(columns, windowOfOutput()) : columns;
    this.#columns = [...fitting, ...columns.slice(fitting.length)];
    this.#shown = fitting.length;
    this.#widths = this.#columns.map(({ width }) => width);
    if (options.headerNeedsRow !== true) this.#addHeader();
  }

  get isClosed(): boolean {
    return this.#out.isClosed;
  }

  get omission(): string | undefined {
    const names = this.#columns.slice(this.#shown).map(({ name }) => name);
    if (names.length === 0 || !this.#hasHeader) return undefined;
    return `the window is too narrow for ${names.join(', ')}. Widen it, or use --format csv`;
  }

  add(...parts: readonly RowPart[]): void {
    if (!this.#hasHeader) this.#addHeader();
    let from = 0;
    let line = '';
    for (const part of parts) {
      part.text ??= this.#part(from, part.cells);
      line += part.text;
      from += part.cells.length;
    }
    this.#out.add(line);
  }

  async write(): Promise<void> {}

  async end(): Promise<void> {
    this.#out.flush();
  }

  #addHeader(): void {
    this.#hasHeader = true;
    this.#out.add(this.#header());
  }

  /** The line before the rows; empty if there is none. */
  #header(): string {
    const names = this.#columns.map(({ name }) => name);
    if (this.#format === 'ndjson') return '';
    if (this.#format === 'csv') return this.#part(0, names);
    const shown = this.#columns.slice(0, this.#shown);
    const padded = shown.map(({ name, width, isNumber }) =>
      isNumber === true ? name.padStart(width) : name.padEnd(width),
    );
    return `${this.#paint('strong', padded.join(GAP).trimEnd())}\n`;
  }

  /** Formats the values of the columns from `from` on; the last column ends the line. */
  #part(from: number, values: readonly Cell[]): string {
    switch (this.#format) {
      case 'ndjson':
        return this.#jsonPart(from, values);
      case 'csv':
        return this.#joined(from, values, ',', (value) => this.#csvField(value));
      case 'table':
        return this.#joined(from, values, GAP, (value, column) => this.#padded(value, column));
    }
  }

  #joined(
    from: number,
    values: readonly Cell[],
    separator: string,
    format: (value: Cell, column: number) => string,
  ): string {
    const shown = values.slice(0, Math.max(0, this.#shown - from));
    const texts = shown.map((value, index) => format(value, from + index));
    const text = (from > 0 && texts.length > 0 ? separator : '') + texts.join(separator);
    if (from + values.length < this.#columns.length) return text;
    return `${this.#format === 'table' ? text.trimEnd() : text}\n`;
  }

  #csvField(value: Cell): string {
    const isText = this.#isForSpreadsheet && typeof value !== 'number';
    const text = csvField(isText ? withoutFormulas(textOf(value)) : textOf(value));
    return this.#isTerminal ? printable(text) : text;
  }

  #padded(value: Cell, column: number): string {
    const { widest = WIDEST, isVerdict, isNumber = false } = this.#columns[column] as Column;
    const text = cutToWidth(escapeText(textOf(value)) || NOTHING, widest);
    const width = widthOnTerminal(text);
    const widthSoFar = Math.max(this.#widths[column] ?? 0, width);
    this.#widths[column] = widthSoFar;
    const space = ' '.repeat(widthSoFar - width);
    if (typeof value === 'number' || (isNumber && value === undefined)) return space + text;
    return (isVerdict === true ? paintWords(this.#paint, text) : text) + space;
  }

  #jsonPart(from: number, values: readonly Cell[]): string {
    let text = from === 0 ? '{' : '';
    values.forEach((value, index) => {
      const { name } = this.#columns[from + index] as Column;
      const comma = from + index === 0 ? '' : ',';
      text += `${comma}"${name}":${printableJson(value ?? null)}`;
    });
    return from + values.length === this.#columns.length ? `${text}}\n` : text;
  }
}

/** The text of a value, as CSV has it. */
export function textOf(value: Cell): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What begins a formula in some spreadsheet, or is skipped before one. */
const FORMULA_STARTS = '=+-@\t\r\n＝＋－＠';
/** What ends a field where a spreadsheet expects other CSV: in much of Europe, semicolons. */
const FIELD_ENDS = ';\t\r\n';

/**
 * A text that no spreadsheet reads as a formula: an apostrophe stands before what may begin one, at
 * the start and after each character that may end a field. `a;=1+1` becomes `a;'=1+1`.
 */
function withoutFormulas(text: string): string {
  let safe = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const isStart = at === 0 || FIELD_ENDS.includes(text[at - 1] as string);
    if (!isStart || !FORMULA_STARTS.includes(text[at] as string)) continue;
    safe += `${text.slice(copied, at)}'`;
    copied = at;
  }
  return safe + text.slice(copied);
}

/** Writes rows as Parquet. Lists are texts, as in CSV. */
async function parquetRows(columns: readonly Column[]): Promise<RowSink> {
  const { RowsWriter } = await import('../../parquet/rows-writer.js');
  let isClosed = false;
  const sink = {
    async write(bytes: Uint8Array): Promise<void> {
      isClosed ||= !writeOutput(bytes);
    },
  };
  const writer = new RowsWriter(
    sink,
    columns.map(({ name, isNumber, isRequired }) => ({
      name,
      type: isNumber === true ? 'integer' : 'text',
      nullable: isRequired !== true,
    })),
  );
  return {
    get isClosed() {
      return isClosed;
    },
    omission: undefined,
    add(...parts) {
      const row: (string | number | undefined)[] = [];
      for (const part of parts) {
        part.values ??= part.cells.map((cell, index) => {
          const isNumber = columns[row.length + index]?.isNumber === true;
          return cell === undefined || isNumber ? (cell as number | undefined) : textOf(cell);
        });
        row.push(...part.values);
      }
      writer.add(row);
    },
    get isFull() {
      return writer.isFull;
    },
    write: () => writer.writeGroup(),
    end: () => writer.finish(),
  };
}

/** Bytes that are collected for one write. */
const BATCH_BYTES = 1 << 18;

/** Maximum bytes of a UTF-16 code unit in UTF-8. */
const UNIT_BYTES = 3;

/** Writes texts to standard output, many at a time, until the reader goes away. */
export class TextBatches {
  /** Whether the reader has gone away. */
  isClosed = false;
  readonly #held = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #length = 0;

  add(text: string): void {
    if (UNIT_BYTES * text.length > BATCH_BYTES - this.#length) {
      this.flush();
      if (UNIT_BYTES * text.length > BATCH_BYTES) {
        this.#write(Buffer.from(text));
        return;
      }
    }
    this.#length += this.#held.write(text, this.#length);
  }

  flush(): void {
    if (this.#length > 0) this.#write(this.#held.subarray(0, this.#length));
    this.#length = 0;
  }

  #write(bytes: Buffer): void {
    if (!this.isClosed) this.isClosed = !writeOutput(bytes);
  }
}

/**
 * Maximum characters of a list in a row. Site owners choose how long their lists are, and rows
 * repeat them for each agent.
 */
const MOST_CHARACTERS = 4096;

/**
 * The texts of a list that a row has; `undefined` for an empty list. Of a list that is too long the
 * first ones are left, and a last one that says how many more there are.
 */
export function boundedList(texts: readonly string[]): readonly string[] | undefined {
  let characters = 0;
  const end = texts.findIndex((text, index) => {
    characters += text.length;
    return index > 0 && characters > MOST_CHARACTERS;
  });
  if (end < 0) return texts.length === 0 ? undefined : texts;
  return [...texts.slice(0, end), `\u2026 ${texts.length - end} more`];
}
