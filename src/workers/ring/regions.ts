/** Where everything lies in the memory of a run, and the guard bytes after each region. */

import { scratchBytes } from '../../kernel/kernel.js';
import {
  BAD_INPUT_LIMIT,
  DIVISION_SHARES,
  MARGIN,
  SHARE_BYTES,
  TASK_BYTES,
} from '../../kernel/layout.js';

/**
 * Where everything lies in the shared memory of a run, after the table and the query:
 *
 *     control, slot headers | worker 0: task, block | its scratch | worker 1 … |
 *     inputs | outputs | jumbo
 *
 * All numbers are addresses or lengths in bytes. After every input, MARGIN bytes may be read, and
 * after every output written. Each `|` stands for a guard of GUARD_BYTES (Guards). Memory that
 * is never used costs addresses only, so all of it is reserved before the first thread starts and
 * never grows.
 */
export interface Regions {
  /** Address of the control block; the slot headers follow it (workers/ring/words.ts). */
  readonly control: number;
  /** Number of slots in memory; a run may use fewer. */
  readonly slots: number;
  readonly threads: number;

  /** Address of the first worker's region, and the distance to the next. */
  readonly workers: number;
  readonly workerStride: number;
  /** Length of a worker block (kernel/layout.ts, WORKER_…). */
  readonly blockBytes: number;

  /** Capacity of a slot's input in bytes. Lines are gathered up to this length. */
  readonly batchBytes: number;
  readonly inputs: number;
  readonly inputStride: number;
  /** Capacity of a slot's output, in bytes. */
  readonly outputBytes: number;
  readonly outputs: number;
  readonly outputStride: number;

  /**
   * A line without a newline in its first `holdBytes` bytes is too long, even if a carriage return
   * ends it. This many bytes are enough to show the beginning of the line in a record.
   */
  readonly holdBytes: number;
  /** The one region for a line longer than a batch; undefined if no line may be that long. */
  readonly jumbo: Jumbo | undefined;

  /** End of the regions. */
  readonly end: number;
}

interface Jumbo {
  /** Address of the input region, of `holdBytes` bytes. */
  readonly input: number;
  readonly output: number;
  readonly outputBytes: number;
  readonly scratch: number;
}

/** The requirements of a run. */
export interface RegionSizes {
  /** The first free address. */
  readonly base: number;
  readonly threads: number;
  readonly slots: number;
  /** Length of the longest batch, in bytes. A longer line may need the jumbo region. */
  readonly batchBytes: number;
  /** Length of the longest line that is judged, in bytes, without its newline. */
  readonly maxLineBytes: number;
  /** Bytes of output that a line may need for each of its own, and beyond that. */
  readonly lineFactor: number;
  readonly lineOverhead: number;
  /** Length of a worker block. */
  readonly workerBytes: number;
}

export const CONTROL_BYTES = 256;
export const SLOT_HEADER_BYTES = 192;
/** Length of a guard; it ends where the next region begins. */
const GUARD_BYTES = 64;

/**
 * Capacity of output that always holds one line of this length: see RUN_OUTPUT_FULL in
 * kernel/layout.ts.
 */
const outputFor = (inputBytes: number, { lineFactor, lineOverhead }: RegionSizes): number =>
  lineFactor * inputBytes + lineOverhead + 2 * MARGIN;

/** Lays out the regions. The caller owns the memory. */
export function layOut(demand: RegionSizes): Regions {
  const { threads, slots, batchBytes } = demand;
  let end = demand.base;
  const take = (bytes: number): number => {
    const start = Math.ceil(end / 64) * 64;
    end = start + bytes;
    return start;
  };
  const stride = (bytes: number): number => Math.ceil(bytes / 64) * 64;
  const guarded = (bytes: number): number => stride(bytes) + GUARD_BYTES;

  const control = take(guarded(CONTROL_BYTES + slots * SLOT_HEADER_BYTES));
  const workerStride = guarded(TASK_BYTES + demand.workerBytes) + guarded(scratchBytes(batchBytes));
  const workers = take(threads * workerStride);
  const inputStride = guarded(batchBytes + MARGIN);
  const inputs = take(slots * inputStride);
  // A batch more than its longest line needs, since a short line's verdict may be as long as the
  // line.
  const outputBytes = batchBytes + outputFor(batchBytes, demand);
  const outputStride = guarded(outputBytes + MARGIN);
  const outputs = take(slots * outputStride);

  const holdBytes = Math.max(demand.maxLineBytes + 2, BAD_INPUT_LIMIT + MARGIN);
  let jumbo: Jumbo | undefined;
  if (holdBytes > batchBytes) {
    const jumboOutput = outputFor(holdBytes, demand);
    jumbo = {
      input: take(guarded(holdBytes + MARGIN)),
      output: take(guarded(jumboOutput + MARGIN)),
      outputBytes: jumboOutput,
      scratch: take(guarded(scratchBytes(holdBytes))),
    };
  }
  return {
    control,
    slots,
    threads,
    workers,
    workerStride,
    blockBytes: demand.workerBytes,
    batchBytes,
    inputs,
    inputStride,
    outputBytes,
    outputs,
    outputStride,
    holdBytes,
    jumbo,
    end: Math.ceil(end / 64) * 64,
  };
}

/** Address of a worker's task (TASK_…). */
export function taskAddress(regions: Regions, worker: number): number {
  return regions.workers + worker * regions.workerStride;
}

/** Address of a worker's block (WORKER_…). */
export function blockAddress(regions: Regions, worker: number): number {
  return taskAddress(regions, worker) + TASK_BYTES;
}

/** Address of a worker's scratch memory. */
export function scratchAddress(regions: Regions, worker: number): number {
  const used = TASK_BYTES + regions.blockBytes;
  return taskAddress(regions, worker) + Math.ceil(used / 64) * 64 + GUARD_BYTES;
}

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
interface DivisionSizes {
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

/** The value of a guard's words. An overrun that writes the same value does no harm. */
const WORD = 0x6a09e667;

/** A write beyond a region: the contents of the following regions are no longer certain. */
export class GuardError extends Error {}

/**
 * The guards after the regions of a run. A write beyond a region could change another thread's
 * records unnoticed; a changed guard shows it, and the run ends.
 */
export class Guards {
  readonly #words: Uint32Array;
  readonly #regions: Regions;

  constructor(memory: SharedArrayBuffer, regions: Regions) {
    this.#words = new Uint32Array(memory);
    this.#regions = regions;
  }

  /** Writes all guards, before any thread starts to work. */
  set(): void {
    const { slots, threads } = this.#regions;
    this.#write(this.#regions.workers);
    for (let worker = 0; worker < threads; worker++) {
      for (const { end } of this.#ofWorker(worker)) this.#write(end);
    }
    for (let slot = 0; slot < slots; slot++) {
      for (const { end } of this.#ofSlot(slot)) this.#write(end);
    }
    for (const { end } of this.#ofJumbo()) this.#write(end);
  }

  /**
   * Checks the guards after the regions that a worker writes to for a slot's batch.
   *
   * @throws GuardError if one has changed
   */
  check(worker: number, slot: number, jumbo: boolean): void {
    const regions = [...this.#ofWorker(worker), ...(jumbo ? this.#ofJumbo() : this.#ofSlot(slot))];
    for (const { name, end } of regions) {
      if (!this.#stands(end)) throw new GuardError(`the ${name} was written beyond its end`);
    }
  }

  /** The regions of a worker: their names, and where the next region begins. */
  #ofWorker(worker: number): readonly { name: string; end: number }[] {
    return [
      { name: 'worker block', end: scratchAddress(this.#regions, worker) },
      { name: 'scratch memory', end: taskAddress(this.#regions, worker + 1) },
    ];
  }

  #ofSlot(slot: number): readonly { name: string; end: number }[] {
    const { inputs, inputStride, outputs, outputStride } = this.#regions;
    return [
      { name: 'input of a batch', end: inputs + (slot + 1) * inputStride },
      { name: 'output of a batch', end: outputs + (slot + 1) * outputStride },
    ];
  }

  #ofJumbo(): readonly { name: string; end: number }[] {
    const { jumbo, end } = this.#regions;
    if (jumbo === undefined) return [];
    return [
      { name: 'input of a long line', end: jumbo.output },
      { name: 'output of a long line', end: jumbo.scratch },
      { name: 'scratch memory of a long line', end },
    ];
  }

  #write(end: number): void {
    this.#words.fill(WORD, (end - GUARD_BYTES) / 4, end / 4);
  }

  #stands(end: number): boolean {
    for (let word = (end - GUARD_BYTES) / 4; word < end / 4; word++) {
      if (this.#words[word] !== WORD) return false;
    }
    return true;
  }
}
