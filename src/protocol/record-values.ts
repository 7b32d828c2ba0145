import { parseAuthority } from './authority.js';
import { isDigit, isLetter } from './byte.js';
import { crawlDelaySeconds } from './crawl-delay.js';
import type { RecordKind } from './other-record-kinds.js';
import { OTHER_TYPE, parseDictionary } from './structured-dictionary.js';

/** The meaning of a value; `undefined` for an unknown value. */
export type RecordValue =
  | number
  | string
  | Readonly<Record<string, unknown>>
  | readonly unknown[]
  | undefined;

/** A `Content-Usage` record (draft-ietf-aipref-attach): preferences for the paths of a prefix. */
export interface ContentUsage {
  /** The path pattern as written; `undefined` for the whole site. */
  readonly path: string | undefined;
  /** The preferences that are `y` or `n`, by their keys. */
  readonly preferences: Readonly<Record<string, 'y' | 'n'>>;
}

/** The meaning of the value of a record. */
export function parseRecordValue(kind: RecordKind, value: string): RecordValue {
  switch (kind) {
    case 'sitemap':
    case 'license':
      return absoluteUrl(value);
    case 'crawl-delay':
      return crawlDelaySeconds(value);
    case 'content-usage': {
      const usage = parseContentUsage(value);
      return usage && { path: usage.path ?? null, ...usage.preferences };
    }
    case 'content-signal':
      return parseContentSignal(value);
    case 'host':
      return value === '' ? undefined : parseAuthority(value)?.host;
    case 'clean-param':
      return parseCleanParam(value);
    case 'request-rate':
      return parseRequestRate(value);
    case 'visit-time':
      return parseVisitTime(value);
    case 'noindex':
      return value.startsWith('/') || value.startsWith('*') ? value : undefined;
  }
}

function absoluteUrl(value: string): string | undefined {
  if (!isLetter(value.charCodeAt(0))) return undefined;
  return URL.canParse(value) ? new URL(value).href : undefined;
}

/**
 * Parses a `Content-Usage` record: a path that starts with `/`, if any, and a dictionary of RFC
 * 9651. `undefined` if the dictionary is void.
 */
export function parseContentUsage(value: string): ContentUsage | undefined {
  let path: string | undefined;
  let dictionary = value;
  if (value.startsWith('/')) {
    path = words(value)[0] ?? value;
    dictionary = value.slice(path.length).trim();
  }
  const members = parseDictionary(dictionary);
  if (members === undefined) return undefined;
  const preferences: Record<string, 'y' | 'n'> = Object.create(null);
  for (const [key, preference] of members) {
    if (preference === OTHER_TYPE) continue;
    if (preference === 'y' || preference === 'n') preferences[key] = preference;
  }
  return { path, preferences };
}

/** Parses `search=yes, ai-train=no`; members without `=` are left out. */
export function parseContentSignal(value: string): Readonly<Record<string, string>> | undefined {
  const signals: Record<string, string> = Object.create(null);
  let found = false;
  for (const member of value.split(',')) {
    const equals = member.indexOf('=');
    if (equals < 0) continue;
    const key = member.slice(0, equals).trim().toLowerCase();
    if (key === '') continue;
    signals[key] = member
      .slice(equals + 1)
      .trim()
      .toLowerCase();
    found = true;
  }
  return found ? signals : undefined;
}

/** Parses `ref&sid /forum/`. */
function parseCleanParam(value: string): RecordValue {
  const [names = '', path] = words(value);
  const params = names.split('&').filter((name) => name !== '');
  return params.length === 0 ? undefined : { params, path: path ?? null };
}

const SECONDS_OF_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** Parses `1/60`, `1/60s`, `10/1h 0600-0845`. */
function parseRequestRate(value: string): RecordValue {
  const [rate = '', times] = words(value);
  const slash = rate.indexOf('/');
  const unit = SECONDS_OF_UNIT[rate.slice(-1).toLowerCase()];
  const requests = wholeNumber(rate.slice(0, Math.max(slash, 0)));
  const period = wholeNumber(rate.slice(slash + 1, unit === undefined ? undefined : -1));
  if (slash < 0 || requests === undefined || period === undefined) return undefined;
  const visit = times === undefined ? {} : parseVisitTime(times);
  return visit && { requests, seconds: period * (unit ?? 1), ...visit };
}

/** Parses `0400-0845`: times of day in UTC. */
function parseVisitTime(value: string): { readonly from: string; readonly to: string } | undefined {
  const [from = '', to = '', more] = value.split('-');
  const begin = timeOfDay(from.trim());
  const end = timeOfDay(to.trim());
  if (begin === undefined || end === undefined || more !== undefined) return undefined;
  return { from: begin, to: end };
}

function timeOfDay(text: string): string | undefined {
  const digits = text.replace(':', '');
  if (digits.length !== 4 || wholeNumber(digits) === undefined) return undefined;
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2));
  return hours > 24 || minutes > 59 ? undefined : `${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function wholeNumber(text: string): number | undefined {
  if (text === '' || text.length > 15) return undefined;
  for (let at = 0; at < text.length; at++) if (!isDigit(text.charCodeAt(at))) return undefined;
  return Number(text);
}

function words(text: string): string[] {
  return text
    .split(' ')
    .flatMap((word) => word.split('\t'))
    .filter((word) => word !== '');
}
