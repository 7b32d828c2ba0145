/**
 * A URL's scheme, host, port, path and query, as the WHATWG URL Standard reads a string without a
 * base, for the schemes http, https and ftp (spec note C). Nothing but the host is changed here;
 * paths come last, in path.ts.
 */

import { SCHEME_FTP, SCHEME_HTTP, SCHEME_HTTPS } from '../../compile/format';
import { COPY_MARGIN } from '../layout';
import { canonicaliseHost, plainHostOctets } from './host';
import {
  LINE_HOST,
  LINE_HOST_OCTETS,
  LINE_IRREGULAR,
  LINE_OWNED,
  LINE_PATH,
  LINE_PATH_END,
  LINE_PORT,
  LINE_SCHEME,
  LINE_URL,
  LINE_URL_END,
} from './line';
import { firstIrregular } from './octets';
import { claimScratch } from './scratch';

const HTTP: i32 = 0x70747468; // "http", little-endian

/**
 * Reads a URL of the form that most have, `http[s]://plain.host[:port]`, then `/` or the end, from
 * `url`, whose end need not be known: `end` is only where it ends at the latest. Fills in host,
 * scheme, port and the start of the path, and returns the first address at which the URL may end or
 * needs a closer look (octets.ts, `firstIrregular`; a quote and a newline are such). Returns 0, and
 * leaves the URL to `splitAny`, if it has another form.
 */
export function splitPlain(line: usize, url: usize, end: usize): usize {
  if (end - url < 10 || load<i32>(url) !== HTTP) return 0;
  const secure = <usize>(load<u8>(url, 4) === 0x73);
  const host = url + 7 + secure;
  // "://" and the host's first octet
  if (load<u32>(host - 3) << 8 !== 0x2f2f3a00) return 0;
  const octets = plainHostOctets(host, end);
  if (octets === 0) return 0;
  let at = host + octets;
  const scheme = secure !== 0 ? SCHEME_HTTPS : SCHEME_HTTP;
  let port = 0;
  if (load<u8>(at) === 0x3a && at < end) {
    at++;
    const digits = at;
    while (at < end && at - digits < 5 && <u32>load<u8>(at) - 0x30 < 10) {
      port = port * 10 + (<i32>load<u8>(at) - 0x30);
      at++;
    }
    if (port > 0xffff || port === 0) return 0;
    if (port === (scheme === SCHEME_HTTP ? 80 : 443)) port = 0;
  }
  store<u32>(line, host, LINE_HOST);
  store<u32>(line, octets, LINE_HOST_OCTETS);
  store<i32>(line, scheme, LINE_SCHEME);
  store<i32>(line, port, LINE_PORT);
  store<u32>(line, at, LINE_PATH);
  if (at === end) return at;
  const octet: i32 = load<u8>(at);
  if (octet === 0x2f) return firstIrregular(at, end);
  // Without a path the URL ends here, in white space, a quote, a query or a fragment.
  return octet <= 0x20 || octet === 0x22 || octet === 0x3f || octet === 0x23 ? at : 0;
}

/** Whether the URL holds an octet that the standard drops wherever it stands: tab, LF, CR. */
export function holdsDropped(at: usize, end: usize): bool {
  for (; at < end; at++) {
    const octet: i32 = load<u8>(at);
    if (octet === 0x09 || octet === 0x0a || octet === 0x0d) return true;
  }
  return false;
}

/**
 * Copies the URL without tabs and newlines; returns the end of the copy. Source and target may be
 * the same.
 */
export function dropWhiteSpace(at: usize, end: usize, to: usize): usize {
  for (; at < end; at++) {
    const octet: i32 = load<u8>(at);
    if (octet !== 0x09 && octet !== 0x0a && octet !== 0x0d) store<u8>(to++, octet);
  }
  return to;
}

export function isSlash(octet: i32): bool {
  return octet === 0x2f || octet === 0x5c;
}

/**
 * The scheme that begins at `at`, 0 if it is none of the three. `schemeEnd` is left behind its
 * colon.
 */
let schemeEnd: usize = 0;
function schemeOf(at: usize, end: usize): i32 {
  let word: u64 = 0;
  for (let i: usize = 0; i < 6 && at + i < end; i++) {
    const octet = <u64>load<u8>(at + i);
    if (octet === 0x3a) {
      schemeEnd = at + i + 1;
      if (word === 0x70747468) return SCHEME_HTTP;
      if (word === 0x7370747468) return SCHEME_HTTPS;
      if (word === 0x707466) return SCHEME_FTP;
      return 0;
    }
    word |= (octet | 0x20) << (i << 3);
  }
  return 0;
}

/**
 * Whether a scheme of any kind begins at `at`: a letter, then letters, digits, `+`, `-` and `.`,
 * then a colon.
 */
function hasScheme(at: usize, end: usize): bool {
  const start = at;
  for (; at < end; at++) {
    const octet: i32 = load<u8>(at);
    if (<u32>((octet | 0x20) - 0x61) < 26) continue;
    if (at === start) return false;
    if (octet === 0x3a) return true;
    if (<u32>(octet - 0x30) < 10 || octet === 0x2b || octet === 0x2d || octet === 0x2e) continue;
    return false;
  }
  return false;
}

function defaultPort(scheme: i32): i32 {
  return scheme === SCHEME_HTTP ? 80 : scheme === SCHEME_HTTPS ? 443 : 21;
}

/**
 * As `splitPlain`, for any URL, whose start and end the line entry has. A URL that holds octets to
 * be dropped is copied to `scratch` without them, unless the line owns a copy already; then
 * `LINE_OWNED` says that the path may be overwritten. With `anyHost` the authority is given, and a
 * URL without a scheme is a reference relative to its root.
 */
export function splitAny(line: usize, hostSpace: usize, scratch: usize, anyHost: bool): bool {
  let at: usize = load<u32>(line, LINE_URL);
  let end: usize = load<u32>(line, LINE_URL_END);
  while (at < end && load<u8>(at) <= 0x20) at++;
  while (at < end && load<u8>(end - 1) <= 0x20) end--;
  if (holdsDropped(at, end)) {
    const owned = load<u32>(line, LINE_OWNED) !== 0;
    if (!owned) claimScratch(scratch, end - at + COPY_MARGIN);
    const copy = owned ? at : scratch;
    end = dropWhiteSpace(at, end, copy);
    at = copy;
    store<u32>(line, 1, LINE_OWNED);
  }
  let scheme = schemeOf(at, end);
  if (scheme !== 0) {
    at = schemeEnd;
  } else {
    if (!anyHost || hasScheme(at, end)) return false;
    scheme = SCHEME_HTTP;
    if (end - at < 2 || !isSlash(load<u8>(at)) || !isSlash(load<u8>(at, 1))) {
      store<u32>(line, at, LINE_PATH);
      store<u32>(line, end, LINE_PATH_END);
      store<u32>(line, at, LINE_IRREGULAR);
      return true;
    }
  }
  while (at < end && isSlash(load<u8>(at))) at++;
  // The authority ends at the first of / \ ? #; its user information at the last @ in it.
  let host = at;
  let userInformation = false;
  while (at < end) {
    const octet: i32 = load<u8>(at);
    if (isSlash(octet) || octet === 0x3f || octet === 0x23) break;
    at++;
    if (octet === 0x40) {
      host = at;
      userInformation = true;
    }
  }
  const path = at;
  if (userInformation && host === path) return false;
  // The port follows the first colon outside of brackets.
  let brackets = false;
  let hostEnd = host;
  while (hostEnd < path) {
    const octet: i32 = load<u8>(hostEnd);
    if (octet === 0x5b) brackets = true;
    else if (octet === 0x5d) brackets = false;
    else if (octet === 0x3a && !brackets) break;
    hostEnd++;
  }
  if (hostEnd === host) return false;
  let port = 0;
  let digits = false;
  for (at = hostEnd + 1; at < path; at++) {
    const digit = <i32>load<u8>(at) - 0x30;
    if (<u32>digit >= 10) return false;
    port = port * 10 + digit;
    if (port > 0xffff) return false;
    digits = true;
  }
  if (!digits || port === defaultPort(scheme)) port = 0;
  // Port 0 is a port, but no server has it: it is told apart from "the default" by the one number
  // that no port has.
  else if (port === 0) port = 0x10000;
  const octets = canonicaliseHost(host, <i32>(hostEnd - host), hostSpace);
  if (octets < 0) return false;
  store<u32>(line, hostSpace, LINE_HOST);
  store<i32>(line, octets, LINE_HOST_OCTETS);
  store<i32>(line, scheme, LINE_SCHEME);
  store<i32>(line, port, LINE_PORT);
  store<u32>(line, path, LINE_PATH);
  store<u32>(line, end, LINE_PATH_END);
  store<u32>(
    line,
    path < end && isSlash(load<u8>(path)) ? firstIrregular(path, end) : path,
    LINE_IRREGULAR,
  );
  return true;
}
