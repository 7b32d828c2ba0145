import { BACKSLASH, LF, QUOTE } from '../../../ascii.js';
import { KINDS, Kind } from './byte-kinds.js';
import {
  REFUSED_LINE_BYTES,
  type Refusal,
  SHOWN_BYTES,
  writeRefusedLine,
} from './refused-record.js';

const NOTHING = Buffer.alloc(0);

/** The lines that one piece of the input gives. */
export class RecordLines {
  #lines: Buffer = NOTHING;
  #length = 0;

  /**
   * Makes room for every line that a piece can give, unless there is enough room.
   *
   * @param held bytes of the piece's first record in earlier pieces
   * @param piece bytes of the piece
   */
  reserve(held: number, piece: number): void {
    if (this.#lines.length > 0) return;
    // A record has at least one byte and a refused record two; the line has at most three more
    // bytes.
    const before = Math.max(held, SHOWN_BYTES) + REFUSED_LINE_BYTES;
    this.#lines = Buffer.allocUnsafeSlow(before + 3 * piece);
  }

  /**
   * Adds the record from `start` to `end`. If the record spans lines, drops the white space outside
   * its strings.
   */
  addRecord(bytes: Buffer, start: number, end: number, spansLines: boolean): void {
    this.#length += spansLines
      ? copyWithoutSpace(bytes.subarray(start, end), this.#lines, this.#length)
      : bytes.copy(this.#lines, this.#length, start, end);
    this.#lines[this.#length++] = LF;
  }

  /** Adds the line that stands for a refused record. */
  addRefused(refusal: Refusal, beginning: Uint8Array): void {
    this.#length += writeRefusedLine(refusal, beginning, this.#lines, this.#length);
  }

  /** Returns the lines, which then belong to the caller; `undefined` if there are none. */
  take(): Buffer | undefined {
    const lines = this.#length > 0 ? this.#lines.subarray(0, this.#length) : undefined;
    this.#lines = NOTHING;
    this.#length = 0;
    return lines;
  }

  /** Drops all lines after this many. */
  keep(lines: number): void {
    let end = 0;
    for (let count = 0; count < lines; count++) end = this.#lines.indexOf(LF, end) + 1;
    this.#length = end;
  }
}

/** Copies a record without the white space outside its strings; returns the bytes written. */
function copyWithoutSpace(record: Buffer, target: Buffer, targetStart: number): number {
  let write = targetStart;
  let inString = false;
  for (let index = 0; index < record.length; index++) {
    const byte = record[index] as number;
    if (inString) {
      if (byte === BACKSLASH) {
        target[write++] = byte;
        index++;
        target[write++] = record[index] as number;
        continue;
      }
      inString = byte !== QUOTE;
    } else {
      const kind = KINDS[byte];
      if (kind === Kind.blank || kind === Kind.lineBreak) continue;
      inString = kind === Kind.quote;
    }
    target[write++] = byte;
  }
  return write - targetStart;
}
