/**
 * Turns rows of CSV or TSV into lines, one for each row, also where a quoted field has newlines.
 */

import { Transform, type TransformCallback } from 'node:stream';
import { COMMA, LF, QUOTE, type TAB } from '../../base/ascii.js';
import { ROW_MARKED, ROW_REFUSED } from '../../kernel/layout.js';
import { PlainRows } from '../../kernel/scanners.js';
import { RowScanner } from './columns.js';

/** Bytes with which no unmarked row may begin. */
const MARKS: readonly number[] = [ROW_MARKED, ROW_REFUSED];

/** The most bytes that are searched at a time, in a copy. */
export const PIECE_BYTES = 256 * 1024;

interface RowLinesOptions {
  readonly delimiter: typeof COMMA | typeof TAB;
  /** The longest row, in bytes. */
  readonly maxRecordBytes: number;
  /** Lines of the input before the first row. */
  readonly linesBefore: number;
}

/** A stream of the lines of rows: see `RowSplitter`. */
export class RowLines extends Transform {
  readonly #splitter: RowSplitter;

  constructor(options: RowLinesOptions) {
    super();
    this.#splitter = new RowSplitter(options, (lines) => this.push(lines));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#splitter.split(chunk);
    callback();
  }

  override _flush(callback: TransformCallback): void {
    this.#splitter.end();
    callback();
  }
}

/**
 * Turns rows (RFC 4180) into lines of FORMAT_CSV or FORMAT_TSV. A row that spans lines becomes one
 * line, marked as kernel/layout.ts describes. An empty line follows for each newline in it, so that
 * lines keep their numbers. All other bytes pass unchanged. The memory holds one chunk and one row.
 */
export class RowSplitter {
  readonly #options: RowLinesOptions;
  readonly #plainRows: PlainRows;
  readonly #scanner: RowScanner;
  /** The beginning of the row, from earlier chunks. */
  readonly #held: HeldRecord;
  /**
   * The byte that stands for newlines in the current row, if the row is too long and partly passed
   * on.
   */
  #longRow: number | undefined;

  readonly #push: (lines: Buffer) => void;

  /** @param push takes the lines, piece by piece; a piece is valid only while its chunk is */
  constructor(options: RowLinesOptions, push: (lines: Buffer) => void) {
    this.#options = options;
    this.#push = push;
    this.#plainRows = new PlainRows(options.delimiter);
    this.#scanner = new RowScanner(options.delimiter);
    // One byte more shows that a row is too long, and two bytes more show its line end.
    this.#held = new HeldRecord(options.maxRecordBytes + 3);
    if (options.linesBefore > 0) this.#push(Buffer.alloc(options.linesBefore, LF));
  }

  /** Ends the input, and the last row by a newline if it has none. */
  end(): void {
    const isOpen = this.#scanner.isQuoted;
    if (this.#longRow !== undefined) this.#push(this.#fillers());
    else if (this.#held.length > 0) this.#pushRow(this.#held.bytes, isOpen);
    this.#held.release();
  }

  /** Takes the next bytes. */
  split(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      this.#splitPiece(chunk.subarray(at, at + PIECE_BYTES));
    }
  }

  #splitPiece(piece: Buffer): void {
    this.#plainRows.take(piece);
    let start = 0;
    // The rows from here to `start` are lines without a change.
    let pending = 0;
    while (start < piece.length) {
      const isNew = this.#held.length === 0 && this.#longRow === undefined;
      if (isNew) start = this.#plainRows.endFrom(start);
      const end = start < piece.length ? this.#scanner.scan(piece, start) : undefined;
      if (end === undefined) break;
      if (isNew && this.#scanner.newlines === 0 && !MARKS.includes(piece[start] ?? 0)) {
        this.#scanner.begin();
        start = end;
        continue;
      }
      if (pending < start) this.#push(piece.subarray(pending, start));
      this.#endRow(piece.subarray(start, end));
      pending = end;
      start = end;
    }
    if (pending < start) this.#push(piece.subarray(pending, start));
    if (start < piece.length) this.#hold(piece.subarray(start));
  }

  /** Adds bytes to the unfinished row. */
  #hold(part: Buffer): void {
    if (this.#longRow !== undefined) {
      this.#push(withStandIn(part, this.#longRow));
      return;
    }
    const { maxRecordBytes } = this.#options;
    if (this.#held.length + part.length <= maxRecordBytes + 2) {
      this.#held.append(part);
      return;
    }
    const beginning = Buffer.concat([this.#held.bytes, part]);
    this.#held.release();
    const standIn = standInFor(beginning) ?? LAST_BYTE;
    this.#longRow = standIn;
    this.#push(Buffer.of(ROW_MARKED, standIn));
    this.#push(withStandIn(beginning, standIn));
  }

  /** Ends the row with its last bytes, including its line end. */
  #endRow(last: Buffer): void {
    if (this.#longRow !== undefined) {
      this.#push(withStandIn(last.subarray(0, -1), this.#longRow));
      this.#push(Buffer.of(LF));
      this.#push(this.#fillers());
      this.#longRow = undefined;
    } else if (this.#held.length === 0) {
      this.#pushRow(last, false);
    } else {
      this.#pushRow(Buffer.concat([this.#held.bytes, last]), false);
      this.#held.clear();
      this.#held.shrink();
    }
    this.#scanner.begin();
  }

  /** @param isOpen whether the input ends within a quoted field of the row */
  #pushRow(row: Buffer, isOpen: boolean): void {
    const { newlines } = this.#scanner;
    const isEnded = !isOpen && row.at(-1) === LF;
    if (!isOpen && newlines === 0 && !MARKS.includes(row[0] ?? 0)) {
      this.#push(isEnded ? Buffer.from(row) : Buffer.concat([row, Buffer.of(LF)]));
      return;
    }
    const content = isEnded ? row.subarray(0, -1) : row;
    const standIn = standInFor(content);
    const mark = isOpen || standIn === undefined ? ROW_REFUSED : ROW_MARKED;
    const byte = standIn ?? LAST_BYTE;
    this.#push(Buffer.concat([Buffer.of(mark, byte), withStandIn(content, byte), Buffer.of(LF)]));
    if (newlines > 0) this.#push(this.#fillers());
  }

  /** Returns empty lines for the newlines within the row. */
  #fillers(): Buffer {
    return Buffer.alloc(this.#scanner.newlines, LF);
  }
}

const LAST_BYTE = 0xff;

/**
 * The highest byte that does not occur in the row; `undefined` if every byte does. No text has all.
 */
function standInFor(row: Buffer): number | undefined {
  for (let byte = LAST_BYTE; byte > QUOTE; byte--) {
    if (byte !== COMMA && !row.includes(byte)) return byte;
  }
  return undefined;
}

/** A copy of the row in which a byte stands for each newline. */
function withStandIn(row: Buffer, standIn: number): Buffer {
  const copy = Buffer.from(row);
  for (let at = copy.indexOf(LF); at >= 0; at = copy.indexOf(LF, at + 1)) copy[at] = standIn;
  return copy;
}

/** Maximum length of a buffer, in bytes, that is kept for the next record. */
const KEPT_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** The bytes of an unfinished record from earlier pieces. */
class HeldRecord {
  readonly #maxBytes: number;
  #buffer: Buffer = NOTHING;
  #length = 0;

  /** @param maxBytes maximum number of bytes that the buffer ever holds */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** A view of the bytes. It stays valid until bytes are appended after `clear`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      // Doubling keeps the total cost of copying linear.
      const wanted = Math.min(2 * length, this.#maxBytes);
      const grown = Buffer.allocUnsafeSlow(Math.max(wanted, length));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  /** Empties the buffer, which stays for the next record. */
  clear(): void {
    this.#length = 0;
  }

  /** Frees the memory of a large buffer. */
  shrink(): void {
    if (this.#buffer.length > KEPT_BYTES) this.release();
  }

  /** Empties the buffer and frees its memory. */
  release(): void {
    this.#buffer = NOTHING;
    this.#length = 0;
  }
}
