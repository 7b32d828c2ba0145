/** A capture: what a record of a WARC file says of a robots.txt, and how captures are kept. */

import {
  DELETE,
  DIGIT_0,
  DIGIT_9,
  DOT,
  HYPHEN,
  LOWER_A,
  LOWER_Z,
  PLUS,
  SPACE,
} from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { parseUrl } from '../http/url.js';
import { ROBOTS_PATH, withoutFinalDot } from '../protocol/authority.js';
import { CAPTURE_TYPES, type WarcHeader } from './header.js';

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
  /** The status is there if another profile may read it differently. */
  | { readonly kind: 'unavailable' | 'unreachable'; readonly status?: number }
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

/** A URL in the form in which captures are compared. */
interface CaptureUrl {
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

/** Schemes of other URIs that crawlers write, also with an HTTP response as the block. */
const OTHER_SCHEMES: ReadonlySet<string> = new Set(
  'about blob data dns file filesystem gemini gopher javascript urn whois ws wss'.split(' '),
);

/** Schemes whose URIs `captureUrl` reads. */
const CAPTURE_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ftp']);

/** Whether a record has one of the types that hold captures. */
export function holdsCapture({ type }: WarcHeader): boolean {
  return CAPTURE_TYPES.has(type);
}

/**
 * Why it cannot be told whose capture a record holds; `undefined` if that can be told, or if the
 * record holds none. Without this, a damaged header would cost a capture silently.
 *
 * @param url what `captureUrl` makes of WARC-Target-URI
 */
export function targetDamage(header: WarcHeader, url: CaptureUrl | undefined): string | undefined {
  const { uri } = header;
  const isHttp = header.contentType.startsWith('application/http');
  if (!holdsCapture(header)) {
    return isHttp ? 'the WARC-Type is unknown' : undefined;
  }
  if (uri === '') return 'WARC-Target-URI is missing';
  if (url !== undefined) return hasControl(uri) ? INVALID : undefined;
  const scheme = schemeOf(uri);
  if (scheme === '' || CAPTURE_SCHEMES.has(scheme)) return INVALID;
  return isHttp && !OTHER_SCHEMES.has(scheme) ? INVALID : undefined;
}

/** Whether a text has a control character, such as the rest of a damaged line end. */
export function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < SPACE || unit === DELETE) return true;
  }
  return false;
}

const INVALID = 'WARC-Target-URI is invalid';

/** The scheme of a URI in lower case (RFC 3986 section 3.1); empty if it has none. */
function schemeOf(uri: string): string {
  const scheme = uri.slice(0, Math.max(0, uri.indexOf(':'))).toLowerCase();
  for (let at = 0; at < scheme.length; at++) {
    const unit = scheme.charCodeAt(at);
    const isLetter = unit >= LOWER_A && unit <= LOWER_Z;
    const isOther = (unit >= DIGIT_0 && unit <= DIGIT_9) || [PLUS, HYPHEN, DOT].includes(unit);
    if (!isLetter && (at === 0 || !isOther)) return '';
  }
  return scheme;
}

/** The kinds of packed captures. */
export const KIND_BODY = 0;
export const KIND_REDIRECT = 1;
export const KIND_REVISIT = 2;
export const KIND_UNMODIFIED = 3;
export const KIND_ACCESS = 4;
/** A capture that was left out; only its URL and its offset are known. */
export const KIND_LEFT_OUT = 5;

/**
 * Fields of a packed capture: date, offset and kind; two more by kind (the number of the body and
 * its length in bytes; or the date of the capture that a revisit refers to); the lengths of its
 * strings, which are the URL, the payload digest, the target of a redirect or the URL that a
 * revisit refers to, and the source.
 */
const FIELDS = 9;

const INITIAL_BYTES = 4096;

/** Captures as plain data, which threads can exchange without an object for each capture. */
export interface PackedCaptures {
  /** The fields of all captures, FIELDS for each. */
  readonly fields: Float64Array<ArrayBuffer>;
  /** The strings of all captures, one after another. */
  readonly strings: Uint8Array<ArrayBuffer>;
}

/** An unpacked capture. The next one overwrites it. */
export interface UnpackedCapture {
  date: number;
  offset: number;
  kind: number;
  /**
   * By kind: the number of the body, or the date to which a revisit refers; NaN if there is none.
   */
  value: number;
  bodyBytes: number;
  url: Uint8Array;
  payloadDigest: Uint8Array;
  target: Uint8Array;
  /** The file in which the capture lies; empty for the file that was read. */
  source: Uint8Array;
}

/** Packs captures. */
export class CaptureList {
  #fields: number[] = [];
  #strings = Buffer.alloc(INITIAL_BYTES);
  #length = 0;

  /** @param body the number of the body, or of the access result */
  push(capture: Capture, body: number): void {
    const { date, offset, outcome, url, payloadDigest, source = '' } = capture;
    let kind = KIND_ACCESS;
    let value = body;
    let bodyBytes = 0;
    let target = '';
    if (outcome.kind === 'body') {
      kind = KIND_BODY;
      bodyBytes = outcome.body.length;
    } else if (outcome.kind === 'redirect') {
      kind = KIND_REDIRECT;
      target = outcome.target;
    } else if (outcome.kind === 'revisit') {
      kind = outcome.isUnmodified ? KIND_UNMODIFIED : KIND_REVISIT;
      value = outcome.refersToDate;
      target = outcome.refersTo;
    }
    this.#fields.push(date, offset, kind, value, bodyBytes);
    for (const text of [url, payloadDigest, target, source]) this.#fields.push(this.#add(text));
  }

  /** Notes a capture that is left out. */
  pushLeftOut(url: string, offset: number): void {
    this.#fields.push(Number.NaN, offset, KIND_LEFT_OUT, Number.NaN, 0, this.#add(url), 0, 0, 0);
  }

  /** Takes what was pushed since the last call. */
  take(): PackedCaptures {
    const fields = Float64Array.from(this.#fields);
    const strings = Uint8Array.from(this.#strings.subarray(0, this.#length));
    this.#fields = [];
    this.#length = 0;
    return { fields, strings };
  }

  /** Appends a string; returns its length in bytes. */
  #add(text: string): number {
    if (text === '') return 0;
    const most = 3 * text.length;
    if (this.#length + most > this.#strings.length) {
      const grown = Buffer.alloc(Math.max(2 * this.#strings.length, this.#length + most));
      this.#strings.copy(grown, 0, 0, this.#length);
      this.#strings = grown;
    }
    const bytes = this.#strings.write(text, this.#length);
    this.#length += bytes;
    return bytes;
  }
}

/** Calls `visit` for each packed capture, in order. */
export function eachCapture(
  { fields, strings }: PackedCaptures,
  visit: (capture: UnpackedCapture) => void,
): void {
  const empty: Uint8Array = new Uint8Array(0);
  const capture: UnpackedCapture = {
    date: 0,
    offset: 0,
    kind: 0,
    value: 0,
    bodyBytes: 0,
    url: empty,
    payloadDigest: empty,
    target: empty,
    source: empty,
  };
  let start = 0;
  const next = (length: number): Uint8Array => {
    start += length;
    return strings.subarray(start - length, start);
  };
  for (let at = 0; at < fields.length; at += FIELDS) {
    const field = (index: number): number => fields[at + index] as number;
    capture.date = field(0);
    capture.offset = field(1);
    capture.kind = field(2);
    capture.value = field(3);
    capture.bodyBytes = field(4);
    capture.url = next(field(5));
    capture.payloadDigest = next(field(6));
    capture.target = next(field(7));
    capture.source = next(field(8));
    visit(capture);
  }
}
