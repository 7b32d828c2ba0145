import { Transform, type TransformCallback } from 'node:stream';
import { RobotsFilterError } from '../../errors.js';
import { findFault, JsonJudge } from './json-judge.js';

/** How deep brackets and braces may nest unless told otherwise. */
export const DEFAULT_MAX_DEPTH = 1_000;
/** The longest record, in octets, unless told otherwise. */
export const DEFAULT_MAX_RECORD_BYTES = 16 * 1024 * 1024;

export interface JsonRecordsOptions {
  /** The input, as error messages are to name it. */
  readonly name: string;
  /** The longest record in octets, as it stands in the input. Default 16 MiB. */
  readonly maxRecordBytes?: number;
  /** How deep brackets and braces may nest, an array around the records included. Default 1,000. */
  readonly maxDepth?: number;
}

/** Chunks are worked off in pieces of so many octets: it bounds the strings and buffers made. */
const PIECE_OCTETS = 65_536;
/** What holds an unfinished record is kept for the next one unless it has grown beyond this. */
const KEPT_OCTETS = 1024 * 1024;
const NOTHING = Buffer.alloc(0);
const NOWHERE = -1;

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;

/** What an octet outside strings is to the framing. */
const Kind = {
  ordinary: 0,
  blank: 1,
  lineBreak: 2,
  quote: 3,
  open: 4,
  close: 5,
  comma: 6,
} as const;

const KINDS = new Uint8Array(256);
for (const [characters, kind] of [
  [' \t', Kind.blank],
  ['\n\r', Kind.lineBreak],
  ['"', Kind.quote],
  ['{[', Kind.open],
  ['}]', Kind.close],
  [',', Kind.comma],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;
}

/**
 * Turns JSON into NDJSON: octets in, octets out, one record a line.
 *
 * The input is JSON values one after another, with or without white space between them. The
 * elements of an array are records, and so is every value that is no array. Arrays within an
 * array are not taken apart. Records that are neither object nor string come out as they are:
 * whoever reads the lines decides what they are worth.
 *
 * A record comes out byte for byte as it came: its members in their order, duplicates too,
 * numbers and escapes as they were spelt, octets that are not UTF-8. Only if it spans several
 * lines does the white space outside its strings go, since it must come to stand on one.
 *
 * The tokens of a JSON parser have lost their spelling. So a scan of our own, which knows
 * strings and nesting and no more, finds where records end, while stream-json gets the same
 * octets and judges whether they are JSON. On octets that are no JSON the scan's findings mean
 * nothing; hence no record leaves before stream-json has accepted everything up to its end.
 *
 * Memory: about four times the longest record at most, and some pieces of 64 KiB.
 *
 * Errors, all `RobotsFilterError`: `input` where the input is no JSON, ends too early or nests
 * too deeply; `limit` where a record is longer than it may be. Of the 64 KiB around the error
 * nothing comes out.
 */
export class JsonRecords extends Transform {
  readonly #name: string;
  readonly #maxRecordBytes: number;
  readonly #maxDepth: number;
  readonly #judge = new JsonJudge();

  /** Octets and line feeds before the piece at hand. */
  #offset = 0;
  #lineFeeds = 0;

  /** Brackets and braces that are open. */
  #depth = 0;
  /** The depth at which records stand: 1 within an array, else 0. */
  #base = 0;
  #inString = false;
  #escaped = false;

  #inRecord = false;
  /** Whether the record is a number or a word, which goes on until something else begins. */
  #bare = false;
  /** Whether the record has a line break outside its strings. */
  #folded = false;
  /** Records that have begun. */
  #records = 0;
  /** Where the last of them begins, and the line feeds before it. */
  #recordOffset = 0;
  #recordLineFeeds = 0;
  /** The shortest text that brings a reader of JSON to where the record begins; outside records, to here. */
  #lead = '';

  /** The octets of the unfinished record in earlier pieces. */
  #held: Buffer = NOTHING;
  #heldOctets = 0;

  /** The lines that the piece at hand has brought. */
  #lines: Buffer = NOTHING;
  #linesOctets = 0;
  /** Where the last record of the piece at hand ends; -1 if none does. */
  #settled = NOWHERE;
  #failure: RobotsFilterError | undefined;

  constructor(options: JsonRecordsOptions) {
    super({ readableHighWaterMark: 2 * PIECE_OCTETS, writableHighWaterMark: PIECE_OCTETS });
    this.#name = options.name;
    this.#maxRecordBytes = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
    this.#maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    try {
      for (let start = 0; start < chunk.length; start += PIECE_OCTETS) {
        this.#take(chunk.subarray(start, start + PIECE_OCTETS));
      }
      callback();
    } catch (error) {
      callback(error as Error);
    }
  }

  override _flush(callback: TransformCallback): void {
    try {
      const end = this.#offset;
      // A number or word at the very end has nothing after it that would end it.
      if (this.#bare) this.#take(Buffer.from(' '));
      if (this.#depth > 0 || this.#inRecord) this.#refuseEnd(end);
      callback();
    } catch (error) {
      callback(error as Error);
    }
  }

  #take(piece: Buffer): void {
    const lead = this.#lead;
    const heldOctets = this.#heldOctets;
    const lineFeeds = heldOctets > 0 ? this.#recordLineFeeds : this.#lineFeeds;

    const end = this.#frame(piece);
    const settled = this.#settled;
    try {
      if (settled !== NOWHERE) {
        this.#judge.accept(piece, 0, settled);
        this.#judge.settle();
      }
      this.#judge.accept(piece, Math.max(settled, 0), end);
    } catch (cause) {
      const context = Buffer.concat([this.#held.subarray(0, heldOctets), piece.subarray(0, end)]);
      this.#refuseSyntax(lead, context, this.#offset - heldOctets, lineFeeds, cause);
    }
    if (this.#failure !== undefined) throw this.#failure;

    if (this.#linesOctets > 0) this.push(this.#lines.subarray(0, this.#linesOctets));
    this.#lines = NOTHING;
    this.#linesOctets = 0;
    const start = Math.max(this.#recordOffset - this.#offset, 0);
    this.#offset += piece.length;
    if (this.#inRecord) {
      this.#hold(piece, start);
    } else if (this.#held.length > KEPT_OCTETS) {
      this.#held = NOTHING;
    }
  }

  /**
   * Finds the ends of records in a piece, in one pass. Bounds depth and length, so that nothing
   * beyond the bounds is handed to the judge.
   *
   * @returns how much of the piece the judge is to see: all, unless `#failure` is set
   */
  #frame(piece: Buffer): number {
    const end = piece.length;
    let depth = this.#depth;
    let base = this.#base;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let inRecord = this.#inRecord;
    let bare = this.#bare;
    let start = 0;
    this.#settled = NOWHERE;

    let index = 0;
    for (; index < end; index++) {
      let octet = piece[index] as number;

      if (inString) {
        if (escaped) {
          escaped = false;
          continue;
        }
        while (octet !== QUOTE) {
          if (octet === BACKSLASH) index++;
          index++;
          if (index >= end) break;
          octet = piece[index] as number;
        }
        if (index >= end) {
          escaped = index > end;
          break;
        }
        inString = false;
        if (depth === base) {
          if (!this.#endRecord(piece, start, index + 1, base)) return this.#refuseLength(start);
          inRecord = false;
        }
        continue;
      }

      const kind = KINDS[octet];
      if (bare && kind !== Kind.ordinary) {
        if (!this.#endRecord(piece, start, index, base)) return this.#refuseLength(start);
        inRecord = false;
        bare = false;
      }
      switch (kind) {
        case Kind.blank:
          break;
        case Kind.lineBreak:
          this.#folded = true;
          if (octet === LINE_FEED) this.#lineFeeds++;
          break;
        case Kind.comma:
          if (!inRecord && base === 1) this.#lead = '[0,';
          break;
        case Kind.close:
          if (inRecord) {
            depth--;
            if (depth === base) {
              if (!this.#endRecord(piece, start, index + 1, base)) return this.#refuseLength(start);
              inRecord = false;
            }
          } else if (octet === CLOSE_BRACKET && base === 1) {
            depth = 0;
            base = 0;
            this.#lead = '';
          }
          break;
        case Kind.open:
          if (depth === this.#maxDepth) return this.#refuseDepth(index, inRecord ? start : index);
          depth++;
          if (!inRecord) {
            if (octet === OPEN_BRACKET && base === 0) {
              base = 1;
              this.#lead = '[';
            } else {
              start = this.#beginRecord(index);
              inRecord = true;
            }
          }
          break;
        default:
          if (!inRecord) {
            start = this.#beginRecord(index);
            inRecord = true;
            bare = kind === Kind.ordinary;
          }
          inString = kind === Kind.quote;
      }
    }

    this.#depth = depth;
    this.#base = base;
    this.#inString = inString;
    this.#escaped = escaped;
    this.#inRecord = inRecord;
    this.#bare = bare;
    const tooLong = inRecord && this.#heldOctets + end - start > this.#maxRecordBytes;
    return tooLong ? this.#refuseLength(start) : end;
  }

  #beginRecord(index: number): number {
    this.#records++;
    this.#recordOffset = this.#offset + index;
    this.#recordLineFeeds = this.#lineFeeds;
    this.#folded = false;
    return index;
  }

  /** Adds the record that goes on in `piece` from `start` to `end` to the lines; false if it is too long. */
  #endRecord(piece: Buffer, start: number, end: number, base: number): boolean {
    if (this.#heldOctets + end - start > this.#maxRecordBytes) return false;
    if (this.#lines.length === 0) {
      // A record has one octet at least, so that the line feeds at most double what is there.
      this.#lines = Buffer.allocUnsafeSlow(this.#heldOctets + 2 * piece.length);
    }
    this.#settled = end;
    let record = piece;
    if (this.#heldOctets > 0) {
      this.#hold(piece.subarray(0, end), start);
      record = this.#held;
      start = 0;
      end = this.#heldOctets;
      this.#heldOctets = 0;
    }
    this.#linesOctets += this.#folded
      ? copyUnfolded(record, start, end, this.#lines, this.#linesOctets)
      : record.copy(this.#lines, this.#linesOctets, start, end);
    this.#lines[this.#linesOctets++] = LINE_FEED;
    this.#lead = base === 1 ? '[0 ' : '';
    return true;
  }

  /** Keeps what `piece` has of the unfinished record, from `start` on. */
  #hold(piece: Buffer, start: number): void {
    const octets = this.#heldOctets + piece.length - start;
    if (octets > this.#held.length) {
      // Doubling makes all copying together linear; the bound makes the buffer no longer than a record can be.
      const wanted = Math.min(2 * octets, this.#maxRecordBytes + PIECE_OCTETS);
      const held = Buffer.allocUnsafeSlow(Math.max(wanted, octets));
      this.#held.copy(held, 0, 0, this.#heldOctets);
      this.#held = held;
    }
    piece.copy(this.#held, this.#heldOctets, start);
    this.#heldOctets = octets;
  }

  /** The record that goes on at `start` of the piece is too long: the judge is to see what it may hold. */
  #refuseLength(start: number): number {
    this.#failure = new RobotsFilterError(
      'limit',
      `${this.#name}: record ${this.#records}, which begins at byte ${this.#recordOffset} ` +
        `(line ${this.#recordLineFeeds + 1}), is longer than ${this.#maxRecordBytes} bytes. ` +
        'Raise the bound with --max-line-bytes, or take the record out of the input.',
    );
    return start + this.#maxRecordBytes - this.#heldOctets;
  }

  /** The bracket or brace at `index` is one too many; the record that it is in goes on at `start`. */
  #refuseDepth(index: number, start: number): number {
    if (this.#heldOctets + index - start > this.#maxRecordBytes) return this.#refuseLength(start);
    this.#failure = new RobotsFilterError(
      'input',
      `${this.#name}: byte ${this.#offset + index} (line ${this.#lineFeeds + 1}): ` +
        `brackets and braces nest more than ${this.#maxDepth} deep. ` +
        `Take record ${this.#records} out of the input, or flatten it.`,
    );
    this.#settled = index + 1;
    return index + 1;
  }

  #refuseEnd(offset: number): never {
    const where = this.#inRecord
      ? `within record ${this.#records}, which begins at byte ${this.#recordOffset} (line ${this.#recordLineFeeds + 1})`
      : 'within an array';
    throw new RobotsFilterError(
      'input',
      `${this.#name}: byte ${offset} (line ${this.#lineFeeds + 1}): the input ends ${where}. ` +
        'It has been cut off: fetch or write it again, or close what is open.',
    );
  }

  /** `octets` begin at `offset`, have `lineFeeds` before them, and are no JSON when they follow on `lead`. */
  #refuseSyntax(
    lead: string,
    octets: Buffer,
    offset: number,
    lineFeeds: number,
    cause: unknown,
  ): never {
    const fault = findFault(lead, octets) ?? { offset: octets.length, reason: String(cause) };
    const found = octets[fault.offset];
    let line = lineFeeds + 1;
    for (const octet of octets.subarray(0, fault.offset)) if (octet === LINE_FEED) line++;
    throw new RobotsFilterError(
      'input',
      `${this.#name}: byte ${offset + fault.offset} (line ${line}): this is no JSON: ${fault.reason}` +
        `${found === undefined ? '' : `, found ${nameOctet(found)}`}. ` +
        'Mend it there; or if the input is no JSON as a whole, say --input ndjson ' +
        '(one object a line) or --input text (one URL a line).',
      { cause },
    );
  }
}

/** Copies a record without the white space outside its strings, and returns the octets copied. */
function copyUnfolded(
  record: Buffer,
  start: number,
  end: number,
  target: Buffer,
  targetStart: number,
): number {
  let write = targetStart;
  let inString = false;
  for (let index = start; index < end; index++) {
    const octet = record[index] as number;
    if (inString) {
      if (octet === BACKSLASH) {
        target[write++] = octet;
        index++;
        target[write++] = record[index] as number;
        continue;
      }
      inString = octet !== QUOTE;
    } else {
      const kind = KINDS[octet];
      if (kind === Kind.blank || kind === Kind.lineBreak) continue;
      inString = kind === Kind.quote;
    }
    target[write++] = octet;
  }
  return write - targetStart;
}

function nameOctet(octet: number): string {
  return octet > SPACE && octet < 0x7f
    ? String.fromCharCode(octet)
    : `the byte 0x${octet.toString(16).padStart(2, '0')}`;
}
