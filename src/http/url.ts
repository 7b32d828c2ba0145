/** URLs of requests, and the redirects from one to another. */

import { Buffer, isUtf8 } from 'node:buffer';

/**
 * The URL that a text is, as the WHATWG URL Standard has it; `undefined` if it is none.
 *
 * `URL.canParse` does not serve: in Node 20, once V8 has optimised its caller, it refuses texts
 * such as `https://@ü/`.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

const FOLLOWED_SCHEMES: readonly string[] = ['http:', 'https:', 'ftp:'];

/**
 * Maximum number of redirects that are followed. More mean that there is no robots.txt (RFC 9309
 * section 2.3.1.2).
 */
export const FOLLOWED_REDIRECTS = 5;

/** Whether a status moves a GET to the URL of its `Location` header (RFC 9110 section 15.4). */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/**
 * Resolves the target of a redirect: `location`, with one character per byte, against the requested
 * URL. Drops the fragment and the user information, because credentials are for the author of the
 * URL to send. Returns a string if the redirect cannot be followed, with the reason.
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
 * Decodes a header field with one character per byte. Bytes outside ASCII are read as UTF-8 if
 * possible, like the bodies from which such URLs are copied.
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
