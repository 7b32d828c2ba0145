/** Bad records: their reasons in words, and the unit that numbers them; and the limits of a run. */

import type { RecordFormat } from '../kernel/query-settings.js';
import { REASONS, type Reason } from '../protocol/verdict.js';

/** A record that is invalid. */
export interface BadRecord {
  /** The input as messages name it. */
  readonly input: string;
  /**
   * Number in this input, from 1: of the line, counting blank lines; in JSON, of the record; in
   * Parquet, of the row.
   */
  readonly line: number;
  readonly reason: Reason;
}

/**
 * The unit that numbers bad records. JSON may have many records on a line, or many lines per
 * record, so records are counted. In Parquet, rows are counted. A row of CSV or TSV has the number
 * of its first line. In WARC, the records that are judged are counted, and damaged places.
 */
export type RecordUnit =
  | 'line'
  | 'record'
  | 'row'
  | 'first line'
  | 'WARC record'
  | 'line of CDX'
  | 'line of a log';

/** The unit by which the bad records of a format are numbered. */
export const RECORD_UNITS: Readonly<Record<RecordFormat, RecordUnit>> = {
  text: 'line',
  ndjson: 'line',
  json: 'record',
  csv: 'first line',
  tsv: 'first line',
  parquet: 'row',
  cdxj: 'line',
  cdx: 'line of CDX',
  warc: 'WARC record',
  log: 'line of a log',
};

const DESCRIPTIONS: Partial<Record<Reason, string>> = {
  'invalid-url': 'not an http, https or ftp URL',
  'no-url': 'no URL at the URL field (--url-field)',
  'no-object': 'not a JSON object',
  'no-json': 'not well-formed JSON. If several objects share a line, use --input json',
  'line-too-long': 'longer than --max-line-bytes',
  'tab-in-line':
    'a tab within the line, so more than one URL. If the URL is the first column: cut -f1 FILE | robots-filter …',
  'no-time': 'no time that can be read at the time field (--time-field)',
  'nested-too-deep': 'brackets and braces nest more than 1,000 deep',
  'return-in-line':
    "a carriage return within the line, so several lines in one: tr '\\r' '\\n' < FILE | robots-filter …",
};

/** Descriptions of faults in units other than lines and records. */
const IN_UNIT: Partial<Record<RecordUnit, Partial<Record<Reason, string>>>> = {
  row: { 'no-url': 'no URL in the column (--url-field)' },
  'WARC record': {
    'invalid-url': 'WARC-Target-URI is not an http, https or ftp URL',
    'no-object': 'damaged',
    'no-time': 'WARC-Date is missing or invalid',
  },
  'line of CDX': {
    'no-url':
      'more or fewer fields than the header or the first line has, or no URL in the column (--url-field)',
  },
  'line of a log': {
    'no-url': 'no request for a path or a URL, or not a whole line of the combined format',
    'invalid-url': 'no request for a path or a URL, or no host before a line without --host',
    'no-time': 'no time that can be read',
  },
  'first line': {
    'no-url':
      'no URL in the column (--url-field), more fields than the first row, or a quoted field without an end. Put quotes around a field that holds the delimiter. If the first row is a title, leave it out: tail -n +2 FILE | robots-filter …',
    'line-too-long':
      'longer than --max-line-bytes. Raise it, or close the quote if a field of this row has an open one',
  },
};

/** Describes a bad record: its place and its fault. */
export function describeBadRecord(record: BadRecord, unit: RecordUnit): string {
  const { input, line, reason } = record;
  const isCounted = unit === 'record' || unit === 'row';
  const place = unit === 'WARC record' ? 'record' : isCounted ? unit : 'line';
  const description = IN_UNIT[unit]?.[reason] ?? DESCRIPTIONS[reason] ?? reason;
  return `${input}, ${place} ${line}: ${description}`;
}

/** The word for a reason number of the kernel. */
export function reasonWord(reason: number): Reason {
  const word = REASONS[reason];
  if (word === undefined) throw new Error(`reason ${reason} of the kernel`);
  return word;
}

/** Maximum number of threads that judge in one run. */
export const MAX_THREADS = 256;

/** Default length of the longest line that is judged, in bytes. */
export const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Greatest allowed length of the longest line, in bytes. A longer line and its output would not fit
 * into 4 GiB of memory.
 */
export const GREATEST_MAX_LINE_BYTES = 512 * 1024 * 1024;

/** The ending of names of outputs that are written as Parquet. */
export const PARQUET_ENDING = '.parquet';
