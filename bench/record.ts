import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CorpusSummary } from './corpus/corpus.js';
import type { Machine } from './machine.js';
import type { ResultRecord } from './report.js';

const DIRECTORY = join(import.meta.dirname, 'record');

/** What every record says, whatever was measured. */
export interface RecordHead {
  readonly machine: Machine;
}

/** What a record of bench:throughput says, as far as it is read again. */
export interface ThroughputRecord extends RecordHead {
  readonly date: string;
  readonly corpus: CorpusSummary;
  readonly results: readonly ResultRecord[];
}

/**
 * Keeps what a run came to, under its date and name; an earlier one of the same day is replaced.
 *
 * @returns the file
 */
export function writeRecord<Record extends RecordHead>(name: string, record: Record): string {
  mkdirSync(DIRECTORY, { recursive: true });
  const date = new Date().toISOString();
  const file = join(DIRECTORY, `${date.slice(0, 10)}-${name}.json`);
  writeFileSync(file, `${JSON.stringify({ date, ...record }, null, 2)}\n`);
  return file;
}
