/**
 * The answer to the question whether a crawler may fetch a URL.
 *
 * - `allow`, `deny`: the answer of the URL's robots.txt.
 * - `unknown`: there is no robots.txt for the URL's scheme, host and port.
 * - `invalid`: the URL is not an http, https or ftp URL.
 */
export type Verdict = 'allow' | 'deny' | 'unknown' | 'invalid';

/** All verdicts. The index of each is its number in the kernel. */
export const VERDICTS: readonly Verdict[] = ['allow', 'deny', 'unknown', 'invalid'];

/**
 * The reason for a verdict.
 *
 * - `rule`: the most specific matching rule decides (RFC 9309 section 2.2.2).
 * - `no-rule`: no rule of the crawler's groups matches: allowed.
 * - `no-group`: neither the product token nor `*` has a group: allowed (section 2.2.1).
 * - `robots-txt`: the path is `/robots.txt`, which is implicitly allowed (section 2.2.2).
 * - `unavailable`: there is no robots.txt, as with 404: allowed (section 2.3.1.3).
 * - `unreachable`: robots.txt could not be reached, as with 503: denied (section 2.3.1.4).
 * - `unknown-host`: there is no robots.txt for the scheme, host and port.
 * - `invalid-url`: not an http, https or ftp URL.
 * - `no-url`: no URL at the field or in the column; or a row with too many fields or an open quote.
 * - `no-object`: a line of NDJSON that is not an object.
 * - `line-too-long`: a line, or a JSON record, longer than the limit.
 * - `no-json`: a line of NDJSON that is not JSON.
 * - `over-budget`: finding the deciding rule would take more steps than a URL may: denied.
 * - `tab-in-line`: a line of text with a tab inside: columns, not one URL.
 * - `nested-too-deep`: a JSON record whose brackets and braces nest beyond the limit.
 * - `return-in-line`: a carriage return inside a line of text, or outside quotes inside a row: the
 *   line is several lines.
 * - `before-first-capture`: at the time that was asked for, no robots.txt had been captured yet.
 * - `no-recent-capture`: at the time that was asked for, the last capture was older than asked for.
 * - `no-time`: a record without a time that can be read at the time field.
 */
export type Reason =
  | 'rule'
  | 'no-rule'
  | 'no-group'
  | 'robots-txt'
  | 'unavailable'
  | 'unreachable'
  | 'unknown-host'
  | 'invalid-url'
  | 'no-url'
  | 'no-object'
  | 'line-too-long'
  | 'no-json'
  | 'over-budget'
  | 'tab-in-line'
  | 'nested-too-deep'
  | 'return-in-line'
  | 'before-first-capture'
  | 'no-time'
  | 'no-recent-capture';

/** All reasons. The index of each is its number in the kernel. */
export const REASONS: readonly Reason[] = [
  'rule',
  'no-rule',
  'no-group',
  'robots-txt',
  'unavailable',
  'unreachable',
  'unknown-host',
  'invalid-url',
  'no-url',
  'no-object',
  'line-too-long',
  'no-json',
  'over-budget',
  'tab-in-line',
  'nested-too-deep',
  'return-in-line',
  'before-first-capture',
  'no-time',
  'no-recent-capture',
];

/** The reasons of URLs for which no robots.txt counts; their verdict is that on unknown hosts. */
export const WITHOUT_ROBOTS: readonly Reason[] = [
  'unknown-host',
  'before-first-capture',
  'no-recent-capture',
];

/**
 * The result of requesting a robots.txt (RFC 9309 section 2.3.1).
 *
 * - `successful`: the rules of the robots.txt count (section 2.3.1.1).
 * - `unavailable`: there is no robots.txt, as with 404. Everything is allowed (section 2.3.1.3).
 * - `unreachable`: nobody knows, as with 503 or a timeout. Everything is denied (section 2.3.1.4).
 */
export type AccessResult = 'successful' | 'unavailable' | 'unreachable';

/** A day, in milliseconds. */
export const DAY = 86_400_000;

/**
 * Days after which the last good copy of an unreachable host counts again, or everything is allowed
 * without one: 30 (RFC 9309 section 2.3.1.4). Google denies for the first 12 hours alone.
 */
export function unreachableAfterDays(profile: Profile): number {
  return profile === 'google' ? 0.5 : 30;
}

export function isAccessResult(value: unknown): value is AccessResult {
  return value === 'successful' || value === 'unavailable' || value === 'unreachable';
}

/** The status of a part of the body (RFC 9110 section 15.3.7). */
export const PARTIAL_CONTENT = 206;

/** The status that asks a client to slow down (RFC 6585 section 4). */
export const TOO_MANY_REQUESTS = 429;

/** Whether a response with this status has a body that counts. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/**
 * Whether the rules count of a robots.txt with this status, or without one, of which nothing else
 * is known. All profiles agree. With 206, rules may be missing.
 */
export function hasRules(status: number | undefined): boolean {
  return status === undefined || (isSuccess(status) && status !== PARTIAL_CONTENT);
}

/**
 * The access result of a status code of which nothing else is known. 2xx, or no status, is
 * successful; but 206 is unreachable, because rules may be missing. 4xx is unavailable, and so is
 * 3xx, the end of a chain of too many redirects (RFC 9309 section 2.3.1.2). Any other status is
 * unreachable. In the google profile 429 is a server error, and so unreachable.
 */
export function accessResultOf(status: number | undefined, profile: Profile): AccessResult {
  if (status === undefined || hasRules(status)) return 'successful';
  if (profile === 'google' && status === TOO_MANY_REQUESTS) return 'unreachable';
  return status >= 300 && status <= 499 ? 'unavailable' : 'unreachable';
}

/**
 * Whether the profiles read a status in different ways. Whoever stores an answer for a later reader
 * must then store the status, because the access result holds for one profile.
 */
export function isReadByProfile(status: number | undefined): boolean {
  return status === TOO_MANY_REQUESTS;
}

/**
 * The version of the Robots Exclusion Protocol that verdicts follow.
 *
 * - `rfc9309`: RFC 9309 (September 2022), the default.
 * - `google`: the behaviour of google/robotstxt, in every detail; and status 429 is a server error.
 * - `draft-koster-rep-00`: the draft of July 2019, which is as `rfc9309`, except that only the
 *   first `*` group counts.
 */
export type Profile = 'rfc9309' | 'google' | 'draft-koster-rep-00';

/** All profiles. The index of each is its number in a table. */
export const PROFILES: readonly Profile[] = ['rfc9309', 'google', 'draft-koster-rep-00'];

/**
 * The default parsing limit in bytes, which is the least that RFC 9309 section 2.5 allows: 500 KiB.
 */
export const LEAST_PARSING_LIMIT = 512_000;

/** The greatest parsing limit in bytes. Such a line still fits into a string, even from UTF-16. */
export const GREATEST_PARSING_LIMIT = 0x1000_0000;
