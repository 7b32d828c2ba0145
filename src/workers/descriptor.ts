/** Reads and writes descriptors that block, or that another program has made non-blocking. */

import { readSync, writeSync } from 'node:fs';
import { errorCode } from '../files/system-error.js';
import type { TaskEnd } from './messages.js';
import type { Ring } from './ring/ring.js';

/** A read or write that the system refused. */
export class DescriptorError extends Error {
  readonly side: 'input' | 'output';
  /** The system's name for the error, such as `ENOSPC`. */
  readonly code: string;
  /** The byte of the input at which reading failed. */
  readonly position: number;

  constructor(side: 'input' | 'output', cause: unknown, position = 0) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'DescriptorError';
    this.side = side;
    this.code = errorCode(cause);
    this.position = position;
  }
}

/** The result of a task whose descriptor has failed. */
export function descriptorEnd({ side, code, message, position }: DescriptorError): TaskEnd {
  // A write to a socket whose reader has gone away fails with ECONNRESET.
  if (side === 'output' && (code === 'EPIPE' || code === 'ECONNRESET')) return { end: 'closed' };
  return { end: 'failed', side, code, message, position };
}

/** Milliseconds between two attempts on a descriptor that another program made non-blocking. */
const RETRY = 1;
/** A word that never changes, to sleep on. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/** Sleeps until a descriptor may be tried again. */
export function sleepBeforeRetry(): void {
  Atomics.wait(NEVER, 0, 0, RETRY);
}

/**
 * Reads the available bytes, and blocks while there are none. Returns the number of bytes read; 0
 * at the end of the input; undefined if another program made the descriptor non-blocking, and it
 * has nothing for now.
 *
 * @param position the byte of a file to read from; `null` for a pipe
 */
export function readSome(
  descriptor: number,
  room: Uint8Array,
  position: number | null,
): number | undefined {
  try {
    return readSync(descriptor, room, 0, room.length, position);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EOF') return 0;
    if (code === 'EAGAIN' || code === 'EINTR') return undefined;
    throw error;
  }
}

/** Writes all bytes, and blocks until they are written. */
export function writeBytes(descriptor: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(descriptor, bytes, at, bytes.length - at);
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'EAGAIN' && code !== 'EINTR') throw error;
      sleepBeforeRetry();
    }
  }
}

/**
 * As `readSome`, for a run: waits for bytes, and returns 0 when the run is stopped, too.
 *
 * @throws DescriptorError
 */
export function readInto(
  { waits, input }: Ring,
  descriptor: number,
  room: Uint8Array,
  position: number | null,
): number {
  while (!waits.stopped) {
    try {
      const bytes = readSome(descriptor, room, position);
      if (bytes !== undefined) return bytes;
    } catch (error) {
      throw new DescriptorError('input', error, input.read);
    }
    waits.pause(RETRY);
  }
  return 0;
}

/**
 * Writes all output of a slot. A stop of the run does not interrupt this, so that whole records
 * come out.
 *
 * @throws DescriptorError
 */
export function writeAll({ slots, writer }: Ring, slot: number, descriptor: number): void {
  const bytes = slots.output(slot);
  if (bytes.length > 0) writer.beginWrite(slot);
  try {
    writeBytes(descriptor, bytes);
  } catch (error) {
    throw new DescriptorError('output', error);
  }
}
