import { REASONS, type Reason } from '../protocol/verdict.js';

/** A record that could not be judged. */
export interface BadRecord {
  /** The input as messages name it. */
  readonly input: string;
  /** Number of its line in this input, from 1, empty lines included. */
  readonly line: number;
  readonly reason: Reason;
}

const DESCRIPTIONS: Partial<Record<Reason, string>> = {
  'invalid-url': 'no http, https or ftp URL',
  'no-url': 'no URL at the URL field (--url-field)',
  'no-object': 'no JSON object',
  'no-json': 'not well-formed JSON',
  'line-too-long': 'longer than --max-line-bytes',
};

/** What is wrong with a bad record, as a phrase to put behind its place. */
export function describeBadRecord(record: BadRecord): string {
  return `${record.input}, line ${record.line}: ${DESCRIPTIONS[record.reason] ?? record.reason}`;
}

/** The word for a reason of the kernel. */
export function reasonWord(reason: number): Reason {
  const word = REASONS[reason];
  if (word === undefined) throw new Error(`reason ${reason} of the kernel`);
  return word;
}
