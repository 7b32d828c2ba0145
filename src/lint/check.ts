/**
 * What all checks share: the context, names of agents, and how findings show invisible characters.
 */

import { COLON } from '../base/ascii.js';
import { isControl } from '../base/control-characters.js';
import type { Authority } from '../protocol/authority.js';
import type { KnownAgent } from '../protocol/known-agent.js';
import type { DocumentLine, RobotsDocument } from './document.js';
import type { FindingList, Span } from './finding.js';

/** What a check reads, and where its findings go. */
export interface CheckContext {
  readonly document: RobotsDocument;
  readonly findings: FindingList;
  /** The host that the file is of, if it is known. */
  readonly authority: Authority | undefined;
  readonly agents: AgentNames;
  /**
   * Lines whose fault is already found and explains others: a placeholder that was not filled in is
   * also a pattern that begins with no "/".
   */
  readonly explained: Set<DocumentLine>;
}

/** The names of known agents, for comparison. */
export interface AgentNames {
  /** Tokens in lower case, with the token as published. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Those of them that are whole names, not only the beginning of a published one. */
  readonly names: ReadonlySet<string>;
  /** Published names in lower case that are not tokens. */
  readonly published: ReadonlySet<string>;
}

/** The names of agents, for all files. */
export function agentNames(agents: readonly KnownAgent[]): AgentNames {
  return {
    tokens: new Map(agents.map(({ token }) => [token.toLowerCase(), token])),
    names: new Set(
      agents.flatMap(({ token, published }) =>
        published === undefined ? [token.toLowerCase()] : [],
      ),
    ),
    published: new Set(
      agents.flatMap(({ published }) => (published === undefined ? [] : [published.toLowerCase()])),
    ),
  };
}

/** Maximum length of a text that a message quotes. */
const QUOTED_CHARACTERS = 60;

/** Quotes a text of the file in a message. Invisible characters are written as `\u00a0`. */
export function quoted(text: string): string {
  const shown = text.length <= QUOTED_CHARACTERS ? text : `${text.slice(0, QUOTED_CHARACTERS)}…`;
  return escapeInvisible(JSON.stringify(shown));
}

/** Number of items that a message lists. */
const LISTED_ITEMS = 3;

/** `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`. */
export function listed(items: readonly string[]): string {
  const shown = items.slice(0, LISTED_ITEMS);
  const further = items.length - shown.length;
  const last = further > 0 ? `${further} more` : shown.pop();
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} and ${last}`;
}

/** `line 3`, `lines 3 and 5`. */
export function listedLines(lines: readonly Span[]): string {
  return `${lines.length === 1 ? 'line' : 'lines'} ${listed(lines.map(({ line }) => String(line)))}`;
}

/** The place of a known key and a colon, after white space within a value. */
export function secondRecord(line: DocumentLine, { bytes }: RobotsDocument): Span | undefined {
  const { valueStart, valueEnd } = line;
  let at = bytes.indexOf(COLON, valueStart);
  for (; at >= 0 && at < valueEnd; at = bytes.indexOf(COLON, at + 1)) {
    let end = at;
    while (end > valueStart && (bytes[end - 1] as number) <= 0x20) end--;
    let start = end;
    const first = Math.max(valueStart, end - LONGEST_KEY - 1);
    while (start > first && (bytes[start - 1] as number) > 0x20) start--;
    if (start === first || start === end) continue;
    const key = bytes.toString('latin1', start, end).toLowerCase();
    if (!SEPARATED_KEYS.has(key)) continue;
    return { line: line.line, start, end: valueEnd };
  }
  return undefined;
}

/** Keys that make a second record of what follows them. */
const SEPARATED_KEYS: ReadonlySet<string> = new Set([
  'user-agent',
  'allow',
  'disallow',
  'sitemap',
  'crawl-delay',
]);

const LONGEST_KEY = 'crawl-delay'.length;

/** Characters that editors do not show, apart from controls, by their usual names. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00a0, 'no-break space'],
  [0x00ad, 'soft hyphen'],
  [0x034f, 'combining grapheme joiner'],
  [0x061c, 'Arabic letter mark'],
  [0x180e, 'Mongolian vowel separator'],
  [0x200b, 'zero width space'],
  [0x200c, 'zero width non-joiner'],
  [0x200d, 'zero width joiner'],
  [0x200e, 'left-to-right mark'],
  [0x200f, 'right-to-left mark'],
  [0x2028, 'line separator'],
  [0x2029, 'paragraph separator'],
  [0x202f, 'narrow no-break space'],
  [0x2060, 'word joiner'],
  [0x2800, 'blank braille pattern'],
  [0x3000, 'ideographic space'],
  [0x3164, 'Hangul filler'],
  [0xfeff, 'byte order mark'],
]);

/** Ranges of further ones: fillers, spaces, bidirectional controls, tags. */
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0xfe00, 0xfe0f],
  [0xfff0, 0xfffb],
  [0xe0000, 0xe01ef],
];

/** An invisible character of a text. */
interface Invisible {
  /** Its offset in UTF-16 code units. */
  readonly at: number;
  /** `U+00A0, a no-break space`, or `U+0080`. */
  readonly name: string;
}

/** Whether a character is not shown, or only as a gap that looks like a space. */
function isInvisible(code: number): boolean {
  if (code <= 0x20) return code < 0x20 && code !== 0x09;
  if (code < 0x7f) return false;
  if (code <= 0xffff && isControl(code)) return true;
  return NAMES.has(code) || RANGES.some(([first, last]) => code >= first && code <= last);
}

/**
 * Whether a character chooses how its neighbours are joined or drawn. Between letters outside ASCII
 * it belongs to their spelling: Persian words and emoji have such characters.
 */
function isJoiner(code: number): boolean {
  return code === 0x200c || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f);
}

/** Whether a character is invisible where it stands. */
function isHidden(code: number, before: number): boolean {
  return isInvisible(code) && !(isJoiner(code) && before > 0x7f);
}

/** The first invisible character of a text; `undefined` if there is none. */
export function invisibleIn(text: string): Invisible | undefined {
  let before = 0;
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (isHidden(code, before)) {
      const digits = code.toString(16).toUpperCase().padStart(4, '0');
      const name = NAMES.get(code);
      return { at, name: name === undefined ? `U+${digits}` : `U+${digits}, ${name}` };
    }
    before = code;
    at += character.length;
  }
  return undefined;
}

/** White space that is not ASCII. */
function isWideSpace(code: number): boolean {
  return (
    code === 0xa0 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** A text with a space for each gap, without its invisible characters and white space around it. */
export function visible(text: string): string {
  return replaced(text, (character) =>
    isWideSpace(character.codePointAt(0) ?? 0) ? ' ' : '',
  ).trim();
}

/** A text in which each invisible character is written as `\u00a0`, as in JSON. */
function escapeInvisible(text: string): string {
  return replaced(text, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** A pattern in which each invisible character is percent-encoded, as it is compared. */
export function encodeInvisible(text: string): string {
  return replaced(text, encodeURIComponent);
}

/** A text with something else for each invisible character. */
function replaced(text: string, replacement: (character: string) => string): string {
  let result = '';
  let before = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    result += isHidden(code, before) ? replacement(character) : character;
    before = code;
  }
  return result;
}
