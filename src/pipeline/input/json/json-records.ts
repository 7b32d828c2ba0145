import { SPACE } from '../../../ascii.js';
import { RobotsFilterError } from '../../../errors.js';
import { DEFAULT_MAX_LINE_BYTES } from '../../limits.js';
import type { ChunkSource } from '../chunks.js';
import type { LinesOptions } from '../format.js';
import { HeldRecord } from './held-record.js';
import { findFault, type JsonFault, JsonValidator } from './json-validator.js';
import { RecordLines } from './record-lines.js';
import { RecordScanner } from './record-scanner.js';
import { countLineFeeds, type Refusal, RefusedRecord, SHOWN_BYTES } from './refused-record.js';

/** Default depth to which brackets and braces may nest, including an array around the records. */
export const DEFAULT_MAX_DEPTH = 1_000;

/** Chunks are processed in pieces of this size, which bounds the strings and buffers made. */
const PIECE_BYTES = 65_536;
const NOWHERE = -1;
const NOTHING = Buffer.alloc(0);

/**
 * Turns JSON into NDJSON: bytes in, bytes out, one record per line.
 *
 * The input is JSON values one after another, with or without white space between them. The
 * elements of an array are records, and so is every value that is not an array. An array within an
 * array is one record. A record may be any value; the reader of the lines decides what it means.
 *
 * A record comes out byte for byte: members in their order, duplicates, the spelling of numbers and
 * escapes, bytes that are not UTF-8. A record that spans lines loses the white space outside its
 * strings, because it must fit on one line.
 *
 * The tokens of a JSON parser have lost their spelling. So `RecordScanner` finds the ends of
 * records, and stream-json checks that the same bytes are JSON. No record comes out before
 * stream-json has accepted everything up to its end.
 *
 * A record that is too long or nests too deep comes out as a line that stands for it
 * (REFUSED_RECORD), and the run continues after it. That record must be JSON as well. Beyond the
 * depth limit, only strings and the number of brackets are checked.
 *
 * The memory is about four times the longest record allowed, and some pieces of 64 KiB.
 *
 * The source fails with a `RobotsFilterError` `input` if the input is not JSON or ends too early.
 * The records that end before the error come out first.
 */
export class JsonRecords implements ChunkSource {
  readonly #chunks: ChunkSource;
  readonly #name: string;
  readonly #maxRecordBytes: number;
  readonly #scanner: RecordScanner;
  readonly #held: HeldRecord;
  readonly #lines = new RecordLines();
  #validator = new JsonValidator();
  /** The part of the last chunk that has not been read. */
  #rest: Buffer = NOTHING;
  #ended = false;
  /** Why the bytes after the lines that came out are not JSON. */
  #failure: RobotsFilterError | undefined;

  /** The current record, if it has been refused before its end. */
  #refused: RefusedRecord | undefined;
  /** End of the last record that ends in the current piece; -1 if none does. */
  #settled = NOWHERE;
  /**
   * End, in the current piece, of the refused record that began before it; -1 if it does not end
   * there.
   */
  #refusedEnd = NOWHERE;

  /** @param chunks the bytes of the input */
  constructor(chunks: ChunkSource, { name, maxRecordBytes, maxDepth }: LinesOptions) {
    this.#chunks = chunks;
    this.#name = name;
    this.#maxRecordBytes = maxRecordBytes ?? DEFAULT_MAX_LINE_BYTES;
    this.#held = new HeldRecord(this.#maxRecordBytes + PIECE_BYTES);
    this.#scanner = new RecordScanner(maxDepth ?? DEFAULT_MAX_DEPTH, (piece, start, end) =>
      this.#endRecord(piece, start, end),
    );
  }

  async next(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#rest.length === 0) {
        if (this.#ended) return undefined;
        const chunk = await this.#chunks.next();
        if (chunk === undefined) return this.#finish();
        this.#rest = chunk;
      }
      const lines = this.#linesOf(this.#rest.subarray(0, PIECE_BYTES));
      this.#rest = this.#rest.subarray(PIECE_BYTES);
      if (lines !== undefined) return lines;
    }
  }

  abandon(): Promise<void> {
    return this.#chunks.abandon();
  }

  /** Returns the last line, if there is one that only the end of the input ends. */
  #finish(): Buffer | undefined {
    this.#ended = true;
    const end = this.#scanner.offset;
    // A number or word at the very end has no byte after it that would end it.
    const lines = this.#scanner.isBare ? this.#linesOf(Buffer.from(' ')) : undefined;
    if (this.#failure === undefined && this.#scanner.isOpen) this.#failure = this.#cutOff(end);
    if (lines === undefined && this.#failure !== undefined) throw this.#failure;
    return lines;
  }

  /** Returns the lines of the records that end in the next piece. */
  #linesOf(piece: Buffer): Buffer | undefined {
    try {
      this.#take(piece);
    } catch (error) {
      if (!(error instanceof RobotsFilterError)) throw error;
      this.#failure = error;
    }
    return this.#lines.take();
  }

  #take(piece: Buffer): void {
    const scanner = this.#scanner;
    const { lead } = scanner;
    const held = this.#held.bytes;
    const lineFeeds = held.length > 0 ? scanner.recordLineFeeds : scanner.lineFeeds;
    const refused = this.#refused;

    this.#settled = NOWHERE;
    this.#refusedEnd = NOWHERE;
    scanner.scan(piece);
    if (refused === undefined) {
      const fault = this.#validateFrom(0, lead, held);
      if (fault !== undefined) {
        const bytes = Buffer.concat([held, piece]);
        this.#keepRecords(lead, bytes.subarray(0, fault.offset));
        this.#failAt(fault, bytes, scanner.offset - held.length, lineFeeds);
      }
    } else {
      this.#validateRefused(refused, piece, lineFeeds);
    }

    const start = Math.max(scanner.recordOffset - scanner.offset, 0);
    if (scanner.inRecord && this.#refused === undefined) {
      const refusal = this.#refusalOf(this.#held.length + piece.length - start);
      if (refusal === undefined) this.#held.append(piece.subarray(start));
      else this.#refuse(refusal, piece, start);
    } else {
      this.#held.shrink();
    }
    scanner.pass(piece);
  }

  /**
   * Has the validator check the current piece from `start` on. Returns the first fault, counted
   * from the start of `held`, the bytes before the piece.
   */
  #validateFrom(start: number, lead: string, held: Buffer): JsonFault | undefined {
    const settled = this.#settled;
    const { text } = this.#scanner;
    try {
      if (settled >= start) {
        this.#validator.accept(text, start, settled);
        this.#validator.settle();
      }
      this.#validator.accept(text, Math.max(settled, start), text.length);
      return undefined;
    } catch (cause) {
      const bytes = Buffer.concat([held, text.subarray(start)]);
      return findFault(lead, bytes) ?? { offset: bytes.length, reason: String(cause) };
    }
  }

  /** Checks a piece that begins in a refused record, and the bytes after that record. */
  #validateRefused(refused: RefusedRecord, piece: Buffer, lineFeeds: number): void {
    const { offset, text } = this.#scanner;
    const hasEnded = this.#refusedEnd !== NOWHERE;
    const end = hasEnded ? this.#refusedEnd : piece.length;
    const { tail } = refused;
    const fault =
      refused.accept(piece.subarray(0, end), text.subarray(0, end)) ??
      (hasEnded ? refused.settle() : undefined);
    if (fault !== undefined) {
      const context = Buffer.concat([tail.bytes, piece]);
      const contextOffset = offset - tail.bytes.length;
      this.#lines.keep(0);
      const inContext = { ...fault, offset: refused.offset + fault.offset - contextOffset };
      this.#failAt(inContext, context, contextOffset, tail.lineFeeds);
    }
    if (!hasEnded) return;
    // The validator has not seen the end of the record, so a new validator begins after it.
    this.#validator = new JsonValidator();
    this.#validator.accept(Buffer.from(refused.leadAfter), 0, refused.leadAfter.length);
    const later = this.#validateFrom(end, refused.leadAfter, Buffer.alloc(0));
    if (later !== undefined) {
      const before = lineFeeds + countLineFeeds(piece.subarray(0, end));
      const bytes = piece.subarray(end);
      this.#keepRecords(refused.leadAfter, bytes.subarray(0, later.offset), 1);
      this.#failAt(later, bytes, offset + end, before);
    }
  }

  /**
   * The reason to refuse a record of at least this length; `undefined` if there is none. The limit
   * that the record passes first decides.
   */
  #refusalOf(bytes: number): Refusal | undefined {
    const { deepAfter } = this.#scanner;
    if (deepAfter !== NOWHERE && deepAfter < this.#maxRecordBytes) return 'too deep';
    return bytes > this.#maxRecordBytes ? 'too long' : undefined;
  }

  /**
   * Refuses the unfinished record. Its last bytes are in the current piece from `start` on, and
   * have been checked.
   */
  #refuse(refusal: Refusal, piece: Buffer, start: number): void {
    const scanner = this.#scanner;
    const held = this.#held.bytes;
    const refused = new RefusedRecord({
      refusal,
      offset: scanner.recordOffset,
      lineFeeds: scanner.recordLineFeeds,
      lead: scanner.lead,
      leadAfter: scanner.leadAfterRecord,
    });
    const fault =
      refused.accept(held, held) ??
      refused.accept(piece.subarray(start), scanner.text.subarray(start));
    if (fault !== undefined) {
      const context = Buffer.concat([held, piece.subarray(start)]);
      this.#failAt(fault, context, scanner.recordOffset, scanner.recordLineFeeds);
    }
    this.#refused = refused;
    this.#held.release();
  }

  /**
   * Adds the line of the record that ends in `piece`, where the record lies from `start` to `end`.
   */
  #endRecord(piece: Buffer, start: number, end: number): void {
    const held = this.#held;
    this.#lines.reserve(held.length, piece.length);
    this.#settled = end;
    const refused = this.#refused;
    const refusal = refused?.refusal ?? this.#refusalOf(held.length + end - start);
    if (refusal !== undefined) {
      const before = refused?.beginning ?? held.bytes;
      this.#lines.addRefused(refusal, shownOf(before, piece.subarray(start, end)));
      if (refused !== undefined) this.#refusedEnd = end;
      this.#refused = undefined;
    } else if (held.length > 0) {
      held.append(piece.subarray(start, end));
      this.#lines.addRecord(held.bytes, 0, held.length, this.#scanner.spansLines);
    } else {
      this.#lines.addRecord(piece, start, end, this.#scanner.spansLines);
    }
    held.clear();
  }

  /**
   * Keeps the lines of the records that end in `bytes`, and of `before` earlier ones.
   *
   * @param bytes the bytes before a fault
   * @param lead text that brings a scanner into the state before `bytes`
   */
  #keepRecords(lead: string, bytes: Buffer, before = 0): void {
    let records = before;
    const scanner = new RecordScanner(Number.POSITIVE_INFINITY, (piece) => {
      if (piece === bytes) records++;
    });
    scanner.scan(Buffer.from(lead));
    scanner.scan(bytes);
    this.#lines.keep(records);
  }

  #cutOff(offset: number): RobotsFilterError {
    const { inRecord, records, recordOffset, recordLineFeeds, lineFeeds } = this.#scanner;
    const where = inRecord
      ? `within record ${records}, which begins at byte ${recordOffset} (line ${recordLineFeeds + 1})`
      : 'within an array';
    return new RobotsFilterError(
      'input',
      `${this.#name}: byte ${offset} (line ${lineFeeds + 1}): the input ends ${where}. ` +
        'It is truncated: fetch or write it again, or close the open brackets and strings.',
    );
  }

  /**
   * Fails at a fault. `bytes` contain the fault, begin at `offset`, and have `lineFeeds` before
   * them.
   */
  #failAt(fault: JsonFault, bytes: Buffer, offset: number, lineFeeds: number): never {
    const found = bytes[fault.offset];
    const line = lineFeeds + countLineFeeds(bytes.subarray(0, fault.offset)) + 1;
    throw new RobotsFilterError(
      'input',
      `${this.#name}: byte ${offset + fault.offset} (line ${line}): this is not JSON: ${fault.reason}` +
        `${found === undefined ? '' : `, found ${nameByte(found)}`}. ` +
        'Correct it there. If the whole input is something else, use --input ndjson ' +
        '(one object per line) or --input text (one URL per line).',
    );
  }
}

/** The bytes of a refused record that its line shows. `before` came before the current piece. */
function shownOf(before: Buffer, here: Buffer): Buffer {
  if (before.length === 0) return here.subarray(0, SHOWN_BYTES);
  return Buffer.concat([before.subarray(0, SHOWN_BYTES), here.subarray(0, SHOWN_BYTES)]);
}

function nameByte(byte: number): string {
  return byte > SPACE && byte < 0x7f
    ? String.fromCharCode(byte)
    : `the byte 0x${byte.toString(16).padStart(2, '0')}`;
}
