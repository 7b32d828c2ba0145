import type { Body } from './body.js';

/** The answer to one request, over HTTP or ftp. */
export interface Answer {
  /** The status code. For ftp, 200 stands for a file and 404 for a missing one. */
  readonly status: number;
  /** Headers, as `pickHeaders` returns them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; `undefined` unless the status is 200 to 299. */
  readonly body: Body | undefined;
  /** Time at which the headers had arrived, in milliseconds since 1970. */
  readonly respondedAt: number;
}

/** Headers about a robots.txt, its freshness, or why there is none. */
const PICKED_HEADERS: readonly string[] = [
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
 * Picks the headers that are kept. The values of a repeated header are joined (RFC 9110 section
 * 5.3).
 *
 * @param headers the values of each header, one for each time that it was sent
 */
export function pickHeaders(
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of PICKED_HEADERS) {
    const values = headers[name];
    // `Location` is not a list: the first value counts.
    if (values !== undefined)
      picked[name] = name === 'location' ? (values[0] ?? '') : values.join(', ');
  }
  return picked;
}
