import { DIVISION_SHARES, MARGIN, SHARE_BYTES } from '../../kernel/layout.js';

/** Bytes of a place of a line (kernel/layout.ts, TASK_PLACES), and of its bank in the list. */
export const PLACE_BYTES = 4;
export const BANK_BYTES = 2;

/** Where batches are divided, in the memory of the ring. All numbers are addresses or bytes. */
export interface DivisionRegions {
  /** The bank of each shard, 16 bits each. */
  readonly banks: number;
  /** The first worker's region, and the distance to the next. */
  readonly workers: number;
  readonly workerStride: number;
  /** The list of a worker's region, after its division block. */
  readonly list: number;
  /** The first share of a worker's region, and the distance to the next. */
  readonly shares: number;
  readonly shareStride: number;
  /** The parts of a share: its lines, their places, and their output. */
  readonly input: number;
  readonly places: number;
  readonly output: number;
}

/** The requirements of a division. */
export interface DivisionSizes {
  readonly threads: number;
  /** The bank of each shard. */
  readonly bankOfShard: readonly number[];
  readonly banks: number;
  /** Greatest number of bytes of a batch, and so of lines in it. */
  readonly batchBytes: number;
  /** Capacity of the output of a share. */
  readonly outputBytes: number;
}

/**
 * Lays out the regions of a division from an address on; `end` is the first address after them.
 *
 *     bank of each shard | worker 0: division block, list, shares | worker 1 …
 *     a share: lines, their places, their output
 */
export function layOutDivision(
  { threads, bankOfShard, banks, batchBytes, outputBytes }: DivisionSizes,
  base: number,
): { readonly regions: DivisionRegions; readonly end: number } {
  const aligned = (bytes: number): number => Math.ceil(bytes / 64) * 64;
  const input = 0;
  const places = input + aligned(batchBytes + MARGIN);
  const output = places + aligned(PLACE_BYTES * batchBytes);
  const shareStride = output + aligned(outputBytes + MARGIN);
  const list = aligned(DIVISION_SHARES + banks * SHARE_BYTES);
  const shares = list + aligned(BANK_BYTES * batchBytes);
  const workerStride = shares + banks * shareStride;
  const workers = aligned(base + BANK_BYTES * bankOfShard.length);
  return {
    regions: {
      banks: base,
      workers,
      workerStride,
      list,
      shares,
      shareStride,
      input,
      places,
      output,
    },
    end: workers + threads * workerStride,
  };
}
