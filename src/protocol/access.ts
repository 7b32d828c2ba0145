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

/** The status of a part of the body (RFC 9110 section 15.3.7). */
const PARTIAL_CONTENT = 206;

/** Whether a response with this status has a body that counts. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/**
 * The access result of a status code of which nothing else is known. 2xx, or no status, is
 * successful; but 206 is unreachable, because rules may be missing. 4xx is unavailable, and so is
 * 3xx, the end of a chain of too many redirects (RFC 9309 section 2.3.1.2). Any other status is
 * unreachable.
 */
export function accessResultOf(status: number | undefined): AccessResult {
  if (status === undefined) return 'successful';
  if (isSuccess(status)) return status === PARTIAL_CONTENT ? 'unreachable' : 'successful';
  return status >= 300 && status <= 499 ? 'unavailable' : 'unreachable';
}
