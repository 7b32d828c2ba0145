import { BAD_INPUT_LIMIT, MARGIN, TASK_BYTES } from '../../kernel/layout.js';
import { scratchBytes } from '../../kernel/scratch.js';

/**
 * Where everything lies in the shared memory of a run, after the table and the query:
 *
 *     control, slot headers | worker 0: task, block | its scratch | worker 1 … |
 *     inputs | outputs | jumbo
 *
 * All numbers are addresses or lengths in bytes. After every input, MARGIN bytes may be read, and
 * after every output written. Each `|` stands for a guard of GUARD_BYTES (guards.ts). Memory that
 * is never used costs addresses only, so all of it is reserved before the first thread starts and
 * never grows.
 */
export interface Regions {
  /** Address of the control block; the slot headers follow it (ring-words.ts). */
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

export interface Jumbo {
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
export const GUARD_BYTES = 64;

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
