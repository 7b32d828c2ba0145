import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { contentEncodings, decoded, isText, type Pieces } from '../../http/body.js';
import { bodyFailure, decodingFailure, FetchFailure } from './failure.js';

/** The encodings that are requested. Zstandard is decoded, too, if a server sends it unasked. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** A body after content decoding. */
export interface Body {
  /** The bytes, at most one more than the limit. */
  readonly bytes: Uint8Array;
  /** Whether the body was longer than the limit. */
  readonly cut: boolean;
}

/**
 * Number of encoded bytes that are read for each decoded byte of the limit. No encoding doubles a
 * body, but a stream of empty blocks can go on for ever without a decoded byte.
 */
const ENCODED_PER_DECODED = 2;

/**
 * Reads and decodes the body of a response, up to one byte more than `maxBytes`. Always destroys
 * `source`, so the rest of a longer body is not downloaded.
 *
 * @param codings the codings of the body, as in a `Content-Encoding` header
 * @param onPieceUsed called before the next piece of `source` is read
 * @throws FetchFailure `body-broken` if the connection or an encoding ends too early;
 *   `body-timeout`; `decoding-failed`
 */
export async function readBody(
  source: Readable,
  codings: string,
  maxBytes: number,
  onPieceUsed: () => void,
): Promise<Body> {
  const kept: Uint8Array[] = [];
  let length = 0;
  let unknown: string | undefined;
  try {
    const declared = contentEncodings(codings);
    if (typeof declared === 'number') {
      throw new FetchFailure('decoding-failed', `${declared} content encodings on one body`);
    }
    unknown = typeof declared === 'string' ? declared : undefined;
    const encodings = typeof declared === 'string' ? [] : declared;
    const mostEncoded = encodings.length === 0 ? Infinity : maxBytes * ENCODED_PER_DECODED;
    const pieces = received(source, mostEncoded, onPieceUsed);
    for await (const piece of decoded(pieces, encodings)) {
      kept.push(piece);
      length += piece.length;
      if (length > maxBytes) break;
    }
  } catch (error) {
    throw decodingFailure(error);
  } finally {
    source.destroy();
  }
  const cut = length > maxBytes;
  const bytes = Buffer.concat(kept, cut ? maxBytes + 1 : length);
  // A coding that is unknown, such as `UTF-8`, is no coding if the body is text.
  if (unknown !== undefined && !isText(bytes)) {
    throw new FetchFailure(
      'decoding-failed',
      `content encoding ${JSON.stringify(unknown.slice(0, 40))} was not requested (${ACCEPT_ENCODING})`,
    );
  }
  return { bytes, cut };
}

/**
 * Yields the pieces of the source. Its errors become failures here, before the decoders see them.
 */
async function* received(
  source: Pieces,
  mostEncoded: number,
  onPieceUsed: () => void,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const piece of source) {
      length += piece.length;
      if (length > mostEncoded) {
        throw new FetchFailure(
          'decoding-failed',
          `${length} encoded bytes decode to almost nothing`,
        );
      }
      yield piece;
      onPieceUsed();
    }
  } catch (error) {
    throw bodyFailure(error);
  }
}
