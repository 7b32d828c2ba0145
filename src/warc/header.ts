/**
 * Reads the header of a WARC record (ISO 28500), as far as it decides about captures of robots.txt
 * files.
 */

import { COLON, LOWER_CASE_BIT, SPACE, TAB, UPPER_A, UPPER_Z } from '../base/ascii.js';
import { endOfLine, lengthOf, trimmedText } from '../http/response.js';

/**
 * Maximum length of the header of a record, in bytes. Crawlers store URLs of at most some
 * kilobytes.
 */
export const LONGEST_HEADER = 64 * 1024;

/** The fields of a WARC record (ISO 28500:2017 section 5) that decide about robots.txt captures. */
export interface WarcHeader {
  readonly type: string;
  /** WARC-Target-URI, without the angle brackets that some writers add. */
  readonly uri: string;
  /** WARC-Date in milliseconds since 1970, with a fraction; NaN if it is missing or invalid. */
  readonly date: number;
  /** WARC-Date as it is written; empty if it is missing. */
  readonly dateText: string;
  /** Content-Type of the block, in lower case. */
  readonly contentType: string;
  /** Content-Length: the bytes of the block. */
  readonly length: number;
  /** The reason of WARC-Truncated, in lower case; empty if the record is whole. */
  readonly truncated: string;
  readonly payloadDigest: string;
  readonly profile: string;
  readonly refersToUri: string;
  /** WARC-Refers-To-Date in milliseconds since 1970; NaN if it is missing or invalid. */
  readonly refersToDate: number;
  /** Whether the record is a segment of a longer one (section 7). */
  readonly isSegment: boolean;
}

/** The types of records that hold no captures (section 6). */
const OTHER_TYPES: ReadonlySet<string> = new Set([
  'warcinfo',
  'request',
  'metadata',
  'conversion',
  'continuation',
]);

/** The types of records that hold captures (section 6). */
export const CAPTURE_TYPES: ReadonlySet<string> = new Set(['response', 'resource', 'revisit']);

/** Whether a type is one of ISO 28500. */
export function isKnownType(type: string): boolean {
  return CAPTURE_TYPES.has(type) || OTHER_TYPES.has(type);
}

/** Names of the fields that are read, and their indices among what a header holds. */
const NAMES = [
  'warc-type',
  'content-length',
  'warc-date',
  'warc-target-uri',
  'content-type',
  'warc-truncated',
  'warc-payload-digest',
  'warc-profile',
  'warc-refers-to-target-uri',
  'warc-refers-to-date',
  'warc-segment-number',
] as const;

type Name = (typeof NAMES)[number];

/** The indices of the first two names. */
const TYPE = 0;
const LENGTH = 1;

/** For each length the indices of the names that have it. */
const NAMES_BY_LENGTH: readonly (readonly number[])[] = Array.from(
  { length: Math.max(...NAMES.map(({ length }) => length)) + 1 },
  (_, length) => NAMES.flatMap((name, index) => (name.length === length ? [index] : [])),
);

/** Start and end of the values of the current header; -1 for a missing field. */
const starts = new Int32Array(NAMES.length);
const ends = new Int32Array(NAMES.length);

/**
 * Parses the header of a record; `undefined` without a usable type or Content-Length. Of a record
 * that holds no capture, only these two are read, unless all types are wanted.
 */
export function parseWarcHeader(bytes: Buffer, ofAllTypes = false): WarcHeader | undefined {
  findValues(bytes, ofAllTypes);
  const length = lengthOf(fieldText(bytes, 'content-length'));
  const type = fieldText(bytes, 'warc-type').toLowerCase();
  if (length === undefined || type === '') return undefined;
  if (!ofAllTypes && OTHER_TYPES.has(type)) return noCapture(type, length);
  const dateText = fieldText(bytes, 'warc-date');
  return {
    type,
    uri: withoutBrackets(fieldText(bytes, 'warc-target-uri')),
    date: parseWarcDate(dateText),
    dateText,
    contentType: fieldText(bytes, 'content-type').toLowerCase(),
    length,
    truncated: fieldText(bytes, 'warc-truncated').toLowerCase(),
    payloadDigest: fieldText(bytes, 'warc-payload-digest'),
    profile: fieldText(bytes, 'warc-profile').toLowerCase(),
    refersToUri: withoutBrackets(fieldText(bytes, 'warc-refers-to-target-uri')),
    refersToDate: parseWarcDate(fieldText(bytes, 'warc-refers-to-date')),
    isSegment: starts[NAMES.indexOf('warc-segment-number')] !== -1,
  };
}

/** The header of a record that holds no capture, as two of three have none in many files. */
function noCapture(type: string, length: number): WarcHeader {
  return {
    type,
    uri: '',
    date: Number.NaN,
    dateText: '',
    contentType: '',
    length,
    truncated: '',
    payloadDigest: '',
    profile: '',
    refersToUri: '',
    refersToDate: Number.NaN,
    isSegment: false,
  };
}

/**
 * Finds the values of all fields that are read. Of a field that comes twice, the first counts. The
 * search ends early when it is clear that the record holds no capture, unless all types are wanted.
 */
function findValues(bytes: Buffer, ofAllTypes: boolean): void {
  starts.fill(-1);
  let start = endOfLine(bytes, 0);
  while (start < bytes.length) {
    let end = endOfLine(bytes, start);
    // A line that begins with white space continues the field before it.
    while (bytes[end] === SPACE || bytes[end] === TAB) end = endOfLine(bytes, end);
    let colon = start;
    const last = Math.min(end, start + NAMES_BY_LENGTH.length);
    while (colon < last && bytes[colon] !== COLON) colon++;
    for (const index of NAMES_BY_LENGTH[colon - start] ?? []) {
      if (starts[index] !== -1 || !isName(bytes, start, NAMES[index] as string)) continue;
      starts[index] = colon + 1;
      ends[index] = end;
      if (ofAllTypes || index > LENGTH) continue;
      if (starts[TYPE] !== -1 && starts[LENGTH] !== -1 && isOther(bytes)) return;
    }
    start = end;
  }
}

/** Whether the type that was found is one of no capture. */
function isOther(bytes: Buffer): boolean {
  return OTHER_TYPES.has(fieldText(bytes, 'warc-type').toLowerCase());
}

/** The value of a field that `findValues` has found; empty if it is missing. */
function fieldText(bytes: Buffer, name: Name): string {
  const index = NAMES.indexOf(name);
  const start = starts[index] as number;
  return start < 0 ? '' : unfolded(trimmedText(bytes, start, ends[index] as number));
}

/** Whether the bytes at an offset are a name, in any case. */
function isName(bytes: Buffer, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const byte = bytes[start + at] as number;
    const isCapital = byte >= UPPER_A && byte <= UPPER_Z;
    if ((isCapital ? byte | LOWER_CASE_BIT : byte) !== name.charCodeAt(at)) return false;
  }
  return true;
}

/** The value of a field on one line. */
function unfolded(value: string): string {
  if (!value.includes('\n')) return value;
  return value
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
}

/** Milliseconds since 1970 of a WARC-Date (UTC, fractions to the microsecond), or NaN. */
function parseWarcDate(text: string): number {
  if (text.length < 'YYYY-MM-DD'.length || text.length > 40) return Number.NaN;
  const isDay = text.length === 'YYYY-MM-DD'.length;
  if (text.charAt(4) !== '-' || (!isDay && (text.charAt(10) !== 'T' || !text.endsWith('Z')))) {
    return Number.NaN;
  }
  const dot = text.indexOf('.');
  if (dot < 0) return Date.parse(text);
  // Date.parse reads only three digits of a fraction.
  const end = Math.min(dot + 4, text.length - 1);
  const further = text.slice(end, -1);
  return Date.parse(`${text.slice(0, end)}Z`) + (lengthOf(further) ?? 0) / 10 ** further.length;
}

/** wget writes `<http://example.com/>`, after an example of WARC 1.0. */
function withoutBrackets(uri: string): string {
  return uri.startsWith('<') && uri.endsWith('>') ? uri.slice(1, -1) : uri;
}
