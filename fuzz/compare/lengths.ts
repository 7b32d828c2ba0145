import type { Random } from '../../test/random/random.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Lengths at which a new part begins: the shown part of a bad record, a pipe's buffer, and the
 * batches of one thread, of a file and of a pipe (src/pipeline/run.ts).
 */
export const LIMITS: readonly number[] = [KIB, 64 * KIB, 128 * KIB, MIB, 2 * MIB];
/** Three batches of a pipe. */
export const LONGEST = 6 * MIB;

/**
 * The length of a long record, without its line end.
 *
 * @param limits limits of the round in addition to LIMITS: the likely batch and the longest line
 */
export function drawLength(random: Random, limits: readonly number[]): number {
  // A batch holds a record with its newline, so one byte less than a limit may matter as well.
  const beside = (limit: number): number => limit + random.between(-2, 1);
  // Memory of a multiple of a limit is too small for bytes that grow by a greater factor.
  const below = (limit: number): number => Math.ceil(limit * (0.6 + 0.4 * random.number()));
  const ways: (() => number)[] = [
    () => beside(random.pick(LIMITS)),
    () => beside(random.pick([3 * MIB, LONGEST])),
    () => beside(random.pick(limits)),
    () => below(random.pick(LIMITS)),
    () => below(random.pick(limits)),
    () => below(random.pick(limits)),
    () => Math.floor(KIB * (LONGEST / KIB) ** random.number()),
  ];
  return Math.min(LONGEST, Math.max(64, random.pick(ways)()));
}

/** The limit that a length equals or misses by one byte; undefined if there is none. */
export function limitAt(length: number, maxLineBytes: number): number | undefined {
  return [...LIMITS, 3 * MIB, LONGEST, maxLineBytes].find((limit) => Math.abs(length - limit) <= 2);
}
