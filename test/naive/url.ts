import { octetsOf, textOf, toLowerAscii } from './octets.js';

/**
 * What rules are matched against: the path, and the query without its `?`; `undefined` where there
 * is no `?`.
 */
export interface Target {
  readonly path: string;
  readonly query: string | undefined;
}

const MAX_HOST_OCTETS = 255;

/**
 * Path and query of a URL as the WHATWG URL Standard reads it (section 4.4, the basic URL parser),
 * except that no octet of them is percent-encoded. `undefined` when it is no http, https or ftp
 * URL. What has no scheme is a relative reference, read against the root of the authority for which
 * the robots.txt counts. WHATWG `URL` itself is asked only whether scheme, host and port are good.
 */
export function readUrl(url: Uint8Array | string): Target | undefined {
  const input = withoutTabsAndNewlines(trimmed(octetsOf(url)));
  const scheme = schemeOf(input);
  if (!hasGoodAuthority(textOf(input), scheme === undefined)) return undefined;

  let index = 0;
  if (scheme !== undefined || (isSlash(input[0]) && isSlash(input[1]))) {
    index = scheme === undefined ? 0 : scheme.length + 1;
    // Special authority slashes state, special authority ignore slashes state.
    while (isSlash(input[index])) index++;
    // Authority state and what follows it: user information, host and port end at any of these.
    while (index < input.length && !'/\\?#'.includes(input.charAt(index))) index++;
  }
  return readPath(input.slice(index));
}

/** Scheme start state, scheme state: the scheme without its colon; `undefined` if there is none. */
function schemeOf(input: string): string | undefined {
  let index = 0;
  for (; index < input.length && input[index] !== ':'; index++) {
    const octet = toLowerAscii(input.charAt(index));
    const isLetter = octet >= 'a' && octet <= 'z';
    if (!isLetter && (index === 0 || !'0123456789+-.'.includes(octet))) return undefined;
  }
  return index > 0 && index < input.length ? input.slice(0, index) : undefined;
}

function isSlash(octet: string | undefined): boolean {
  return octet === '/' || octet === '\\';
}

/** Beyond the standard, a host has at most 255 octets, not counting a final dot. */
function hasGoodAuthority(text: string, isRelative: boolean): boolean {
  try {
    const url = isRelative ? new URL(text, 'http://authority.example/') : new URL(text);
    const octets = url.hostname.endsWith('.') ? url.hostname.length - 1 : url.hostname.length;
    return ['http:', 'https:', 'ftp:'].includes(url.protocol) && octets <= MAX_HOST_OCTETS;
  } catch {
    return false; // no URL at all: that is the answer
  }
}

/** "Remove any leading and trailing C0 control or space." */
function trimmed(octets: string): string {
  let start = 0;
  let end = octets.length;
  while (start < end && octets.charAt(start) <= ' ') start++;
  while (end > start && octets.charAt(end - 1) <= ' ') end--;
  return octets.slice(start, end);
}

/** "Remove all ASCII tab or newline." */
function withoutTabsAndNewlines(octets: string): string {
  return Array.from(octets)
    .filter((octet) => !'\t\n\r'.includes(octet))
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
 * Path, parameters and query of a URL as google/robotstxt takes them (spec-notes, section 2, point
 * 8).
 */
export function readGoogleUrl(url: Uint8Array | string): string {
  const octets = octetsOf(url);
  let start = octets.startsWith('//') ? 2 : 0;
  const hash = octets.indexOf('#', start);
  const scheme = octets.indexOf('://', start);
  const early = firstOf(octets, '/?;', start);
  if (scheme >= 0 && scheme < early) start = scheme + 3;
  const from = firstOf(octets, '/?;', start);
  if (from === octets.length || (hash >= 0 && hash < from)) return '/';
  const path = octets.slice(from, hash < 0 ? octets.length : hash);
  const whole = path.startsWith('/') ? path : `/${path}`;
  return whole.includes('\0') ? whole.slice(0, whole.indexOf('\0')) : whole;
}

/** Index of the first of `wanted` at or after `start`; the length where there is none. */
function firstOf(octets: string, wanted: string, start: number): number {
  for (let index = start; index < octets.length; index++) {
    if (wanted.includes(octets.charAt(index))) return index;
  }
  return octets.length;
}
