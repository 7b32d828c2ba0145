/** Conversions, read and written plainly. Texts have one character for each byte. */

import { isUtf8 } from 'node:buffer';

/** What a record can become, without the formats' own records. */
export const CONVERSIONS = ['text', 'ndjson', 'csv', 'tsv', 'parquet'] as const;

export type ConvertedFormat = (typeof CONVERSIONS)[number];

/** Bytes of a record without a URL that stand in the URL's place. */
export const SHOWN = 1024;

/** A record of an output, as a reader of the format sees it. */
export interface ConvertedRow {
  readonly url: string;
  /** `undefined` where only URLs come out. */
  readonly verdict: string | undefined;
}

const VERDICTS = ['allow', 'deny', 'unknown', 'invalid'];
const REPLACEMENT = '\xef\xbf\xbd';

/** Bytes as UTF-8, with U+FFFD for each byte that is not. */
export function repaired(text: string): string {
  if (isUtf8(Buffer.from(text, 'latin1'))) return text;
  let output = '';
  for (let at = 0; at < text.length; ) {
    const length = [1, 2, 3, 4].find((bytes) =>
      isUtf8(Buffer.from(text.slice(at, at + bytes), 'latin1')),
    );
    const isWhole = length !== undefined && at + length <= text.length;
    output += isWhole ? text.slice(at, at + length) : REPLACEMENT;
    at += isWhole ? length : 1;
  }
  return output;
}

/** A URL as a line of text: what the URL Standard drops is dropped, other controls are encoded. */
function asLine(url: string): string {
  let start = 0;
  let end = url.length;
  while (start < end && (url[start] as string) <= ' ') start++;
  while (start < end && (url[end - 1] as string) <= ' ') end--;
  return Array.from(url.slice(start, end), (byte) => {
    if (byte === '\t' || byte === '\n' || byte === '\r') return '';
    if (byte >= ' ' && byte !== '\x7f') return byte;
    return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** The URL that a reader of the output sees, for a URL of the input. */
export function convertedUrl(url: string, format: ConvertedFormat): string {
  if (format === 'text') return asLine(url);
  return format === 'csv' || format === 'tsv' ? url : repaired(url);
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
  return { url: Buffer.from(object.url ?? '').toString('latin1'), verdict: object.verdict };
}

/** The fields of rows (RFC 4180), each row ended by LF. */
export function readRows(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let fields: string[] = [];
  for (let at = 0; at < text.length; ) {
    let field = '';
    if (text[at] === '"') {
      at++;
      while (text[at] !== '"' || text[at + 1] === '"') {
        if (at >= text.length) throw new Error('an open quote');
        field += text[at];
        at += text[at] === '"' ? 2 : 1;
      }
      at++;
    } else {
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n') {
        if (text[at] === '"' || text[at] === '\r') throw new Error('a field without quotes');
        field += text[at++];
      }
    }
    fields.push(field);
    if (text[at] === '\n') {
      rows.push(fields);
      fields = [];
    } else if (text[at] !== delimiter) {
      throw new Error('a row without its end');
    } else if (at + 1 === text.length) {
      throw new Error('an open row');
    }
    at++;
  }
  return rows;
}

/** What the kernel writes for Parquet. */
function readValues(output: string, hasVerdicts: boolean): ConvertedRow[] {
  const bytes = Buffer.from(output, 'latin1');
  const rows: ConvertedRow[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    const url = bytes.toString('latin1', at + 4, end);
    const verdict = hasVerdicts ? VERDICTS[bytes.readUInt8(end) >> 4] : undefined;
    rows.push({ url, verdict });
    at = end + (hasVerdicts ? 1 : 0);
  }
  return rows;
}
