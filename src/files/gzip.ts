/** Decodes gzip data, with the offset of the first fault. */

import { Duplex } from 'node:stream';
import { constants, crc32, createGunzip, gunzipSync } from 'node:zlib';
import { startsWith } from './magic.js';

/** The most gzip data and content that are kept and decoded again after an error, in bytes. */
export const KEPT_BYTES = 1 << 20;
export const KEPT_CONTENT_BYTES = 4 << 20;

/** Lets a stream hold one chunk: an error destroys what it holds. @types/node lacks the option. */
const ONE_CHUNK: object = { readableHighWaterMark: 1 };

type Callback = (error?: Error | null) => void;

/**
 * A stream that decodes gzip data of any number of members with zlib. Zeros may follow the last
 * member as padding, and any byte after the zeros is damage: zlib ends at the first zero, and would
 * lose members after it.
 *
 * At an error, zlib drops up to one chunk of content that it has decoded. The content of short data
 * is decoded again, so a short file comes out up to its damage.
 */
export class GzipDecompressor extends Duplex {
  readonly #chunkBytes: number;
  readonly #gunzip;
  /** The data so far; `undefined` if they are too many. */
  #kept: Buffer[] | undefined = [];
  #written = 0;
  #contentLength = 0;
  /** Whether zlib has ended, so that only padding may follow. */
  #isPadding = false;
  /** The chunk that is decoded, and what continues after it or after the end of all data. */
  #chunk: Buffer = Buffer.alloc(0);
  #done: Callback | undefined;
  #onDrained: (() => void) | undefined;
  /** An error that waits until the reader has taken what came out before. */
  #failure: Error | undefined;

  /** @param chunkBytes the size of the chunks that come out */
  constructor(chunkBytes: number) {
    // Each chunk waits to be read: `_read` tells when nothing is left that an error would destroy.
    super({ readableHighWaterMark: 1 });
    this.#chunkBytes = chunkBytes;
    this.#gunzip = createGunzip({ chunkSize: chunkBytes, ...ONE_CHUNK })
      .on('data', (content: Buffer) => {
        this.#contentLength += content.length;
        if (!this.push(content)) this.#gunzip.pause();
        if (this.#gunzip.readableLength === 0) this.#onDrained?.();
      })
      .on('end', () => {
        this.#isPadding = true;
        const unread = this.#written - this.#gunzip.bytesWritten;
        this.#settle(paddingError(this.#chunk.subarray(this.#chunk.length - unread)));
      })
      .on('error', (error) => this.#failAfterRest(error));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#done = callback;
    if (this.#isPadding) {
      this.#settle(paddingError(chunk));
      return;
    }
    this.#chunk = chunk;
    this.#written += chunk.length;
    if (this.#written > KEPT_BYTES || this.#contentLength > KEPT_CONTENT_BYTES) {
      this.#kept = undefined;
    }
    // Copied, because the buffer may be used again.
    this.#kept?.push(Buffer.from(chunk));
    this.#gunzip.write(chunk, () => {
      // zlib has ended if it left bytes: the end comes when all content is taken.
      if (this.#gunzip.bytesWritten < this.#written) return;
      // An error in the next chunk would destroy content that waits.
      if (this.#gunzip.readableLength === 0) this.#settle();
      else this.#onDrained = () => this.#settle();
    });
  }

  override _final(callback: Callback): void {
    this.#done = (error) => {
      if (!error) this.push(null);
      callback(error);
    };
    this.#chunk = Buffer.alloc(0);
    if (this.#isPadding) this.#settle();
    else this.#gunzip.end();
  }

  override _read(): void {
    const failure = this.#failure;
    // The reader takes the last chunk after this call.
    if (failure !== undefined) setImmediate(() => this.destroy(failure));
    this.#gunzip.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#gunzip.destroy();
    callback(error);
  }

  /** Continues after a chunk, or fails. */
  #settle(error?: Error): void {
    const done = this.#done;
    this.#done = undefined;
    this.#onDrained = undefined;
    if (error === undefined) done?.();
    else this.#fail(error);
  }

  /** Fails after the reader has taken what came out before. */
  #fail(error: Error): void {
    if (this.readableLength === 0) this.destroy(error);
    else this.#failure = error;
  }

  /** Fails after the content that zlib has decoded and dropped. */
  #failAfterRest(error: Error): void {
    const kept = this.#kept;
    if (kept !== undefined) {
      const data = Buffer.concat(kept);
      const sound = data.length - this.#chunk.length;
      const content = contentBeforeFault(data, sound, this.#contentLength + this.#chunkBytes);
      if (content.length > this.#contentLength) this.push(content.subarray(this.#contentLength));
    }
    // Only the beginning of the data is known to be a gzip header.
    const isTrailing = error.message === 'incorrect header check';
    this.#fail(isTrailing ? new TrailingBytesError() : error);
  }
}

/**
 * Decodes the longest beginning of gzip data that has no fault.
 *
 * @param sound number of bytes at the start that have none
 * @param most maximum number of bytes that come out
 */
function contentBeforeFault(data: Buffer, sound: number, most: number): Buffer {
  let content: Buffer = Buffer.alloc(0);
  let good = sound - 1;
  let bad = data.length + 1;
  while (bad - good > 1) {
    const end = good + Math.floor((bad - good) / 2);
    try {
      content = gunzipSync(data.subarray(0, end), {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: most,
      });
      good = end;
    } catch {
      bad = end;
    }
  }
  return content;
}

/** ID1, ID2 and CM of RFC 1952 section 2.3: gzip data in deflate, which is the only method. */
export const GZIP_MAGIC = Buffer.from([0x1f, 0x8b, 0x08]);

/** Bits of FLG (section 2.3.1). */
const FLAG_HEADER_CRC = 2;
const FLAG_EXTRA = 4;
const FLAG_NAME = 8;
const FLAG_COMMENT = 16;
const RESERVED_FLAGS = 0xe0;

/** Length of the header before its optional fields, in bytes. */
const FIXED_HEADER = 10;

/** Length of CRC32 and ISIZE, which follow the compressed data. */
export const TRAILER = 8;

/** Whether a member may begin at an offset. */
export function beginsMember(bytes: Buffer, at: number): boolean {
  return startsWith(bytes, GZIP_MAGIC, at) && ((bytes[at + 3] ?? 0) & RESERVED_FLAGS) === 0;
}

/** The offset of the next place at which a member may begin; -1 if there is none. */
export function findMember(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(GZIP_MAGIC, from);
  while (at >= 0 && !beginsMember(bytes, at)) at = bytes.indexOf(GZIP_MAGIC, at + 1);
  return at;
}

/** The offset of the last place before `end` at which a member may begin; -1 if there is none. */
export function findLastMember(bytes: Buffer, end: number): number {
  let at = end <= 0 ? -1 : bytes.lastIndexOf(GZIP_MAGIC, end - 1);
  while (at >= 0 && !beginsMember(bytes, at))
    at = at === 0 ? -1 : bytes.lastIndexOf(GZIP_MAGIC, at - 1);
  return at;
}

/** Length of the header of the member at the start; -1 if the header is truncated. */
export function memberHeaderLength(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = FIXED_HEADER;
  if (at > bytes.length) return -1;
  if ((flags & FLAG_EXTRA) !== 0) {
    if (at + 2 > bytes.length) return -1;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [FLAG_NAME, FLAG_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.indexOf(0, at);
    if (zero < 0) return -1;
    at = zero + 1;
  }
  if ((flags & FLAG_HEADER_CRC) !== 0) at += 2;
  return at > bytes.length ? -1 : at;
}

/** Whether a header of this many bytes has no CRC16, or a correct one (section 2.3.1). */
export function hasIntactHeader(bytes: Buffer, length: number): boolean {
  if (((bytes[3] ?? 0) & FLAG_HEADER_CRC) === 0) return true;
  const at = length - 2;
  return bytes.readUInt16LE(at) === (crc32(bytes.subarray(0, at)) & 0xffff);
}

/** Whether a trailer has this checksum and length. */
export function isIntact(bytes: Buffer, at: number, checksum: number, length: number): boolean {
  return bytes.readUInt32LE(at) === checksum && bytes.readUInt32LE(at + 4) === length >>> 0;
}

/** Smallest buffer into which members are decoded, in bytes. */
const SMALLEST_BUFFER = 64 * 1024;

/**
 * Decodes whole gzip data of any number of members. Zeros may follow, as in `GzipDecompressor`.
 *
 * @param most maximum number of bytes that may come out
 * @throws Error `ERR_BUFFER_TOO_LARGE` for more bytes, `Z_…` for damaged or truncated data
 */
export function gunzip(data: Uint8Array, most: number): Buffer {
  const { buffer, engine } = gunzipInfo(data, { maxOutputLength: most });
  const error = paddingError(data.subarray(engine.bytesWritten));
  if (error !== undefined) throw error;
  return buffer;
}

/**
 * Decodes many members in one native call, which is much faster than a call for each. `undefined`
 * if they are not whole, any is damaged, or they hold more than `most` bytes. At a zero between
 * members, zlib stops without an error too.
 */
export function gunzipMembers(members: Uint8Array, most: number): Buffer | undefined {
  try {
    const { buffer, engine } = gunzipInfo(members, {
      maxOutputLength: most,
      chunkSize: Math.max(SMALLEST_BUFFER, 2 * members.length),
    });
    return engine.bytesWritten === members.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}

/** `info` makes zlib report how far it has read. */
function gunzipInfo(data: Uint8Array, options: { maxOutputLength: number; chunkSize?: number }) {
  return gunzipSync(data, { info: true, ...options }) as unknown as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
}

/** Bytes that are no gzip data follow the last member. It has the code that zlib has for it. */
export class TrailingBytesError extends Error {
  readonly code = 'Z_DATA_ERROR';

  constructor() {
    super('bytes that are no gzip data follow the gzip data');
  }
}

/** The error for bytes after the last member; none if all are zero. */
function paddingError(bytes: Uint8Array): TrailingBytesError | undefined {
  return bytes.every((byte) => byte === 0) ? undefined : new TrailingBytesError();
}
