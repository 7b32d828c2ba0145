import { type AccessResult, accessResultOf } from '../protocol/access.js';

/**
 * What to make of 429, Too Many Requests: RFC 9309 counts it among 400 to 499, where everything is
 * allowed.
 */
export type On429 = 'allow' | 'deny';

/**
 * The access result of a response that was not followed (RFC 9309 section 2.3.1): as its status
 * says, in all profiles the same, but for 429, which may be made unreachable.
 *
 * 300 to 399 that cannot be followed are unavailable: 300, 304 without a condition, a redirect
 * without a usable `Location`. The server did answer, and had nothing to be read; more redirects
 * than are followed end the same way (section 2.3.1.2).
 */
export function accessResultOfResponse(status: number, on429: On429): AccessResult {
  return status === 429 && on429 === 'deny' ? 'unreachable' : accessResultOf(status);
}
