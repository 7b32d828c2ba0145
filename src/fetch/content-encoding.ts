import type { Buffer } from 'node:buffer';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { FetchFailure } from './failure.js';

/** What is asked for; it is also all that can be decoded. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** No server needs more than one; each further one multiplies what a bomb can do. */
const MAX_ENCODINGS = 4;

type ContentEncoding = 'gzip' | 'deflate' | 'br';

/** A body in pieces. */
export type Octets = AsyncIterable<Uint8Array>;

/**
 * The encodings of a `Content-Encoding` header (RFC 9110 section 8.4) in the order in which they
 * were applied.
 *
 * @throws FetchFailure `decoding-failed` for one that is not known, and for more than four.
 */
export function parseContentEncoding(header: string | undefined): readonly ContentEncoding[] {
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
        encodings.push(name);
        break;
      default:
        throw new FetchFailure(
          'decoding-failed',
          `content encoding ${JSON.stringify(name.slice(0, 40))} was not asked for (${ACCEPT_ENCODING})`,
        );
    }
  }
  if (encodings.length > MAX_ENCODINGS) {
    throw new FetchFailure('decoding-failed', `${encodings.length} content encodings on one body`);
  }
  return encodings;
}

/** Undoes the encodings, the last first, piece by piece: no more is decoded than is read. */
export function decoded(octets: Octets, encodings: readonly ContentEncoding[]): Octets {
  return encodings.reduceRight<Octets>(decode, octets);
}

async function* decode(octets: Octets, encoding: ContentEncoding): AsyncGenerator<Buffer> {
  const pieces = octets[Symbol.asyncIterator]();
  const first = await firstPiece(pieces);
  // An empty body is sent with the header of a full one often enough.
  if (first === undefined) return;
  const decoder = createDecoder(encoding, first);
  const finished = pipeline(startingWith(first, pieces), decoder);
  // What ends the pipeline ends the decoder too, and is thrown from there.
  finished.catch(() => undefined);
  yield* decoder;
}

function createDecoder(encoding: ContentEncoding, first: Uint8Array): Transform {
  switch (encoding) {
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      // RFC 9110 means zlib's format, some servers send the bare one: only zlib's begins with
      // method 8.
      return (first[0] ?? 0) % 16 === 8 ? createInflate() : createInflateRaw();
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
