/** Judges a batch whose hosts lie in several memories: divides its lines, judges each, merges. */

import {
  BAD_BYTES,
  BAD_LINE,
  BAD_REASON,
  DIVISION_BANKS,
  DIVISION_LINES,
  DIVISION_LIST,
  DIVISION_MERGED,
  DIVISION_OUTPUT,
  DIVISION_OUTPUT_END,
  DIVISION_SHARES,
  LINE_OUTCOME,
  LINE_SHARD,
  MAX_BAD,
  MERGE_DONE,
  MERGE_FULL,
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_LINE_BASE,
  RUN_RULES_FULL,
  SHARE_BYTES,
  SHARE_DISTANCE,
  SHARE_INPUT,
  SHARE_NUMBER,
  SHARE_OUTPUT,
  SHARE_PLACE,
  SHARE_PLACE_END,
  TASK_BAD,
  TASK_BAD_COUNT,
  TASK_BYTES,
  TASK_LINES,
  TASK_QUERY,
  TASK_SCRATCH,
  TASK_SCRATCH_END,
  TASK_WORKER,
  WORKER_LINES,
} from '../kernel/layout.js';
import type { BatchSink } from './batch-ends.js';
import { type BatchEnd, type BatchJudge, type BatchKernel, BatchTask } from './batch-task.js';
import type { BanksTask, BankTask, ComputeTask } from './messages.js';
import type { AgentRegister, RegisterIn } from './record-agents.js';
import {
  BANK_BYTES,
  blockAddress,
  type DivisionRegions,
  Guards,
  PLACE_BYTES,
  taskAddress,
} from './ring/regions.js';
import type { Ring } from './ring/ring.js';
import type { Batch } from './ring/slots.js';
import { FLAG_JUMBO, FLAG_OVERLONG } from './ring/words.js';

/** What works in each memory of a task. */
interface MemoryAccess {
  /** Binds the kernel to a memory. */
  readonly bind: (memory: WebAssembly.Memory) => Promise<BatchKernel>;
  readonly registerIn: RegisterIn;
}

/**
 * What judges the batches of a task by a table in several memories. Loaded on demand, because few
 * tables need it.
 *
 * @param access what works in each memory
 */
export async function dividedJudge(
  ring: Ring,
  { worker, query, memory }: ComputeTask,
  { division: regions, banks }: BanksTask,
  { bind, registerIn }: MemoryAccess,
): Promise<BatchJudge> {
  const kernel = await bind(memory);
  const division = new Division({ ring, kernel, worker, query, regions, banks: banks.length });
  const judges: BankJudge[] = [];
  for (const bank of banks) {
    const block = blockAddress(bank.regions, worker);
    const register = registerIn(bank.memory.buffer as SharedArrayBuffer, bank.query, block);
    judges.push(new BankJudge(await bind(bank.memory), bank, worker, register));
  }
  const judge = new DividedBatchJudge(ring, worker, division, judges);
  return (batch, sink) => judge.judge(batch, sink);
}

/**
 * Judges batches by a table that lies in several memories, the banks. Each batch is divided by the
 * banks of its hosts, the shares are judged, and their outputs are merged in the order of the
 * lines. A share is judged when the merger needs its next line.
 */
class DividedBatchJudge {
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

/** A bad record: its line in the batch, from 0, and its reason. */
interface BatchBadRecord {
  readonly line: number;
  readonly reason: number;
}

/** Judges shares of batches in one bank, for one worker. */
class BankJudge {
  /** The task in the bank. */
  readonly task: BatchTask;
  /** What the last run returned, RUN_…; undefined before the first. */
  result: number | undefined;
  readonly #bank: BankTask;
  readonly #worker: number;
  readonly #memory: Uint8Array;
  readonly #places: number;
  #lines = 0;

  constructor(
    kernel: BatchKernel,
    bank: BankTask,
    worker: number,
    register: AgentRegister | undefined,
  ) {
    const { memory, regions, query, places, placesStride } = bank;
    this.#bank = bank;
    this.#worker = worker;
    this.#memory = new Uint8Array(memory.buffer);
    this.#places = places + worker * placesStride;
    this.task = new BatchTask({ kernel, memory: memory.buffer, regions, worker, query, register });
  }

  /** Begins a share of a batch. */
  begin({ lines, numbers }: Share): void {
    new Uint32Array(this.#memory.buffer, this.#places, numbers.length).set(numbers);
    this.#begin(lines, 0, this.#places);
    this.#lines = numbers.length;
  }

  /** Begins a line that is a whole batch. */
  beginLine(line: Uint8Array, flags: number): void {
    this.#begin(line, flags, 0);
    this.#lines = 1;
  }

  /** Whether lines are left. */
  get isUnfinished(): boolean {
    return this.task.lines < this.#lines;
  }

  /**
   * Judges further lines. Before, all output must have been taken, and what the last run needed
   * must be there.
   *
   * @param lineBase lines of the input before the batch, if they are known
   * @throws GuardError as `BatchTask.run`
   */
  run(lineBase: number | undefined): ShareOutput {
    const { task } = this;
    const first = task.lines;
    if (this.result === RUN_RULES_FULL) task.pruneRules();
    if (lineBase !== undefined) task.setLineBase(lineBase);
    task.emptyOutput();
    this.result = task.run();
    const address = task.output;
    return {
      bytes: this.#memory.subarray(address, address + task.outputBytes),
      address,
      first,
      ends: new Uint32Array(
        this.#memory.buffer,
        this.#places + PLACE_BYTES * first,
        task.lines - first,
      ),
    };
  }

  /** The bad records of the last run, at most MAX_BAD of them. */
  get badRecords(): BatchBadRecord[] {
    const { words } = this.task;
    const count = Math.min(words[TASK_BAD_COUNT / 4] as number, MAX_BAD);
    return Array.from({ length: count }, (_, index) => ({
      line: words[TASK_BAD / 4 + 2 * index] as number,
      reason: words[TASK_BAD / 4 + 2 * index + 1] as number,
    }));
  }

  /** Whether the next line can be judged only when its number in the input is known. */
  get needsLineBase(): boolean {
    return this.result === RUN_NEEDS_LINE_BASE;
  }

  /** Whether the run is strict, and the next line is a bad record: the only one of the last run. */
  get isRefused(): boolean {
    return this.result === RUN_BAD_RECORD;
  }

  #begin(input: Uint8Array, flags: number, places: number): void {
    const { regions } = this.#bank;
    const jumbo = (flags & FLAG_JUMBO) === 0 ? undefined : regions.jumbo;
    const slot = this.#worker;
    const address = jumbo?.input ?? regions.inputs + slot * regions.inputStride;
    this.#memory.set(input, address);
    this.task.begin({ slot, address, bytes: input.length, flags }, places);
    this.result = undefined;
  }
}

/** The outcome of a line whose URL is fine (kernel/assembly/memory.ts). */
const PENDING = -1;

/** The parts of a division. */
interface DivisionParts {
  readonly ring: Ring;
  readonly kernel: BatchKernel;
  readonly worker: number;
  /** Address of the query that finds the URL of each line. */
  readonly query: number;
  readonly regions: DivisionRegions;
  /** Number of banks. */
  readonly banks: number;
}

/** The lines of a batch that are judged in one bank. */
interface Share {
  readonly lines: Uint8Array;
  /** The number of each in the batch. */
  readonly numbers: Uint32Array;
}

/** Output of a share in its bank. */
interface ShareOutput {
  readonly bytes: Uint8Array;
  /** Address of these bytes in the bank. */
  readonly address: number;
  /** The first line that they are about, counted in the share. */
  readonly first: number;
  /** Addresses in the bank where the output of each line ends. */
  readonly ends: Uint32Array;
}

/** Divides batches by the banks of their hosts, and merges the outputs, for one worker. */
class Division {
  readonly #parts: DivisionParts;
  /** The worker's task in the memory of the ring. It judges nothing. */
  readonly #task: BatchTask;
  readonly #memory: Uint8Array<SharedArrayBuffer>;
  /** Address of the division block, and its words. */
  readonly #block: number;
  readonly #words: Uint32Array<SharedArrayBuffer>;

  constructor(parts: DivisionParts) {
    const { ring, kernel, worker, query, regions, banks } = parts;
    const { buffer } = ring.memory;
    this.#parts = parts;
    this.#task = new BatchTask({ kernel, memory: buffer, regions: ring.regions, worker, query });
    this.#memory = ring.memory;
    this.#block = regions.workers + worker * regions.workerStride;
    const words = (DIVISION_SHARES + banks * SHARE_BYTES) / 4;
    this.#words = new Uint32Array(buffer, this.#block, words);
    this.#set(DIVISION_BANKS, regions.banks);
    this.#set(DIVISION_LIST, this.#block + regions.list);
  }

  /** Divides a batch of whole lines; returns the share of each bank. */
  divide(batch: Batch): readonly Share[] {
    const { ring, kernel, worker, regions, banks } = this.#parts;
    this.#task.begin(batch);
    for (let bank = 0; bank < banks; bank++) {
      this.#setShare(bank, SHARE_INPUT, this.#at(bank, regions.input));
      this.#setShare(bank, SHARE_NUMBER, this.#at(bank, regions.places));
      // Nothing is judged yet.
      this.#setShare(bank, SHARE_PLACE, 0);
      this.#setShare(bank, SHARE_PLACE_END, 0);
    }
    kernel.divide(taskAddress(ring.regions, worker), this.#block);
    const shares = Array.from({ length: banks }, (_, bank) => this.#shareOf(bank));
    const bytes = shares.reduce((sum, { lines }) => sum + lines.length, 0);
    if (bytes !== batch.bytes) throw new Error(`${bytes} of ${batch.bytes} bytes were divided`);
    return shares;
  }

  /** The bank for the line that is the whole batch. */
  bankOfLine(batch: Batch): number {
    const { kernel, regions } = this.#parts;
    this.#task.begin(batch);
    const word = (field: number): number => (this.#task.words[field / 4] as number) >>> 0;
    const worker = word(TASK_WORKER);
    kernel.locateRecord(
      word(TASK_QUERY),
      worker,
      batch.address,
      batch.address + batch.bytes,
      word(TASK_SCRATCH),
      word(TASK_SCRATCH_END),
    );
    const view = new DataView(this.#memory.buffer);
    const line = worker + WORKER_LINES;
    if (view.getInt32(line + LINE_OUTCOME, true) !== PENDING) return 0;
    const shard = view.getUint32(line + LINE_SHARD, true);
    return view.getUint16(regions.banks + BANK_BYTES * shard, true);
  }

  // ---- Merging

  /** Lines of the batch whose output is merged. */
  get merged(): number {
    return this.#get(DIVISION_MERGED);
  }

  /** Lines of the batch. */
  get lines(): number {
    return this.#get(DIVISION_LINES);
  }

  /** Where merged output goes, up to `end`. */
  setOutput(address: number, end: number): void {
    this.#set(DIVISION_OUTPUT, address);
    this.#set(DIVISION_OUTPUT_END, end);
  }

  /** The end of the merged output. */
  get outputEnd(): number {
    return this.#get(DIVISION_OUTPUT);
  }

  /** Takes over the next output of a bank; all output that it had before is merged. */
  take(bank: number, { bytes, address, first, ends }: ShareOutput): void {
    const { regions } = this.#parts;
    const output = this.#at(bank, regions.output);
    const places = this.#at(bank, regions.places) + PLACE_BYTES * first;
    this.#memory.set(bytes, output);
    new Uint32Array(this.#memory.buffer, places, ends.length).set(ends);
    this.#setShare(bank, SHARE_OUTPUT, output);
    this.#setShare(bank, SHARE_PLACE, places);
    this.#setShare(bank, SHARE_PLACE_END, places + PLACE_BYTES * ends.length);
    this.#setShare(bank, SHARE_DISTANCE, output - address);
  }

  /** Merges what is there; returns MERGE_…, or the bank whose output is missing. */
  merge(): number {
    return this.#parts.kernel.merge(this.#block);
  }

  #shareOf(bank: number): Share {
    const { regions } = this.#parts;
    const lines = this.#at(bank, regions.input);
    const numbers = this.#at(bank, regions.places);
    const count = (this.#getShare(bank, SHARE_NUMBER) - numbers) / PLACE_BYTES;
    return {
      lines: this.#memory.subarray(lines, this.#getShare(bank, SHARE_INPUT)),
      numbers: new Uint32Array(this.#memory.buffer, numbers, count),
    };
  }

  /** Address of a part of a bank's share. */
  #at(bank: number, part: number): number {
    const { shares, shareStride } = this.#parts.regions;
    return this.#block + shares + bank * shareStride + part;
  }

  #get(field: number): number {
    return this.#words[field / 4] as number;
  }

  #set(field: number, value: number): void {
    this.#words[field / 4] = value;
  }

  #getShare(bank: number, field: number): number {
    return this.#get(DIVISION_SHARES + bank * SHARE_BYTES + field);
  }

  #setShare(bank: number, field: number, value: number): void {
    this.#set(DIVISION_SHARES + bank * SHARE_BYTES + field, value);
  }
}
