import type { Profile } from '../src/protocol/verdict.js';
import { charactersOf, toLowerAscii, trimmed } from './bytes.js';

/** An allow or disallow line; the pattern has one character for each byte. */
export interface OracleRule {
  readonly allow: boolean;
  readonly pattern: string;
  readonly line: number;
}

/**
 * A group of a robots.txt, read line by line as literally and as slowly as possible; product tokens
 * have one character for each byte.
 */
export interface OracleGroup {
  readonly productTokens: string[];
  readonly rules: OracleRule[];
  readonly line: number;
}

/** The parsing limit in bytes (RFC 9309 section 2.5); the google profile has none. */
const LIMIT = 512_000;
const GOOGLE_LINE_BYTES = 16_663;
const GOOGLE_KEYS = [
  ['user-agent', 'useragent', 'user agent'],
  ['allow'],
  ['disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw'],
] as const;

/**
 * The groups of a body (RFC 9309 sections 2.1, 2.2 and 2.5; docs/verdicts.md, the google profile).
 */
export function readGroups(body: Uint8Array, profile: Profile): OracleGroup[] {
  const google = profile === 'google';
  const groups: OracleGroup[] = [];
  const lines = google
    ? linesOf(withoutPartialMark(charactersOf(body)))
    : linesOf(decoded(body.subarray(0, LIMIT), encodingOf(body)));
  if (!google && body.length > LIMIT) {
    // The line that the limit truncates has no effect.
    const next = decoded(body.subarray(LIMIT, LIMIT + 2), encodingOf(body)).charAt(0);
    if (next !== '\n' && next !== '\r') lines.pop();
  }
  lines.forEach((text, index) => {
    const record = google ? googleRecord(text) : rfcRecord(text);
    if (record === undefined) return;
    const { key, value } = record;
    const line = index + 1;
    let group = groups.at(-1);
    if (key === 'user-agent') {
      if (group === undefined || group.rules.length > 0) {
        group = { productTokens: [], rules: [], line };
        groups.push(group);
      }
      const token = productToken(value, google ? ' \t\n\v\f\r' : ' \t');
      if (token !== '' || google) group.productTokens.push(token);
    } else if (key !== undefined && group !== undefined) {
      group.rules.push({ allow: key === 'allow', pattern: value, line });
    }
  });
  return groups;
}

/**
 * The line that the program reports if google/robotstxt names `line`. google/robotstxt also names
 * an empty rule, which matches every path with priority 0 and decides nothing. This program reports
 * only a rule that decides, else 0.
 */
export function decidingLine(groups: readonly OracleGroup[], line: number): number {
  return ruleOf(groups, line)?.pattern === '' ? 0 : line;
}

/** The rule of a line; `undefined` if there is none. */
export function ruleOf(groups: readonly OracleGroup[], line: number): OracleRule | undefined {
  return groups.flatMap(({ rules }) => rules).find((rule) => rule.line === line);
}

type Key = 'user-agent' | 'allow' | 'disallow';

/** A line of the file; without a known key it is not part of RFC 9309. */
interface Field {
  readonly key: Key | undefined;
  readonly value: string;
}

function rfcRecord(line: string): Field | undefined {
  if (line.includes('\0')) return undefined;
  const text = upTo(line, '#');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const key = toLowerAscii(trimmed(text.slice(0, colon), ' \t'));
  const value = trimmed(text.slice(colon + 1), ' \t');
  const known = key === 'user-agent' || key === 'allow' || key === 'disallow';
  return { key: known ? key : undefined, value };
}

function googleRecord(line: string): Field | undefined {
  const space = ' \t\n\v\f\r';
  const text = trimmed(upTo(upTo(line.slice(0, GOOGLE_LINE_BYTES), '\0'), '#'), space);
  let separator = text.indexOf(':');
  if (separator < 0) {
    separator = Array.from(text).findIndex((byte) => ' \t'.includes(byte));
    if (separator < 0) return undefined;
    const rest = trimmed(text.slice(separator), ' \t');
    if (rest.includes(' ') || rest.includes('\t')) return undefined;
  }
  const written = toLowerAscii(trimmed(text.slice(0, separator), space));
  if (written === '') return undefined;
  const keys: readonly Key[] = ['user-agent', 'allow', 'disallow'];
  const key = keys.find((_key, index) =>
    GOOGLE_KEYS[index]?.some((spelling) => written.startsWith(spelling)),
  );
  return { key, value: trimmed(text.slice(separator + 1), space) };
}

function productToken(value: string, space: string): string {
  if (value === '*') return '*';
  if (value.startsWith('*')) return space.includes(value.charAt(1)) ? '*' : '';
  let end = 0;
  while (end < value.length && isTokenByte(value.charAt(end))) end++;
  return toLowerAscii(value.slice(0, end));
}

function isTokenByte(byte: string): boolean {
  const lower = toLowerAscii(byte);
  return (lower >= 'a' && lower <= 'z') || lower === '-' || lower === '_';
}

/** LF, CR or CRLF end a line. */
function linesOf(text: string): string[] {
  return text.split('\r\n').join('\n').split('\r').join('\n').split('\n');
}

function upTo(text: string, end: string): string {
  return text.includes(end) ? text.slice(0, text.indexOf(end)) : text;
}

/** The encoding that a byte order mark names: a file without one is read byte by byte. */
function encodingOf(body: Uint8Array): 'bytes' | 'utf-16le' | 'utf-16be' {
  const mark = charactersOf(body.subarray(0, 2));
  return mark === '\xff\xfe' ? 'utf-16le' : mark === '\xfe\xff' ? 'utf-16be' : 'bytes';
}

/** A whole byte order mark is dropped; UTF-16 becomes UTF-8. */
function decoded(body: Uint8Array, encoding: ReturnType<typeof encodingOf>): string {
  const bytes =
    encoding === 'bytes'
      ? charactersOf(body)
      : charactersOf(new TextDecoder(encoding, { ignoreBOM: true }).decode(body));
  return bytes.startsWith('\xef\xbb\xbf') ? bytes.slice(3) : bytes;
}

function withoutPartialMark(bytes: string): string {
  for (const mark of ['\xef\xbb\xbf', '\xef\xbb', '\xef']) {
    if (bytes.startsWith(mark)) return bytes.slice(mark.length);
  }
  return bytes;
}
