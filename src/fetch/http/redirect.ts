import { redirectUrl } from '../../http/url.js';
import { FetchFailure } from '../transport/failure.js';

/**
 * Resolves the target of a redirect: see `redirectUrl`.
 *
 * @throws FetchFailure `redirect-refused` for a target that is not a URL, and for schemes other
 *   than http, https and ftp
 */
export function redirectTarget(location: string, from: URL): URL {
  const target = redirectUrl(location, from);
  if (typeof target === 'string') throw new FetchFailure('redirect-refused', target);
  return target;
}
