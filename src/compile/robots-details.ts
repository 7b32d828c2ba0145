import { type AccessResult, accessResultOf } from '../protocol/access.js';

/** The data of a robots.txt in addition to its body. */
export interface RobotsDetails {
  /** Where the file came from, such as a path or a URL; shown as `rule.source`. */
  readonly source: string;
  /**
   * Status code of the response (RFC 9309 section 2.3.1). 2xx and `undefined` are successful, 3xx
   * and 4xx unavailable, all others unreachable.
   */
  readonly status?: number | undefined;
  /** Result of fetching the file, if more is known than a status code; wins over `status`. */
  readonly access?: AccessResult | undefined;
  /** When the file was fetched, in milliseconds since 1970; a table keeps whole seconds. */
  readonly date?: number | undefined;
}

const SECOND = 1000;
const MAX_SECONDS = 0xffff_ffff;

/** A date in seconds since 1970; 0 if it is unknown, or before 1970 or after 2106. */
export function secondsOf(date: number | undefined): number {
  const seconds = Math.floor((date ?? 0) / SECOND);
  return seconds > 0 && seconds <= MAX_SECONDS ? seconds : 0;
}

/** The access result of a robots.txt. */
export function accessOf({ status, access }: RobotsDetails): AccessResult {
  return access ?? accessResultOf(status);
}
