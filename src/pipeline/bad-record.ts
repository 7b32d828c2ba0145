import { REASONS, type Reason } from '../protocol/verdict.js';
import type { InputFormat } from './input/format.js';

/** A record that could not be judged. */
export interface BadRecord {
  /** The input as messages name it. */
  readonly input: string;
  /**
   * Number of its line in this input, from 1, empty lines included; in JSON, number of the record.
   */
  readonly line: number;
  readonly reason: Reason;
}

/**
 * What bad records are numbered by: in JSON a record may stand on many lines, and a line hold many
 * records.
 */
export type RecordUnit = 'line' | 'record';

/** What bad records of inputs of a format are numbered by. */
export function recordUnit(format: InputFormat): RecordUnit {
  return format === 'json' ? 'record' : 'line';
}

const DESCRIPTIONS: Partial<Record<Reason, string>> = {
  'invalid-url': 'no http, https or ftp URL',
  'no-url': 'no URL at the URL field (--url-field)',
  'no-object': 'no JSON object',
  'no-json': 'not well-formed JSON. If several objects share a line, say --input json',
  'line-too-long': 'longer than --max-line-bytes',
  'tab-in-line':
    'a tab within the line, so more than one URL. If the URL is the first column: cut -f1 FILE | robots-filter …',
  'nested-too-deep': 'brackets and braces nest more than 1,000 deep',
  'return-in-line':
    "a carriage return within the line, so more than one URL: tr '\\r' '\\n' < FILE | robots-filter …",
};

/** What is wrong with a bad record, as a phrase to put behind its place. */
export function describeBadRecord(record: BadRecord, unit: RecordUnit): string {
  return `${record.input}, ${unit} ${record.line}: ${DESCRIPTIONS[record.reason] ?? record.reason}`;
}

/** The word for a reason of the kernel. */
export function reasonWord(reason: number): Reason {
  const word = REASONS[reason];
  if (word === undefined) throw new Error(`reason ${reason} of the kernel`);
  return word;
}
