import { type ContentEncoding, contentEncodings } from '../../http/content-encoding.js';
import { FetchFailure } from './failure.js';

/** The encodings that are requested. Zstandard is decoded, too, if a server sends it unasked. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/**
 * The encodings of a `Content-Encoding` header, in the order in which they were applied.
 *
 * @throws FetchFailure `decoding-failed` for an unknown encoding, and for more than four
 */
export function parseContentEncoding(header: string | undefined): readonly ContentEncoding[] {
  const encodings = contentEncodings(header);
  if (typeof encodings === 'string') {
    throw new FetchFailure(
      'decoding-failed',
      `content encoding ${JSON.stringify(encodings.slice(0, 40))} was not requested (${ACCEPT_ENCODING})`,
    );
  }
  if (typeof encodings === 'number') {
    throw new FetchFailure('decoding-failed', `${encodings} content encodings on one body`);
  }
  return encodings;
}
