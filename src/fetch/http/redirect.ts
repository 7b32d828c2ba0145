import { redirectUrl } from '../../http/redirect.js';
import { FetchFailure } from '../transport/failure.js';

/**
 * Where a redirect leads: see `redirectUrl`.
 *
 * @throws FetchFailure `redirect-refused` for what is no URL, and for other schemes than http,
 *   https and ftp
 */
export function redirectTarget(location: string, from: URL): URL {
  const target = redirectUrl(location, from);
  if (typeof target === 'string') throw new FetchFailure('redirect-refused', target);
  return target;
}
