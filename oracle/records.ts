/**
 * The records of inputs and outputs, read plainly: lines of text, rows, JSON, and conversions.
 * Texts have one character for each byte.
 */

import { isUtf8 } from 'node:buffer';
import { REASON_BITS } from '../src/kernel/layout.js';
import type { Reason, Verdict } from '../src/protocol/verdict.js';
import { charactersOf, escapeOf, STRIPPED, trimmed } from './bytes.js';

/** Bytes of a record without a URL that stand in the URL's place. */
export const SHOWN = 1024;

/** A reason for which a record has no URL to judge. */
export type Refusal = Exclude<Reason, 'rule'>;

/** All verdicts, in the order in which Parquet's values number them. */
export const VERDICTS: readonly Verdict[] = ['allow', 'deny', 'unknown', 'invalid'];

// Lines of text

/** A line of blanks is not a record. */
export function isBlank(line: string): boolean {
  return trimmed(line, ' \t\r') === '';
}

/**
 * The reason why a line of text is more than one URL: a tab or a carriage return remains after the
 * bytes are removed that the URL Standard strips at both ends.
 */
export function severalUrls(line: string): Refusal | undefined {
  const within = trimmed(line, STRIPPED);
  if (within.includes('\t')) return 'tab-in-line';
  return within.includes('\r') ? 'return-in-line' : undefined;
}

// JSON

/** A JSON record, as `JSON.parse` reads it. */
export type JsonRecord =
  | { readonly kind: 'refused'; readonly reason: 'no-json' | 'no-object' }
  /** Strings of the value have one character for each byte; the URL may be missing. */
  | { readonly kind: 'read'; readonly value: unknown; readonly url: string | undefined };

/**
 * Reads a JSON record and its URL.
 *
 * @param urlField the members that lead to the URL, as text
 * @param strings whether a string alone is a URL
 */
export function readJsonRecord(
  record: string,
  urlField: readonly string[],
  strings: boolean,
): JsonRecord {
  let value: unknown;
  try {
    value = parseJson(record);
  } catch {
    return {
      kind: 'refused',
      reason: record.trimStart().startsWith('{') ? 'no-json' : 'no-object',
    };
  }
  if (strings && typeof value === 'string') return { kind: 'read', value, url: value };
  if (!isObject(value)) return { kind: 'refused', reason: 'no-object' };
  let member: unknown = value;
  for (const key of urlField.map(charactersOf)) {
    member = isObject(member) && Object.hasOwn(member, key) ? member[key] : undefined;
  }
  return { kind: 'read', value, url: typeof member === 'string' ? member : undefined };
}

/**
 * `JSON.parse` of bytes, UTF-8 or not: in the result's strings each character is a byte.
 *
 * @throws SyntaxError if the bytes are not JSON
 */
export function parseJson(bytes: string): unknown {
  return JSON.parse(withoutWideEscapes(bytes));
}

/** Replaces escapes of characters beyond ASCII, such as `\u00e9`, by the characters in UTF-8. */
function withoutWideEscapes(bytes: string): string {
  let result = '';
  let from = 0;
  for (let at = bytes.indexOf('\\'); at >= 0; at = bytes.indexOf('\\', at)) {
    let wide = '';
    let end = at;
    for (let unit = wideEscape(bytes, end); unit !== undefined; unit = wideEscape(bytes, end)) {
      wide += unit;
      end += 6;
    }
    if (wide === '') {
      at += 2;
      continue;
    }
    result += bytes.slice(from, at) + charactersOf(wide);
    from = end;
    at = end;
  }
  return result + bytes.slice(from);
}

/** The UTF-16 unit of an escape beyond ASCII at an offset. */
function wideEscape(bytes: string, at: number): string | undefined {
  const digits = bytes.slice(at + 2, at + 6);
  if (bytes.slice(at, at + 2) !== '\\u' || !/^[0-9a-f]{4}$/i.test(digits)) return undefined;
  const unit = Number.parseInt(digits, 16);
  return unit < 0x80 ? undefined : String.fromCharCode(unit);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Rows

/** A row of CSV or TSV (RFC 4180). */
export interface Row {
  /** Without its newline. The end of the text is a newline. */
  readonly text: string;
  /** Whether the text ends within a quoted field. */
  readonly isOpen: boolean;
  /** Whether a CR stands outside quotes before its line end. */
  readonly hasReturn: boolean;
  /** The fields; `undefined` for a field with text after its closing quote. */
  readonly fields: readonly (string | undefined)[];
  /** Whether a strict reader accepts the row: fields with a quote or a CR are in quotes. */
  readonly isStrict: boolean;
}

/** All rows of a text, blank ones too, in one pass over the whole text. */
export function rowsOf(text: string, delimiter: string): Row[] {
  const rows: Row[] = [];
  for (let start = 0; start < text.length; ) {
    const fields: (string | undefined)[] = [];
    const returns: number[] = [];
    const endsLine = (place: number) => text[place] === '\n' || place === text.length;
    let at = start;
    let isOpen = false;
    let isStrict = true;
    for (;;) {
      let field: string | undefined = '';
      const isQuoted = text[at] === '"';
      if (isQuoted) {
        const end = closingQuote(text, at);
        if (end < 0) {
          isOpen = true;
          at = text.length;
        } else {
          field = text.slice(at + 1, end).replaceAll('""', '"');
          at = end + 1;
          const isClean = endsLine(at) || text[at] === delimiter;
          // The CR of a line end belongs to no field.
          const isLast = text[at] === '\r' && endsLine(at + 1);
          if (!isClean && !isLast) field = undefined;
        }
      }
      const from = at;
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at++;
      for (let place = from; place < at; place++) if (text[place] === '\r') returns.push(place);
      const rest = text.slice(from, at);
      if (isQuoted ? rest !== '' : /["\r]/.test(rest)) isStrict = false;
      if (field !== undefined && !isOpen) {
        field += endsLine(at) && rest.endsWith('\r') ? rest.slice(0, -1) : rest;
      }
      fields.push(field);
      if (text[at] !== delimiter) break;
      at++;
    }
    const row = text.slice(start, at);
    const last = at - (row.endsWith('\r') ? 1 : 0);
    const hasReturn = returns.some((place) => place < last);
    rows.push({ text: row, isOpen, hasReturn, fields, isStrict: isStrict && !isOpen });
    start = at + 1;
  }
  return rows;
}

/** Offset of the quote that ends a field; -1 if none does. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return -1;
}

/**
 * The fields of rows that a strict reader accepts: each row ends in LF, and a field with a quote or
 * a carriage return is in quotes.
 *
 * @throws Error for any other text
 */
export function readRows(text: string, delimiter: string): string[][] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('a row without its end');
  return rowsOf(text, delimiter).map(({ fields, isStrict }) => {
    if (!isStrict) throw new Error('a field without quotes, or an open quote');
    return fields.map((field = '') => field);
  });
}

// Conversions

/** What a record can become, without the formats' own records. */
export const CONVERSIONS = ['text', 'ndjson', 'csv', 'tsv', 'parquet'] as const;

export type ConvertedFormat = (typeof CONVERSIONS)[number];

/** A record of an output, as a reader of the format sees it. */
export interface ConvertedRow {
  readonly url: string;
  /** `undefined` where only URLs come out. */
  readonly verdict: string | undefined;
}

/** Bytes as UTF-8, with U+FFFD for each byte that is not. */
export function repaired(text: string): string {
  if (isUtf8(Buffer.from(text, 'latin1'))) return text;
  let output = '';
  for (let at = 0; at < text.length; ) {
    const length = [1, 2, 3, 4].find((bytes) =>
      isUtf8(Buffer.from(text.slice(at, at + bytes), 'latin1')),
    );
    const isWhole = length !== undefined && at + length <= text.length;
    output += isWhole ? text.slice(at, at + length) : '\xef\xbf\xbd';
    at += isWhole ? length : 1;
  }
  return output;
}

/** The URL that a reader of the output sees, for a URL of the input. */
export function convertedUrl(url: string, format: ConvertedFormat): string {
  if (format === 'text') return asLine(url);
  return format === 'csv' || format === 'tsv' ? url : repaired(url);
}

/** A URL as a line of text: what the URL Standard drops is dropped, other controls are encoded. */
function asLine(url: string): string {
  return Array.from(trimmed(url, STRIPPED), (byte) => {
    if (byte === '\t' || byte === '\n' || byte === '\r') return '';
    return byte >= ' ' && byte !== '\x7f' ? byte : escapeOf(byte);
  }).join('');
}

/**
 * Reads an output of one agent, without its header.
 *
 * @param hasVerdicts whether verdicts come out, not only URLs
 * @throws Error for an output that is not of the format
 */
export function readConverted(
  output: string,
  format: ConvertedFormat,
  hasVerdicts: boolean,
): ConvertedRow[] {
  if (format === 'parquet') return readValues(output, hasVerdicts);
  if (format === 'csv') return readRows(output, ',').map((fields) => rowOf(fields, hasVerdicts));
  if (format === 'tsv') return readRows(output, '\t').map((fields) => rowOf(fields, hasVerdicts));
  const lines = output.split('\n');
  if (lines.pop() !== '') throw new Error('the last line does not end');
  return lines.map((line) => {
    if (format === 'ndjson') return readObject(line, hasVerdicts);
    const fields = line.split('\t');
    return rowOf(hasVerdicts ? [...fields.slice(1), ...fields.slice(0, 1)] : fields, hasVerdicts);
  });
}

function rowOf(fields: readonly string[], hasVerdicts: boolean): ConvertedRow {
  if (fields.length !== (hasVerdicts ? 2 : 1)) throw new Error(`${fields.length} fields`);
  return { url: fields[0] as string, verdict: fields[1] };
}

function readObject(line: string, hasVerdicts: boolean): ConvertedRow {
  const bytes = Buffer.from(line, 'latin1');
  if (!isUtf8(bytes)) throw new Error('a line that is not UTF-8');
  const object = JSON.parse(bytes.toString()) as Record<string, string>;
  const members = Object.keys(object).join(',');
  if (members !== (hasVerdicts ? 'url,verdict' : 'url')) throw new Error(`members ${members}`);
  return { url: charactersOf(object.url ?? ''), verdict: object.verdict };
}

/** What the kernel writes for Parquet. */
function readValues(output: string, hasVerdicts: boolean): ConvertedRow[] {
  const bytes = Buffer.from(output, 'latin1');
  const rows: ConvertedRow[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    const url = bytes.toString('latin1', at + 4, end);
    const verdict = hasVerdicts ? VERDICTS[bytes.readUInt8(end) >> REASON_BITS] : undefined;
    rows.push({ url, verdict });
    at = end + (hasVerdicts ? 1 : 0);
  }
  return rows;
}
