import { Buffer } from 'node:buffer';
import { domainToASCII } from 'node:url';
import { HYPHEN, isDigit, isLetter } from './octet.js';

/** The schemes whose URLs have a robots.txt. */
export type Scheme = 'http' | 'https' | 'ftp';

/**
 * What a robots.txt counts for, and the key of a table: scheme, host and port (RFC 9309 section
 * 2.3).
 */
export interface Authority {
  /** `undefined` where it is not known, as with a file that is named for its host alone. */
  readonly scheme: Scheme | undefined;
  /** As `canonicalHost` returns it. */
  readonly host: string;
  /**
   * From 0 to 65535; `undefined` where none is given or where it is the default of the scheme.
   * Without a scheme it is the port as given.
   */
  readonly port: number | undefined;
}

/** The default port of each scheme. */
export const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = { http: 80, https: 443, ftp: 21 };

const DOT = 0x2e;

const MAX_RAW_OCTETS = 2048;
const MAX_CANONICAL_OCTETS = 255;
const MAX_PORT = 65535;

/**
 * The host as the WHATWG URL Standard reads it ("host parsing"): percent-decoded, in lower-case
 * A-labels, IPv4 and IPv6 addresses canonical, IPv6 in brackets; and without a trailing dot (one:
 * of `example.com..` the other stays, and `.` is itself).
 *
 * `undefined` for what is no host there: empty, with an octet such as `/ ? # @ \ :` or white space,
 * with octets that are not UTF-8, with labels that are invalid punycode; and for a host longer than
 * 255 octets in canonical form. A host longer than 2,048 octets as given is refused unread, for the
 * time that the algorithms of IDN take is not linear.
 */
export function canonicalHost(host: Uint8Array | string): string | undefined {
  if (host.length > MAX_RAW_OCTETS) return undefined;
  if (typeof host === 'string' && host.length <= MAX_CANONICAL_OCTETS && isPlainName(host)) {
    return host;
  }
  // As in URLs, octets that are not UTF-8 become U+FFFD, which no host may hold.
  const text = typeof host === 'string' ? host : Buffer.from(host).toString('utf8');
  if (typeof host === 'string' && Buffer.byteLength(host) > MAX_RAW_OCTETS) return undefined;
  if (!isHostText(text)) return undefined;
  const ascii = domainToASCII(text);
  const canonical = ascii.endsWith('.') && ascii !== '.' ? ascii.slice(0, -1) : ascii;
  if (canonical.length === 0 || canonical.length > MAX_CANONICAL_OCTETS) return undefined;
  return canonical;
}

/**
 * Whether a text is a host name as most are (RFC 1123 section 2.1) and canonical as it stands:
 * letters in lower case, digits, dots and single hyphens between them, so that no label is an
 * A-label; and a last label that starts with a letter, so that it is no IPv4 address.
 */
function isPlainName(text: string): boolean {
  let before = DOT;
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === DOT || unit === HYPHEN) {
      if (before === DOT || before === HYPHEN) return false;
    } else {
      const isLowerCase = unit >= 0x61 && unit <= 0x7a;
      if (!isLowerCase && !isDigit(unit)) return false;
      if (before === DOT) isName = isLowerCase;
    }
    before = unit;
  }
  return isName && before !== DOT && before !== HYPHEN;
}

/**
 * Whether a text holds none of the characters that would end a host in a URL, or would be dropped
 * from it, so that Node's parser sees nothing but a host. Colons may stand only between the
 * brackets that enclose all of it.
 */
function isHostText(text: string): boolean {
  const isAddress = text.startsWith('[') && text.endsWith(']');
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= 0x20 || unit === 0x7f) return false;
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

/** A port of decimal digits, or `undefined`. Leading zeros do no harm. */
function portOf(digits: string): number | undefined {
  let port = 0;
  for (let at = 0; at < digits.length; at++) {
    const unit = digits.charCodeAt(at);
    if (!isDigit(unit)) return undefined;
    port = port * 10 + (unit - 0x30);
    if (port > MAX_PORT) return undefined;
  }
  return digits.length === 0 ? undefined : port;
}

/**
 * Whether all characters are such as names have: letters, digits, `-`, `_`, `.`, anything outside
 * ASCII; or an IPv6 address.
 */
function isNameText(text: string): boolean {
  if (text.startsWith('[')) return true;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80 || isLetter(unit) || isDigit(unit)) continue;
    if (unit !== 0x2d && unit !== 0x2e && unit !== 0x5f) return false;
  }
  return true;
}

/** Where the authority ends that starts `text`. */
function endOfAuthority(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '/' || character === '?' || character === '#' || character === '\\')
      return at;
  }
  return text.length;
}

/**
 * Cuts `HOST:PORT` at its last colon; an IPv6 address has more of them, but they stand within
 * brackets.
 */
function splitAtColon(text: string): { host: string; digits: string | undefined } {
  const colon = text.lastIndexOf(':');
  if (colon < 0 || text.indexOf(']', colon) >= 0) return { host: text, digits: undefined };
  return { host: text.slice(0, colon), digits: text.slice(colon + 1) };
}

function schemeOf(text: string): Scheme | undefined {
  const scheme = text.toLowerCase();
  return scheme === 'http' || scheme === 'https' || scheme === 'ftp' ? scheme : undefined;
}

/** Reads a URL whose scheme ends at offset `colon`; path, query and fragment are passed by. */
function parseUrl(text: string, colon: number): Authority | undefined {
  const scheme = schemeOf(text.slice(0, colon));
  if (scheme === undefined) return undefined;
  const rest = text.slice(colon + '://'.length);
  const { host: raw, digits } = splitAtColon(rest.slice(0, endOfAuthority(rest)));
  const host = canonicalHost(raw);
  if (host === undefined || !isNameText(host)) return undefined;
  // An empty port is as good as none (WHATWG URL, RFC 3986 section 3.2.3).
  if (digits === undefined || digits === '') return { scheme, host, port: undefined };
  const port = portOf(digits);
  if (port === undefined) return undefined;
  return { scheme, host, port: port === DEFAULT_PORTS[scheme] ? undefined : port };
}

/**
 * Whether a text cannot be the name of an authority: it is the name of another file, or has other
 * characters than names have.
 */
function isOtherName(text: string): boolean {
  return text.startsWith('.') || text.toLowerCase() === 'robots.txt' || !isNameText(text);
}

/**
 * What follows the authority of a URL as `parseAuthority` reads it: `/robots.txt`; empty where
 * there is no scheme.
 */
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
  // An empty port is as good as none, as in a URL.
  if (digits === undefined || digits === '') return { scheme: undefined, host, port: undefined };
  const port = portOf(digits);
  return port === undefined ? undefined : { scheme: undefined, host, port };
}

/**
 * Reads the authority that a file or directory is named for, as `parseAuthority`, and besides
 * `HOST_PORT`: not every file system takes a colon. What follows the last `_` is a port if it is
 * one to five digits, at most 65535, after a host: `my_host` is a host.
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
 * of any path. An empty port (`example.com:`) is none.
 *
 * `undefined` for other schemes, user information, ports out of range, a host that is none or holds
 * other characters than letters, digits, `-`, `_`, `.` and those outside ASCII; and, where no
 * scheme is given, for `robots.txt` and for names that start with a dot. Any other bare word is a
 * host, `README` too.
 */
export function parseAuthority(text: string): Authority | undefined {
  const colon = text.indexOf('://');
  return colon < 0 ? parseName(text) : parseUrl(text, colon);
}

/** `https://example.com:8443`; what is `undefined` is left out. */
export function formatAuthority({ scheme, host, port }: Authority): string {
  const prefix = scheme === undefined ? '' : `${scheme}://`;
  return port === undefined ? `${prefix}${host}` : `${prefix}${host}:${port}`;
}

/**
 * Whether two authorities are the same, as far as both tell: the scheme of either may be missing.
 */
export function agree(one: Authority, other: Authority): boolean {
  const scheme = one.scheme ?? other.scheme;
  if (one.host !== other.host || scheme !== (other.scheme ?? scheme)) return false;
  const standard = scheme === undefined ? undefined : DEFAULT_PORTS[scheme];
  return (one.port ?? standard) === (other.port ?? standard);
}
