import { Buffer, isUtf8 } from 'node:buffer';
import { FetchFailure } from './failure.js';

const FOLLOWED_SCHEMES: readonly string[] = ['http:', 'https:', 'ftp:'];

/** Whether a status moves a GET to the URL of its `Location` header (RFC 9110 section 15.4). */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/**
 * Where a redirect leads: `location`, as undici gives it with one octet for a character, resolved
 * against the URL that was asked. The fragment is dropped, and user information with it, since
 * credentials are for the one who wrote the URL to send.
 *
 * @throws FetchFailure `redirect-refused` for what is no URL, and for other schemes than http,
 *   https and ftp.
 */
export function redirectTarget(location: string, from: URL): URL {
  // Octets outside ASCII are UTF-8 if they can be, as in the bodies that such URLs are copied from.
  const octets = Buffer.from(location, 'latin1');
  const text = isUtf8(octets) ? octets.toString('utf8') : location;
  if (!URL.canParse(text, from.href)) {
    throw new FetchFailure('redirect-refused', `${quoted(text)} is not a URL`);
  }
  const target = new URL(text, from.href);
  if (!FOLLOWED_SCHEMES.includes(target.protocol)) {
    throw new FetchFailure(
      'redirect-refused',
      `${quoted(text)} is not followed: neither http, https nor ftp`,
    );
  }
  target.hash = '';
  target.username = '';
  target.password = '';
  if (target.hostname === '') {
    throw new FetchFailure('redirect-refused', `${quoted(text)} has no host`);
  }
  return target;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
