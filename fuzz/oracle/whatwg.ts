import type { Scheme } from '../../src/protocol/authority.js';
import { escapeOf } from '../../test/naive/bytes.js';
import { canonicalTarget } from '../../test/naive/canonical.js';
import { readUrl, type Target } from '../../test/naive/url.js';
import { Fault, shown } from '../fault.js';

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
 * Reads a URL; `undefined` if it is invalid by these rules. Throws a fault if `URL` and the naive
 * reader disagree about the URL.
 */
export function readWhatwgUrl(bytes: Uint8Array): WhatwgUrl | undefined {
  const text = decoded(bytes);
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
  const target = readUrl(bytes);
  if (target === undefined) throw new Fault(`the naive reader refuses ${shown(url.href)}`);
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
