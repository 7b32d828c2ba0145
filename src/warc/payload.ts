import { brotliDecompressSync, inflateRawSync, inflateSync } from 'node:zlib';
import { gunzip } from '../files/gunzip.js';
import { errorCode } from '../files/system-error.js';
import { dechunk } from '../http/chunked.js';
import {
  type ContentEncoding,
  contentEncodings,
  decoded,
  isText,
  isZlib,
} from '../http/content-encoding.js';
import { codingsOf, framingOf, partRefusal, type ResponseHead } from '../http/response.js';

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

/** A response whose body cannot be used. */
export interface Unusable {
  /** The reason, as the predicate of "the response". */
  readonly refusal: string;
}

/** A body in a content coding that is unknown, or differs from the declared one. */
const UNDECODABLE: Unusable = { refusal: 'has a body that its content coding cannot decode' };

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
  head: ResponseHead,
  isWhole: boolean,
  limit: number,
): Payload | EncodedPayload | Unusable {
  const part = partRefusal(head);
  if (part !== undefined) return { refusal: `is incomplete: ${part}` };
  const framing = framingOf(head);
  if (typeof framing === 'object') return { refusal: `is not valid HTTP: ${framing.refusal}` };
  if (framing === 0) return { body: block.subarray(0, 0), isWhole: true };
  let bytes: Buffer = block.subarray(head.end);
  let isComplete = isWhole;
  const chunks = framing === 'chunked' ? dechunk(bytes) : undefined;
  const encodings = contentEncodings(codingsOf(head));
  if (chunks !== undefined) {
    bytes = chunks.body;
    isComplete &&= chunks.isWhole;
  } else if (typeof framing === 'number' && bytes.length < framing) {
    isComplete = false;
  }
  if (bytes.length === 0) return { body: bytes, isWhole: isComplete };
  if (typeof encodings === 'object' && encodings.length === 0) {
    return { body: bytes, isWhole: isComplete };
  }
  // A body that was decoded already is shorter or longer than its Content-Length was.
  const asIs = { body: bytes, isWhole: isWhole && (chunks?.isWhole ?? true) };
  if (typeof encodings !== 'object') return isText(bytes) ? asIs : UNDECODABLE;
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
    return isText(bytes) ? asIs : UNDECODABLE;
  }
}

/** Undoes the content codings of a body, up to its limit or its end. */
export async function decodePayload(
  { encoded, encodings, isWhole }: EncodedPayload,
  limit: number,
): Promise<Payload | Unusable> {
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
    if (errorCode(error) !== 'Z_BUF_ERROR') return UNDECODABLE;
    return { body: Buffer.concat(pieces, Math.min(length, limit)), isWhole: false };
  }
  return { body: Buffer.concat(pieces, Math.min(length, limit)), isWhole };
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
