import type { Field } from '../../http/response.js';
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
export const PICKED_HEADERS: readonly string[] = [
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
 * @param fields the fields of the header, with names in lower case
 */
export function pickHeaders(fields: readonly Field[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of PICKED_HEADERS) {
    const values = fields.filter((field) => field.name === name).map(({ value }) => value);
    const [first] = values;
    // `Location` is not a list: the first value counts.
    if (first !== undefined) picked[name] = name === 'location' ? first : values.join(', ');
  }
  return picked;
}
