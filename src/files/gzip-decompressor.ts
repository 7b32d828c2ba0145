import { Duplex } from 'node:stream';
import { GzipError, gunzipMembers, paddingError, TrailingBytesError } from './gunzip.js';
import {
  beginsMember,
  findLastMember,
  GZIP_MAGIC,
  hasIntactHeader,
  isIntact,
  memberHeaderLength,
  TRAILER,
} from './gzip-framing.js';
import { startsWith } from './magic.js';
import { MemberInflater } from './member-inflater.js';

/** Maximum bytes of the input in which members are looked for to be decoded together. */
const WINDOW_BYTES = 256 * 1024;

/** Maximum content of members that are decoded together, in bytes. */
const BATCH_CONTENT_BYTES = 4 << 20;

/** Fewest bytes of members that are decoded together. Deflate makes at most 4 MiB of them. */
const SMALLEST_BATCH_BYTES = 4096;

/**
 * Longest header of a member, in bytes: its extra field alone may have 64 KiB. A window may hold
 * one as long, so the size of the chunks decides nothing.
 */
const MAX_HEADER_BYTES = WINDOW_BYTES;

const NOTHING: Buffer = Buffer.alloc(0);

type Callback = (error?: Error | null) => void;

/**
 * A stream that decodes gzip data of any number of members. Zeros may follow the last member as
 * padding, and any byte after the zeros is damage. Node's own stream ends at the first zero between
 * members, so the members after it would be lost. Where bytes that are no member follow a member,
 * Node's own stream loses the end of that member.
 */
export class GzipDecompressor extends Duplex {
  readonly #chunkBytes: number;
  /** Decodes the member that has begun. */
  #inflater: MemberInflater | undefined;
  /** The member whose trailer comes next. */
  #inflated: MemberInflater | undefined;
  /** The beginning of a header or trailer. */
  #held = NOTHING;
  #isPadding = false;
  /** In how many bytes members are looked for that are decoded together. */
  #batchBytes = WINDOW_BYTES;
  /** Continues after the reader has taken a chunk. */
  #onRead: (() => void) | undefined;
  /** An error that waits until the reader has taken what came out before. */
  #failure: Error | undefined;

  /** @param chunkBytes the size of the chunks that come out of long members */
  constructor(chunkBytes: number) {
    // Each chunk waits to be read: `_read` tells when nothing is left that an error would destroy.
    super({ readableHighWaterMark: 1 });
    this.#chunkBytes = chunkBytes;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#decode(chunk).then(
      () => callback(),
      (error) => this.#fail(error),
    );
  }

  override _final(callback: Callback): void {
    this.#end().then(
      () => {
        this.push(null);
        callback();
      },
      (error) => this.#fail(error),
    );
  }

  override _read(): void {
    const failure = this.#failure;
    // The reader takes the last chunk after this call.
    if (failure !== undefined) setImmediate(() => this.destroy(failure));
    this.#onRead?.();
    this.#inflater?.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#inflater?.destroy();
    callback(error);
  }

  /** Fails after the reader has taken what came out before. */
  #fail(error: Error): void {
    if (this.readableLength === 0) this.destroy(error);
    else this.#failure = error;
  }

  async #decode(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; at += WINDOW_BYTES) {
      let rest = chunk.subarray(at, at + WINDOW_BYTES);
      // Until one fails: hostile members could make many attempts fail.
      let mayBatch = true;
      while (rest.length > 0) {
        if (this.#inflater !== undefined) {
          rest = await this.#inflateMember(this.#inflater, rest);
          continue;
        }
        const isHeld = this.#held.length > 0;
        const bytes = isHeld ? Buffer.concat([this.#held, rest]) : rest;
        this.#held = NOTHING;
        if (this.#inflated !== undefined) rest = this.#readTrailer(this.#inflated, bytes);
        else if (this.#isPadding || bytes[0] === 0) rest = this.#readPadding(bytes);
        else if (isHeld || !mayBatch) rest = this.#readHeader(bytes);
        else {
          const end = await this.#decodeTogether(bytes);
          mayBatch = end > 0;
          rest = end > 0 ? bytes.subarray(end) : this.#readHeader(bytes);
        }
      }
    }
  }

  async #end(): Promise<void> {
    await this.#inflater?.drained();
    const isWhole = this.#inflater === undefined && this.#inflated === undefined;
    if (!isWhole || this.#held.length > 0) {
      throw new GzipError('unexpected end of file', 'Z_BUF_ERROR');
    }
  }

  /**
   * Decodes members together, as many as hold BATCH_CONTENT_BYTES at most, and not the last one. A
   * member that lies in more than one window, and one that is damaged, is decoded by itself.
   *
   * @returns number of bytes that were decoded; 0 if none
   */
  async #decodeTogether(bytes: Buffer): Promise<number> {
    const { end, content } = this.#membersOf(bytes);
    if (content.length > 0 && !this.push(content)) {
      await new Promise<void>((resolve) => {
        this.#onRead = resolve;
      });
    }
    return end;
  }

  /** Halves the number of bytes until the members there can be decoded together. */
  #membersOf(bytes: Buffer): { end: number; content: Buffer } {
    let tried = 0;
    for (let most = this.#batchBytes; most >= SMALLEST_BATCH_BYTES; most /= 2) {
      const end = findLastMember(bytes, Math.min(most, bytes.length));
      if (end <= 0) break;
      if (end === tried) continue;
      tried = end;
      const content = gunzipMembers(bytes.subarray(0, end), BATCH_CONTENT_BYTES);
      if (content === undefined) continue;
      const hasRoom = content.length < BATCH_CONTENT_BYTES / 4;
      this.#batchBytes = hasRoom ? Math.min(2 * most, WINDOW_BYTES) : most;
      return { end, content };
    }
    return { end: 0, content: NOTHING };
  }

  /** @returns the bytes after the header */
  #readHeader(bytes: Buffer): Buffer {
    const length = headerLength(bytes);
    if (length < 0) return this.#hold(bytes);
    this.#inflater = new MemberInflater(this.#chunkBytes, (content) => this.push(content));
    return bytes.subarray(length);
  }

  /** @returns the bytes after the deflate data */
  async #inflateMember(inflater: MemberInflater, bytes: Buffer): Promise<Buffer> {
    const { used, hasEnded } = await inflater.write(bytes);
    if (hasEnded) {
      inflater.destroy();
      this.#inflater = undefined;
      this.#inflated = inflater;
    }
    return bytes.subarray(used);
  }

  /** @returns the bytes after the trailer */
  #readTrailer({ checksum, length }: MemberInflater, bytes: Buffer): Buffer {
    if (bytes.length < TRAILER) return this.#hold(bytes);
    if (!isIntact(bytes, 0, checksum, length)) throw new GzipError('incorrect data check');
    this.#inflated = undefined;
    return bytes.subarray(TRAILER);
  }

  #readPadding(bytes: Buffer): Buffer {
    this.#isPadding = true;
    const error = paddingError(bytes);
    if (error !== undefined) throw error;
    return NOTHING;
  }

  /** Keeps bytes until more follow. They are copied, because their buffer may be used again. */
  #hold(bytes: Buffer): Buffer {
    this.#held = Buffer.from(bytes);
    return NOTHING;
  }
}

/**
 * Length of the header at the start; -1 if it is not there as a whole.
 *
 * @throws GzipError if there is none, or a damaged one
 */
function headerLength(bytes: Buffer): number {
  const magic = GZIP_MAGIC.subarray(0, bytes.length);
  if (!startsWith(bytes, magic.subarray(0, 2))) throw new TrailingBytesError();
  if (!startsWith(bytes, magic)) throw new GzipError('unknown compression method');
  if (bytes.length <= GZIP_MAGIC.length) return -1;
  if (!beginsMember(bytes, 0)) throw new GzipError('unknown header flags set');
  const length = memberHeaderLength(bytes);
  if ((length < 0 ? bytes.length : length) > MAX_HEADER_BYTES) {
    throw new GzipError(`header longer than ${MAX_HEADER_BYTES} bytes`);
  }
  if (length > 0 && !hasIntactHeader(bytes, length)) throw new GzipError('header crc mismatch');
  return length;
}
