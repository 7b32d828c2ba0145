import { type AccessResult, accessResultOf } from '../protocol/access.js';

/** What is known of a robots.txt besides its octets. */
export interface RobotsDetails {
  /** Where the file came from, as `--explain` shows it: a name or a URL. */
  readonly source: string;
  /**
   * Status code of the response (RFC 9309 section 2.3.1): 2xx and `undefined` is successful, 3xx
   * and 4xx unavailable, anything else unreachable.
   */
  readonly status?: number | undefined;
  /**
   * What fetching it came to, where more is known than a status code tells; counts before `status`.
   */
  readonly access?: AccessResult | undefined;
}

/** What a fetch came to. */
export function accessOf({ status, access }: RobotsDetails): AccessResult {
  return access ?? accessResultOf(status);
}
