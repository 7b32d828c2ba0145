import { type AccessResult, accessResultOf, isSuccess } from '../protocol/access.js';

/** The meaning of status 429, Too Many Requests. RFC 9309 allows everything for 400 to 499. */
export type On429 = 'allow' | 'deny';

/**
 * The access result of a response that was not followed (RFC 9309 section 2.3.1). With `deny`,
 * status 429 is unreachable; otherwise the status alone decides.
 *
 * A status of 300 to 399 that cannot be followed is unavailable: 300, 304 without a condition, or a
 * redirect without a usable `Location`. The server has answered, but without a robots.txt. More
 * redirects than are followed end in the same way (section 2.3.1.2).
 */
export function accessResultOfResponse(status: number, on429: On429): AccessResult {
  // `exchange` has refused the parts among these.
  if (isSuccess(status)) return 'successful';
  return status === 429 && on429 === 'deny' ? 'unreachable' : accessResultOf(status);
}
