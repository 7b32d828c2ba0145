import { bytesOf, textOf, toLowerAscii } from './bytes.js';

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
  const input = withoutTabsAndNewlines(trimmed(bytesOf(url)));
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

/** "Remove any leading and trailing C0 control or space." */
function trimmed(bytes: string): string {
  let start = 0;
  let end = bytes.length;
  while (start < end && bytes.charAt(start) <= ' ') start++;
  while (end > start && bytes.charAt(end - 1) <= ' ') end--;
  return bytes.slice(start, end);
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
  const bytes = bytesOf(url);
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
