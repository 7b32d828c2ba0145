import type { Scheme } from '../../src/protocol/authority.js';
import { canonicalTarget } from '../../test/naive/canonical.js';
import { escapeOf } from '../../test/naive/octets.js';
import { readUrl, type Target } from '../../test/naive/url.js';
import { Fault, shown } from '../target.js';

/**
 * What the WHATWG URL Standard makes of a URL, as Node's `URL` has it. The URL scanner agrees with
 * `URL`, but for these exceptions, each of them meant:
 *
 * - A scheme other than http, https and ftp is invalid: nothing but these has a robots.txt.
 * - A host of more than 255 octets, not counting a final dot, is invalid: no name in the DNS is
 *   that long. So is one of more than 2,048 as given, for the time that IDN takes.
 * - A final dot does not count: `example.com.` is `example.com`.
 * - Port 0 is unknown, whatever there is for the host: nothing can be fetched from there.
 * - Octets that are no UTF-8 stay as they are in path and query, where `URL` has U+FFFD; and tabs
 *   and newlines are taken out of the octets, not of the text they are decoded to, which may make
 *   UTF-8 of what was none.
 * - An empty query stays, as rules may ask for its `?`; `URL` has no query there.
 * - `'` in a query stays, which `URL` encodes. All percent-encoding of path and query is compared
 *   in canonical form, as rules are.
 * - Dot segments that the `URL` of Node 20 leaves standing, against the standard, are removed.
 */
export interface WhatwgUrl {
  readonly scheme: Scheme;
  /** Without a final dot, unless that is all. */
  readonly host: string;
  /** `undefined` for the default. */
  readonly port: number | undefined;
  /** Path and query, unencoded as the URL has them: one character an octet. */
  readonly target: Target;
}

function withoutFinalDot(host: string): string {
  return host.endsWith('.') && host !== '.' ? host.slice(0, -1) : host;
}

const MAX_HOST = 255;
const REPLACEMENT = '\u{FFFD}';

/**
 * What is invalid by the above is `undefined`. Throws a fault if `URL` and the naive reader do not
 * agree about the URL.
 */
export function readWhatwgUrl(octets: Uint8Array): WhatwgUrl | undefined {
  const text = decoded(octets);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return undefined;
  }
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'ftp') return undefined;
  const host = withoutFinalDot(url.hostname);
  if (host.length > MAX_HOST) return undefined;
  const target = readUrl(octets);
  if (target === undefined) throw new Fault(`the naive reader refuses ${shown(url.href)}`);
  checkTarget(url, target, text);
  return {
    scheme,
    host,
    port: url.port === '' ? undefined : Number(url.port),
    target,
  };
}

function decoded(octets: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const text = decoder.decode(octets);
  if (!text.includes(REPLACEMENT)) return text;
  return decoder.decode(
    octets.filter((octet) => octet !== 0x09 && octet !== 0x0a && octet !== 0x0d),
  );
}

/** Path and query are those that `URL` has, but for the exceptions. */
function checkTarget(url: URL, target: Target, text: string): void {
  if (text.includes(REPLACEMENT)) return;
  if (holdsDotSegment(url.pathname)) return;
  const query = target.query === '' ? undefined : target.query;
  const ours = canonicalText({ path: target.path, query });
  const theirs = canonicalText({
    path: url.pathname,
    query: url.search === '' ? undefined : url.search.slice(1),
  });
  if (ours !== theirs) throw new Fault(`path and query ${shown(ours)}, URL: ${shown(theirs)}`);
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
 * The pattern that matches this path and query and no other: anchored at both ends, what is special
 * in patterns encoded.
 */
export function exactPattern({ path, query }: Target): string {
  const text = query === undefined ? path : `${path}?${query}`;
  const escaped = Array.from(text, (octet) =>
    octet <= ' ' || octet >= '\x7f' || '*$#'.includes(octet) ? escapeOf(octet) : octet,
  );
  return `${escaped.join('')}$`;
}

/** Whether the path is `/robots.txt`, which is always allowed. */
export function isRobotsTxt(target: Target): boolean {
  return canonicalTarget(target) === '/robots.txt';
}
