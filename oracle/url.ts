import type { Scheme } from '../src/protocol/authority.js';
import {
  charactersOf,
  escapeOf,
  isEscape,
  STRIPPED,
  textOf,
  toLowerAscii,
  trimmed,
} from './bytes.js';

/**
 * The text that rules are matched against: the path, and the query without its `?`; `undefined`
 * without a `?`.
 */
export interface Target {
  readonly path: string;
  readonly query: string | undefined;
}

const MAX_HOST_BYTES = 255;

/**
 * Path and query of a URL as the WHATWG URL Standard reads it (section 4.4, the basic URL parser),
 * except that their bytes are not percent-encoded. `undefined` if the text is not an http, https or
 * ftp URL. A text without a scheme is a relative reference, read against the root of the authority
 * to which the robots.txt applies. WHATWG `URL` is used only to check scheme, host and port.
 */
export function readUrl(url: Uint8Array | string): Target | undefined {
  const input = withoutTabsAndNewlines(trimmed(charactersOf(url), STRIPPED));
  const scheme = schemeOf(input);
  if (!hasGoodAuthority(textOf(input), scheme === undefined)) return undefined;

  let index = 0;
  if (scheme !== undefined || (isSlash(input[0]) && isSlash(input[1]))) {
    index = scheme === undefined ? 0 : scheme.length + 1;
    // Special authority slashes state, special authority ignore slashes state.
    while (isSlash(input[index])) index++;
    // Authority state and the next states: user information, host and port end at any of these
    // characters.
    while (index < input.length && !'/\\?#'.includes(input.charAt(index))) index++;
  }
  return readPath(input.slice(index));
}

/** Scheme start state, scheme state: the scheme without its colon; `undefined` if there is none. */
function schemeOf(input: string): string | undefined {
  let index = 0;
  for (; index < input.length && input[index] !== ':'; index++) {
    const byte = toLowerAscii(input.charAt(index));
    const isLetter = byte >= 'a' && byte <= 'z';
    if (!isLetter && (index === 0 || !'0123456789+-.'.includes(byte))) return undefined;
  }
  return index > 0 && index < input.length ? input.slice(0, index) : undefined;
}

function isSlash(byte: string | undefined): boolean {
  return byte === '/' || byte === '\\';
}

/** Beyond the standard: a host has at most 255 bytes, without a final dot. */
function hasGoodAuthority(text: string, isRelative: boolean): boolean {
  try {
    const url = isRelative ? new URL(text, 'http://authority.example/') : new URL(text);
    const { hostname } = url;
    const isDotted = hostname.endsWith('.') && !hostname.endsWith('..');
    const bytes = isDotted ? hostname.length - 1 : hostname.length;
    return ['http:', 'https:', 'ftp:'].includes(url.protocol) && bytes <= MAX_HOST_BYTES;
  } catch {
    return false; // not a URL: that is the answer
  }
}

/** "Remove all ASCII tab or newline." */
function withoutTabsAndNewlines(bytes: string): string {
  return Array.from(bytes)
    .filter((byte) => !'\t\n\r'.includes(byte))
    .join('');
}

/** Path start state, path state, query state. */
function readPath(input: string): Target {
  const segments: string[] = [];
  let index = isSlash(input[0]) ? 1 : 0;
  for (;;) {
    let segment = '';
    while (index < input.length && !'/\\?#'.includes(input.charAt(index))) {
      segment += input.charAt(index++);
    }
    const end = input.charAt(index++);
    const endsPath = end === '' || end === '?' || end === '#';
    if (isDoubleDot(segment)) {
      segments.pop();
      if (endsPath) segments.push('');
    } else if (isSingleDot(segment)) {
      if (endsPath) segments.push('');
    } else {
      segments.push(segment);
    }
    if (endsPath) {
      const path = `/${segments.join('/')}`;
      if (end !== '?') return { path, query: undefined };
      const rest = input.slice(index);
      return { path, query: rest.includes('#') ? rest.slice(0, rest.indexOf('#')) : rest };
    }
  }
}

function isSingleDot(segment: string): boolean {
  return ['.', '%2e'].includes(toLowerAscii(segment));
}

function isDoubleDot(segment: string): boolean {
  return ['..', '.%2e', '%2e.', '%2e%2e'].includes(toLowerAscii(segment));
}

/**
 * Path, parameters and query of a URL as google/robotstxt reads them (docs/verdicts.md, the google
 * profile, point 8).
 */
export function readGoogleUrl(url: Uint8Array | string): string {
  const bytes = charactersOf(url);
  let start = bytes.startsWith('//') ? 2 : 0;
  const hash = bytes.indexOf('#', start);
  const scheme = bytes.indexOf('://', start);
  const early = firstOf(bytes, '/?;', start);
  if (scheme >= 0 && scheme < early) start = scheme + 3;
  const from = firstOf(bytes, '/?;', start);
  if (from === bytes.length || (hash >= 0 && hash < from)) return '/';
  const path = bytes.slice(from, hash < 0 ? bytes.length : hash);
  const whole = path.startsWith('/') ? path : `/${path}`;
  return whole.includes('\0') ? whole.slice(0, whole.indexOf('\0')) : whole;
}

/** Index of the first of `wanted` at or after `start`; the length if there is none. */
function firstOf(bytes: string, wanted: string, start: number): number {
  for (let index = start; index < bytes.length; index++) {
    if (wanted.includes(bytes.charAt(index))) return index;
  }
  return bytes.length;
}

/**
 * A URL as the WHATWG URL Standard reads it, taken from Node's `URL`. The URL scanner agrees with
 * `URL`, apart from these intended exceptions:
 *
 * - A scheme other than http, https and ftp is invalid: other schemes have no robots.txt.
 * - A host of more than 255 bytes, not counting a final dot, is invalid, because no name in the DNS
 *   is that long. A host of more than 2,048 bytes as given is invalid too, because of the time that
 *   IDN takes.
 * - A dot after the last label does not count: `example.com.` is `example.com`, and `a..` is `a..`.
 * - Port 0 is unknown, whatever files the host has: nothing can be fetched from port 0.
 * - Bytes that are not UTF-8 are unchanged in path and query, where `URL` has U+FFFD. Tabs and
 *   newlines are removed from the bytes, not from the decoded text; the remaining bytes may then be
 *   valid UTF-8.
 * - An empty query is kept, because rules may match its `?`; `URL` has no query then.
 * - `'` in a query is unchanged, whereas `URL` encodes it. All percent-encoding of path and query
 *   is compared in canonical form, as in rules.
 * - Dot segments that the `URL` of Node 20 keeps, against the standard, are removed.
 */
export interface WhatwgUrl {
  readonly scheme: Scheme;
  /** Without a final dot, unless the dot is the whole host. */
  readonly host: string;
  /** `undefined` for the default port. */
  readonly port: number | undefined;
  /** Path and query as in the input, without percent-encoding: one character for each byte. */
  readonly target: Target;
}

function withoutFinalDot(host: string): string {
  return host !== '.' && host.endsWith('.') && !host.endsWith('..') ? host.slice(0, -1) : host;
}

const MAX_HOST = 255;
const REPLACEMENT = '\u{FFFD}';

/**
 * Reads a URL; `undefined` if it is invalid by these rules. Throws an Error if `URL` and the naive
 * reader disagree about the URL.
 */
export function readWhatwgUrl(bytes: Uint8Array): WhatwgUrl | undefined {
  const text = decoded(bytes);
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'ftp') return undefined;
  const host = withoutFinalDot(url.hostname);
  if (host.length > MAX_HOST) return undefined;
  const target = readUrl(bytes);
  if (target === undefined) throw new Error(`the naive reader refuses ${JSON.stringify(url.href)}`);
  checkTarget(url, target, text);
  return {
    scheme,
    host,
    port: url.port === '' ? undefined : Number(url.port),
    target,
  };
}

function decoded(bytes: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const text = decoder.decode(bytes);
  if (!text.includes(REPLACEMENT)) return text;
  return decoder.decode(bytes.filter((byte) => byte !== 0x09 && byte !== 0x0a && byte !== 0x0d));
}

/** Path and query agree with `URL`, apart from the exceptions. */
function checkTarget(url: URL, target: Target, text: string): void {
  if (text.includes(REPLACEMENT)) return;
  if (holdsDotSegment(url.pathname)) return;
  const query = target.query === '' ? undefined : target.query;
  const ours = canonicalText({ path: target.path, query });
  const theirs = canonicalText({
    path: url.pathname,
    query: url.search === '' ? undefined : url.search.slice(1),
  });
  if (ours !== theirs) {
    throw new Error(`path and query ${JSON.stringify(ours)}, URL: ${JSON.stringify(theirs)}`);
  }
}

function canonicalText(target: Target): string {
  return canonicalTarget({
    path: target.path,
    query: target.query?.split("'").join('%27'),
  });
}

function holdsDotSegment(path: string): boolean {
  return path.split('/').some((segment) => {
    const dots = segment.toLowerCase().split('%2e').join('.');
    return dots === '.' || dots === '..';
  });
}

/**
 * The pattern that matches exactly this path and query: anchored at both ends, with special
 * characters encoded.
 */
export function exactPattern({ path, query }: Target): string {
  const text = query === undefined ? path : `${path}?${query}`;
  const escaped = Array.from(text, (byte) =>
    byte <= ' ' || byte >= '\x7f' || '*$#'.includes(byte) ? escapeOf(byte) : byte,
  );
  return `${escaped.join('')}$`;
}

/** Whether the path is `/robots.txt`, which is always allowed. */
export function isRobotsTxt(target: Target): boolean {
  return canonicalTarget(target) === '/robots.txt';
}

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const NEVER_RAW = '"<>\\^`{|}';
/** The general delimiters without a role in a query (RFC 3986 section 3.4), escaped. */
const QUERY_DELIMITERS = ['%3A', '%2F', '%3F', '%40', '%5B', '%5D'];

/**
 * The element at one place of a path or pattern: a byte, or `%XX` for a byte that stays
 * percent-encoded. The canonical form is made place by place, but compared byte by byte.
 */
type Place = string;

/** The bytes place by place, read once from left to right; `*` and `$` are unchanged. */
function placesOf(bytes: string): Place[] {
  const places: Place[] = [];
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes.charAt(index);
    if (isEscape(bytes, index)) {
      const escaped = String.fromCharCode(Number.parseInt(bytes.slice(index + 1, index + 3), 16));
      places.push(UNRESERVED.includes(escaped) ? escaped : escapeOf(escaped));
      index += 2;
    } else if (byte <= ' ' || byte >= '\x7f' || NEVER_RAW.includes(byte)) {
      places.push(escapeOf(byte));
    } else {
      places.push(byte);
    }
  }
  return places;
}

/** A literal `*` or `$` is escaped. */
function literal(place: Place): Place {
  return place === '*' || place === '$' ? escapeOf(place) : place;
}

/** Note A: within a query the general delimiters are equal raw and escaped. */
function inQuery(place: Place): Place {
  return QUERY_DELIMITERS.includes(place)
    ? String.fromCharCode(Number.parseInt(place.slice(1), 16))
    : place;
}

/** The canonical form of a URL's path, and of its query if there is one. */
export function canonicalTarget(target: Target): string {
  const path = placesOf(target.path).map(literal).join('');
  if (target.query === undefined) return path;
  return `${path}?${placesOf(target.query).map(literal).map(inQuery).join('')}`;
}

/**
 * A rule's pattern in canonical form; `*` and a final `$` are special, and both are escaped as
 * literals.
 */
export interface CanonicalPattern {
  /**
   * The pattern's own canonical form, then the further readings of note A. The pattern matches if
   * one of them matches.
   */
  readonly readings: readonly string[];
  /** Bytes of its own canonical form (note B): the rank of the rule. */
  readonly length: number;
}

/**
 * The canonical form of a rule's pattern (RFC 9309 sections 2.2.2 and 2.2.3; docs/verdicts.md,
 * notes A and B).
 */
export function canonicalPattern(bytes: string): CanonicalPattern {
  const places = placesOf(bytes).map((place, index, all) =>
    place === '$' && index < all.length - 1 ? literal(place) : place,
  );
  const question = places.includes('?') ? places.indexOf('?') : places.length;
  const own = [...places.slice(0, question), ...places.slice(question).map(inQuery)].join('');
  const readings = [own];
  for (let star = 0; star < question; star++) {
    if (places[star] !== '*') continue;
    if (!places.slice(star, question).some((place) => QUERY_DELIMITERS.includes(place))) continue;
    const rest = places.slice(star + 1).map(inQuery);
    readings.push([...places.slice(0, star), '*?*', ...rest].join(''));
  }
  return { readings, length: own.length };
}

/** A rule's pattern as google/robotstxt escapes it (docs/verdicts.md, google profile, point 7). */
export function googlePattern(bytes: string): string {
  let pattern = '';
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes.charAt(index);
    if (isEscape(bytes, index)) {
      pattern += bytes.slice(index, index + 3).toUpperCase();
      index += 2;
    } else {
      pattern += byte >= '\x80' ? escapeOf(byte) : byte;
    }
  }
  return pattern;
}
