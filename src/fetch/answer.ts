import type { Body } from './body.js';

/** What an exchange with one server ended with, over HTTP or ftp. */
export interface Answer {
  /** Of ftp, 200 for a file and 404 for a missing one, as the result that they stand for. */
  readonly status: number;
  /** As `pickHeaders` picks them. */
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` unless the status is 200 to 299. */
  readonly body: Body | undefined;
  /** When the headers had come, in milliseconds since 1970. */
  readonly respondedAt: number;
}

/** The headers that say something about a robots.txt, its freshness, or why there is none. */
const HEADERS_THAT_MATTER: readonly string[] = [
  'age',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'pragma',
  'retry-after',
  'server',
  'vary',
];

/**
 * Of the headers of a response those that matter; of one that was sent several times, the values
 * joined (RFC 9110 section 5.3).
 *
 * @param headers the values of each header, one for each time that it was sent
 */
export function pickHeaders(
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of HEADERS_THAT_MATTER) {
    const values = headers[name];
    // Two values of `Location` are no list: the first counts.
    if (values !== undefined)
      picked[name] = name === 'location' ? (values[0] ?? '') : values.join(', ');
  }
  return picked;
}
