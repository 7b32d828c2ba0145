import { readSync, writeSync } from 'node:fs';
import type { Ring } from './ring.js';

/** What the system says of a read or write that failed. */
export class DescriptorError extends Error {
  readonly side: 'input' | 'output';
  /** As the system names it: `ENOSPC`. */
  readonly code: string;
  /** Where in the input reading failed, in octets. */
  readonly position: number;

  constructor(side: 'input' | 'output', cause: unknown, position = 0) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'DescriptorError';
    this.side = side;
    this.code = errorCode(cause) ?? '';
    this.position = position;
  }
}

/** The system's name for an error. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Milliseconds between two tries of a descriptor that somebody has made non-blocking. */
const RETRY = 1;
/** A word that nobody changes, to sleep on. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Reads what there is, and blocks while there is nothing; 0 at the end of the input, or when the
 * run is stopped.
 *
 * @param position where in a file, `null` for a pipe
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
      ring.pause(RETRY);
    }
  }
  return 0;
}

/**
 * Writes all octets of a slot's output, and notes how many are out. A run that is stopped meanwhile
 * does not call this off: what comes out is whole records.
 *
 * @throws DescriptorError
 */
export function writeAll(ring: Ring, slot: number, descriptor: number): void {
  const octets = ring.output(slot);
  let from = 0;
  while (from < octets.length) {
    ring.writer.beginWrite(slot);
    const written = writeSome(descriptor, octets, from);
    ring.writer.endWrite(slot, written);
    from += written;
    if (written === 0) Atomics.wait(NEVER, 0, 0, RETRY);
  }
}

/** Writes as much as the descriptor takes at once; 0 if that is nothing for now. */
function writeSome(descriptor: number, octets: Uint8Array, from: number): number {
  try {
    return writeSync(descriptor, octets, from, octets.length - from);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EAGAIN' || code === 'EINTR') return 0;
    throw new DescriptorError('output', error);
  }
}
