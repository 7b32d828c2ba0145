import { type Kernel, scratchBytes } from '../kernel/kernel.js';
import {
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_RULES_FULL,
  TASK_BYTES,
  TASK_FLAGS,
  TASK_INPUT,
  TASK_LINE_BASE,
  TASK_LINE_BASE_KNOWN,
  TASK_OUTPUT,
  TASK_OVERLONG,
} from '../kernel/layout.js';
import { writeTask } from '../kernel/query.js';
import { RuleCounters } from '../kernel/rule-counts.js';
import type { BatchSink } from './batch-ends.js';
import { blockAddress, Guards, type Regions, scratchAddress, taskAddress } from './ring/regions.js';
import type { ListedRecord, Ring } from './ring/ring.js';
import type { Batch } from './ring/slots.js';
import { FLAG_JUMBO, FLAG_OVERLONG } from './ring/words.js';

/** The kernel's functions for batches. */
export type BatchKernel = Pick<Kernel, 'run' | 'divide' | 'merge' | 'locateRecord' | 'keepRules'>;

/** Where a task runs: a worker's blocks in one memory. */
interface TaskPlace {
  readonly kernel: Pick<BatchKernel, 'run' | 'keepRules'>;
  readonly memory: SharedArrayBuffer;
  readonly regions: Regions;
  readonly worker: number;
  /** Address of the query. */
  readonly query: number;
}

/** Runs the kernel over batches in one memory, on the calling thread. */
export class BatchTask {
  /** The words of the task block. */
  readonly words: Int32Array<SharedArrayBuffer>;
  /** Address of the output of the batch. */
  output = 0;
  readonly #place: TaskPlace;
  readonly #address: number;
  readonly #lineBase: BigInt64Array<SharedArrayBuffer>;
  readonly #guards: Guards;
  #slot = 0;
  #isJumbo = false;
  #idle = 0;

  constructor(place: TaskPlace) {
    const { memory, regions, worker } = place;
    this.#place = place;
    this.#address = taskAddress(regions, worker);
    this.#guards = new Guards(memory, regions);
    this.words = new Int32Array(memory, this.#address, TASK_BYTES / 4);
    this.#lineBase = new BigInt64Array(memory, this.#address + TASK_LINE_BASE, 1);
  }

  /**
   * Begins a batch: writes the task.
   *
   * @param places address of the places of its lines; 0 if they are the whole batch
   */
  begin({ slot, address, bytes, flags }: Batch, places = 0): void {
    const { regions, query, worker } = this.#place;
    this.#slot = slot;
    this.#isJumbo = (flags & FLAG_JUMBO) !== 0;
    this.#idle = 0;
    const jumbo = this.#isJumbo ? regions.jumbo : undefined;
    this.output = jumbo?.output ?? regions.outputs + slot * regions.outputStride;
    const scratch = jumbo?.scratch ?? scratchAddress(regions, worker);
    const inputLimit = jumbo === undefined ? regions.batchBytes : regions.holdBytes;
    const addresses = {
      query,
      worker: blockAddress(regions, worker),
      scratch,
      scratchEnd: scratch + scratchBytes(inputLimit),
      input: address,
      inputEnd: address + bytes,
      output: this.output,
      outputEnd: this.output + (jumbo?.outputBytes ?? regions.outputBytes),
      places,
    };
    writeTask(this.words, addresses, (flags & FLAG_OVERLONG) === 0 ? 0 : TASK_OVERLONG);
  }

  /**
   * Judges lines until the batch ends or something is needed; returns RUN_… of kernel/layout.ts.
   *
   * A loop around it ends, because each call judges lines. The exceptions are the last call, one
   * call that asks for the line base, one call that needs its output emptied, and one call that
   * needs room for counters of rules. Any further call without progress is an error.
   *
   * @throws GuardError if the kernel wrote beyond a region, so that any record may be wrong
   */
  run(): number {
    const input = this.words[TASK_INPUT / 4];
    const result = this.#place.kernel.run(this.#address);
    this.#guards.check(this.#place.worker, this.#slot, this.#isJumbo);
    if (result !== RUN_DONE && result !== RUN_BAD_RECORD) {
      this.#idle = input === this.words[TASK_INPUT / 4] ? this.#idle + 1 : 0;
      if (this.#idle > 3) {
        throw new Error(`the kernel makes no progress on a batch (result ${result})`);
      }
    }
    return result;
  }

  /** Bytes of output since it was emptied. */
  get outputBytes(): number {
    return ((this.words[TASK_OUTPUT / 4] ?? 0) - this.output) >>> 0;
  }

  /** Lets the next output begin where the first began. */
  emptyOutput(): void {
    this.words[TASK_OUTPUT / 4] = this.output;
  }

  /** @param lines lines of the input before the batch */
  setLineBase(lines: number): void {
    this.#lineBase[0] = BigInt(lines);
    this.words[TASK_FLAGS / 4] = (this.words[TASK_FLAGS / 4] ?? 0) | TASK_LINE_BASE_KNOWN;
  }

  /** Makes room for counters of rules. */
  pruneRules(): void {
    const { kernel, memory, regions, query, worker } = this.#place;
    new RuleCounters(memory, query, blockAddress(regions, worker)).prune(kernel);
  }
}

/** How a batch ended. A record is the bad record at which a strict run stops. */
export type BatchEnd = 'done' | 'stopped' | ListedRecord;

/** Judges batches, on the calling thread. */
export interface BatchJudge {
  /**
   * Judges a batch and hands over its output. Returns `stopped` if the run was stopped. Returns the
   * record if the run is strict and a record is bad.
   *
   * @throws GuardError if the kernel wrote beyond a region, so that any record may be wrong
   */
  judge(batch: Batch, sink: BatchSink): Promise<BatchEnd>;
}

/** Judges batches where they are, by a table in the same memory. */
export class WholeBatchJudge implements BatchJudge {
  readonly #ring: Ring;
  readonly #task: BatchTask;

  constructor(ring: Ring, task: BatchTask) {
    this.#ring = ring;
    this.#task = task;
  }

  async judge(batch: Batch, sink: BatchSink): Promise<BatchEnd> {
    const { slot } = batch;
    const task = this.#task;
    task.begin(batch);
    for (;;) {
      const result = task.run();
      this.#ring.slots.setOutput(slot, task.words, task.output, task.outputBytes);
      if (result === RUN_DONE) return (await sink.finish(slot)) ? 'done' : 'stopped';
      if (result === RUN_BAD_RECORD) return (await sink.refuse(slot)) ?? 'stopped';
      if (result === RUN_RULES_FULL) task.pruneRules();
      if (!(await sink.yield(slot))) return 'stopped';
      task.emptyOutput();
      task.setLineBase(this.#ring.writer.linesBefore);
    }
  }
}
