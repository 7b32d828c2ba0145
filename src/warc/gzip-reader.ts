import { constants, crc32, gunzipSync } from 'node:zlib';
import { gunzipMembers } from '../files/gunzip.js';
import {
  beginsMember,
  findLastMember,
  findMember,
  isIntact,
  memberHeaderLength,
  TRAILER,
} from '../files/gzip-framing.js';
import { type ByteSource, DamageSearch } from './byte-source.js';
import { readMember } from './gzip-member.js';
import { inflatePieces } from './inflate-pieces.js';
import type { RecordSplitter } from './record-splitter.js';
import { beginsRecord } from './version-line.js';
import type { RecordHandler } from './warc-record.js';

/** Bytes that are read at a time. */
const WINDOW = 256 * 1024;

/** Bytes that are read at a time for a single record. */
const SMALL_WINDOW = 32 * 1024;

/** The longest member that is inflated in one go, in bytes of the file. */
const LONGEST_WINDOW = 4 * 1024 * 1024;

/** Maximum content of members that are inflated together, in bytes. */
const LONGEST_BATCH = 16 * 1024 * 1024;

/** Bytes of the file at a time of a member that passes in pieces. */
const PIECE = 16 * 1024;

/** Content at a time of such a member, in bytes. At damage, zlib drops the content at hand. */
const CHUNK = 64 * 1024;

/** The same of a damaged member that fits in the window: it may hold many short records. */
const SMALL_CHUNK = 1024;

/** Number of bytes that are inflated to find out whether a member begins there. */
const PROBE = 1024;

/**
 * Reads a gzip file of WARC records, which usually has one member per record. Many members are
 * inflated at once, in one native call, because a call for each member is much slower. If that
 * fails, they are inflated one by one, so that a damaged one costs no other.
 *
 * The memory holds a window of the file, and the content of its members. A long member passes in
 * pieces, and so does what can be read of a damaged one: a file may be one member of many records.
 */
export class GzipReader {
  readonly #source: ByteSource;
  readonly #splitter: RecordSplitter;
  readonly #handler: RecordHandler & { readonly isDone?: boolean };
  #window: Buffer;
  /** Offset of the window in the file. */
  #offset: number;
  /** Bytes in the window. */
  #filled = 0;
  /** Bytes of the window that are done with. */
  #done = 0;
  #isEnd = false;
  /** Offset in the file before which members are inflated one by one. */
  #singleUntil = 0;
  readonly #search = new DamageSearch();

  /**
   * @param handler reading ends when it is done
   * @param place where to begin, if a single record is wanted
   */
  constructor(
    source: ByteSource,
    splitter: RecordSplitter,
    handler: RecordHandler & { readonly isDone?: boolean },
    place?: { readonly from: number },
  ) {
    this.#source = source;
    this.#splitter = splitter;
    this.#handler = handler;
    this.#window = Buffer.allocUnsafeSlow(place === undefined ? WINDOW : SMALL_WINDOW);
    this.#offset = place?.from ?? 0;
  }

  /** Passes all members to the splitter. */
  async read(): Promise<void> {
    while (this.#handler.isDone !== true) {
      if (!this.#isEnd) await this.#fill();
      await this.#handler.settle();
      if (this.#done === this.#filled) break;
      if (this.#readBatch()) continue;
      const rest = this.#rest();
      const member = readMember(rest);
      if (member.kind === 'whole') {
        const { content: bytes, length } = member;
        this.#splitter.push({ bytes, offset: this.#position, kind: 'member' });
        this.#done += length;
        if (this.#window.length > WINDOW && this.#filled - this.#done <= WINDOW) this.#shrink();
      } else if (member.kind === 'short' && !this.#isEnd && rest.length < LONGEST_WINDOW) {
        this.#grow();
      } else if (member.kind === 'damaged') {
        const at = this.#position;
        // Bytes of no member cost nothing but their search.
        const next = beginsMember(rest, 0)
          ? this.#search.next(at, at + member.length, member.inflated)
          : at + 1;
        if (!this.#skipPadding()) await this.#recover(at, next);
      } else {
        await this.#readPieces(member.kind === 'broken' ? SMALL_CHUNK : CHUNK);
      }
    }
  }

  /** The next offset in the file. */
  get #position(): number {
    return this.#offset + this.#done;
  }

  #rest(): Buffer {
    return this.#window.subarray(this.#done, this.#filled);
  }

  /** Moves the rest to the front of the window, and fills the window. */
  async #fill(): Promise<void> {
    if (this.#done > 0) {
      this.#window.copy(this.#window, 0, this.#done, this.#filled);
      this.#offset += this.#done;
      this.#filled -= this.#done;
      this.#done = 0;
    }
    while (this.#filled < this.#window.length && !this.#isEnd) {
      const free = this.#window.subarray(this.#filled);
      const bytes = await this.#source.read(this.#offset + this.#filled, free);
      this.#filled += bytes;
      this.#isEnd = bytes === 0;
    }
  }

  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(2 * this.#window.length);
    this.#window.copy(larger, 0, 0, this.#filled);
    this.#window = larger;
  }

  #shrink(): void {
    const smaller = Buffer.allocUnsafeSlow(WINDOW);
    this.#window.copy(smaller, 0, this.#done, this.#filled);
    this.#offset += this.#done;
    this.#filled -= this.#done;
    this.#done = 0;
    this.#window = smaller;
  }

  /** Continues at an offset of the file. */
  #seek(offset: number): void {
    const done = offset - this.#offset;
    if (done >= 0 && done <= this.#filled) {
      this.#done = done;
      return;
    }
    this.#offset = offset;
    this.#done = 0;
    this.#filled = 0;
    this.#isEnd = false;
  }

  /** Inflates the members of the window together; false if that does not succeed. */
  #readBatch(): boolean {
    if (this.#position < this.#singleUntil) return false;
    const rest = this.#rest();
    const end = this.#isEnd ? rest.length : findLastMember(rest, rest.length);
    if (end <= 0) return false;
    const members = rest.subarray(0, end);
    const content = gunzipMembers(members, LONGEST_BATCH);
    const contents = content && contentsOf(members, content);
    if (contents === undefined) {
      this.#singleUntil = this.#position + end;
      return false;
    }
    for (const { start, bytes } of contents) {
      this.#splitter.push({ bytes, offset: this.#position + start, kind: 'member' });
    }
    this.#done += end;
    return true;
  }

  /** Passes on a member in pieces: a long one, or what comes before the damage of another one. */
  async #readPieces(chunkSize: number): Promise<void> {
    const start = this.#position;
    const header = memberHeaderLength(this.#rest());
    if (header < 0) return this.#recover(start, this.#search.next(start, start, 0));
    let checksum = 0;
    let length = 0;
    const onContent = (content: Buffer): void => {
      if (length === 0 && beginsRecord(content, 0)) this.#splitter.restart();
      checksum = crc32(content, checksum);
      length += content.length;
      this.#splitter.push({ bytes: content, offset: start, kind: 'part' });
    };
    const settle = (): Promise<void> | undefined => this.#handler.settle();
    const pieces = this.#pieces(start + header);
    const { isWhole, bytes } = await inflatePieces(pieces, chunkSize, onContent, settle);
    const end = start + header + bytes;
    this.#seek(end);
    await this.#fill();
    const rest = this.#rest();
    if (isWhole && rest.length >= TRAILER && isIntact(rest, 0, checksum, length)) {
      this.#done += TRAILER;
    } else {
      await this.#recover(start, this.#search.next(start, end, length));
    }
  }

  async *#pieces(start: number): AsyncGenerator<Buffer> {
    for (let offset = start; ; ) {
      const piece = Buffer.allocUnsafeSlow(PIECE);
      const bytes = await this.#source.read(offset, piece);
      if (bytes === 0) return;
      offset += bytes;
      yield piece.subarray(0, bytes);
    }
  }

  /** Notes damage, and searches for the next member from an offset on. */
  async #recover(damaged: number, from: number): Promise<void> {
    this.#splitter.interrupt(damaged);
    this.#handler.damage(damaged, 'the gzip data is damaged or cut short', false);
    this.#seek(from);
    for (;;) {
      // To fill the window moves all of it, too much for each beginning that is tried.
      if (this.#filled - this.#done < PROBE) await this.#fill();
      const rest = this.#rest();
      const found = findMember(rest, 0);
      const isWhole = this.#isEnd || rest.length - found >= PROBE;
      if (found < 0) {
        // The beginning of a member may lie across the end.
        this.#done = this.#isEnd ? this.#filled : Math.max(this.#done, this.#filled - 3);
        if (this.#isEnd) return;
      } else if (!isWhole) {
        this.#done += found;
      } else if (isIntactSoFar(rest.subarray(found, found + PROBE))) {
        this.#done += found;
        return;
      } else {
        // A file of nothing but false beginnings would take a decoder for every four bytes.
        const at = this.#position + found;
        this.#seek(this.#search.next(at, at, 0));
      }
    }
  }

  /** Skips the window if it holds only zeros, which gzip allows after members. */
  #skipPadding(): boolean {
    const isPadding = this.#rest().every((byte) => byte === 0);
    if (isPadding) this.#done = this.#filled;
    return isPadding;
  }
}

/**
 * The content of each of some members, which were inflated together, and where the member starts.
 * Bytes within a member may look like the beginning of another, and then the lengths at the ends of
 * the members (ISIZE) are more than the content. `undefined` if this is so, or if a member is
 * empty: four zeros before such bytes would look like an empty member.
 */
function contentsOf(
  members: Buffer,
  content: Buffer,
): { readonly start: number; readonly bytes: Buffer }[] | undefined {
  const contents: { start: number; bytes: Buffer }[] = [];
  let contentStart = 0;
  for (let start = 0; start < members.length; ) {
    const next = findMember(members, start + 1);
    const end = next < 0 ? members.length : next;
    const length = end < 4 ? 0 : members.readUInt32LE(end - 4);
    if (length === 0) return undefined;
    contents.push({ start, bytes: content.subarray(contentStart, contentStart + length) });
    contentStart += length;
    start = end;
  }
  return contentStart === content.length ? contents : undefined;
}

/**
 * Whether the beginning of a member can be inflated. It need not begin with a record. What follows
 * a short member does not count: zlib's reader would take bytes of no member for a damaged one.
 */
function isIntactSoFar(beginning: Buffer): boolean {
  const { kind } = readMember(beginning);
  if (kind !== 'short') return kind === 'whole' || kind === 'long';
  try {
    return gunzipSync(beginning, { finishFlush: constants.Z_SYNC_FLUSH }).length > 0;
  } catch {
    return false;
  }
}
