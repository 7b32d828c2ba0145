import {
  BACKSLASH,
  CLOSE_BRACKET,
  COLON,
  DIGIT_0,
  LF,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from '../../../ascii.js';
import { KINDS, Kind } from './byte-kinds.js';
import { countLineFeeds } from './refused-record.js';

const NOTHING = Buffer.alloc(0);
const NOWHERE = -1;

/**
 * Called for each record that ends in the current piece, with the place of the record's bytes
 * there.
 */
export type OnRecord = (piece: Buffer, start: number, end: number) => void;

/**
 * Finds where records begin and end in JSON, piece by piece, in one pass. The scanner knows only
 * strings and nesting. On bytes that are not JSON its findings mean nothing.
 */
export class RecordScanner {
  readonly #maxDepth: number;
  readonly #onRecord: OnRecord;

  /** Number of bytes before the current piece. */
  offset = 0;
  /** Number of line feeds before the current place. */
  lineFeeds = 0;
  /** Whether the current place is in a record. */
  inRecord = false;
  /** Whether that record is a number or word, which ends only at another byte. */
  isBare = false;
  /** Whether the last record has a line break outside its strings. */
  spansLines = false;
  /** Number of records that have begun. */
  records = 0;
  /** Offset in bytes at which the last record begins. */
  recordOffset = 0;
  /** Number of line feeds before the last record. */
  recordLineFeeds = 0;
  /**
   * Number of bytes of the last record before its first bracket beyond the depth limit; -1 if it
   * has none.
   */
  deepAfter = NOWHERE;
  /**
   * The shortest text that brings a JSON reader into the state before the last record. Between
   * records, it brings the reader into the current state.
   */
  lead = '';
  /**
   * The current piece as a JSON reader may see it. A number and spaces replace everything beyond
   * the depth limit.
   */
  text: Buffer = NOTHING;

  /** Number of open brackets and braces. */
  #depth = 0;
  /** The depth of records: 1 in an array, else 0. */
  #base = 0;
  #inString = false;
  #escaped = false;
  /** The last byte before the current piece. */
  #last = SPACE;

  constructor(maxDepth: number, onRecord: OnRecord) {
    this.#maxDepth = maxDepth;
    this.#onRecord = onRecord;
  }

  /** Whether an array or a record is open. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.inRecord;
  }

  /** The shortest text that brings a JSON reader into the state after a record. */
  get leadAfterRecord(): string {
    return this.#base === 1 ? '[0 ' : '';
  }

  /** Moves past the current piece. */
  pass(piece: Buffer): void {
    this.offset += piece.length;
    this.#last = piece[piece.length - 1] as number;
    this.text = NOTHING;
  }

  /** Scans the next piece, which becomes the current one. */
  scan(piece: Buffer): void {
    const end = piece.length;
    const maxDepth = this.#maxDepth;
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let inRecord = this.inRecord;
    let isBare = this.isBare;
    let start = 0;
    // Start of the current string, and of the part that nests too deep; 0 if they began before the
    // piece.
    let stringStart = 0;
    let deepStart = 0;
    this.text = piece;

    for (let index = 0; index < end; index++) {
      let byte = piece[index] as number;

      if (inString) {
        if (escaped) {
          escaped = false;
          continue;
        }
        while (byte !== QUOTE) {
          if (byte === BACKSLASH) index++;
          index++;
          if (index >= end) break;
          byte = piece[index] as number;
        }
        if (index >= end) {
          escaped = index > end;
          break;
        }
        inString = false;
        if (depth === this.#base) {
          this.#endRecord(piece, start, index + 1);
          inRecord = false;
        } else if (depth > maxDepth) {
          // The JSON reader never sees this string, so it refuses no line feed in it.
          this.lineFeeds += countLineFeeds(piece.subarray(stringStart, index));
        }
        continue;
      }

      const kind = KINDS[byte];
      if (isBare && kind !== Kind.ordinary) {
        this.#endRecord(piece, start, index);
        inRecord = false;
        isBare = false;
      }
      switch (kind) {
        case Kind.blank:
          break;
        case Kind.lineBreak:
          this.spansLines = true;
          if (byte === LF) this.lineFeeds++;
          break;
        case Kind.comma:
          if (!inRecord && this.#base === 1) this.lead = '[0,';
          break;
        case Kind.close:
          if (inRecord) {
            if (depth === maxDepth + 1) this.#hide(piece, deepStart, index + 1);
            depth--;
            if (depth === this.#base) {
              this.#endRecord(piece, start, index + 1);
              inRecord = false;
            }
          } else if (byte === CLOSE_BRACKET && this.#base === 1) {
            depth = 0;
            this.#base = 0;
            this.lead = '';
          }
          break;
        case Kind.open:
          depth++;
          if (!inRecord) {
            if (byte === OPEN_BRACKET && this.#base === 0) {
              this.#base = 1;
              this.lead = '[';
            } else {
              start = this.#beginRecord(index);
              inRecord = true;
            }
          }
          if (depth === maxDepth + 1) deepStart = this.#beginDeep(piece, index);
          break;
        default:
          if (!inRecord) {
            start = this.#beginRecord(index);
            inRecord = true;
            isBare = kind === Kind.ordinary;
          }
          inString = kind === Kind.quote;
          stringStart = index;
      }
    }
    if (depth > maxDepth) {
      if (inString) this.lineFeeds += countLineFeeds(piece.subarray(stringStart));
      this.#hide(piece, deepStart, end);
    }

    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    this.inRecord = inRecord;
    this.isBare = isBare;
  }

  #beginRecord(index: number): number {
    this.records++;
    this.recordOffset = this.offset + index;
    this.recordLineFeeds = this.lineFeeds;
    this.spansLines = false;
    this.deepAfter = NOWHERE;
    return index;
  }

  #endRecord(piece: Buffer, start: number, end: number): void {
    this.lead = this.leadAfterRecord;
    this.#onRecord(piece, start, end);
  }

  /**
   * Notes the bracket or brace at `index`, which is beyond the depth limit, and puts a number in
   * its place in `text`. Returns the first byte to hide.
   */
  #beginDeep(piece: Buffer, index: number): number {
    if (this.deepAfter === NOWHERE) this.deepAfter = this.offset + index - this.recordOffset;
    const before = index === 0 ? this.#last : (piece[index - 1] as number);
    // After a digit, the number would look like its continuation. A bracket there is an error, so
    // it stays for the JSON reader to refuse.
    if (KINDS[before] === Kind.ordinary && before !== COLON) return index + 1;
    this.#textToChange(piece)[index] = DIGIT_0;
    return index + 1;
  }

  /** Replaces the bytes that nest too deep with spaces in `text`. */
  #hide(piece: Buffer, start: number, end: number): void {
    this.#textToChange(piece).fill(SPACE, start, end);
  }

  #textToChange(piece: Buffer): Buffer {
    if (this.text === piece) this.text = Buffer.from(piece);
    return this.text;
  }
}
