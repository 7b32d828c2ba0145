import { DELETE, DIGIT_0, DIGIT_9, DOT, HYPHEN, LOWER_A, LOWER_Z, PLUS, SPACE } from '../ascii.js';
import type { CaptureUrl } from './capture.js';
import type { WarcHeader } from './warc-header.js';

/** The types of records that hold captures (ISO 28500:2017 section 6). */
const CAPTURE_TYPES: ReadonlySet<string> = new Set(['response', 'resource', 'revisit']);

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
function hasControl(text: string): boolean {
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
