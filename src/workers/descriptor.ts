import { readSync, writeSync } from 'node:fs';
import type { Ring } from './ring.js';

/** What the system says of a read or write that failed. */
export class DescriptorError extends Error {
  readonly side: 'input' | 'output';
  /** As the system names it: `ENOSPC`. */
  readonly code: string;

  constructor(side: 'input' | 'output', cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'DescriptorError';
    this.side = side;
    this.code = errorCode(cause) ?? '';
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
 * Reads what there is, and blocks while there is nothing; 0 at the end of the input, or when the run is stopped.
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
      if (code !== 'EAGAIN' && code !== 'EINTR') throw new DescriptorError('input', error);
      ring.pause(RETRY);
    }
  }
  return 0;
}

/**
 * Writes all octets. A run that is stopped meanwhile does not call this off: what comes out is whole records.
 *
 * @throws DescriptorError
 */
export function writeAll(descriptor: number, octets: Uint8Array): void {
  let written = 0;
  while (written < octets.length) {
    try {
      written += writeSync(descriptor, octets, written, octets.length - written);
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'EAGAIN' && code !== 'EINTR') throw new DescriptorError('output', error);
      Atomics.wait(NEVER, 0, 0, RETRY);
    }
  }
}
