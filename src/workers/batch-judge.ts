import type { Kernel } from '../kernel/kernel.js';
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
import { RuleCounters } from '../kernel/rule-counts.js';
import { scratchBytes } from '../kernel/scratch.js';
import { writeTask } from '../kernel/task.js';
import type { BatchSink } from './batch-sink.js';
import type { ListedRecord } from './ring/bad-record-list.js';
import { Guards } from './ring/guards.js';
import { blockAddress, scratchAddress, taskAddress } from './ring/regions.js';
import type { Ring } from './ring/ring.js';
import { FLAG_JUMBO, FLAG_OVERLONG } from './ring/ring-words.js';
import type { Batch } from './ring/slots.js';

/** The kernel's inputs for a batch. */
export type BatchKernel = Pick<Kernel, 'run'>;

/** Runs the kernel over batches, on the calling thread. */
export class BatchJudge {
  readonly #ring: Ring;
  readonly #kernel: BatchKernel;
  readonly #worker: number;
  readonly #query: number;
  readonly #task: Int32Array<SharedArrayBuffer>;
  readonly #lineBase: BigInt64Array<SharedArrayBuffer>;
  readonly #guards: Guards;

  constructor(ring: Ring, kernel: BatchKernel, worker: number, query: number) {
    const address = taskAddress(ring.regions, worker);
    this.#ring = ring;
    this.#kernel = kernel;
    this.#worker = worker;
    this.#query = query;
    this.#guards = new Guards(ring.memory.buffer, ring.regions);
    this.#task = new Int32Array(ring.memory.buffer, address, TASK_BYTES / 4);
    this.#lineBase = new BigInt64Array(ring.memory.buffer, address + TASK_LINE_BASE, 1);
  }

  /**
   * Judges a batch and hands over its output. Returns `stopped` if the run was stopped. Returns the
   * record if the run is strict and a record is bad.
   *
   * The loop ends, because each call of the kernel judges lines. The exceptions are the last call,
   * one call that asks for the line base, one call that needs its output emptied, and one call that
   * needs room for counters of rules. Any further call without progress is an error.
   *
   * @throws GuardError if the kernel wrote beyond a region, so that any record may be wrong
   */
  async judge(batch: Batch, sink: BatchSink): Promise<'done' | 'stopped' | ListedRecord> {
    const { slot } = batch;
    const address = taskAddress(this.#ring.regions, this.#worker);
    const output = this.#begin(batch);
    let idle = 0;
    for (;;) {
      const input = this.#task[TASK_INPUT / 4];
      const result = this.#kernel.run(address);
      this.#guards.check(this.#worker, slot, (batch.flags & FLAG_JUMBO) !== 0);
      const bytes = ((this.#task[TASK_OUTPUT / 4] ?? 0) - output) >>> 0;
      this.#ring.slots.setOutput(slot, this.#task, output, bytes);
      if (result === RUN_DONE) return (await sink.finish(slot)) ? 'done' : 'stopped';
      if (result === RUN_BAD_RECORD) return (await sink.refuse(slot)) ?? 'stopped';

      idle = input === this.#task[TASK_INPUT / 4] ? idle + 1 : 0;
      if (idle > 3) throw new Error(`the kernel makes no progress on a batch (result ${result})`);
      if (result === RUN_RULES_FULL) this.#pruneRules();
      if (!(await sink.yield(slot))) return 'stopped';
      this.#set(TASK_OUTPUT, output);
      this.#lineBase[0] = BigInt(this.#ring.writer.linesBefore);
      this.#set(TASK_FLAGS, (this.#task[TASK_FLAGS / 4] ?? 0) | TASK_LINE_BASE_KNOWN);
    }
  }

  /** Writes the task; returns the address of its output. */
  #begin({ slot, address, bytes, flags }: Batch): number {
    const { regions } = this.#ring;
    const jumbo = (flags & FLAG_JUMBO) === 0 ? undefined : regions.jumbo;
    const output = jumbo?.output ?? regions.outputs + slot * regions.outputStride;
    const scratch = jumbo?.scratch ?? scratchAddress(regions, this.#worker);
    const inputLimit = jumbo === undefined ? regions.batchBytes : regions.holdBytes;
    const addresses = {
      query: this.#query,
      worker: blockAddress(regions, this.#worker),
      scratch,
      scratchEnd: scratch + scratchBytes(inputLimit),
      input: address,
      inputEnd: address + bytes,
      output,
      outputEnd: output + (jumbo?.outputBytes ?? regions.outputBytes),
    };
    writeTask(this.#task, addresses, (flags & FLAG_OVERLONG) === 0 ? 0 : TASK_OVERLONG);
    return output;
  }

  #pruneRules(): void {
    const { memory, regions } = this.#ring;
    new RuleCounters(memory.buffer, this.#query, blockAddress(regions, this.#worker)).prune();
  }

  #set(field: number, value: number): void {
    this.#task[field / 4] = value;
  }
}
