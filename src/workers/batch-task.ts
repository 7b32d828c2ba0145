/** Judges a batch in a worker's blocks of memory, and checks the guards after each call. */

import { type Kernel, scratchBytes } from '../kernel/kernel.js';
import {
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_AGENT,
  RUN_RULES_FULL,
  TASK_OVERLONG,
} from '../kernel/layout.js';
import { RuleCounters } from '../kernel/rule-counts.js';
import { KernelTask } from '../kernel/task.js';
import type { BatchSink } from './batch-ends.js';
import type { AgentRegister } from './record-agents.js';
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
  /** The register of the agents that records name; undefined if they name none. */
  readonly register?: AgentRegister | undefined;
}

/** Runs the kernel over batches of the ring, or of a bank, with a worker's blocks there. */
export class BatchTask extends KernelTask {
  readonly #place: TaskPlace;
  readonly #guards: Guards;
  #slot = 0;
  #isJumbo = false;

  constructor(place: TaskPlace) {
    const { kernel, memory, regions, worker } = place;
    super(kernel, memory, taskAddress(regions, worker));
    this.#place = place;
    this.#guards = new Guards(memory, regions);
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
    const jumbo = this.#isJumbo ? regions.jumbo : undefined;
    const output = jumbo?.output ?? regions.outputs + slot * regions.outputStride;
    const scratch = jumbo?.scratch ?? scratchAddress(regions, worker);
    const inputLimit = jumbo === undefined ? regions.batchBytes : regions.holdBytes;
    const addresses = {
      query,
      worker: blockAddress(regions, worker),
      scratch,
      scratchEnd: scratch + scratchBytes(inputLimit),
      input: address,
      inputEnd: address + bytes,
      output,
      outputEnd: output + (jumbo?.outputBytes ?? regions.outputBytes),
      places,
    };
    this.start(addresses, (flags & FLAG_OVERLONG) === 0 ? 0 : TASK_OVERLONG);
  }

  /** @throws GuardError if the kernel wrote beyond a region, so that any record may be wrong */
  override run(): number {
    let result = super.run();
    while (result === RUN_NEEDS_AGENT) {
      this.#place.register?.add();
      result = super.run(true);
    }
    this.#guards.check(this.#place.worker, this.#slot, this.#isJumbo);
    return result;
  }

  /** Makes room for counters of rules. */
  pruneRules(): void {
    const { kernel, memory, regions, query, worker } = this.#place;
    new RuleCounters(memory, query, blockAddress(regions, worker)).prune(kernel);
  }
}

/** How a batch ended. A record is the bad record at which a strict run stops. */
export type BatchEnd = 'done' | 'stopped' | ListedRecord;

/**
 * Judges a batch on the calling thread, and hands over its output. Returns `stopped` if the run was
 * stopped. Returns the record if the run is strict and a record is bad.
 *
 * @throws GuardError if the kernel wrote beyond a region, so that any record may be wrong
 */
export type BatchJudge = (batch: Batch, sink: BatchSink) => Promise<BatchEnd>;

/** Judges batches where they are, by a table in the same memory. */
export function wholeBatchJudge({ slots, writer }: Ring, task: BatchTask): BatchJudge {
  return async (batch, sink) => {
    const { slot } = batch;
    task.begin(batch);
    for (;;) {
      const result = task.run();
      slots.setOutput(slot, task.words, task.output, task.outputBytes);
      if (result === RUN_DONE) return (await sink.finish(slot)) ? 'done' : 'stopped';
      if (result === RUN_BAD_RECORD) return (await sink.refuse(slot)) ?? 'stopped';
      if (result === RUN_RULES_FULL) task.pruneRules();
      if (!(await sink.yield(slot))) return 'stopped';
      task.emptyOutput();
      task.setLineBase(writer.linesBefore);
    }
  };
}
