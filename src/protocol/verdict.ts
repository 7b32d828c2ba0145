/**
 * Whether a crawler may fetch a URL.
 *
 * - `allow`, `deny`: what its robots.txt says.
 * - `unknown`: there is no robots.txt for its authority here.
 * - `invalid`: there is no http, https or ftp URL.
 */
export type Verdict = 'allow' | 'deny' | 'unknown' | 'invalid';

/** All verdicts; the index of each is its number in the kernel. */
export const VERDICTS: readonly Verdict[] = ['allow', 'deny', 'unknown', 'invalid'];

/**
 * Why a verdict is what it is.
 *
 * - `rule`: a rule matched; the verdict is the most specific one's (RFC 9309 section 2.2.2).
 * - `no-rule`: the groups that count hold no rule that matches: allowed.
 * - `no-group`: neither the product token nor `*` has a group: allowed (section 2.2.1).
 * - `robots-txt`: the path is `/robots.txt`, which is implicitly allowed (section 2.2.2).
 * - `unavailable`: robots.txt could not be had, as by 404: allowed (section 2.3.1.3).
 * - `unreachable`: robots.txt could not be reached, as by 503: denied (section 2.3.1.4).
 * - `unknown-host`: there is no robots.txt for the authority here.
 * - `invalid-url`: no http, https or ftp URL.
 * - `no-url`: a JSON object without a string at the URL field.
 * - `no-object`: a line of NDJSON that is no object.
 * - `line-too-long`: a line, or a record of JSON, longer than the limit.
 * - `no-json`: a line of NDJSON that is no JSON.
 * - `over-budget`: to find the rule that decides would cost more than a URL may: denied.
 * - `tab-in-line`: a line of text with a tab within it: columns, not one URL.
 * - `nested-too-deep`: a record of JSON whose brackets and braces nest beyond the limit.
 * - `return-in-line`: a line of text with a carriage return within it: several lines, not one URL.
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

/** All reasons; the index of each is its number in the kernel. */
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
