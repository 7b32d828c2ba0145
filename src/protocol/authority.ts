/** Authorities: scheme, host and port in canonical form (section 2.3). */

import { Buffer } from 'node:buffer';
import { domainToASCII } from 'node:url';
import { shownValue } from '../base/arguments.js';
import { DELETE, DIGIT_0, DOT, HYPHEN, LOWER_A, LOWER_Z, SPACE } from '../base/ascii.js';
import { isDigit, isLetter } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';

/** The path of a robots.txt (section 2.3). */
export const ROBOTS_PATH = '/robots.txt';

/** The schemes whose URLs have a robots.txt. */
export type Scheme = 'http' | 'https' | 'ftp';

/**
 * The scheme, host and port for which a robots.txt counts (RFC 9309 section 2.3). The key of a
 * table.
 */
export interface Authority {
  /** The scheme; `undefined` if unknown, as for a file with only the name of its host. */
  readonly scheme: Scheme | undefined;
  /** The host in canonical form, as `canonicalHost` returns it. */
  readonly host: string;
  /**
   * The port, from 0 to 65535; `undefined` if not given, or if it is the default of the scheme.
   * Without a scheme, the port as given.
   */
  readonly port: number | undefined;
}

/** The default port of each scheme. */
export const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = { http: 80, https: 443, ftp: 21 };

const MAX_RAW_BYTES = 2048;
const MAX_CANONICAL_BYTES = 255;
/** Greatest port of TCP. */
export const MAX_PORT = 65535;

/**
 * Returns the canonical host, as the WHATWG URL Standard parses it: percent-decoded, in lower-case
 * A-labels, IPv4 and IPv6 addresses canonical, IPv6 in brackets, without a final dot. The canonical
 * form of a canonical host is that host.
 *
 * Returns `undefined` if the host is empty, contains white space or one of `/ ? # @ \ :`, is not
 * UTF-8, has invalid punycode, or is longer than 255 bytes in canonical form. A host of more than
 * 2,048 bytes as given is refused unread, because IDN algorithms are not linear.
 */
export function canonicalHost(host: Uint8Array | string): string | undefined {
  if (host.length > MAX_RAW_BYTES) return undefined;
  if (typeof host === 'string' && host.length <= MAX_CANONICAL_BYTES && isPlainName(host)) {
    return host;
  }
  // As in URLs, bytes that are not UTF-8 become U+FFFD, which no host may contain.
  const text = typeof host === 'string' ? host : Buffer.from(host).toString('utf8');
  if (typeof host === 'string' && Buffer.byteLength(host) > MAX_RAW_BYTES) return undefined;
  if (!isHostText(text)) return undefined;
  const ascii = domainToASCII(text);
  const canonical = withoutFinalDot(ascii);
  if (canonical.length === 0 || canonical.length > MAX_CANONICAL_BYTES) return undefined;
  return canonical;
}

/**
 * The host without the dot after its last label, which DNS ignores. After an empty label a dot
 * stays, as in `.` and `a..`: these are no names to DNS, and without the dot they would be another
 * host.
 */
export function withoutFinalDot(host: string): string {
  return host.endsWith('.') && host !== '.' && !host.endsWith('..') ? host.slice(0, -1) : host;
}

/**
 * Whether a text is a plain host name (RFC 1123 section 2.1) and already canonical: lower-case
 * letters and digits, with single dots and hyphens between them, so that no label is an A-label.
 * The last label starts with a letter, so that the text is not an IPv4 address.
 */
function isPlainName(text: string): boolean {
  let before = DOT;
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === DOT || unit === HYPHEN) {
      if (before === DOT || before === HYPHEN) return false;
    } else {
      const isLowerCase = unit >= LOWER_A && unit <= LOWER_Z;
      if (!isLowerCase && !isDigit(unit)) return false;
      if (before === DOT) isName = isLowerCase;
    }
    before = unit;
  }
  return isName && before !== DOT && before !== HYPHEN;
}

/**
 * Whether Node's parser would see only a host in a text. The text then holds no character that ends
 * a host in a URL, or that a parser drops. Colons are allowed only within brackets around the whole
 * text.
 */
function isHostText(text: string): boolean {
  const isAddress = text.startsWith('[') && text.endsWith(']');
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= SPACE || unit === DELETE) return false;
    switch (text[at]) {
      case ':':
        if (!isAddress) return false;
        break;
      case '[':
      case ']':
        if (!isAddress || (at > 0 && at < text.length - 1)) return false;
        break;
      case '/':
      case '\\':
      case '?':
      case '#':
      case '@':
        return false;
    }
  }
  return true;
}

/**
 * The authority of a URL in any form that the URL Standard reads: with white space, backslashes, a
 * user name or the like. `undefined` if it has none with a robots.txt.
 */
export function authorityOfUrl(text: string): Authority | undefined {
  const plain = parseAuthority(text);
  if (plain?.scheme !== undefined) return plain;
  if (!URL.canParse(text)) return undefined;
  const { protocol, host } = new URL(text);
  const authority = parseAuthority(`${protocol}//${host}`);
  return authority?.scheme === undefined ? undefined : authority;
}

/** The port in decimal digits; `undefined` if there is none. Leading zeros are allowed. */
function portOf(digits: string): number | undefined {
  let port = 0;
  for (let at = 0; at < digits.length; at++) {
    const unit = digits.charCodeAt(at);
    if (!isDigit(unit)) return undefined;
    port = port * 10 + (unit - DIGIT_0);
    if (port > MAX_PORT) return undefined;
  }
  return digits.length === 0 ? undefined : port;
}

/** Other characters that a host may have without a scheme. */
const NAME_MARKS: ReadonlySet<string> = new Set("-._~!$&'+;=");

/**
 * Whether a text may be a host without a scheme. A URL may have a host with `*`, `(`, `)`, `,`,
 * quotes, braces and backticks too, but a bare word with these is a pattern (`*.example.com`) or
 * the name of another file (`robots(1)`).
 */
function isNameText(text: string): boolean {
  if (text.startsWith('[')) return true;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80 || isLetter(unit) || isDigit(unit)) continue;
    if (!NAME_MARKS.has(text.charAt(at))) return false;
  }
  return true;
}

/** Offset of the end of the authority at the start of `text`. */
function endOfAuthority(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '/' || character === '?' || character === '#' || character === '\\')
      return at;
  }
  return text.length;
}

/** Splits `HOST:PORT` at its last colon. The colons of an IPv6 address are within brackets. */
function splitAtColon(text: string): { host: string; digits: string | undefined } {
  const colon = text.lastIndexOf(':');
  if (colon < 0 || text.indexOf(']', colon) >= 0) return { host: text, digits: undefined };
  return { host: text.slice(0, colon), digits: text.slice(colon + 1) };
}

function schemeOf(text: string): Scheme | undefined {
  const scheme = text.toLowerCase();
  return scheme === 'http' || scheme === 'https' || scheme === 'ftp' ? scheme : undefined;
}

/** Reads a URL whose scheme ends at offset `colon`. Ignores path, query and fragment. */
function parseUrl(text: string, colon: number): Authority | undefined {
  const scheme = schemeOf(text.slice(0, colon));
  if (scheme === undefined) return undefined;
  const rest = text.slice(colon + '://'.length);
  const { host: raw, digits } = splitAtColon(rest.slice(0, endOfAuthority(rest)));
  const host = canonicalHost(raw);
  if (host === undefined) return undefined;
  // An empty port means the default port (WHATWG URL, RFC 3986 section 3.2.3).
  if (digits === undefined || digits === '') return { scheme, host, port: undefined };
  const port = portOf(digits);
  if (port === undefined) return undefined;
  return { scheme, host, port: port === DEFAULT_PORTS[scheme] ? undefined : port };
}

/** Whether a text cannot be a host, because it is the name of another file, or not a host name. */
function isOtherName(text: string): boolean {
  return text.startsWith('.') || text.toLowerCase() === 'robots.txt' || !isNameText(text);
}

/** The rest of a URL after its authority, such as `/robots.txt`; empty without a scheme. */
export function afterAuthority(url: string): string {
  const colon = url.indexOf('://');
  if (colon < 0) return '';
  const rest = url.slice(colon + '://'.length);
  return rest.slice(endOfAuthority(rest));
}

/** Reads `HOST` or `HOST:PORT`. */
function parseName(text: string): Authority | undefined {
  const { host: raw, digits } = splitAtColon(text);
  if (isOtherName(raw)) return undefined;
  const host = canonicalHost(raw);
  if (host === undefined) return undefined;
  // As in a URL, an empty port means the default port.
  if (digits === undefined || digits === '') return { scheme: undefined, host, port: undefined };
  const port = portOf(digits);
  return port === undefined ? undefined : { scheme: undefined, host, port };
}

/**
 * Reads the authority in the name of a file or directory. Accepts the same texts as
 * `parseAuthority`, and `HOST_PORT`, because some file systems do not allow a colon. The text after
 * the last `_` is a port if it is one to five digits, at most 65535: `my_host` is a host.
 */
export function parseFileName(name: string): Authority | undefined {
  const underscore = name.lastIndexOf('_');
  if (underscore >= 0 && name.length - underscore <= '_65535'.length && !isOtherName(name)) {
    const port = portOf(name.slice(underscore + 1));
    const host = port === undefined ? undefined : canonicalHost(name.slice(0, underscore));
    if (host !== undefined) return { scheme: undefined, host, port };
  }
  return parseAuthority(name);
}

/**
 * Reads an authority: `example.com`, `example.com:8080`, `[::1]:8080`, or an http, https or ftp URL
 * with any path. An empty port (`example.com:`) means the default port.
 *
 * Returns `undefined` for other schemes, user information, a port out of range, or a host that the
 * URL Standard refuses. Without a scheme, also for `robots.txt`, for names that start with a dot,
 * and for hosts with other characters than letters, digits, non-ASCII and `-._~!$&'+;=`. Any other
 * bare word is a host, even `README`.
 *
 * @throws RobotsFilterError `usage` for anything but a string
 */
export function parseAuthority(text: string): Authority | undefined {
  if (typeof text !== 'string') {
    const remedy = "Pass a host or a URL, such as 'example.com'";
    throw new RobotsFilterError('usage', `the authority is ${shownValue(text)}. ${remedy}`);
  }
  const colon = text.indexOf('://');
  return colon < 0 ? parseName(text) : parseUrl(text, colon);
}

/**
 * Formats an authority: `https://example.com:8443`, or less if parts are `undefined`.
 *
 * @throws RobotsFilterError `usage` for anything without a host
 */
export function formatAuthority(authority: Authority): string {
  if (typeof authority?.host !== 'string' || (authority as unknown) instanceof URL) {
    const remedy = 'Pass what parseAuthority returned, if it is not undefined';
    throw new RobotsFilterError('usage', `the authority is ${shownValue(authority)}. ${remedy}`);
  }
  const { scheme, host, port } = authority;
  const prefix = scheme === undefined ? '' : `${scheme}://`;
  return port === undefined ? `${prefix}${host}` : `${prefix}${host}:${port}`;
}

/** Whether two authorities are the same. A missing scheme agrees with any scheme. */
export function agree(one: Authority, other: Authority): boolean {
  const scheme = one.scheme ?? other.scheme;
  if (one.host !== other.host || scheme !== (other.scheme ?? scheme)) return false;
  const standard = scheme === undefined ? undefined : DEFAULT_PORTS[scheme];
  return (one.port ?? standard) === (other.port ?? standard);
}
