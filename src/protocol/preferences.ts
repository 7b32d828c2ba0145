/** Preferences about the use of content: Content-Usage, Content-Signal and License. */

import { Buffer, isUtf8 } from 'node:buffer';
import { isDigit, isLetter } from '../base/characters.js';
import { parseAuthority } from './authority.js';
import {
  crawlDelaySeconds,
  type KeptRecord,
  type RecordKind,
  recipients,
  refusalsForAll,
} from './fields.js';

/**
 * What a robots.txt says about the use of content: see docs/agents.md. A preference that is
 * missing is unknown.
 */
export interface Preferences {
  /** Of the `Content-Usage` records: for each category, whether its use is wished. */
  readonly contentUsage: Readonly<Record<string, 'y' | 'n'>>;
  /**
   * Of the `Content-Signal` records: keys and values in lower case. Of several values of a key `no`
   * counts, then `yes`, else the last.
   */
  readonly contentSignal: Readonly<Record<string, string>>;
  /** The values of the `License` records, as written. */
  readonly license: readonly string[];
}

/** Finds the longest of some path patterns that match a URL: their indices, if several tie. */
export type PathMatcher = (url: string | Uint8Array) => readonly number[];

type Usage = Preferences['contentUsage'];

/**
 * The preferences for an agent whose groups are those of some product tokens. Of the
 * `Content-Usage` records those with the longest path that matches count, as for rules
 * (draft-ietf-aipref-attach). If several have a path of this length, `n` wins.
 */
export class AgentPreferences {
  readonly #common: Omit<Preferences, 'contentUsage'>;
  /** The distinct paths of the `Content-Usage` records, and what they say. */
  readonly #usages = new Map<string, Record<string, 'y' | 'n'>>();
  /** By part: what each path says, and then what paths of the same length say together. */
  readonly #ofPart: Usage[];
  /** The parts of several paths, by what they say. */
  readonly #joined = new Map<string, number>();
  readonly #matcherOf: (paths: readonly string[]) => PathMatcher;
  #mostSpecific: PathMatcher | undefined;
  /** Characters of all values that belong to them. */
  readonly characters: number;
  /** Number of paths with `*` or a final `$`, each of which may have to be compared with a URL. */
  readonly wildcards: number;

  constructor(
    records: readonly KeptRecord[],
    tokens: readonly string[],
    matcherOf: (paths: readonly string[]) => PathMatcher,
  ) {
    // What is missing of a value could change its meaning.
    const whole = records.filter(({ isTruncated }) => isTruncated !== true);
    const own = whole.filter(recipients(tokens));
    for (const { kind, value } of own) {
      if (kind === 'content-usage') this.#addUsages(value);
    }
    this.#ofPart = [...this.#usages.values()];
    this.#matcherOf = matcherOf;
    const isWild = (path: string): boolean => path.includes('*') || path.endsWith('$');
    this.wildcards = [...this.#usages.keys()].filter(isWild).length;
    const contentSignal: Record<string, string> = Object.create(null);
    const signals = own.filter(({ kind }) => kind === 'content-signal').map(({ value }) => value);
    for (const value of [...signals, ...whole.map((each) => refusalsForAll(each).join())]) {
      for (const [key, signal] of Object.entries(parseContentSignal(value) ?? {})) {
        contentSignal[key] = strongerSignal(contentSignal[key], signal);
      }
    }
    this.#common = {
      contentSignal,
      license: whole.filter(({ kind }) => kind === 'license').map(({ value }) => value),
    };
    this.characters = [...own, ...this.#common.license].reduce(
      (sum, each) => sum + (typeof each === 'string' ? each : each.value).length,
      0,
    );
  }

  #addUsages(value: string): void {
    const parsed = parseContentUsage(value);
    if (parsed === undefined) return;
    const { path = '/', preferences } = parsed;
    const usage = this.#usages.get(path) ?? Object.create(null);
    this.#usages.set(path, usage);
    addWishes(usage, preferences);
  }

  /** The part of them that counts for a URL: equal numbers stand for equal preferences. */
  partFor(url: string | Uint8Array): number | undefined {
    if (this.#usages.size === 0) return undefined;
    this.#mostSpecific ??= this.#matcherOf([...this.#usages.keys()]);
    const [first, ...others] = this.#mostSpecific(url);
    if (first === undefined || others.length === 0) return first;
    const usage: Record<string, 'y' | 'n'> = Object.create(null);
    for (const path of [first, ...others]) addWishes(usage, this.#ofPart[path] ?? {});
    // Not by the paths: a file may have any number of sets of paths, for few preferences.
    const key = JSON.stringify(Object.entries(usage).sort());
    const known = this.#joined.get(key);
    if (known !== undefined) return known;
    const part = this.#ofPart.push(usage) - 1;
    this.#joined.set(key, part);
    return part;
  }

  /** The preferences of a part. */
  ofPart(part: number | undefined): Preferences {
    const contentUsage = part === undefined ? undefined : this.#ofPart[part];
    return { contentUsage: contentUsage ?? Object.create(null), ...this.#common };
  }

  for(url: string | Uint8Array): Preferences {
    return this.ofPart(this.partFor(url));
  }
}

/** Adds the wishes of a record to those of others that count as much: `n` wins. */
function addWishes(usage: Record<string, 'y' | 'n'>, added: Usage): void {
  for (const [key, wish] of Object.entries(added)) {
    if (usage[key] !== 'n') usage[key] = wish;
  }
}

/** Which of two values of a key counts: `no`, then `yes`, else the later one. */
function strongerSignal(earlier: string | undefined, later: string): string {
  if (earlier === 'no' || (earlier === 'yes' && later !== 'no')) return earlier;
  return later;
}

/** The meaning of a value; `undefined` for an unknown value. */
type RecordValue =
  | number
  | string
  | Readonly<Record<string, unknown>>
  | readonly unknown[]
  | undefined;

/** A `Content-Usage` record (draft-ietf-aipref-attach): preferences for the paths of a prefix. */
interface ContentUsage {
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
    case 'web-page':
      return undefined;
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

/**
 * Parses `search=yes, ai-train=no`; members without `=` are left out. Of several values of a key
 * `no` counts, then `yes`, else the last.
 */
export function parseContentSignal(value: string): Readonly<Record<string, string>> | undefined {
  const signals: Record<string, string> = Object.create(null);
  let found = false;
  for (const member of value.split(',')) {
    const equals = member.indexOf('=');
    if (equals < 0) continue;
    const key = member.slice(0, equals).trim().toLowerCase();
    if (key === '') continue;
    const value = member
      .slice(equals + 1)
      .trim()
      .toLowerCase();
    signals[key] = strongerSignal(signals[key], value);
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

// ---- Reads dictionaries of RFC 9651 (Structured Field Values), as `Content-Usage` has them. Only
// the values that are tokens matter here; all others are checked and left out.

/** A value that is not a token: a number, a string, an inner list or another type. */
export const OTHER_TYPE = Symbol('other type');

type DictionaryValue = string | typeof OTHER_TYPE;

/** Maximum digits of an integer, of the whole part of a decimal, and of its fraction. */
const INTEGER_DIGITS = 15;
const WHOLE_DIGITS = 12;
const FRACTION_DIGITS = 3;

/** Digits of a byte in a display string. */
const HEX_DIGITS = 2;

const TOKEN_MARKS = "!#$%&'*+-.^_`|~:/";
const KEY_MARKS = '_-.*';

/**
 * The members of a dictionary; `undefined` if the text is not a dictionary, which makes the whole
 * field void (section 4.2). Of two members with the same key, the later one counts.
 */
export function parseDictionary(text: string): ReadonlyMap<string, DictionaryValue> | undefined {
  return new Parser(text).dictionary();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  dictionary(): ReadonlyMap<string, DictionaryValue> | undefined {
    const members = new Map<string, DictionaryValue>();
    this.#skip(' ');
    while (this.#at < this.#text.length) {
      const key = this.#key();
      if (key === undefined) return undefined;
      const value = this.#take('=') ? this.#member() : OTHER_TYPE;
      if (value === undefined || !this.#parameters()) return undefined;
      members.delete(key);
      members.set(key, value);
      this.#skip(' \t');
      if (this.#at === this.#text.length) return members;
      if (!this.#take(',')) return undefined;
      this.#skip(' \t');
      if (this.#at === this.#text.length) return undefined;
    }
    return members;
  }

  #member(): DictionaryValue | undefined {
    return this.#take('(') ? this.#innerList() : this.#item();
  }

  #innerList(): typeof OTHER_TYPE | undefined {
    for (;;) {
      const start = this.#at;
      this.#skip(' ');
      if (this.#take(')')) return OTHER_TYPE;
      const isFirst = this.#text[start - 1] === '(';
      if (!isFirst && this.#at === start) return undefined;
      if (this.#item() === undefined || !this.#parameters()) return undefined;
    }
  }

  #item(): DictionaryValue | undefined {
    const first = this.#text[this.#at] ?? '';
    const code = this.#text.charCodeAt(this.#at);
    if (first === '*' || isLetter(code)) return this.#token();
    if (first === '-' || isDigit(code)) return this.#number(true);
    this.#at++;
    switch (first) {
      case '"':
        return this.#string();
      case ':':
        return this.#until(':', (other) => isLetter(other) || isDigit(other) || isBase64(other));
      case '?':
        return this.#take('0') || this.#take('1') ? OTHER_TYPE : undefined;
      case '@':
        return this.#number(false);
      case '%':
        return this.#take('"') ? this.#displayString() : undefined;
      default:
        return undefined;
    }
  }

  #token(): string {
    const start = this.#at++;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (isLetter(code) || isDigit(code)) continue;
      if (!TOKEN_MARKS.includes(this.#text.charAt(this.#at))) break;
    }
    return this.#text.slice(start, this.#at);
  }

  #number(mayBeDecimal: boolean): typeof OTHER_TYPE | undefined {
    this.#take('-');
    const whole = this.#digits();
    if (whole === 0 || whole > INTEGER_DIGITS) return undefined;
    if (!mayBeDecimal || !this.#take('.')) return OTHER_TYPE;
    const fraction = this.#digits();
    const isDecimal = whole <= WHOLE_DIGITS && fraction > 0 && fraction <= FRACTION_DIGITS;
    return isDecimal ? OTHER_TYPE : undefined;
  }

  #digits(): number {
    const start = this.#at;
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#at - start;
  }

  #string(): typeof OTHER_TYPE | undefined {
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (!isPrintable(this.#text.charCodeAt(this.#at++))) return undefined;
      if (character === '"') return OTHER_TYPE;
      if (character === '\\' && !this.#take('"') && !this.#take('\\')) return undefined;
    }
    return undefined;
  }

  /** Each `%` begins two lower-case hexadecimal digits; the bytes are UTF-8 (section 4.2.10). */
  #displayString(): typeof OTHER_TYPE | undefined {
    const start = this.#at;
    if (this.#until('"', isPrintable) === undefined) return undefined;
    const [first = '', ...escaped] = this.#text.slice(start, this.#at - 1).split('%');
    const bytes = [Buffer.from(first)];
    for (const part of escaped) {
      const digits = part.slice(0, HEX_DIGITS);
      const byte = Buffer.from(digits, 'hex');
      if (byte.toString('hex') !== digits || byte.length !== 1) return undefined;
      bytes.push(byte, Buffer.from(part.slice(HEX_DIGITS)));
    }
    return isUtf8(Buffer.concat(bytes)) ? OTHER_TYPE : undefined;
  }

  #until(end: string, accepts: (code: number) => boolean): typeof OTHER_TYPE | undefined {
    while (this.#at < this.#text.length) {
      if (this.#take(end)) return OTHER_TYPE;
      if (!accepts(this.#text.charCodeAt(this.#at++))) return undefined;
    }
    return undefined;
  }

  /** Skips the parameters of a member; false if they are malformed. */
  #parameters(): boolean {
    while (this.#take(';')) {
      this.#skip(' ');
      if (this.#key() === undefined) return false;
      if (this.#take('=') && this.#item() === undefined) return false;
    }
    return true;
  }

  #key(): string | undefined {
    const start = this.#at;
    const first = this.#text[start] ?? '';
    if (first !== '*' && !isLowerCase(first)) return undefined;
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charAt(this.#at);
      const isKey = isLowerCase(character) || isDigit(character.charCodeAt(0));
      if (!isKey && !KEY_MARKS.includes(character)) break;
    }
    return this.#text.slice(start, this.#at);
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skip(characters: string): void {
    while (this.#at < this.#text.length && characters.includes(this.#text.charAt(this.#at))) {
      this.#at++;
    }
  }
}

function isLowerCase(character: string): boolean {
  return character >= 'a' && character <= 'z' && character.length === 1;
}

function isBase64(code: number): boolean {
  return '+/='.includes(String.fromCharCode(code));
}

function isPrintable(code: number): boolean {
  return code >= 0x20 && code <= 0x7e;
}
