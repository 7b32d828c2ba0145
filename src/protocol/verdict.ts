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
 * - `no-url`: a JSON object without a string at the URL field.
 * - `no-object`: a line of NDJSON that is not an object.
 * - `line-too-long`: a line, or a JSON record, longer than the limit.
 * - `no-json`: a line of NDJSON that is not JSON.
 * - `over-budget`: finding the deciding rule would take more steps than a URL may: denied.
 * - `tab-in-line`: a line of text with a tab inside: columns, not one URL.
 * - `nested-too-deep`: a JSON record whose brackets and braces nest beyond the limit.
 * - `return-in-line`: a carriage return inside a line of text, or outside quotes inside a row: the
 *   line is several lines.
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
  | 'return-in-line';

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
];
