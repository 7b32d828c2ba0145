/** Bodies of HTTP responses: transfer codings and content codings. */

import { Buffer, isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createInflate, createInflateRaw } from 'node:zlib';
import { CR, LF, SEMICOLON, SPACE, TAB, TILDE } from '../base/ascii.js';
import { gzip, zstd } from '../files/compression.js';
import { startsWith } from '../files/magic.js';
import { unsupportedBody } from '../files/unsupported-formats.js';
import { isBinary, utf16Order } from '../protocol/encoding.js';

/**
 * Maximum number of encodings. No server needs more than one, and each one multiplies the size of a
 * decompression bomb.
 */
const MAX_ENCODINGS = 4;

/** Number of bytes that are decoded at a time. */
const CHUNK_BYTES = 16 * 1024;

export type ContentEncoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** A body in pieces. */
export type Pieces = AsyncIterable<Uint8Array>;

/**
 * The encodings of a `Content-Encoding` header (RFC 9110 section 8.4), in the order in which they
 * were applied. Returns the name of an unknown encoding as a string, and the number of encodings if
 * there are too many.
 */
export function contentEncodings(
  header: string | undefined,
): readonly ContentEncoding[] | string | number {
  const encodings: ContentEncoding[] = [];
  for (const item of header?.split(',') ?? []) {
    const name = item.trim().toLowerCase();
    switch (name) {
      case '':
      case 'identity':
        break;
      case 'gzip':
      case 'x-gzip':
        encodings.push('gzip');
        break;
      case 'deflate':
      case 'br':
      case 'zstd':
        encodings.push(name);
        break;
      default:
        return name;
    }
  }
  return encodings.length > MAX_ENCODINGS ? encodings.length : encodings;
}

/**
 * Whether the data of `deflate` is in zlib's format, as RFC 9110 requires. Some servers send bare
 * deflate data; only zlib's format begins with method 8.
 */
export function isZlib(first: number | undefined): boolean {
  return (first ?? 0) % 16 === 8;
}

/** Number of bytes at the start of a body that tell text from the data of a coding. */
const PRINTABLE_BYTES = 16;
const EXAMINED_BYTES = 1024;

const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * Whether a body is text, not the data of a coding. Servers send text with a `Content-Encoding`
 * that is no coding, such as `UTF-8` or `none`. Data of a coding hardly ever begins with this many
 * printable characters, nor is it UTF-8.
 */
export function isText(body: Buffer): boolean {
  if (unsupportedBody(body) !== undefined || isBinary(body)) return false;
  const order = utf16Order(body);
  if (order !== undefined) {
    const [high, low] = order === 'big' ? [body[2], body[3]] : [body[3], body[2]];
    return high === 0 && isPrintable(low ?? 0);
  }
  const start = startsWith(body, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  if (body.subarray(start, start + PRINTABLE_BYTES).every(isPrintable)) return true;
  let end = Math.min(body.length, EXAMINED_BYTES);
  // The last character may be incomplete.
  if (end < body.length) while (end > 0 && ((body[end] ?? 0) & 0xc0) === 0x80) end--;
  return isUtf8(body.subarray(0, end));
}

function isPrintable(byte: number): boolean {
  if (byte < SPACE) return byte === TAB || byte === LF || byte === CR;
  return byte <= TILDE;
}

/** Undoes the encodings, the last one first, piece by piece. Decodes no more than is read. */
export function decoded(bytes: Pieces, encodings: readonly ContentEncoding[]): Pieces {
  return encodings.reduceRight<Pieces>(decode, bytes);
}

async function* decode(bytes: Pieces, encoding: ContentEncoding): AsyncGenerator<Buffer> {
  const pieces = bytes[Symbol.asyncIterator]();
  const first = await firstPiece(pieces);
  // An empty body is often sent with the header of a full body.
  if (first === undefined) return;
  const decoder = await createDecoder(encoding, first);
  const finished = pipeline(startingWith(first, pieces), decoder);
  // An error that ends the pipeline ends the decoder too, which throws it.
  finished.catch(() => undefined);
  yield* decoder;
}

async function createDecoder(encoding: ContentEncoding, first: Uint8Array): Promise<Duplex> {
  switch (encoding) {
    case 'gzip':
      return gzip.decompress(CHUNK_BYTES);
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      return isZlib(first[0]) ? createInflate() : createInflateRaw();
    case 'zstd':
      return zstd.decompress(CHUNK_BYTES);
  }
}

async function firstPiece(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return undefined;
    if (value.length > 0) return value;
  }
}

async function* startingWith(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (;;) {
    const { done, value } = await rest.next();
    if (done) return;
    yield value;
  }
}

/** Maximum number of digits of a chunk's length. A longer length would exceed any body. */
const MAX_DIGITS = 12;

/** What the next byte belongs to. */
type Place = 'size' | 'blank' | 'extension' | 'line end' | 'data' | 'after data' | 'end' | 'broken';

/**
 * Joins the chunks of a body (RFC 9112 section 7.1), whose bytes may come in any pieces. Lines may
 * end in a bare LF. Chunk extensions are skipped. The last chunk ends the body: trailer fields, and
 * whether they are complete, do not matter.
 */
export class ChunkJoiner {
  #place: Place = 'size';
  #size = 0;
  #digits = 0;
  #hasBegun = false;

  /** Whether the line before the first chunk was read. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether the last chunk was found. */
  get isWhole(): boolean {
    return this.#place === 'end';
  }

  /** Whether the bytes are not chunks. Further bytes are ignored. */
  get isBroken(): boolean {
    return this.#place === 'broken';
  }

  /** Takes the next bytes; passes on those that belong to the body. */
  take(bytes: Buffer, onData: (data: Buffer) => void): void {
    for (let at = 0; at < bytes.length && !this.isWhole && !this.isBroken; ) {
      if (this.#place !== 'data') {
        this.#place = this.#after(bytes[at++] as number);
        continue;
      }
      const data = bytes.subarray(at, at + this.#size);
      onData(data);
      at += data.length;
      this.#size -= data.length;
      if (this.#size === 0) this.#place = 'after data';
    }
  }

  /** The place after a byte that is not data. */
  #after(byte: number): Place {
    if (this.#place === 'after data') {
      if (byte === CR) return 'after data';
      this.#digits = 0;
      return byte === LF ? 'size' : 'broken';
    }
    if (this.#place === 'size') {
      const digit = hexValue(byte);
      if (digit >= 0) {
        this.#size = this.#digits === 0 ? digit : this.#size * 16 + digit;
        return ++this.#digits > MAX_DIGITS ? 'broken' : 'size';
      }
      if (this.#digits === 0) return 'broken';
    }
    if (byte === LF) {
      this.#hasBegun = true;
      return this.#size === 0 ? 'end' : 'data';
    }
    if (this.#place === 'extension') return 'extension';
    if (this.#place === 'line end') return 'broken';
    if (byte === SEMICOLON) return 'extension';
    if (byte === CR) return 'line end';
    return byte === SPACE || byte === TAB ? 'blank' : 'broken';
  }
}

/** A body after its chunks were joined. */
interface Dechunked {
  readonly body: Buffer;
  /** Whether the last chunk was found. */
  readonly isWhole: boolean;
}

/**
 * Joins the chunks of a body. `undefined` if the body does not begin with a chunk: crawlers that
 * join the chunks often keep the header.
 */
export function dechunk(bytes: Buffer): Dechunked | undefined {
  const joiner = new ChunkJoiner();
  const pieces: Buffer[] = [];
  joiner.take(bytes, (data) => pieces.push(data));
  if (!joiner.hasBegun) return undefined;
  return { body: Buffer.concat(pieces), isWhole: joiner.isWhole };
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
