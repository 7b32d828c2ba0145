import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.js';

const DIRECTORY = join(import.meta.dirname, 'record');

/** What every record says, whatever was measured. */
export interface RecordHead {
  readonly machine: Machine;
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
