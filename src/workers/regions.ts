import { BAD_INPUT_LIMIT, MARGIN, OUTCOMES, TASK_OCTETS } from '../kernel/layout.js';
import { scratchOctets } from '../kernel/scratch.js';

/**
 * Where a run keeps what in the shared memory, behind the table and the query:
 *
 *     control, slot headers | worker 0: task, block, kept counters | its scratch | worker 1 … |
 *     inputs | outputs | jumbo
 *
 * All are addresses or lengths in octets. Every input has MARGIN octets after it that may be read,
 * every output MARGIN octets that may be written. Each `|` stands for a guard of GUARD_OCTETS that
 * nobody writes to (guards.ts). What is never touched costs addresses, not memory,
 * so all of it is reserved before the first thread starts: the memory does not grow during a run.
 */
export interface Regions {
  /** Address of the control block; the slot headers follow it (ring-words.ts). */
  readonly control: number;
  /** Slots that there are; a run may use fewer. */
  readonly slots: number;
  readonly threads: number;

  /** Address of the first worker's region, and the distance to the next. */
  readonly workers: number;
  readonly workerStride: number;
  /** Octets of the worker block (layout.ts, WORKER_…). */
  readonly blockOctets: number;
  /** Octets of its counters from WORKER_TALLY on. */
  readonly tallyOctets: number;

  /** Octets of input that a slot holds: lines are gathered up to here. */
  readonly batchOctets: number;
  readonly inputs: number;
  readonly inputStride: number;
  /** Octets of output that a slot holds. */
  readonly outputOctets: number;
  readonly outputs: number;
  readonly outputStride: number;

  /**
   * A line without its newline in the first `holdOctets` octets is too long: it is more than the
   * limit, a carriage return at its end not counted, and enough of it is held to show it in a
   * record.
   */
  readonly holdOctets: number;
  /** The one region for a line that is longer than a batch; undefined where no line may be. */
  readonly jumbo: Jumbo | undefined;

  /** Where the regions end. */
  readonly end: number;
}

export interface Jumbo {
  /** `holdOctets` of input. */
  readonly input: number;
  readonly output: number;
  readonly outputOctets: number;
  readonly scratch: number;
}

/** What a run asks for. */
export interface Demand {
  /** First address that is free. */
  readonly base: number;
  readonly threads: number;
  readonly slots: number;
  /** The most octets of input that are gathered to a batch. */
  readonly batchOctets: number;
  /**
   * The fewest that any run of these regions gathers: what is longer than that may need a place of
   * its own.
   */
  readonly leastBatchOctets: number;
  /** Longest line that is judged, without its newline. */
  readonly maxLineOctets: number;
  /** Octets of output that a line may need beyond its own length. */
  readonly lineOverhead: number;
  /** Octets of a worker block. */
  readonly workerOctets: number;
  /** Agents, for each of which it has counters. */
  readonly agents: number;
}

export const CONTROL_OCTETS = 256;
export const SLOT_HEADER_OCTETS = 192;
/** Octets of a guard; it ends where the next region begins. */
export const GUARD_OCTETS = 64;
/** The counters at the start of a worker block: WORKER_RECORDS, WORKER_PASSED, WORKER_BAD. */
export const COUNTERS_OCTETS = 24;

/** Output that always holds one line of the input's length: see RUN_OUTPUT_FULL in layout.ts. */
const outputFor = (inputOctets: number, lineOverhead: number): number =>
  inputOctets + lineOverhead + 2 * MARGIN;

/** Lays the regions out; pure arithmetic, the memory is the caller's. */
export function layOut(demand: Demand): Regions {
  const { threads, slots, batchOctets, lineOverhead } = demand;
  let end = demand.base;
  const take = (octets: number): number => {
    const start = Math.ceil(end / 64) * 64;
    end = start + octets;
    return start;
  };
  const stride = (octets: number): number => Math.ceil(octets / 64) * 64;
  const guarded = (octets: number): number => stride(octets) + GUARD_OCTETS;

  const control = take(guarded(CONTROL_OCTETS + slots * SLOT_HEADER_OCTETS));
  const tallyOctets = demand.agents * OUTCOMES * 8;
  const workerStride =
    guarded(TASK_OCTETS + stride(demand.workerOctets) + stride(COUNTERS_OCTETS + tallyOctets)) +
    guarded(scratchOctets(batchOctets));
  const workers = take(threads * workerStride);
  const inputStride = guarded(batchOctets + MARGIN);
  const inputs = take(slots * inputStride);
  // Twice the input, since a short line's verdict may be as long as the line.
  const outputOctets = batchOctets + outputFor(batchOctets, lineOverhead);
  const outputStride = guarded(outputOctets + MARGIN);
  const outputs = take(slots * outputStride);

  const holdOctets = Math.max(demand.maxLineOctets + 2, BAD_INPUT_LIMIT + MARGIN);
  let jumbo: Jumbo | undefined;
  if (holdOctets > demand.leastBatchOctets) {
    const jumboOutput = outputFor(holdOctets, lineOverhead);
    jumbo = {
      input: take(guarded(holdOctets + MARGIN)),
      output: take(guarded(jumboOutput + MARGIN)),
      outputOctets: jumboOutput,
      scratch: take(guarded(scratchOctets(holdOctets))),
    };
  }
  return {
    control,
    slots,
    threads,
    workers,
    workerStride,
    blockOctets: demand.workerOctets,
    tallyOctets,
    batchOctets,
    inputs,
    inputStride,
    outputOctets,
    outputs,
    outputStride,
    holdOctets,
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
  return taskAddress(regions, worker) + TASK_OCTETS;
}

/** Address of a worker's scratch memory. */
export function scratchAddress(regions: Regions, worker: number): number {
  const { kept, octets } = counterRanges(regions, worker);
  return kept + Math.ceil((COUNTERS_OCTETS + octets) / 64) * 64 + GUARD_OCTETS;
}

/**
 * Where a worker's counters are: addresses of its block and of the copy (COUNTERS_OCTETS, then the
 * tally), and the octets of the tally.
 */
export function counterRanges(
  regions: Regions,
  worker: number,
): { block: number; kept: number; octets: number } {
  const block = blockAddress(regions, worker);
  const kept = block + Math.ceil(regions.blockOctets / 64) * 64;
  return { block, kept, octets: regions.tallyOctets };
}
