/** Reads WARC files, plain or in gzip, and finds the next record after damage. */

import { constants, crc32, createInflateRaw, gunzipSync, inflateRawSync } from 'node:zlib';
import { COMPRESSIONS, compressionOf, gzip } from '../files/compression.js';
import {
  beginsMember,
  findLastMember,
  findMember,
  GZIP_MAGIC,
  gunzipMembers,
  hasIntactHeader,
  isIntact,
  memberHeaderLength,
  TRAILER,
} from '../files/gzip.js';
import { startsWith } from '../files/magic.js';
import { errorCode } from '../files/system-error.js';
import { ARC_MAGIC } from '../files/unsupported-formats.js';
import type { WarcHeader } from './header.js';
import {
  type ByteSource,
  beginsRecord,
  DamageSearch,
  type RecordHandler,
  RecordSplitter,
  type WarcRecord,
} from './records.js';

/** Bytes of a plain file that are read at a time. */
const PLAIN_CHUNK = 512 * 1024;

/** The compressions of a WARC file. Each record is usually a member or frame of its own. */
export type ArchiveCompression = 'none' | 'gzip' | 'zstd';

/** Bytes of a file by which its compression is recognised. */
const HEAD_BYTES = 16;

/** The compression of a file, by its first bytes; by its name if those are damaged. */
export async function compressionOfArchive(
  source: ByteSource,
  name: string,
): Promise<ArchiveCompression> {
  const head = Buffer.alloc(HEAD_BYTES);
  let bytes = 0;
  for (let read = -1; read !== 0 && bytes < HEAD_BYTES; bytes += read) {
    // A pipe gives fewer bytes at a time.
    read = await source.read(bytes, head.subarray(bytes));
  }
  const lower = name.toLowerCase();
  const named = COMPRESSIONS.find(({ ending }) => lower.endsWith(`.warc${ending}`));
  const isPlain = beginsRecord(head, 0) || startsWith(head, ARC_MAGIC);
  const compression = compressionOf(head.subarray(0, bytes)) ?? (isPlain ? undefined : named);
  if (compression === undefined) return 'none';
  return compression === gzip ? 'gzip' : 'zstd';
}

/**
 * Passes all records of a WARC file to a handler. Damage costs only the records that it hits.
 *
 * @throws UnsupportedZstdError if the file needs a zstd dictionary, or too large a window
 * @throws ArcFileError if the file is an ARC file
 * @throws Error if the system cannot read the file, or if the file was truncated in the meantime
 */
export async function readArchive(
  source: ByteSource,
  compression: ArchiveCompression,
  handler: RecordHandler,
): Promise<void> {
  await readFrom(source, compression, handler);
}

/**
 * Passes the record at an offset to a handler, where the first reading said that it can be read
 * alone.
 *
 * @throws Error if the system cannot read the file, or if the file was truncated in the meantime
 */
export async function readRecordAt(
  source: ByteSource,
  compression: ArchiveCompression,
  offset: number,
  handler: RecordHandler,
): Promise<void> {
  await readFrom(source, compression, new FirstRecord(offset, handler), { from: offset });
}

async function readFrom(
  source: ByteSource,
  compression: ArchiveCompression,
  handler: RecordHandler & { readonly isDone?: boolean },
  place?: { readonly from: number },
): Promise<void> {
  const isPlain = compression === 'none';
  const splitter = new RecordSplitter(handler, isPlain ? source.length : Number.POSITIVE_INFINITY);
  if (isPlain) {
    await readPlain(source, splitter, handler, place?.from);
  } else if (compression === 'gzip') {
    await new GzipReader(source, splitter, handler, place).read();
  } else {
    // Loads the decoder, only where it is needed.
    const { ZstdReader } = await import('./zstd.js');
    await new ZstdReader(source, splitter, handler, place).read();
  }
  splitter.restart();
  await handler.settle();
}

/** Passes the record at an offset on. It is complete when another record begins. */
class FirstRecord implements RecordHandler {
  readonly #start: number;
  readonly #handler: RecordHandler;
  isDone = false;

  constructor(start: number, handler: RecordHandler) {
    this.#start = start;
    this.#handler = handler;
  }

  wanted(header: WarcHeader, offset: number, isAlone: boolean): number {
    if (offset !== this.#start || !isAlone) this.isDone = true;
    return this.isDone ? 0 : this.#handler.wanted(header, offset, isAlone);
  }

  take(record: WarcRecord): void {
    this.#handler.take(record);
  }

  damage(offset: number, reason: string, isCapture: boolean): void {
    this.#handler.damage(offset, reason, isCapture);
  }

  settle(): Promise<void> | undefined {
    return this.#handler.settle();
  }
}

async function readPlain(
  source: ByteSource,
  splitter: RecordSplitter,
  handler: RecordHandler & { readonly isDone?: boolean },
  from = 0,
): Promise<void> {
  const chunk = Buffer.allocUnsafeSlow(PLAIN_CHUNK);
  let offset = from;
  while (handler.isDone !== true) {
    const bytes = await source.read(offset, chunk);
    if (bytes === 0) break;
    const next = splitter.push({ bytes: chunk.subarray(0, bytes), offset, kind: 'plain' });
    offset = next ?? offset + bytes;
    await handler.settle();
  }
  splitter.restart();
}

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
class GzipReader {
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
        const offset = this.#position;
        this.#splitter.push({ bytes, offset, end: offset + length, kind: 'member' });
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
    const base = this.#position;
    for (const { start, length, bytes } of contents) {
      const offset = base + start;
      this.#splitter.push({ bytes, offset, end: offset + length, kind: 'member' });
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
      const isFirst = length === 0;
      if (isFirst && beginsRecord(content, 0)) this.#splitter.restart();
      checksum = crc32(content, checksum);
      length += content.length;
      this.#splitter.push({ bytes: content, offset: start, kind: 'part', isFirst });
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
      this.#splitter.endMember(end + TRAILER);
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
 * The content of each of some members, which were inflated together, and where the member lies.
 * Bytes within a member may look like the beginning of another, and then the lengths at the ends of
 * the members (ISIZE) are more than the content. `undefined` if this is so, or if a member is
 * empty: four zeros before such bytes would look like an empty member.
 */
function contentsOf(
  members: Buffer,
  content: Buffer,
): { readonly start: number; readonly length: number; readonly bytes: Buffer }[] | undefined {
  const contents: { start: number; length: number; bytes: Buffer }[] = [];
  let contentStart = 0;
  for (let start = 0; start < members.length; ) {
    const next = findMember(members, start + 1);
    const end = next < 0 ? members.length : next;
    const inflated = end < 4 ? 0 : members.readUInt32LE(end - 4);
    if (inflated === 0) return undefined;
    const bytes = content.subarray(contentStart, contentStart + inflated);
    contents.push({ start, length: end - start, bytes });
    contentStart += inflated;
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

/** Maximum content of a member that is inflated at once, in bytes. */
const LONGEST_SHORT_MEMBER = 16 * 1024 * 1024;

/**
 * The kind of the bytes at some place:
 *
 * - `whole`: a member, with its content and its length in bytes.
 * - `short`: the beginning of a member.
 * - `long`: a member with more content than is inflated at once.
 * - `broken`: a member whose deflate data is damaged, so that its content ends there.
 * - `damaged`: not a member, or one with wrong bytes nobody knows where: its checksum tells.
 *   Then `length` bytes gave `inflated` bytes of content in vain.
 */
type Member =
  | { readonly kind: 'whole'; readonly content: Buffer; readonly length: number }
  | { readonly kind: 'short' | 'long' | 'broken' }
  | { readonly kind: 'damaged'; readonly length: number; readonly inflated: number };

/** Inflates the member at the start of the bytes. */
export function readMember(bytes: Buffer): Member {
  if (!beginsMember(bytes, 0)) {
    const isShort = bytes.length < 4 && startsWith(GZIP_MAGIC, bytes.subarray(0, 3));
    return isShort ? { kind: 'short' } : { kind: 'damaged', length: 0, inflated: 0 };
  }
  const header = memberHeaderLength(bytes);
  if (header < 0) return { kind: 'short' };
  if (!hasIntactHeader(bytes, header)) return { kind: 'damaged', length: 0, inflated: 0 };
  let content: Buffer;
  let length: number;
  try {
    const inflated = inflateRawSync(bytes.subarray(header), {
      info: true,
      maxOutputLength: LONGEST_SHORT_MEMBER,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    content = inflated.buffer;
    length = header + inflated.engine.bytesWritten + TRAILER;
  } catch (error) {
    switch (errorCode(error)) {
      case 'Z_BUF_ERROR':
        return { kind: 'short' };
      case 'ERR_BUFFER_TOO_LARGE':
        return { kind: 'long' };
      default:
        return { kind: 'broken' };
    }
  }
  if (length > bytes.length) return { kind: 'short' };
  return isIntact(bytes, length - TRAILER, crc32(content), content.length)
    ? { kind: 'whole', content, length }
    : { kind: 'damaged', length, inflated: content.length };
}

/** What became of deflate data. */
interface Inflated {
  /** Whether the data came to its end. */
  readonly isWhole: boolean;
  /** Bytes of the pieces that belong to the data. */
  readonly bytes: number;
}

/**
 * Inflates deflate data piece by piece. At damage, zlib drops the content of the chunk in which the
 * damage lies; all content before it is passed on.
 *
 * @param chunkSize bytes of content at a time
 * @param onContent takes content, in order
 * @param settle is awaited after each piece
 */
async function inflatePieces(
  pieces: AsyncIterable<Buffer>,
  chunkSize: number,
  onContent: (content: Buffer) => void,
  settle: () => Promise<void> | undefined,
): Promise<Inflated> {
  const inflate = createInflateRaw({ chunkSize });
  let hasEnded = false;
  let failure: Error | undefined;
  let proceed = (): void => {};
  inflate
    .on('data', onContent)
    .on('end', () => {
      hasEnded = true;
      proceed();
    })
    .on('error', (error) => {
      failure = error;
      proceed();
    });
  const isOver = (): boolean => hasEnded || failure !== undefined;
  try {
    for await (const piece of pieces) {
      // At the end of the data, `write` does not call back.
      await new Promise<void>((resolve) => {
        proceed = resolve;
        inflate.write(piece, () => resolve());
      });
      await settle();
      if (isOver()) break;
    }
    if (!isOver()) {
      await new Promise<void>((resolve) => {
        proceed = resolve;
        inflate.end();
      });
      await settle();
    }
    if (failure !== undefined && !gzip.isDamage(failure)) throw failure;
    return { isWhole: hasEnded && failure === undefined, bytes: inflate.bytesWritten };
  } finally {
    inflate.destroy();
  }
}
