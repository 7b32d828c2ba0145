import type { Profile } from '../../src/protocol/profile.js';
import { bytesOf, toLowerAscii } from './bytes.js';

/**
 * The rules of a robots.txt, read line by line as literally and as slowly as possible; all texts
 * are bytes, one character each.
 */
export interface NaiveGroup {
  readonly productTokens: string[];
  readonly rules: { readonly allow: boolean; readonly pattern: string; readonly line: number }[];
  readonly line: number;
}

const GOOGLE_LINE_BYTES = 16_663;
const GOOGLE_KEYS = [
  ['user-agent', 'useragent', 'user agent'],
  ['allow'],
  ['disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw'],
] as const;

/**
 * The groups of a body within the parsing limit (RFC 9309 sections 2.1 and 2.2; docs/verdicts.md,
 * the google profile).
 */
export function naiveGroups(body: Uint8Array, profile: Profile): NaiveGroup[] {
  const google = profile === 'google';
  const groups: NaiveGroup[] = [];
  linesOf(google ? withoutPartialMark(bytesOf(body)) : decoded(body)).forEach((text, index) => {
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

type Key = 'user-agent' | 'allow' | 'disallow';

/** A line without a known key is another record. */
interface NaiveRecord {
  readonly key: Key | undefined;
  readonly value: string;
}

function rfcRecord(line: string): NaiveRecord | undefined {
  if (line.includes('\0')) return undefined;
  const text = upTo(line, '#');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const key = toLowerAscii(trimmed(text.slice(0, colon), ' \t'));
  const value = trimmed(text.slice(colon + 1), ' \t');
  const known = key === 'user-agent' || key === 'allow' || key === 'disallow';
  return { key: known ? key : undefined, value };
}

function googleRecord(line: string): NaiveRecord | undefined {
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

function trimmed(text: string, space: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.includes(text.charAt(start))) start++;
  while (end > start && space.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** A whole UTF-8 byte order mark is dropped, UTF-16 with one is decoded. */
function decoded(body: Uint8Array): string {
  const bytes = bytesOf(body);
  if (bytes.startsWith('\xef\xbb\xbf')) return bytes.slice(3);
  const encoding = bytes.startsWith('\xff\xfe') ? 'utf-16le' : 'utf-16be';
  if (!bytes.startsWith('\xff\xfe') && !bytes.startsWith('\xfe\xff')) return bytes;
  return bytesOf(new TextDecoder(encoding, { ignoreBOM: true }).decode(body.subarray(2)));
}

function withoutPartialMark(bytes: string): string {
  for (const mark of ['\xef\xbb\xbf', '\xef\xbb', '\xef']) {
    if (bytes.startsWith(mark)) return bytes.slice(mark.length);
  }
  return bytes;
}
