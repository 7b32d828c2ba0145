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

/** Days after which an unreachable host may count as unavailable (RFC 9309 section 2.3.1.4). */
export const UNREACHABLE_AFTER_DAYS = 30;

export function isAccessResult(value: unknown): value is AccessResult {
  return value === 'successful' || value === 'unavailable' || value === 'unreachable';
}

/**
 * The access result of a status code. 2xx, or no status, is successful. 4xx is unavailable, and so
 * is 3xx, the end of a chain of too many redirects (RFC 9309 section 2.3.1.2). Any other status is
 * unreachable.
 */
export function accessResultOf(status: number | undefined): AccessResult {
  if (status === undefined || (status >= 200 && status <= 299)) return 'successful';
  return status >= 300 && status <= 499 ? 'unavailable' : 'unreachable';
}
