import {
  BAD_BYTES,
  BAD_LINE,
  BAD_REASON,
  MAX_BAD,
  MERGE_DONE,
  MERGE_FULL,
  RUN_DONE,
  TASK_BAD,
  TASK_BAD_COUNT,
  TASK_BYTES,
  TASK_LINES,
} from '../../kernel/layout.js';
import type { BatchEnd, BatchJudge } from '../batch-judge.js';
import type { BatchSink } from '../batch-sink.js';
import { Guards } from '../ring/guards.js';
import type { Ring } from '../ring/ring.js';
import { FLAG_JUMBO, FLAG_OVERLONG } from '../ring/ring-words.js';
import type { Batch } from '../ring/slots.js';
import type { BankJudge, BatchBadRecord } from './bank-judge.js';
import type { Division } from './division.js';

/**
 * Judges batches by a table that lies in several memories, the banks. Each batch is divided by the
 * banks of its hosts, the shares are judged, and their outputs are merged in the order of the
 * lines. A share is judged when the merger needs its next line.
 */
export class DividedBatchJudge implements BatchJudge {
  readonly #ring: Ring;
  readonly #worker: number;
  readonly #division: Division;
  readonly #banks: readonly BankJudge[];
  readonly #guards: Guards;
  /** What the header of a slot gets, as a task has it. */
  readonly #report = new Int32Array(TASK_BYTES / 4);
  /** Bad records of the batch that are not handed over yet. */
  #bad: BatchBadRecord[] = [];

  constructor(ring: Ring, worker: number, division: Division, banks: readonly BankJudge[]) {
    this.#ring = ring;
    this.#worker = worker;
    this.#division = division;
    this.#banks = banks;
    this.#guards = new Guards(ring.memory.buffer, ring.regions);
  }

  judge(batch: Batch, sink: BatchSink): Promise<BatchEnd> {
    this.#bad = [];
    // With a flag, the batch is one line or the beginning of one.
    return batch.flags === 0 ? this.#judgeLines(batch, sink) : this.#judgeLine(batch, sink);
  }

  async #judgeLines(batch: Batch, sink: BatchSink): Promise<BatchEnd> {
    const { slot } = batch;
    const { regions, writer } = this.#ring;
    const division = this.#division;
    const output = regions.outputs + slot * regions.outputStride;
    const emptyOutput = (): void => division.setOutput(output, output + regions.outputBytes);
    for (const [bank, share] of division.divide(batch).entries()) this.#banks[bank]?.begin(share);
    emptyOutput();
    let lineBase: number | undefined;
    for (;;) {
      const missing = division.merge();
      const bank = this.#banks[missing];
      if (missing === MERGE_DONE) {
        this.#checkFinished();
        this.#handOver(slot, output, this.#takeBad());
        return (await sink.finish(slot)) ? 'done' : 'stopped';
      }
      if (bank?.isRefused === true) {
        this.#handOver(slot, output, bank.badRecords);
        return (await sink.refuse(slot)) ?? 'stopped';
      }
      if (bank === undefined || (bank.needsLineBase && lineBase === undefined)) {
        if (missing === MERGE_FULL && division.outputEnd === output) {
          throw new Error('the output of a record does not fit into that of a batch');
        }
        this.#handOver(slot, output, this.#takeBad());
        if (!(await sink.yield(slot))) return 'stopped';
        emptyOutput();
        lineBase = writer.linesBefore;
        continue;
      }
      if (!bank.isUnfinished) throw new Error('a line of a batch has got no output');
      division.take(missing, bank.run(lineBase));
      if (!bank.isRefused) this.#bad.push(...bank.badRecords);
    }
  }

  async #judgeLine(batch: Batch, sink: BatchSink): Promise<BatchEnd> {
    const { slot, address, bytes, flags } = batch;
    const { regions, memory, slots, writer } = this.#ring;
    const isJumbo = (flags & FLAG_JUMBO) !== 0;
    const jumbo = isJumbo ? regions.jumbo : undefined;
    const output = jumbo?.output ?? regions.outputs + slot * regions.outputStride;
    // The beginning of a line that is too long has no URL.
    const isCut = (flags & FLAG_OVERLONG) !== 0;
    const bank = this.#banks[isCut ? 0 : this.#division.bankOfLine(batch)];
    if (bank === undefined) throw new Error('a line has no bank');
    bank.beginLine(memory.subarray(address, address + bytes), flags);
    let lineBase: number | undefined;
    for (;;) {
      const judged = bank.run(lineBase);
      memory.set(judged.bytes, output);
      this.#guards.check(this.#worker, slot, isJumbo);
      slots.setOutput(slot, bank.task.words, output, judged.bytes.length);
      if (bank.result === RUN_DONE) return (await sink.finish(slot)) ? 'done' : 'stopped';
      if (bank.isRefused) return (await sink.refuse(slot)) ?? 'stopped';
      if (!(await sink.yield(slot))) return 'stopped';
      lineBase = writer.linesBefore;
    }
  }

  /** Takes the bad records among the merged lines, in the order of the lines. */
  #takeBad(): BatchBadRecord[] {
    const { merged } = this.#division;
    const taken = this.#bad.filter(({ line }) => line < merged);
    this.#bad = this.#bad.filter(({ line }) => line >= merged);
    return taken.sort((a, b) => a.line - b.line);
  }

  /**
   * Describes the merged output in the header of the slot.
   *
   * @param bad a bank lists the first MAX_BAD of its run, so the first MAX_BAD of all are there
   */
  #handOver(slot: number, output: number, bad: readonly BatchBadRecord[]): void {
    this.#guards.check(this.#worker, slot, false);
    const { merged, outputEnd } = this.#division;
    this.#report[TASK_LINES / 4] = merged;
    this.#report[TASK_BAD_COUNT / 4] = bad.length;
    bad.slice(0, MAX_BAD).forEach(({ line, reason }, index) => {
      const entry = (TASK_BAD + index * BAD_BYTES) / 4;
      this.#report[entry + BAD_LINE / 4] = line;
      this.#report[entry + BAD_REASON / 4] = reason;
    });
    this.#ring.slots.setOutput(slot, this.#report, output, outputEnd - output);
  }

  /** Makes sure that no line was lost. */
  #checkFinished(): void {
    const { merged, lines } = this.#division;
    if (merged === lines && !this.#banks.some(({ isUnfinished }) => isUnfinished)) return;
    throw new Error(`${merged} of the ${lines} lines of a batch have got their output`);
  }
}
