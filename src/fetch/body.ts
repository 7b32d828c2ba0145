import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { decoded, type Octets, parseContentEncoding } from './content-encoding.js';
import { bodyFailure, errorCode, errorText, FetchFailure } from './failure.js';

/** A body after content decoding. */
export interface Body {
  /** At most the limit and one octet. */
  readonly octets: Uint8Array;
  /** Whether there was more than the limit. */
  readonly cut: boolean;
}

/**
 * Encoded octets that may come for each decoded one that is kept. No encoding makes a body twice as
 * long, but a stream of empty blocks goes on for ever without yielding an octet.
 */
const ENCODED_PER_DECODED = 2;

/**
 * Reads and decodes a response's body, up to `maxBytes` and one octet after decoding; the header is
 * as received. In the end, however it comes, `source` is destroyed: the rest of a body that is too
 * long is not downloaded.
 *
 * @param onPieceUsed called before a further piece of `source` is waited for
 * @throws FetchFailure `body-broken` for one that ends too early, in the connection or within an
 *   encoding, `body-timeout`,
 * and `decoding-failed`.
 */
export async function readBody(
  source: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
  onPieceUsed: () => void,
): Promise<Body> {
  const kept: Uint8Array[] = [];
  let length = 0;
  try {
    const encodings = parseContentEncoding(contentEncoding);
    const mostEncoded = encodings.length === 0 ? Infinity : maxBytes * ENCODED_PER_DECODED;
    const octets = received(source, mostEncoded, onPieceUsed);
    for await (const piece of decoded(octets, encodings)) {
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
  return { octets: Buffer.concat(kept, cut ? maxBytes + 1 : length), cut };
}

/** The octets as they come, with the connection's errors told apart from the decoders'. */
async function* received(
  source: Octets,
  mostEncoded: number,
  onPieceUsed: () => void,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const piece of source) {
      length += piece.length;
      if (length > mostEncoded) {
        throw new FetchFailure('decoding-failed', `${length} encoded octets hold next to nothing`);
      }
      yield piece;
      onPieceUsed();
    }
  } catch (error) {
    throw bodyFailure(error);
  }
}

function decodingFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  // zlib's code for an input that ends before its last block.
  const code = errorCode(error) === 'Z_BUF_ERROR' ? 'body-broken' : 'decoding-failed';
  return new FetchFailure(code, errorText(error), { cause: error });
}
