import { type BigIntStats, fstat, stat } from 'node:fs';
import { promisify } from 'node:util';

// From node:fs, because node:fs/promises takes longer to load.
const descriptorStatus = promisify(fstat);
const pathStatus = promisify(stat);

/** A bigint, because the number of a file may have 64 bits on Windows. */
const EXACT = { bigint: true } as const;

/** The status of a path, or of a descriptor, by which `isSameFile` knows it. */
export async function exactStatus(place: string | number): Promise<BigIntStats> {
  return typeof place === 'number' ? descriptorStatus(place, EXACT) : pathStatus(place, EXACT);
}

/** Whether two names or descriptors are one regular file. */
export function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.isFile() && a.ino === b.ino && a.dev === b.dev;
}
