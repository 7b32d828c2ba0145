import { RobotsFilterError } from '../errors.js';
import { errorText } from '../files/system-error.js';
import type { ListedRecord } from '../workers/ring/bad-record-list.js';
import type { Ring } from '../workers/ring/ring.js';
import { describeBadRecord, type RecordUnit, reasonWord } from './bad-record.js';

const NEWLINE = 10;
const REPORT = 'This is an error in robots-filter: please report it';

/** The error for an input that could not be read at this byte. */
export function inputError(input: string, cause: unknown, position: number): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  return new RobotsFilterError(
    'input',
    `${input}: reading failed at byte ${position} (${errorText(cause)}). ` +
      'Try again, or copy it to a file first',
    { cause },
  );
}

/** The error at the first bad record of a strict run. */
export function strictError(
  input: string,
  { line, reason }: ListedRecord,
  unit: RecordUnit,
): RobotsFilterError {
  const record = describeBadRecord({ input, line, reason: reasonWord(reason) }, unit);
  return new RobotsFilterError('input', `${record}. Correct it, or run without --strict`);
}

/** The error for a write beyond the end of a region. */
export function overrunError(input: string, message: string): RobotsFilterError {
  return new RobotsFilterError(
    'worker',
    `${input}: ${message}; the output may hold wrong records. ${REPORT}`,
  );
}

/**
 * The error for a thread that died between batches, after all batches that were taken are written.
 */
export function idleDeathError(ring: Ring, input: string, reason: unknown): RobotsFilterError {
  return deathError(
    `${input}: a thread died (${errorText(reason)}). ` +
      `The records before line ${ring.writer.linesBefore + 1} are written, and none after. ${REPORT}`,
    reason,
  );
}

/** The error for a thread that died over the batch of the slot whose turn it is. */
export function batchDeathError(ring: Ring, input: string, reason: unknown): RobotsFilterError {
  const slot = ring.writer.turn;
  const { address, bytes } = ring.slots.batch(slot);
  const first = ring.writer.linesBefore + 1;
  const last = first + countLines(ring.memory.subarray(address, address + bytes)) - 1;
  const written = ring.writer.hasBegun(slot)
    ? 'The records before these lines are written, and a part of the lines may be'
    : 'The records before these lines are written, and none after';
  return deathError(
    `${input}: a thread died on lines ${first} to ${last} (${bytes} bytes from byte ` +
      `${ring.slots.start(slot)}): ${errorText(reason)}. ${written}. ${REPORT} with these lines`,
    reason,
  );
}

function deathError(message: string, cause: unknown): RobotsFilterError {
  return new RobotsFilterError('worker', message, { cause });
}

function countLines(batch: Uint8Array): number {
  let lines = batch.at(-1) === NEWLINE ? 0 : 1;
  for (let at = batch.indexOf(NEWLINE); at >= 0; at = batch.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
