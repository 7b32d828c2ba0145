import { RUN_BAD_RECORD, RUN_DONE, RUN_RULES_FULL } from '../kernel/layout.js';
import type { BatchSink } from './batch-sink.js';
import type { BatchTask } from './batch-task.js';
import type { ListedRecord } from './ring/bad-record-list.js';
import type { Ring } from './ring/ring.js';
import type { Batch } from './ring/slots.js';

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
