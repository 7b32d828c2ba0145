import { COLON, CR, LF, LOWER_CASE_BIT, SPACE, TAB, UPPER_A, UPPER_Z } from '../ascii.js';

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
  /** WARC-Date in milliseconds since 1970; NaN if it is missing or invalid. */
  readonly date: number;
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

/** A field of a header. */
export interface Field {
  /** Name in lower case. */
  readonly name: string;
  /** Value without white space at its ends; one character per byte. */
  readonly value: string;
}

/**
 * The offset after the blank line that ends a header, or -1. Lines may end in CRLF or in a bare LF.
 */
export function endOfHeader(bytes: Buffer, start: number, end: number): number {
  // Two searches of the runtime take less time than a loop over the bytes.
  const header = bytes.subarray(start, Math.min(end, start + FIRST_SEARCH));
  const found = blankLine(header);
  if (found >= 0) return start + found;
  const whole = header.length === end - start ? -1 : blankLine(bytes.subarray(start, end));
  return whole < 0 ? -1 : start + whole;
}

const LF_LF = Buffer.from([LF, LF]);
const LF_CR_LF = Buffer.from([LF, CR, LF]);

/** Bytes in which the blank line is searched first: nearly all headers are shorter. */
const FIRST_SEARCH = 4096;

/** The offset after the first blank line, or -1. */
function blankLine(header: Buffer): number {
  const crlf = header.indexOf(LF_CR_LF);
  const lf = (crlf < 0 ? header : header.subarray(0, crlf + 1)).indexOf(LF_LF);
  if (lf >= 0) return lf + LF_LF.length;
  return crlf < 0 ? -1 : crlf + LF_CR_LF.length;
}

/**
 * The fields of a header that have one of some names, in lower case. The first line is left out. A
 * line that begins with white space continues the field before it. Lines without a colon are left
 * out.
 */
export function fieldsOf(header: Buffer, names: readonly string[]): Field[] {
  const fields: Field[] = [];
  let hasField = false;
  let isNamed = false;
  let next = endOfLine(header, 0);
  for (let start = next; start < header.length; start = next) {
    next = endOfLine(header, start);
    if (hasField && (header[start] === SPACE || header[start] === TAB)) {
      if (!isNamed) continue;
      const { name, value } = fields.pop() as Field;
      fields.push({ name, value: `${value} ${textOf(header, start, next)}`.trim() });
      continue;
    }
    let colon = start;
    while (colon < next && header[colon] !== COLON) colon++;
    if (colon === next) continue;
    hasField = true;
    // Few lines begin like a name, so few are turned into strings.
    const name = names.find((each) => mayBe(header, start, each))
      ? textOf(header, start, colon).toLowerCase()
      : '';
    isNamed = names.includes(name);
    if (isNamed) fields.push({ name, value: textOf(header, colon + 1, next) });
  }
  return fields;
}

/** Whether a line may begin with a name: with its first letter, or with white space. */
function mayBe(header: Buffer, start: number, name: string): boolean {
  const first = header[start] as number;
  return isSpace(first) || (first | LOWER_CASE_BIT) === name.charCodeAt(0);
}

/** The types of records that hold no captures (section 6). */
const OTHER_TYPES: ReadonlySet<string> = new Set([
  'warcinfo',
  'request',
  'metadata',
  'conversion',
  'continuation',
]);

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
 * that holds no capture, only these two are read.
 */
export function parseWarcHeader(bytes: Buffer): WarcHeader | undefined {
  findValues(bytes);
  const length = lengthOf(fieldText(bytes, 'content-length'));
  const type = fieldText(bytes, 'warc-type').toLowerCase();
  if (length === undefined || type === '') return undefined;
  if (OTHER_TYPES.has(type)) return noCapture(type, length);
  return {
    type,
    uri: withoutBrackets(fieldText(bytes, 'warc-target-uri')),
    date: parseWarcDate(fieldText(bytes, 'warc-date')),
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
 * search ends early when it is clear that the record holds no capture.
 */
function findValues(bytes: Buffer): void {
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
      if (starts[TYPE] !== -1 && starts[LENGTH] !== -1 && index <= LENGTH && isOther(bytes)) return;
    }
    start = end;
  }
}

/** Whether the type that was found is one of no capture. */
function isOther(bytes: Buffer): boolean {
  return OTHER_TYPES.has(fieldText(bytes, 'warc-type').toLowerCase());
}

/** The offset after the line feed that ends a line, or that of the end. */
function endOfLine(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== LF) at++;
  return Math.min(at + 1, bytes.length);
}

/** The value of a field that `findValues` has found; empty if it is missing. */
function fieldText(bytes: Buffer, name: Name): string {
  const index = NAMES.indexOf(name);
  const start = starts[index] as number;
  return start < 0 ? '' : unfolded(textOf(bytes, start, ends[index] as number));
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

/** The whole number in decimal digits; `undefined` if the text is anything else. */
export function lengthOf(text: string): number | undefined {
  if (text === '' || text.length > 15) return undefined;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x30 || unit > 0x39) return undefined;
  }
  return Number(text);
}

/** Milliseconds since 1970 of a WARC-Date (UTC, with fractions of a second), or NaN. */
export function parseWarcDate(text: string): number {
  if (text.length < 'YYYY-MM-DD'.length || text.length > 40) return Number.NaN;
  const isDay = text.length === 'YYYY-MM-DD'.length;
  if (text.charAt(4) !== '-' || (!isDay && (text.charAt(10) !== 'T' || !text.endsWith('Z')))) {
    return Number.NaN;
  }
  const dot = text.indexOf('.');
  // Date.parse reads only three digits of a fraction.
  const time = Date.parse(dot < 0 ? text : `${text.slice(0, Math.min(dot + 4, text.length - 1))}Z`);
  return time;
}

/** wget writes `<http://example.com/>`, after an example of WARC 1.0. */
function withoutBrackets(uri: string): string {
  return uri.startsWith('<') && uri.endsWith('>') ? uri.slice(1, -1) : uri;
}

/** The text between two offsets without white space at its ends. */
function textOf(bytes: Buffer, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && isSpace(bytes[first])) first++;
  while (last > first && isSpace(bytes[last - 1])) last--;
  return bytes.toString('latin1', first, last);
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF;
}
