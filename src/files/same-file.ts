import { type BigIntStats, fstatSync, statSync } from 'node:fs';

/** A bigint, because the number of a file may have 64 bits on Windows. */
const EXACT = { bigint: true } as const;

/** The status of a path, or of a descriptor, by which `isSameFile` knows it. */
export function exactStatus(place: string | number): BigIntStats {
  return typeof place === 'number' ? fstatSync(place, EXACT) : statSync(place, EXACT);
}

/** The same; undefined if there is none. */
export function findExactStatus(place: string | number): BigIntStats | undefined {
  try {
    return exactStatus(place);
  } catch {
    return undefined;
  }
}

/** Whether two names or descriptors are one regular file. */
export function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.isFile() && a.ino === b.ino && a.dev === b.dev;
}
