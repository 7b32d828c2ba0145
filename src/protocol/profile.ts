/**
 * The version of the Robots Exclusion Protocol that verdicts follow.
 *
 * - `rfc9309`: RFC 9309 (September 2022), the default.
 * - `google`: the behaviour of google/robotstxt, in every detail.
 * - `draft-koster-rep-00`: the draft of July 2019, which is as `rfc9309`, except that only the
 *   first `*` group counts.
 */
export type Profile = 'rfc9309' | 'google' | 'draft-koster-rep-00';

/** All profiles. The index of each is its number in a table. */
export const PROFILES: readonly Profile[] = ['rfc9309', 'google', 'draft-koster-rep-00'];
