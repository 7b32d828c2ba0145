import type { Kernel } from '../kernel/kernel.js';
import {
  RUN_BAD_RECORD,
  RUN_DONE,
  TASK_FLAGS,
  TASK_INPUT,
  TASK_LINE_BASE,
  TASK_LINE_BASE_KNOWN,
  TASK_OCTETS,
  TASK_OUTPUT,
  TASK_OVERLONG,
} from '../kernel/layout.js';
import { scratchOctets } from '../kernel/scratch.js';
import { writeTask } from '../kernel/task.js';
import type { ListedRecord } from './bad-record-list.js';
import type { Delivery } from './delivery.js';
import { Guards } from './guards.js';
import { blockAddress, scratchAddress, taskAddress } from './regions.js';
import type { Batch, Ring } from './ring.js';
import { FLAG_JUMBO, FLAG_OVERLONG } from './ring-words.js';

/** The kernel as a batch needs it. */
export type BatchKernel = Pick<Kernel, 'run'>;

/** Runs the kernel over batches, on the thread that calls. */
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
    this.#task = new Int32Array(ring.memory.buffer, address, TASK_OCTETS / 4);
    this.#lineBase = new BigInt64Array(ring.memory.buffer, address + TASK_LINE_BASE, 1);
  }

  /**
   * Judges a batch, from its beginning, and hands over what is not written yet of its output.
   * `stopped` if the run was; a record if it is strict and this one is bad.
   *
   * Ends: every call of the kernel that is not the last has used up lines, except for at most one
   * that asked for the line base and one that had the output emptied; more of these is an error of
   * the kernel.
   *
   * @throws GuardError if the kernel wrote beyond a region: no record of the run is certain any
   *   more
   */
  async judge(batch: Batch, delivery: Delivery): Promise<'done' | 'stopped' | ListedRecord> {
    const { slot } = batch;
    const address = taskAddress(this.#ring.regions, this.#worker);
    const output = this.#begin(batch);
    // Of a batch that was begun before, the output is the same once more.
    const written = this.#ring.writer.written(slot);
    let produced = 0;
    let idle = 0;
    this.#ring.counters.keep(slot, this.#worker);
    for (;;) {
      const input = this.#task[TASK_INPUT / 4];
      const result = this.#kernel.run(address);
      this.#guards.check(this.#worker, slot, (batch.flags & FLAG_JUMBO) !== 0);
      const octets = ((this.#task[TASK_OUTPUT / 4] ?? 0) - output) >>> 0;
      const out = Math.min(Math.max(written - produced, 0), octets);
      this.#ring.setOutput(slot, this.#task, output + out, octets - out, produced + out);
      produced += octets;
      if (result === RUN_DONE) return (await delivery.finish(slot)) ? 'done' : 'stopped';
      if (result === RUN_BAD_RECORD) return (await delivery.refuse(slot)) ?? 'stopped';

      idle = input === this.#task[TASK_INPUT / 4] ? idle + 1 : 0;
      if (idle > 2) throw new Error(`the kernel does not get on with a batch (result ${result})`);
      if (!(await delivery.yield(slot))) return 'stopped';
      this.#set(TASK_OUTPUT, output);
      this.#lineBase[0] = BigInt(this.#ring.lines);
      this.#set(TASK_FLAGS, (this.#task[TASK_FLAGS / 4] ?? 0) | TASK_LINE_BASE_KNOWN);
    }
  }

  /** Writes the task; returns the address of its output. */
  #begin({ slot, address, octets, flags }: Batch): number {
    const { regions } = this.#ring;
    const jumbo = (flags & FLAG_JUMBO) === 0 ? undefined : regions.jumbo;
    const output = jumbo?.output ?? regions.outputs + slot * regions.outputStride;
    const scratch = jumbo?.scratch ?? scratchAddress(regions, this.#worker);
    const inputLimit = jumbo === undefined ? regions.batchOctets : regions.holdOctets;
    const addresses = {
      query: this.#query,
      worker: blockAddress(regions, this.#worker),
      scratch,
      scratchEnd: scratch + scratchOctets(inputLimit),
      input: address,
      inputEnd: address + octets,
      output,
      outputEnd: output + (jumbo?.outputOctets ?? regions.outputOctets),
    };
    writeTask(this.#task, addresses, (flags & FLAG_OVERLONG) === 0 ? 0 : TASK_OVERLONG);
    return output;
  }

  #set(field: number, value: number): void {
    this.#task[field / 4] = value;
  }
}
