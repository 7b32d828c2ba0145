/**
 * Reads a URL's scheme, host, port, path and query as the WHATWG URL Standard reads a string
 * without a base, for the schemes http, https and ftp (spec note C). Only the host is changed here;
 * kernel/assembly/decide.ts prepares paths in the last phase.
 */

import {
  AT_SIGN,
  BACKSLASH,
  CLOSE_BRACKET,
  COLON,
  CR,
  DIGIT_0,
  DOT,
  HASH,
  HYPHEN,
  LF,
  LOWER_CASE_BIT,
  LOWER_S,
  OPEN_BRACKET,
  PLUS,
  QUESTION_MARK,
  QUOTE,
  SLASH,
  TAB,
  UPPER_A,
} from '../../base/ascii';
import { MAX_HOST_BYTES, SCHEME_FTP, SCHEME_HTTP, SCHEME_HTTPS } from '../../table/format';
import { COPY_MARGIN } from '../layout';
import {
  COLON_SLASH_SLASH,
  equal,
  FTP,
  HTTP,
  HTTPS,
  isControlOrSpace,
  isDigit,
  isInNoClass,
  isLetter,
} from './bytes';
import { firstNonCanonical } from './canonical';
import { canonicalHost } from './environment';
import { claimScratch, Line } from './memory';

/**
 * Reads a URL of the most common form: `http[s]://plain.host[:port]`, then `/` or the end. The URL
 * ends at `end` or before; where it ends need not be known. Fills in host, scheme, port and the
 * start of the path. Returns the first address at which the URL may end or may not be canonical,
 * such as a quote or a newline (kernel/assembly/canonical.ts, `firstNonCanonical`). Returns 0 for a
 * URL of another form, which `splitAny` reads.
 */
export function splitPlain(line: Line, url: usize, end: usize): usize {
  line.leader = 0;
  if (mayFollow(line, url) && follows(line, url, end)) {
    return firstNonCanonical(line.path, end);
  }
  if (end - url < 10 || load<i32>(url) !== HTTP) return 0;
  const secure = <usize>(load<u8>(url, 4) === LOWER_S);
  const host = url + 7 + secure;
  if (load<i32>(host - 3) << 8 !== COLON_SLASH_SLASH << 8) return 0;
  const bytes = plainHostBytes(host, end);
  if (bytes === 0) return 0;
  let at = host + bytes;
  const scheme = secure !== 0 ? SCHEME_HTTPS : SCHEME_HTTP;
  let port = 0;
  if (load<u8>(at) === COLON && at < end) {
    at++;
    const digits = at;
    while (at < end && at - digits < 5 && isDigit(load<u8>(at))) {
      port = port * 10 + (<i32>load<u8>(at) - DIGIT_0);
      at++;
    }
    if (port > MAX_PORT || port === 0) return 0;
    if (port === defaultPort(scheme)) port = 0;
  }
  line.host = host;
  line.hostBytes = bytes;
  line.scheme = scheme;
  line.port = port;
  line.path = at;
  if (at === end) return at;
  const byte: i32 = load<u8>(at);
  if (byte === SLASH) return firstNonCanonical(at, end);
  // Without a path the URL ends here, in white space, a quote, a query or a fragment.
  return isControlOrSpace(byte) || byte === QUOTE || byte === QUESTION_MARK || byte === HASH
    ? at
    : 0;
}

/** Whether the URL may begin as that of the line before: looks at eight bytes after the scheme. */
function mayFollow(line: Line, url: usize): bool {
  const before = line.before;
  return before.rootBytes !== 0 && load<u64>(before.url, 8) === load<u64>(url, 8);
}

/**
 * Whether the URL begins as that of the line before, as far as the slash after the authority. Then
 * the line before becomes the leader, and its authority is taken over: lists of URLs are often in
 * the order of their hosts.
 */
function follows(line: Line, url: usize, end: usize): bool {
  const before = line.before;
  const bytes = before.rootBytes;
  if (bytes > end - url || !equal(before.url, url, <i32>bytes)) return false;
  line.host = before.host;
  line.hostBytes = before.hostBytes;
  line.scheme = before.scheme;
  line.port = before.port;
  line.path = url + bytes - 1;
  line.leader = changetype<usize>(before);
  return true;
}

/** Whether the URL Standard drops a byte everywhere: tab, LF, CR. */
export function isDropped(byte: i32): bool {
  return byte === TAB || byte === LF || byte === CR;
}

/** Whether a text holds a byte that the URL Standard drops everywhere. */
export function holdsDropped(at: usize, end: usize): bool {
  for (; at < end; at++) if (isDropped(load<u8>(at))) return true;
  return false;
}

/** Copies a text without tab, LF and CR; returns the end of the copy. `to` may be `at`. */
export function dropWhiteSpace(at: usize, end: usize, to: usize): usize {
  for (; at < end; at++) {
    const byte: i32 = load<u8>(at);
    if (!isDropped(byte)) store<u8>(to++, byte);
  }
  return to;
}

export function isSlash(byte: i32): bool {
  return byte === SLASH || byte === BACKSLASH;
}

/** Bytes of the longest scheme, and its colon. */
const SCHEME_LIMIT: usize = 6;

/** The scheme at `at`, in any case, with its colon; 0 for none of the three. */
function schemeOf(at: usize, end: usize): i32 {
  let word: u64 = 0;
  for (let i: usize = 0; i < SCHEME_LIMIT && at + i < end; i++) {
    const byte = <u64>load<u8>(at + i);
    if (byte === COLON) {
      if (word === HTTP) return SCHEME_HTTP;
      if (word === HTTPS) return SCHEME_HTTPS;
      if (word === FTP) return SCHEME_FTP;
      return 0;
    }
    word |= (byte | LOWER_CASE_BIT) << (i << 3);
  }
  return 0;
}

/** Bytes of a scheme and its colon. */
function schemeBytes(scheme: i32): usize {
  return scheme === SCHEME_HTTP ? 5 : scheme === SCHEME_HTTPS ? 6 : 4;
}

/** Whether any scheme begins at `at`: a letter, then letters, digits, `+ - .`, then a colon. */
function hasScheme(at: usize, end: usize): bool {
  const start = at;
  for (; at < end; at++) {
    const byte: i32 = load<u8>(at);
    if (isLetter(byte)) continue;
    if (at === start) return false;
    if (byte === COLON) return true;
    if (isDigit(byte) || byte === PLUS || byte === HYPHEN || byte === DOT) continue;
    return false;
  }
  return false;
}

const MAX_PORT: i32 = 0xffff;

function defaultPort(scheme: i32): i32 {
  return scheme === SCHEME_HTTP ? 80 : scheme === SCHEME_HTTPS ? 443 : 21;
}

/**
 * As `splitPlain`, for any text between `line.url` and `line.urlEnd`; returns false if the text is
 * not a URL. A URL with bytes that the URL Standard drops is copied without them, to `scratch` or,
 * if the line owns the URL, in place; `line.owned` is then 1. With `anyHost` the authority is
 * given, and a URL without a scheme is a reference relative to its root.
 */
export function splitAny(line: Line, hostSpace: usize, scratch: usize, anyHost: bool): bool {
  let at = line.url;
  let end = line.urlEnd;
  while (at < end && isControlOrSpace(load<u8>(at))) at++;
  while (at < end && isControlOrSpace(load<u8>(end - 1))) end--;
  if (holdsDropped(at, end)) {
    const owned = line.owned !== 0;
    if (!owned) claimScratch(scratch, end - at + COPY_MARGIN);
    const copy = owned ? at : scratch;
    end = dropWhiteSpace(at, end, copy);
    at = copy;
    line.owned = 1;
  }
  line.pathEnd = end;
  let scheme = schemeOf(at, end);
  if (scheme !== 0) {
    at += schemeBytes(scheme);
  } else {
    if (!anyHost || hasScheme(at, end)) return false;
    scheme = SCHEME_HTTP;
    if (end - at < 2 || !isSlash(load<u8>(at)) || !isSlash(load<u8>(at, 1))) {
      line.path = at;
      line.nonCanonical = at;
      return true;
    }
  }
  while (at < end && isSlash(load<u8>(at))) at++;
  const path = authorityEnd(at, end);
  const isRooted = path < end && isSlash(load<u8>(path));
  line.scheme = scheme;
  line.path = path;
  line.nonCanonical = isRooted ? firstNonCanonical(path, end) : path;
  return splitAuthority(line, at, path, hostSpace);
}

/** The authority ends at the first of `/ \ ? #`. */
function authorityEnd(at: usize, end: usize): usize {
  while (at < end) {
    const byte: i32 = load<u8>(at);
    if (isSlash(byte) || byte === QUESTION_MARK || byte === HASH) break;
    at++;
  }
  return at;
}

/** Fills in host and port from the authority `at`–`end`; returns false if it has no valid host. */
function splitAuthority(line: Line, at: usize, end: usize, hostSpace: usize): bool {
  const host = afterUserInformation(at, end);
  const hostEnd = endOfHost(host, end);
  if (hostEnd === host) return false;
  const port = portOf(hostEnd + 1, end, line.scheme);
  if (port < 0) return false;
  const bytes = canonicaliseHost(host, <i32>(hostEnd - host), hostSpace);
  if (bytes < 0) return false;
  line.host = hostSpace;
  line.hostBytes = bytes;
  line.port = port;
  return true;
}

/**
 * Fills in scheme, host and port of a server, `host` or `host:port`, as its log names it; returns
 * false if it is none. Port 443 is that of https, and every other port is one of http.
 */
export function splitServer(line: Line, at: usize, end: usize, hostSpace: usize): bool {
  // A server has no users: of "a.example@b.example" either name may be meant.
  if (afterUserInformation(at, end) !== at) return false;
  const hostEnd = endOfHost(at, end);
  const isSecure = portOf(hostEnd + 1, end, SCHEME_HTTPS) === 0;
  line.scheme = isSecure ? SCHEME_HTTPS : SCHEME_HTTP;
  return splitAuthority(line, at, end, hostSpace);
}

/** User information ends at the last `@` of the authority. */
function afterUserInformation(at: usize, end: usize): usize {
  for (let last = end; last > at; last--) if (load<u8>(last - 1) === AT_SIGN) return last;
  return at;
}

/** The host ends at the first colon outside brackets. */
function endOfHost(at: usize, end: usize): usize {
  let brackets = false;
  for (; at < end; at++) {
    const byte: i32 = load<u8>(at);
    if (byte === OPEN_BRACKET) brackets = true;
    else if (byte === CLOSE_BRACKET) brackets = false;
    else if (byte === COLON && !brackets) break;
  }
  return at;
}

/** Stands for port 0, which no server has. A port of 0 means the default port. */
const PORT_ZERO: i32 = 0x10000;

/** The port `at`–`end`; 0 for the scheme's default or an empty port, -1 for no port. */
function portOf(at: usize, end: usize, scheme: i32): i32 {
  if (at >= end) return 0;
  let port = 0;
  for (; at < end; at++) {
    const byte: i32 = load<u8>(at);
    if (!isDigit(byte)) return -1;
    port = port * 10 + (byte - DIGIT_0);
    if (port > MAX_PORT) return -1;
  }
  if (port === defaultPort(scheme)) return 0;
  return port === 0 ? PORT_ZERO : port;
}

// ---- The canonical form of a host

/**
 * The length of the host that begins at `host` and ends at `end` at the latest, if the host is
 * canonical as it stands; otherwise 0. Reads 32 bytes past `end`.
 *
 * A plain host has 1 to 255 bytes `a–z 0–9 - . _`, no final dot, and no `--`, which an A-label to
 * be checked may hold. Its last label does not begin with a digit, unless the whole host is a
 * dotted quad.
 */
function plainHostBytes(host: usize, end: usize): usize {
  const low = i8x16(10, 14, 14, 14, 14, 14, 14, 14, 14, 14, 12, 4, 4, 5, 5, 20);
  const high = i8x16(0, 0, 1, 2, 0, 16, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  let at = host;
  let label = host;
  let dash: u32 = 0;
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const others =
      i8x16.bitmask(isInNoClass(low, high, a)) | (i8x16.bitmask(isInNoClass(low, high, b)) << 16);
    let bytes = <usize>ctz(others);
    if (bytes > end - at) bytes = end - at;
    const within = <u32>(((<u64>1) << (<u64>bytes)) - 1);
    const dots: u32 = within & positionsOf(DOT, a, b);
    const dashes: u32 = within & positionsOf(HYPHEN, a, b);
    if ((dashes & ((dashes << 1) | dash)) !== 0) return 0;
    dash = dashes >> 31;
    if (dots !== 0) label = at + 32 - <usize>clz(dots);
    at += bytes;
    if (bytes < 32) break;
  }
  if (label === at || at === host || <i32>(at - host) > MAX_HOST_BYTES) return 0;
  return !isDigit(load<u8>(label)) || isDottedQuad(host, at) ? at - host : 0;
}

function positionsOf(byte: i32, a: v128, b: v128): u32 {
  const wanted = i8x16.splat(<i8>byte);
  return i8x16.bitmask(i8x16.eq(a, wanted)) | (i8x16.bitmask(i8x16.eq(b, wanted)) << 16);
}

/** Four decimal numbers up to 255 without leading zeros: an IPv4 address in canonical form. */
function isDottedQuad(at: usize, end: usize): bool {
  for (let labels = 1; labels <= 4; labels++) {
    const start = at;
    let value = 0;
    while (at < end && isDigit(load<u8>(at)) && at - start < 4) {
      value = value * 10 + (<i32>load<u8>(at) - DIGIT_0);
      at++;
    }
    if (at === start || value > 255 || (load<u8>(start) === DIGIT_0 && at - start > 1))
      return false;
    if (at === end) return labels === 4;
    if (load<u8>(at) !== DOT) return false;
    at++;
  }
  return false;
}

/**
 * Writes the canonical form of any host to `to`, which has HOST_SPACE bytes; returns its length, or
 * -1 for no host. Plain names in ASCII are lower-cased here; the environment does the others.
 */
function canonicaliseHost(from: usize, bytes: i32, to: usize): i32 {
  if (bytes <= MAX_HOST_BYTES) {
    for (let i = 0; i < bytes; i++) {
      const byte: i32 = load<u8>(from + i);
      store<u8>(to + i, <u32>(byte - UPPER_A) < 26 ? byte | LOWER_CASE_BIT : byte);
    }
    if (plainHostBytes(to, to + bytes) === <usize>bytes) return bytes;
  }
  return canonicalHost(from, bytes, to);
}
