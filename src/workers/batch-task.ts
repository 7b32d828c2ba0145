import type { Kernel } from '../kernel/kernel.js';
import {
  RUN_BAD_RECORD,
  RUN_DONE,
  TASK_BYTES,
  TASK_FLAGS,
  TASK_INPUT,
  TASK_LINE_BASE,
  TASK_LINE_BASE_KNOWN,
  TASK_OUTPUT,
  TASK_OVERLONG,
} from '../kernel/layout.js';
import { RuleCounters } from '../kernel/rule-counts.js';
import { scratchBytes } from '../kernel/scratch.js';
import { writeTask } from '../kernel/task.js';
import { Guards } from './ring/guards.js';
import { blockAddress, type Regions, scratchAddress, taskAddress } from './ring/regions.js';
import { FLAG_JUMBO, FLAG_OVERLONG } from './ring/ring-words.js';
import type { Batch } from './ring/slots.js';

/** The kernel's functions for batches. */
export type BatchKernel = Pick<Kernel, 'run' | 'divide' | 'merge' | 'locateRecord' | 'keepRules'>;

/** Where a task runs: a worker's blocks in one memory. */
export interface TaskPlace {
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
