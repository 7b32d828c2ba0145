import { DIGIT_0, DIGIT_9, DOT, HYPHEN, LOWER_A, LOWER_Z } from '../ascii.js';
import { parseUrl } from '../http/url.js';
import { withoutFinalDot } from '../protocol/authority.js';

/** A capture of a robots.txt, or of where a redirect from one leads. */
export interface Capture {
  /** The URL that was requested, in canonical form. */
  readonly url: string;
  /** Milliseconds since 1970, with a fraction. */
  readonly date: number;
  /** Offset of the record in its file, in bytes. */
  readonly offset: number;
  readonly outcome: CaptureOutcome;
  /** Digest of the payload, as the archive spells it; empty if unknown. */
  readonly payloadDigest: string;
  /** The file in which the capture lies, if it is another than the file that is being read. */
  readonly source?: string;
}

/**
 * The outcome of a capture.
 *
 * - `body`: a success. The next capture overwrites the body. `isCut` tells that its last line may
 *   be half a line.
 * - `unavailable`, `unreachable`: access results of RFC 9309 section 2.3.1.
 * - `redirect`: a redirect that can be followed.
 * - `revisit`: the payload of an earlier capture, by its digest, or by its URL and date.
 */
export type CaptureOutcome =
  | { readonly kind: 'body'; readonly body: Buffer; readonly isCut: boolean }
  | { readonly kind: 'unavailable' | 'unreachable' }
  | { readonly kind: 'redirect'; readonly target: string }
  | {
      readonly kind: 'revisit';
      /** Empty if unknown. */
      readonly refersTo: string;
      /** Milliseconds since 1970; NaN if unknown. */
      readonly refersToDate: number;
      /** Whether the server said that nothing has changed since the capture before it. */
      readonly isUnmodified: boolean;
    };

/** The path of a robots.txt (RFC 9309 section 2.3). */
const ROBOTS_PATH = '/robots.txt';

/** A URL in the form in which captures are compared. */
export interface CaptureUrl {
  readonly href: string;
  /** Whether the URL is the URL of the robots.txt of an authority. */
  readonly isRobots: boolean;
}

/**
 * The canonical form of an http, https or ftp URL, as the WHATWG URL Standard has it, without user
 * information, fragment, and a final dot of the host; `undefined` for anything else.
 */
export function captureUrl(text: string): CaptureUrl | undefined {
  if (isCanonicalRobotsUrl(text)) return { href: text, isRobots: true };
  const scheme = text.slice(0, 6).toLowerCase();
  if (!scheme.startsWith('http') && !scheme.startsWith('ftp:')) return undefined;
  const url = parseUrl(text);
  return url === undefined ? undefined : canonicalUrl(url);
}

/** The longest host that needs no URL parser. */
const LONGEST_PLAIN_HOST = 200;

/**
 * Whether a text is `https://HOST/robots.txt`, or the same with http, where no URL parser would
 * change a host. Nearly all captures have such a URL, and to parse it takes longer than its record.
 * Hosts that a parser changes or refuses have other characters, a label that begins with `xn--`, a
 * dot at the end, or a last label that begins with a digit.
 */
function isCanonicalRobotsUrl(text: string): boolean {
  const start = text.startsWith('https://') ? 8 : text.startsWith('http://') ? 7 : -1;
  const end = text.length - ROBOTS_PATH.length;
  if (start < 0 || end <= start || end - start > LONGEST_PLAIN_HOST) return false;
  if (!text.endsWith(ROBOTS_PATH) || text.includes('xn--')) return false;
  let label = start;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === DOT) label = at + 1;
    else if (!isLowerCase(unit) && !isDigit(unit) && unit !== HYPHEN) return false;
  }
  return label < end && isLowerCase(text.charCodeAt(label));
}

function isLowerCase(unit: number): boolean {
  return unit >= LOWER_A && unit <= LOWER_Z;
}

function isDigit(unit: number): boolean {
  return unit >= DIGIT_0 && unit <= DIGIT_9;
}

/** The canonical form of a URL: see `captureUrl`. */
export function canonicalUrl(url: URL): CaptureUrl | undefined {
  const { protocol, hostname } = url;
  if (protocol !== 'http:' && protocol !== 'https:' && protocol !== 'ftp:') return undefined;
  if (hostname === '' || url.port === '0') return undefined;
  if (url.hash !== '' || url.href.endsWith('#')) url.hash = '';
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  const host = withoutFinalDot(hostname);
  if (host !== hostname) url.hostname = host;
  const { href } = url;
  const isRobots = url.pathname === ROBOTS_PATH && href.endsWith(ROBOTS_PATH) && url.search === '';
  return { href, isRobots };
}
