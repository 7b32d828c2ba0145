import { brotliDecompressSync, inflateRawSync, inflateSync } from 'node:zlib';
import { CR, LF, SPACE, TAB, TILDE } from '../ascii.js';
import { gunzip } from '../files/gunzip.js';
import { startsWith } from '../files/magic.js';
import { errorCode } from '../files/system-error.js';
import {
  type ContentEncoding,
  contentEncodings,
  decoded,
  isZlib,
} from '../http/content-encoding.js';
import { isBinary } from '../protocol/binary-body.js';
import { dechunk } from './chunked.js';
import { fieldValue, firstValue, type HttpHead } from './http-head.js';
import { lengthOf } from './warc-header.js';

/** Number of bytes at the start of a body that tell text from the data of a coding. */
const EXAMINED = 16;

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The body of a response after its transfer and content codings were undone. */
export interface Payload {
  readonly body: Buffer;
  /** Whether the body is complete; if not, `body` is the part that exists. */
  readonly isWhole: boolean;
}

/** A body whose content codings must be undone piece by piece, because it is long or broken. */
export interface EncodedPayload {
  readonly encoded: Buffer;
  readonly encodings: readonly ContentEncoding[];
  readonly isWhole: boolean;
}

/** A body in a content coding that is unknown, or differs from the declared one. */
export type Undecodable = 'undecodable';

/**
 * The body of the response in a block.
 *
 * Crawlers often undo codings and keep the header fields. So a body that does not begin with a
 * chunk has been joined already, and a text that cannot be decoded has been decoded already. A body
 * shorter than its Content-Length is not complete.
 *
 * @param isWhole whether the block is complete
 * @param limit number of bytes of the body that are wanted
 */
export function payloadOf(
  block: Buffer,
  head: HttpHead,
  isWhole: boolean,
  limit: number,
): Payload | EncodedPayload | Undecodable {
  let bytes: Buffer = block.subarray(head.end);
  let isComplete = isWhole;
  const transferCodings = transferCodingsOf(head);
  const chunks = transferCodings.isChunked ? dechunk(bytes) : undefined;
  const encodings = contentEncodings(
    [fieldValue(head, 'content-encoding') ?? '', ...transferCodings.others].join(','),
  );
  if (chunks !== undefined) {
    bytes = chunks.body;
    isComplete &&= chunks.isWhole;
  } else if (bytes.length < (lengthOf(firstValue(head, 'content-length') ?? '') ?? 0)) {
    isComplete = false;
  }
  if (bytes.length === 0) return { body: bytes, isWhole: isComplete };
  if (typeof encodings === 'object' && encodings.length === 0) {
    return { body: bytes, isWhole: isComplete };
  }
  // A body that was decoded already is shorter or longer than its Content-Length was.
  const asIs = { body: bytes, isWhole: isWhole && (chunks?.isWhole ?? true) };
  if (typeof encodings !== 'object') return isText(bytes) ? asIs : 'undecodable';
  // Zstandard data is decoded piece by piece alone.
  if (encodings.includes('zstd')) {
    return isText(bytes) ? asIs : { encoded: bytes, encodings, isWhole: isComplete };
  }
  let body = bytes;
  try {
    for (const encoding of encodings.toReversed()) body = decode(body, encoding, limit);
    return { body, isWhole: isComplete };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'Z_BUF_ERROR') {
      if (isText(bytes)) return asIs;
      return { encoded: bytes, encodings, isWhole: isComplete };
    }
    return isText(bytes) ? asIs : 'undecodable';
  }
}

/** Undoes the content codings of a body, up to its limit or its end. */
export async function decodePayload(
  { encoded, encodings, isWhole }: EncodedPayload,
  limit: number,
): Promise<Payload | Undecodable> {
  async function* once(): AsyncGenerator<Uint8Array> {
    yield encoded;
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of decoded(once(), encodings)) {
      pieces.push(piece);
      length += piece.length;
      if (length >= limit) break;
    }
  } catch (error) {
    if (errorCode(error) !== 'Z_BUF_ERROR') return 'undecodable';
    return { body: Buffer.concat(pieces, Math.min(length, limit)), isWhole: false };
  }
  return { body: Buffer.concat(pieces, Math.min(length, limit)), isWhole };
}

/**
 * The codings of `Transfer-Encoding` (RFC 9112 section 7). A server applies them after the content
 * codings.
 */
function transferCodingsOf(head: HttpHead): { isChunked: boolean; others: readonly string[] } {
  const codings = (fieldValue(head, 'transfer-encoding') ?? '').split(',');
  const isChunked = codings.at(-1)?.trim().toLowerCase() === 'chunked';
  return { isChunked, others: isChunked ? codings.slice(0, -1) : codings };
}

/** @throws Error `ERR_BUFFER_TOO_LARGE` for more than the limit, `Z_…` for broken data */
function decode(bytes: Buffer, encoding: ContentEncoding, limit: number): Buffer {
  const options = { maxOutputLength: limit };
  switch (encoding) {
    case 'gzip':
      return gunzip(bytes, limit);
    case 'br':
      return brotliDecompressSync(bytes, options);
    case 'deflate':
      return isZlib(bytes[0]) ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
    case 'zstd':
      throw new Error('Zstandard data is decoded piece by piece');
  }
}

/**
 * Whether bytes are text, not the data of a coding. Such data hardly ever begins with this many
 * printable characters.
 */
function isText(bytes: Buffer): boolean {
  const start = startsWith(bytes, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  return bytes.subarray(start, start + EXAMINED).every(isPrintable) && !isBinary(bytes);
}

function isPrintable(byte: number): boolean {
  if (byte < SPACE) return byte === TAB || byte === LF || byte === CR;
  return byte <= TILDE;
}
