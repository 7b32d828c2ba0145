import { Buffer, isUtf8 } from 'node:buffer';
import { parseUrl } from './url.js';

const FOLLOWED_SCHEMES: readonly string[] = ['http:', 'https:', 'ftp:'];

/** Redirects that are followed; more mean no robots.txt (RFC 9309 section 2.3.1.2). */
export const FOLLOWED_REDIRECTS = 5;

/** Whether a status moves a GET to the URL of its `Location` header (RFC 9110 section 15.4). */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/**
 * Where a redirect leads: `location`, with one character per byte, resolved against the URL that
 * was requested. The fragment is dropped, and user information with it: credentials are for the
 * author of the URL to send. A string says why the redirect cannot be followed.
 */
export function redirectUrl(location: string, from: URL): URL | string {
  const text = headerText(location);
  const target = parseUrl(text, from.href);
  if (target === undefined) return `${quoted(text)} is not a URL`;
  if (!FOLLOWED_SCHEMES.includes(target.protocol)) {
    return `${quoted(text)} is not an http, https or ftp URL`;
  }
  target.hash = '';
  target.username = '';
  target.password = '';
  return target.hostname === '' ? `${quoted(text)} has no host` : target;
}

/**
 * The text of a header field with one character per byte. Bytes outside ASCII are UTF-8 if they can
 * be, as in the bodies that such URLs are copied from.
 */
export function headerText(value: string): string {
  if (isAscii(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

function isAscii(value: string): boolean {
  for (let at = 0; at < value.length; at++) if (value.charCodeAt(at) > 0x7f) return false;
  return true;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
