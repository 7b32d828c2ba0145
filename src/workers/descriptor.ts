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

/**
 * Reads the available bytes, and blocks while there are none. Returns the number of bytes read; 0
 * at the end of the input, or when the run is stopped.
 *
 * @param position the byte of a file to read from; `null` for a pipe
 * @throws DescriptorError
 */
export function readInto(
  ring: Ring,
  descriptor: number,
  room: Uint8Array,
  position: number | null,
): number {
  while (!ring.stopped) {
    try {
      return readSync(descriptor, room, 0, room.length, position);
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN' && code !== 'EINTR')
        throw new DescriptorError('input', error, ring.input.read);
      ring.waits.pause(RETRY);
    }
  }
  return 0;
}

/**
 * Writes all output of a slot. A stop of the run does not interrupt this, so that whole records
 * come out.
 *
 * @throws DescriptorError
 */
export function writeAll(ring: Ring, slot: number, descriptor: number): void {
  const bytes = ring.slots.output(slot);
  if (bytes.length > 0) ring.writer.beginWrite(slot);
  let from = 0;
  while (from < bytes.length) {
    const written = writeSome(descriptor, bytes, from);
    from += written;
    if (written === 0) Atomics.wait(NEVER, 0, 0, RETRY);
  }
}

/** Writes as much as the descriptor accepts at once; 0 if it accepts nothing for now. */
function writeSome(descriptor: number, bytes: Uint8Array, from: number): number {
  try {
    return writeSync(descriptor, bytes, from, bytes.length - from);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EAGAIN' || code === 'EINTR') return 0;
    throw new DescriptorError('output', error);
  }
}
