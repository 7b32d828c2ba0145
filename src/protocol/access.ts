/**
 * How a robots.txt could be had (RFC 9309 section 2.3.1).
 *
 * - `successful`: its rules count (section 2.3.1.1).
 * - `unavailable`: there is none that counts, as by 404: everything is allowed (section 2.3.1.3).
 * - `unreachable`: nobody can tell, as by 503 or a timeout: everything is denied (section 2.3.1.4).
 */
export type AccessResult = 'successful' | 'unavailable' | 'unreachable';

/**
 * Days after which what stays unreachable may be taken for unavailable (RFC 9309 section 2.3.1.4).
 */
export const UNREACHABLE_AFTER_DAYS = 30;

export function isAccessResult(value: unknown): value is AccessResult {
  return value === 'successful' || value === 'unavailable' || value === 'unreachable';
}

/**
 * The access result that a status code stands for: 2xx, and none at all, is successful; 4xx
 * unavailable, and so is 3xx, with which a chain of redirects ends that is too long (RFC 9309
 * section 2.3.1.2); anything else is unreachable.
 */
export function accessResultOf(status: number | undefined): AccessResult {
  if (status === undefined || (status >= 200 && status <= 299)) return 'successful';
  return status >= 300 && status <= 499 ? 'unavailable' : 'unreachable';
}
