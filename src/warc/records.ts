/** Splits the bytes of a WARC file into records, and searches for the next one after damage. */

import { CR, DOT, LF } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { startsWith } from '../files/magic.js';
import { ARC_MAGIC } from '../files/unsupported-formats.js';
import { endOfHeader } from '../http/response.js';
import { LONGEST_HEADER, parseWarcHeader, type WarcHeader } from './header.js';

/** A record that is followed by another record, or by the end. */
export interface WarcRecord {
  readonly header: WarcHeader;
  /** Offset of the record in the file, in bytes. */
  readonly offset: number;
  /**
   * Offset after the record, or after its gzip member or zstd frame. `undefined` if the record
   * shares its member or frame with others, or if these are damaged.
   */
  readonly end: number | undefined;
  /** Whether the data after the block was damaged, so that a checksum did not tell about it. */
  readonly isDoubtful: boolean;
  /** The first bytes of the block, as many as were wanted. The next call overwrites them. */
  readonly block: Buffer;
}

/** What becomes of records. */
export interface RecordHandler {
  /** Whether headers are read whole, also of types that hold no captures. Default false. */
  readonly ofAllTypes?: boolean;
  /**
   * The number of bytes of the block that are wanted; 0 if the record is not.
   *
   * @param offset where the record lies in the file, in bytes
   * @param isAlone whether the record can be read alone, from its offset: in a plain file, or at
   *   the beginning of a gzip member or zstd frame
   */
  wanted(header: WarcHeader, offset: number, isAlone: boolean): number;
  /** Takes a wanted record. */
  take(record: WarcRecord): void;
  /** Notes damage. `isCapture` tells whether a wanted record was lost. */
  damage(offset: number, reason: string, isCapture: boolean): void;
  /** Completes work that `take` could not do at once. Readers wait for it between pieces. */
  settle(): Promise<void> | undefined;
}

/** The bytes of an open file. */
export interface ByteSource {
  /** Length of the file in bytes when it was opened. */
  readonly length: number;
  /**
   * Reads into a buffer from an offset of the file; resolves to the number of bytes read, 0 at the
   * end.
   *
   * @throws Error if the system cannot read, or if the file was truncated
   */
  read(offset: number, buffer: Buffer): Promise<number>;
}

/** Bytes in and out that are decoded in vain, at most. */
const MOST_IN_VAIN = 64 * 1024 * 1024;

/** What a member that cannot be decoded costs besides its bytes, in bytes: a new decoder. */
const DECODER_COST = 8 * 1024;

/** Bytes that are then skipped after each place that cannot be decoded, at least. */
const SKIPPED = 4 * 1024;

/**
 * Tells where to search on after a damaged gzip member or zstd frame. Nobody knows where it ends,
 * so the search goes on within it. A file of overlapping beginnings would be decoded again and
 * again: after a limit, the search goes on where the decoder stopped, so the time stays linear.
 */
export class DamageSearch {
  #inVain = 0;

  /**
   * The offset at which to search on.
   *
   * @param end up to where the decoder has read
   * @param output bytes that came out of it
   */
  next(start: number, end: number, output: number): number {
    const cost = Math.max(0, end - start) + output + DECODER_COST;
    if (this.#inVain + cost > MOST_IN_VAIN) return Math.max(start + SKIPPED, end);
    this.#inVain += cost;
    return start + 1;
  }
}

/**
 * Maximum number of times that a file is read again from the block of a record with a wrong length.
 */
const MAX_REWINDS = 1000;

/** Consecutive bytes of a WARC file, decompressed. */
interface Piece {
  readonly bytes: Buffer;
  /** The offset of the first byte, or of the gzip member or zstd frame. */
  readonly offset: number;
  /** The offset after a gzip member or zstd frame. Of one in parts, `endMember` tells. */
  readonly end?: number;
  /** Whether a part is the first one of its member or frame. */
  readonly isFirst?: boolean;
  /**
   * - `plain`: bytes of the file itself, any of which can be read again.
   * - `member`: all bytes of a gzip member or zstd frame, which usually is one record.
   * - `part`: some bytes of a gzip member or zstd frame.
   */
  readonly kind: 'plain' | 'member' | 'part';
}

/** A record whose end has not been seen yet. */
interface OpenRecord {
  readonly header: WarcHeader;
  readonly offset: number;
  /** Offset of the block in the file; `undefined` if the block is compressed. */
  readonly blockOffset: number | undefined;
  /** Offset of the block in the piece in which the record began. */
  readonly blockStart: number;
  /**
   * Whether the record begins its member. If the record is damaged, the rest of the member is not
   * searched for records: a body could hold a text that looks like a record of another host.
   */
  readonly ownsMember: boolean;
  /** Whether the record begins a gzip member or zstd frame, in parts or not. */
  readonly beginsMember: boolean;
  /** The offset after the member or frame with which the record ends. */
  memberEnd: number | undefined;
  /** What follows the block, as `#lineEnds` has it. */
  readonly lineEnds: number;
  readonly isWanted: boolean;
  /** Number of bytes of the block that are wanted. */
  readonly wanted: number;
  /** A view of the piece, or separate memory. */
  block: Buffer;
  isCopied: boolean;
  /** Number of bytes of `block` that are filled. */
  filled: number;
  /** Number of bytes of the block that are still to come. */
  left: number;
}

type State = 'between' | 'within' | 'lost';

/** The two line ends after a block, as `#lineEnds` has them. */
const TWO_CR_LF = 0x0d0a0d0a;
const TWO_LF = 0x0a0a;

/**
 * Splits the bytes of a WARC file into records, in whatever pieces the bytes come. The memory holds
 * a header and the wanted bytes of one block.
 *
 * Content-Length alone ends a block, so no text in a body is taken for a record. A record counts
 * only if two line ends, another record or the end follow it. Otherwise its length is wrong: the
 * record is damaged, and reading continues at the next line that begins a record.
 */
export class RecordSplitter {
  readonly #handler: RecordHandler;
  readonly #fileLength: number;
  #state: State = 'between';
  #open: OpenRecord | undefined;
  /** Whether the open record began in the current piece. */
  #isNew = false;
  /** The beginning of a header at the end of the last piece. */
  #carry = Buffer.alloc(0);
  #carryOffset = 0;
  /** Whether the carry begins a line. */
  #isCarryLine = true;
  /** Whether the carry begins a gzip member or zstd frame. */
  #isCarryFirst = false;
  #rewinds = 0;
  /** The first line ends after the open record's block, up to four bytes as one number. */
  #lineEnds = 0;
  /** Offset at which reading continues, if the next bytes are not needed. */
  #next: number | undefined;

  /** @param fileLength length of the file in bytes; Infinity if unknown */
  constructor(handler: RecordHandler, fileLength: number) {
    this.#handler = handler;
    this.#fileLength = fileLength;
  }

  /**
   * Takes the next bytes.
   *
   * @returns the offset of the next plain bytes that are needed; `undefined` for those that follow
   * @throws ArcFileError if the file is an ARC file
   */
  push(piece: Piece): number | undefined {
    const { bytes, kind } = piece;
    this.#next = undefined;
    if (kind === 'member' && beginsRecord(bytes, 0)) this.restart();
    this.#isNew = false;
    const carry = this.#carry;
    if (carry.length === 0) {
      this.#split(piece, 0);
    } else {
      this.#carry = Buffer.alloc(0);
      const joined = Buffer.concat([carry, bytes]);
      // Bytes keep their offsets: the bytes of the carry come directly before the piece.
      const offset = kind === 'plain' ? this.#carryOffset : piece.offset;
      this.#split({ bytes: joined, offset, kind }, carry.length);
    }
    if (piece.end !== undefined) this.endMember(piece.end);
    this.#keepBlock();
    return this.#next;
  }

  /**
   * Notes that a gzip member or zstd frame has come whole, and is intact.
   *
   * @param end the offset after it
   */
  endMember(end: number): void {
    if (this.#state !== 'between' || this.#carry.length > 0) return;
    if (this.#open?.beginsMember === true) this.#open.memberEnd = end;
    this.#finish();
  }

  /** Ends the record before, because the next bytes do not belong to it. Also ends the file. */
  restart(): void {
    if (this.#carry.length > 0 && this.#state === 'between') {
      this.#handler.damage(this.#carryOffset, 'the header is cut short', false);
    }
    this.#carry = Buffer.alloc(0);
    const open = this.#open;
    if (open !== undefined && open.left > 0) this.#discard(open, 'the record is cut short');
    else this.#finish();
    this.#state = 'between';
  }

  /**
   * Ends the record before at damaged compressed data. The record counts only if the line ends that
   * follow it were read. If the record begins with the damaged data, it is not named as well.
   *
   * @param offset where the damaged data begins, which the caller names
   */
  interrupt(offset: number): void {
    const open = this.#open;
    if (open !== undefined && open.left === 0 && this.#hasEnd(open)) this.#finish(true);
    if (this.#open?.offset === offset) this.#open = undefined;
    if (this.#open !== undefined) this.#discard(this.#open, 'the record is cut short');
    if (this.#carryOffset === offset) this.#carry = Buffer.alloc(0);
    this.restart();
  }

  /** @param carried number of bytes of the piece that came with the piece before */
  #split(piece: Piece, carried: number): void {
    const { bytes, offset, kind } = piece;
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'within') {
        at = this.#fill(bytes, at, kind);
        continue;
      }
      if (this.#state === 'lost') {
        const found = findRecord(bytes, at, carried === 0 || this.#isCarryLine);
        if (found < 0) {
          this.#carryFrom(piece, Math.max(at, bytes.length - LONGEST_VERSION_LINE), carried);
          return;
        }
        at = found;
        this.#state = 'between';
      }
      at = this.#skipLineEnds(bytes, at);
      if (at === bytes.length) return;
      const place = kind === 'plain' ? offset + at : at < carried ? this.#carryOffset : offset;
      if (!beginsRecord(bytes, at)) {
        if (isBeginning(bytes, at)) {
          this.#carryFrom(piece, at, carried);
          return;
        }
        at = this.#lose(bytes, at, place);
        continue;
      }
      this.#finish();
      const end = endOfHeader(bytes, at, Math.min(bytes.length, at + LONGEST_HEADER));
      if (end >= 0) {
        const header = bytes.subarray(at, end);
        const next = nextHeader(header);
        if (next >= 0) {
          this.#handler.damage(place, 'the header is cut short', false);
          at += next;
          continue;
        }
        const isStart = at === 0 && carried === 0;
        const ownsMember = kind === 'member' && isStart;
        const beginsMember =
          ownsMember || (isStart ? piece.isFirst === true : at === 0 && this.#isCarryFirst);
        at = this.#begin(piece, header, end, { place, ownsMember, beginsMember });
      } else if (bytes.length - at < LONGEST_HEADER) {
        this.#carryFrom(piece, at, carried);
        return;
      } else {
        this.#handler.damage(place, 'the header is longer than 64 KiB', false);
        this.#state = 'lost';
        if (kind === 'member' && at === 0 && carried === 0) return;
        at += BEGINNING;
      }
    }
  }

  /** Begins a record; returns the index after what the piece has of it. */
  #begin(
    { bytes, offset, kind }: Piece,
    headerBytes: Buffer,
    end: number,
    {
      place,
      ownsMember,
      beginsMember,
    }: Pick<OpenRecord, 'ownsMember' | 'beginsMember'> & {
      readonly place: number;
    },
  ): number {
    const header = parseWarcHeader(headerBytes, this.#handler.ofAllTypes);
    if (header === undefined) {
      this.#handler.damage(place, 'the header has no WARC-Type or no Content-Length', false);
      this.#state = 'lost';
      return ownsMember ? bytes.length : end;
    }
    const limit = this.#handler.wanted(header, place, ownsMember || kind === 'plain');
    const isWanted = limit > 0;
    const wanted = Math.min(limit, header.length);
    const blockOffset = kind === 'plain' ? offset + end : undefined;
    if (blockOffset !== undefined && blockOffset + header.length > this.#fileLength) {
      this.#handler.damage(place, 'the record is longer than the rest of the file', isWanted);
      this.#state = 'lost';
      return end;
    }
    const taken = Math.min(header.length, bytes.length - end);
    const block = bytes.subarray(end, end + Math.min(wanted, taken));
    this.#open = {
      header,
      offset: place,
      blockOffset,
      blockStart: end,
      ownsMember,
      beginsMember,
      memberEnd: undefined,
      lineEnds: bytes[end - 2] === CR ? TWO_CR_LF : TWO_LF,
      isWanted,
      wanted,
      block,
      isCopied: false,
      filled: block.length,
      left: header.length - taken,
    };
    this.#isNew = true;
    this.#lineEnds = 0;
    this.#afterFill(this.#open);
    return end + taken;
  }

  /** Takes further bytes of the open block; returns the index after them. */
  #fill(bytes: Buffer, at: number, kind: Piece['kind']): number {
    const open = this.#open as OpenRecord;
    const taken = Math.min(open.left, bytes.length - at);
    const copied = Math.min(open.wanted - open.filled, taken);
    // #keepBlock has copied the block into memory of the wanted length.
    bytes.copy(open.block, open.filled, at, at + copied);
    open.filled += copied;
    open.left -= taken;
    if (kind === 'plain') this.#afterFill(open);
    else this.#state = open.left > 0 ? 'within' : 'between';
    return at + taken;
  }

  /** Skips the rest of a plain block that is not wanted. A pipe may end within it. */
  #afterFill(open: OpenRecord): void {
    const canSkip = open.blockOffset !== undefined && this.#fileLength < Number.POSITIVE_INFINITY;
    if (open.left > 0 && canSkip && open.filled === open.wanted) {
      this.#next = (open.blockOffset ?? 0) + open.header.length;
      open.left = 0;
    }
    this.#state = open.left > 0 ? 'within' : 'between';
  }

  /** Returns the index after the line ends at an index. */
  #skipLineEnds(bytes: Buffer, start: number): number {
    let at = start;
    for (; bytes[at] === CR || bytes[at] === LF; at++) {
      if (this.#lineEnds < 0x1000000) this.#lineEnds = this.#lineEnds * 256 + (bytes[at] as number);
    }
    return at;
  }

  /**
   * Whether the two line ends that belong to the open record follow its block, so that its length
   * is right. A block that was cut may run on to a blank line of the next record.
   */
  #hasEnd({ lineEnds, block, filled }: OpenRecord): boolean {
    const ends = this.#lineEnds;
    const isLf = ends === TWO_LF || ends >>> 8 === TWO_LF || ends >>> 16 === TWO_LF;
    if (ends !== TWO_CR_LF && !(lineEnds === TWO_LF && isLf)) return false;
    return findRecord(block.subarray(0, filled), 0, true) < 0;
  }

  /** Handles bytes that do not begin a record; returns the index from which to search. */
  #lose(bytes: Buffer, at: number, place: number): number {
    this.#state = 'lost';
    if (this.#open !== undefined && this.#hasEnd(this.#open)) this.#finish();
    const open = this.#open;
    if (open === undefined) {
      if (place === 0 && at === 0) refuseArc(bytes);
      this.#handler.damage(place, 'no record begins here', false);
      return at;
    }
    this.#discard(open, 'the length of the record is wrong');
    if (this.#isNew) return open.ownsMember ? Number.POSITIVE_INFINITY : open.blockStart;
    if (open.blockOffset === undefined || this.#rewinds === MAX_REWINDS) return at;
    this.#rewinds++;
    this.#next = open.blockOffset;
    return Number.POSITIVE_INFINITY;
  }

  #discard(open: OpenRecord, reason: string): void {
    this.#open = undefined;
    this.#handler.damage(open.offset, reason, open.isWanted);
  }

  /**
   * Passes on the record before, because another record, or the end, follows it.
   *
   * @param isDoubtful whether damaged compressed data follows it
   */
  #finish(isDoubtful = false): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (!open.isWanted) return;
    const { header, offset, block, filled } = open;
    const end = this.#endOf(open);
    this.#handler.take({ header, offset, end, isDoubtful, block: block.subarray(0, filled) });
  }

  /** The offset after a record, with the two line ends that belong to it. */
  #endOf({ header, blockOffset, memberEnd, lineEnds }: OpenRecord): number | undefined {
    if (blockOffset === undefined) return memberEnd;
    let found = 0;
    for (let ends = this.#lineEnds; ends > 0; ends = Math.floor(ends / 256)) found++;
    return blockOffset + header.length + Math.min(found, lineEnds === TWO_LF ? 2 : 4);
  }

  /** Keeps the rest of a piece until the next piece comes. */
  #carryFrom({ bytes, offset, kind, isFirst }: Piece, at: number, carried: number): void {
    const before = bytes[at - 1];
    const isLine = at > 0 ? before === LF || before === CR : carried === 0 || this.#isCarryLine;
    this.#isCarryLine = isLine;
    this.#isCarryFirst = at === 0 && (carried > 0 ? this.#isCarryFirst : isFirst === true);
    this.#carry = Buffer.from(bytes.subarray(at));
    if (kind === 'plain') this.#carryOffset = offset + at;
    else if (at >= carried) this.#carryOffset = offset;
  }

  /** Copies the block of the open record, because the caller may overwrite its piece. */
  #keepBlock(): void {
    const open = this.#open;
    if (open === undefined || open.isCopied || open.wanted === 0) return;
    const copy = Buffer.allocUnsafe(open.wanted);
    open.block.copy(copy);
    open.block = copy;
    open.isCopied = true;
  }
}

/** Every record begins with these bytes and a version. */
const MAGIC = Buffer.from('WARC/');

/** Length of the bytes that tell a record from other text, such as `WARC/1.`. */
const BEGINNING = MAGIC.length + 2;

/** Maximum number of digits after the dot of a version. */
const MOST_DIGITS = 3;

/** Maximum length of a version line, in bytes: `WARC/1.`, digits, CR and LF. */
const LONGEST_VERSION_LINE = BEGINNING + MOST_DIGITS + 2;

/** Whether a record begins at an index: `WARC/`, a digit and a dot. */
export function beginsRecord(bytes: Buffer, at: number): boolean {
  return (
    startsWith(bytes, MAGIC, at) &&
    isDigit(bytes[at + MAGIC.length]) &&
    bytes[at + MAGIC.length + 1] === DOT
  );
}

/** The file is an ARC file, which has no records that are read here. */
export class ArcFileError extends Error {}

/** @throws ArcFileError if a file begins like an ARC file */
function refuseArc(beginning: Buffer): void {
  if (startsWith(beginning, ARC_MAGIC)) throw new ArcFileError('an ARC file');
}

/** Whether the bytes from an index to the end may be the beginning of `WARC/1.`. */
function isBeginning(bytes: Buffer, at: number): boolean {
  const length = bytes.length - at;
  if (length >= BEGINNING) return false;
  const common = Math.min(length, MAGIC.length);
  return bytes.compare(MAGIC, 0, common, at, at + common) === 0;
}

/**
 * The index of the next record; -1 if there is none. A record begins a line. Where the bytes before
 * it were cut, it may stand within a line: then its version must end the line.
 *
 * @param isLine whether a line begins at index 0
 */
function findRecord(bytes: Buffer, from: number, isLine: boolean): number {
  for (let at = bytes.indexOf(MAGIC, from); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    const before = bytes[at - 1];
    const isStart = at === 0 ? isLine : before === LF || before === CR;
    if (isStart ? beginsRecord(bytes, at) : isVersion(bytes, at)) return at;
  }
  return -1;
}

/**
 * Where, in a header, that of the next record begins; -1 if nowhere. A header that was cut runs on
 * in the next one, which has all its fields. A version alone does not tell: a URL may end in one.
 */
function nextHeader(header: Buffer): number {
  let last = -1;
  // Nearly all headers have none, which one search of the runtime tells.
  for (let at = header.indexOf(MAGIC, BEGINNING); at >= 0; at = header.indexOf(MAGIC, at + 1)) {
    if (isVersion(header, at)) last = at;
  }
  return last >= 0 && parseWarcHeader(header.subarray(last)) !== undefined ? last : -1;
}

/**
 * Whether a record begins at an index, and its version ends the line. A reader that continues there
 * must find that a record begins, or it would search the same place again.
 */
function isVersion(bytes: Buffer, at: number): boolean {
  if (!beginsRecord(bytes, at)) return false;
  const end = endOfDigits(bytes, at + BEGINNING);
  if (end === at + BEGINNING) return false;
  return bytes[end] === LF || (bytes[end] === CR && bytes[end + 1] === LF);
}

/** The index after at most `MOST_DIGITS` digits. */
function endOfDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (at < start + MOST_DIGITS && isDigit(bytes[at])) at++;
  return at;
}
