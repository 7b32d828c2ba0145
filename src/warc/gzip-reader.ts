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
import type { ByteSource } from './byte-source.js';
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

/**
 * Number of bytes of the file at a time of a member that is too long to be inflated at once. If the
 * member is damaged, the content of as many bytes before the damage is lost.
 */
const PIECE = 16 * 1024;

/** The same of a short member that is damaged. */
const SMALL_PIECE = 64;

/** How far before the end of a damaged long member the search for the next one begins, in bytes. */
const REWIND = 1024 * 1024;

/** Maximum number of times in a file that it begins there. Overlapping members could be many. */
const MOST_REWINDS = 100;

/** Maximum number of bytes of damaged members in a file whose beginning is read all the same. */
const MOST_SALVAGED = 4 * 1024 * 1024;

/**
 * Maximum number of searches for an intact member after a damaged one; then whole windows are
 * skipped.
 */
const MAX_RECOVERIES = 10_000;

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
  #recoveries = 0;
  #salvaged = 0;
  #rewinds = 0;

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
      } else if (member.kind === 'long' || (member.kind === 'short' && !this.#isEnd)) {
        await this.#readLong();
      } else {
        if (member.kind !== 'damaged') await this.#salvage(rest);
        await this.#recover();
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

  /** Passes on a long member in pieces. */
  async #readLong(): Promise<void> {
    const start = this.#position;
    const header = memberHeaderLength(this.#rest());
    if (header < 0) return this.#recover();
    const source = this.#source;
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let offset = start + header; ; ) {
        const piece = Buffer.allocUnsafeSlow(PIECE);
        const bytes = await source.read(offset, piece);
        if (bytes === 0) return;
        offset += bytes;
        yield piece.subarray(0, bytes);
      }
    }
    const { isWhole, bytes, checksum, length } = await this.#inflate(pieces(), start);
    const end = start + header + bytes;
    this.#seek(end);
    await this.#fill();
    const rest = this.#rest();
    if (isWhole && rest.length >= TRAILER && isIntact(rest, 0, checksum, length)) {
      this.#done += TRAILER;
      return;
    }
    // Damaged data may be read beyond the member's end.
    if (++this.#rewinds <= MOST_REWINDS) this.#seek(Math.max(start + 1, end - REWIND));
    await this.#recover(start);
  }

  /**
   * Passes on what can be read of a member that is broken or cut short: its content before that.
   */
  async #salvage(member: Buffer): Promise<void> {
    const header = beginsMember(member, 0) ? memberHeaderLength(member) : -1;
    if (header < 0 || this.#salvaged > MOST_SALVAGED) return;
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let at = header; at < member.length; at += SMALL_PIECE) {
        yield member.subarray(at, at + SMALL_PIECE);
      }
    }
    const { bytes } = await this.#inflate(pieces(), this.#position);
    this.#salvaged += bytes;
  }

  /** Inflates pieces of a member, and passes their content on. */
  async #inflate(pieces: AsyncGenerator<Buffer>, start: number) {
    let checksum = 0;
    let length = 0;
    const onContent = (content: Buffer): void => {
      if (length === 0 && beginsRecord(content, 0)) this.#splitter.restart();
      checksum = crc32(content, checksum);
      length += content.length;
      this.#splitter.push({ bytes: content, offset: start, kind: 'part' });
    };
    const inflated = await inflatePieces(pieces, onContent, () => this.#handler.settle());
    return { ...inflated, checksum, length };
  }

  /** Notes damage, and searches for the next member. */
  async #recover(damaged = this.#position): Promise<void> {
    if (damaged === this.#position && this.#isPadding()) {
      this.#done = this.#filled;
      return;
    }
    this.#splitter.interrupt(damaged);
    this.#handler.damage(damaged, 'the gzip data is damaged or cut short', false);
    // A hostile file could otherwise make overlapping members be inflated again and again.
    if (++this.#recoveries > MAX_RECOVERIES) this.#done = this.#filled;
    else this.#done += damaged === this.#position ? 1 : 0;
    for (;;) {
      await this.#fill();
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
        this.#done += found + 1;
      }
    }
  }

  /** Whether the window holds only zeros, which gzip allows after members. */
  #isPadding(): boolean {
    return this.#rest().every((byte) => byte === 0);
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
