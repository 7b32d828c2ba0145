import { Transform, type TransformCallback } from 'node:stream';
import { RobotsFilterError } from '../../errors.js';
import { findFault, type JsonFault, JsonJudge } from './json-judge.js';
import {
  countLineFeeds,
  REFUSED_LINE_OCTETS,
  type Refusal,
  RefusedRecord,
  SHOWN_OCTETS,
  writeRefusedLine,
} from './refused-record.js';

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
const ZERO = 0x30;
const COLON = 0x3a;
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
 * A record that is longer than it may be, or nests deeper, comes out as a line that stands for a
 * refused record (RefusedRecord), and the run goes on behind it. Such a record must be JSON as
 * well; but of what nests too deeply only strings and the number of brackets are looked at.
 *
 * Memory: about four times the longest record that may be, and some pieces of 64 KiB.
 *
 * Errors, all `RobotsFilterError` `input`: the input is no JSON, or ends too early. Of the 64 KiB
 * around the error nothing comes out.
 */
export class JsonRecords extends Transform {
  readonly #name: string;
  readonly #maxRecordBytes: number;
  readonly #maxDepth: number;
  #judge = new JsonJudge();

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
  /** Octets of that record before the first bracket that is one too many; -1 if there is none. */
  #deepAfter = NOWHERE;
  /** That record, where it has not ended, and has been refused. */
  #refused: RefusedRecord | undefined;
  /**
   * The shortest text that brings a reader of JSON to where the record begins; outside records, to
   * here.
   */
  #lead = '';

  /** The octets of the unfinished record in earlier pieces. */
  #held: Buffer = NOTHING;
  #heldOctets = 0;

  /** The lines that the piece at hand has brought. */
  #lines: Buffer = NOTHING;
  #linesOctets = 0;
  /** Where the last record of the piece at hand ends; -1 if none does. */
  #settled = NOWHERE;
  /** Where the refused record that the piece at hand goes on with ends in it; -1 if it does not. */
  #refusedEnd = NOWHERE;
  /**
   * The piece at hand as the judge is to see it: what nests too deeply is a number and spaces
   * there.
   */
  #text: Buffer = NOTHING;
  /** The last octet before the piece at hand. */
  #last = SPACE;

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
    const refused = this.#refused;

    this.#frame(piece);
    if (refused === undefined) {
      const fault = this.#judgeFrom(0, lead, heldOctets);
      if (fault !== undefined) {
        const context = Buffer.concat([this.#held.subarray(0, heldOctets), piece]);
        this.#refuseSyntax(fault, context, this.#offset - heldOctets, lineFeeds);
      }
    } else {
      this.#judgeRefused(refused, piece, lineFeeds);
    }

    if (this.#linesOctets > 0) this.push(this.#lines.subarray(0, this.#linesOctets));
    this.#lines = NOTHING;
    this.#linesOctets = 0;
    const start = Math.max(this.#recordOffset - this.#offset, 0);
    if (this.#inRecord && this.#refused === undefined) {
      const refusal = this.#refusalOf(this.#heldOctets + piece.length - start);
      if (refusal === undefined) this.#hold(piece, start);
      else this.#refuse(refusal, piece, start);
    } else if (this.#held.length > KEPT_OCTETS) {
      this.#held = NOTHING;
    }
    this.#offset += piece.length;
    this.#last = piece[piece.length - 1] as number;
    this.#text = NOTHING;
  }

  /**
   * Lets the judge see the piece at hand from `start` on; returns the first fault, counted from the
   * held octets before it.
   */
  #judgeFrom(start: number, lead: string, heldOctets: number): JsonFault | undefined {
    const settled = this.#settled;
    try {
      if (settled >= start) {
        this.#judge.accept(this.#text, start, settled);
        this.#judge.settle();
      }
      this.#judge.accept(this.#text, Math.max(settled, start), this.#text.length);
      return undefined;
    } catch (cause) {
      const held = this.#held.subarray(0, heldOctets);
      const octets = Buffer.concat([held, this.#text.subarray(start)]);
      return findFault(lead, octets) ?? { offset: octets.length, reason: String(cause) };
    }
  }

  /** Judges a piece that goes on with a refused record, and what follows that. */
  #judgeRefused(refused: RefusedRecord, piece: Buffer, lineFeeds: number): void {
    const hasEnded = this.#refusedEnd !== NOWHERE;
    const end = hasEnded ? this.#refusedEnd : piece.length;
    const { tail } = refused;
    const fault =
      refused.accept(piece.subarray(0, end), this.#text.subarray(0, end)) ??
      (hasEnded ? refused.settle() : undefined);
    if (fault !== undefined) {
      const context = Buffer.concat([tail.octets, piece]);
      const offset = this.#offset - tail.octets.length;
      const inContext = { ...fault, offset: refused.offset + fault.offset - offset };
      this.#refuseSyntax(inContext, context, offset, tail.lineFeeds);
    }
    if (!hasEnded) return;
    // The judge has not seen the record to its end: another one begins behind it.
    this.#judge = new JsonJudge();
    this.#judge.accept(Buffer.from(refused.leadBehind), 0, refused.leadBehind.length);
    const later = this.#judgeFrom(end, refused.leadBehind, 0);
    if (later !== undefined) {
      const before = lineFeeds + countLineFeeds(piece.subarray(0, end));
      this.#refuseSyntax(later, piece.subarray(end), this.#offset + end, before);
    }
  }

  /**
   * Why a record that is as long as this, or longer, is refused; undefined if it is not. Whichever
   * bound it passes first counts.
   */
  #refusalOf(octets: number): Refusal | undefined {
    const isDeep = this.#deepAfter !== NOWHERE;
    if (isDeep && this.#deepAfter < this.#maxRecordBytes) return 'too deep';
    return octets > this.#maxRecordBytes ? 'too long' : undefined;
  }

  /**
   * Refuses the unfinished record, of which the piece at hand, which has been judged, has the last
   * octets from `start` on.
   */
  #refuse(refusal: Refusal, piece: Buffer, start: number): void {
    const held = this.#held.subarray(0, this.#heldOctets);
    const refused = new RefusedRecord({
      refusal,
      offset: this.#recordOffset,
      lineFeeds: this.#recordLineFeeds,
      lead: this.#lead,
      leadBehind: this.#base === 1 ? '[0 ' : '',
    });
    const fault =
      refused.accept(held, held) ??
      refused.accept(piece.subarray(start), this.#text.subarray(start));
    if (fault !== undefined) {
      const context = Buffer.concat([held, piece.subarray(start)]);
      this.#refuseSyntax(fault, context, this.#recordOffset, this.#recordLineFeeds);
    }
    this.#refused = refused;
    this.#held = NOTHING;
    this.#heldOctets = 0;
  }

  /**
   * Finds the ends of records in a piece, in one pass, and leaves what the judge is to see of it:
   * nothing beyond the bound on depth.
   */
  #frame(piece: Buffer): void {
    const end = piece.length;
    const maxDepth = this.#maxDepth;
    let depth = this.#depth;
    let base = this.#base;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let inRecord = this.#inRecord;
    let bare = this.#bare;
    let start = 0;
    // Where the string at hand, and what nests too deeply, begins or goes on.
    let stringStart = 0;
    let deepStart = 0;
    this.#settled = NOWHERE;
    this.#refusedEnd = NOWHERE;
    this.#text = piece;

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
          this.#endRecord(piece, start, index + 1, base);
          inRecord = false;
        } else if (depth > maxDepth) {
          // Nobody refuses a line feed in such a string.
          this.#lineFeeds += countLineFeeds(piece.subarray(stringStart, index));
        }
        continue;
      }

      const kind = KINDS[octet];
      if (bare && kind !== Kind.ordinary) {
        this.#endRecord(piece, start, index, base);
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
            if (depth === maxDepth + 1) this.#hide(piece, deepStart, index + 1);
            depth--;
            if (depth === base) {
              this.#endRecord(piece, start, index + 1, base);
              inRecord = false;
            }
          } else if (octet === CLOSE_BRACKET && base === 1) {
            depth = 0;
            base = 0;
            this.#lead = '';
          }
          break;
        case Kind.open:
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
          if (depth === maxDepth + 1) deepStart = this.#beginDeep(piece, index);
          break;
        default:
          if (!inRecord) {
            start = this.#beginRecord(index);
            inRecord = true;
            bare = kind === Kind.ordinary;
          }
          inString = kind === Kind.quote;
          stringStart = index;
      }
    }
    if (depth > maxDepth) {
      if (inString) this.#lineFeeds += countLineFeeds(piece.subarray(stringStart));
      this.#hide(piece, deepStart, end);
    }

    this.#depth = depth;
    this.#base = base;
    this.#inString = inString;
    this.#escaped = escaped;
    this.#inRecord = inRecord;
    this.#bare = bare;
  }

  /**
   * Takes note of a bracket or brace at `index` that is one too many; returns the first octet that
   * the judge is not to see as it is. That is where a value may begin, and the judge is to see a
   * number in its place, or is about to refuse it.
   */
  #beginDeep(piece: Buffer, index: number): number {
    if (this.#deepAfter === NOWHERE) this.#deepAfter = this.#offset + index - this.#recordOffset;
    const before = index === 0 ? this.#last : (piece[index - 1] as number);
    // Behind a digit the number would pass for its continuation. No value may begin there.
    if (KINDS[before] === Kind.ordinary && before !== COLON) return index + 1;
    this.#textToChange(piece)[index] = ZERO;
    return index + 1;
  }

  /** Has the judge see spaces in place of what nests too deeply. */
  #hide(piece: Buffer, start: number, end: number): void {
    this.#textToChange(piece).fill(SPACE, start, end);
  }

  #textToChange(piece: Buffer): Buffer {
    if (this.#text === piece) this.#text = Buffer.from(piece);
    return this.#text;
  }

  #beginRecord(index: number): number {
    this.#records++;
    this.#recordOffset = this.#offset + index;
    this.#recordLineFeeds = this.#lineFeeds;
    this.#folded = false;
    this.#deepAfter = NOWHERE;
    return index;
  }

  /**
   * Adds the record that goes on in `piece` from `start` to `end` to the lines, or the line that
   * stands for it.
   */
  #endRecord(piece: Buffer, start: number, end: number, base: number): void {
    if (this.#lines.length === 0) {
      // Records have one octet at least, refused ones two, and the line has at most three more.
      const before = Math.max(this.#heldOctets, SHOWN_OCTETS) + REFUSED_LINE_OCTETS;
      this.#lines = Buffer.allocUnsafeSlow(before + 3 * piece.length);
    }
    this.#settled = end;
    this.#lead = base === 1 ? '[0 ' : '';
    const refused = this.#refused;
    const refusal = refused?.refusal ?? this.#refusalOf(this.#heldOctets + end - start);
    if (refusal !== undefined) {
      const before = refused?.beginning ?? this.#held.subarray(0, this.#heldOctets);
      const beginning = beginningOf(before, piece.subarray(start, end));
      this.#linesOctets += writeRefusedLine(refusal, beginning, this.#lines, this.#linesOctets);
      if (refused !== undefined) this.#refusedEnd = end;
      this.#refused = undefined;
      this.#heldOctets = 0;
      return;
    }
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
  }

  /** Keeps what `piece` has of the unfinished record, from `start` on. */
  #hold(piece: Buffer, start: number): void {
    const octets = this.#heldOctets + piece.length - start;
    if (octets > this.#held.length) {
      // Doubling makes all copying together linear; the bound makes the buffer no longer than a
      // record can be.
      const wanted = Math.min(2 * octets, this.#maxRecordBytes + PIECE_OCTETS);
      const held = Buffer.allocUnsafeSlow(Math.max(wanted, octets));
      this.#held.copy(held, 0, 0, this.#heldOctets);
      this.#held = held;
    }
    piece.copy(this.#held, this.#heldOctets, start);
    this.#heldOctets = octets;
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

  /** `octets`, in which the fault is, begin at `offset` and have `lineFeeds` before them. */
  #refuseSyntax(fault: JsonFault, octets: Buffer, offset: number, lineFeeds: number): never {
    const found = octets[fault.offset];
    const line = lineFeeds + countLineFeeds(octets.subarray(0, fault.offset)) + 1;
    throw new RobotsFilterError(
      'input',
      `${this.#name}: byte ${offset + fault.offset} (line ${line}): this is no JSON: ${fault.reason}` +
        `${found === undefined ? '' : `, found ${nameOctet(found)}`}. ` +
        'Mend it there; or if the input is no JSON as a whole, say --input ndjson ' +
        '(one object a line) or --input text (one URL a line).',
    );
  }
}

/**
 * The octets that the line of a refused record shows, of which some came before the piece at hand.
 */
function beginningOf(before: Buffer, here: Buffer): Buffer {
  if (before.length === 0) return here.subarray(0, SHOWN_OCTETS);
  return Buffer.concat([before.subarray(0, SHOWN_OCTETS), here.subarray(0, SHOWN_OCTETS)]);
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
