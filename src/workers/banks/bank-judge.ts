import {
  MAX_BAD,
  RUN_BAD_RECORD,
  RUN_NEEDS_LINE_BASE,
  RUN_RULES_FULL,
  TASK_BAD,
  TASK_BAD_COUNT,
  TASK_LINES,
} from '../../kernel/layout.js';
import { type BatchKernel, BatchTask } from '../batch-task.js';
import type { BankTask } from '../messages.js';
import { FLAG_JUMBO } from '../ring/ring-words.js';
import type { Share, ShareOutput } from './division.js';
import { PLACE_BYTES } from './division-regions.js';

/** A bad record: its line in the batch, from 0, and its reason. */
export interface BatchBadRecord {
  readonly line: number;
  readonly reason: number;
}

/** Judges shares of batches in one bank, for one worker. */
export class BankJudge {
  /** The task in the bank. */
  readonly task: BatchTask;
  /** What the last run returned, RUN_…; undefined before the first. */
  result: number | undefined;
  readonly #bank: BankTask;
  readonly #worker: number;
  readonly #memory: Uint8Array;
  readonly #places: number;
  #lines = 0;

  constructor(kernel: BatchKernel, bank: BankTask, worker: number) {
    const { memory, regions, query, places, placesStride } = bank;
    this.#bank = bank;
    this.#worker = worker;
    this.#memory = new Uint8Array(memory.buffer);
    this.#places = places + worker * placesStride;
    this.task = new BatchTask({
      kernel,
      memory: memory.buffer,
      regions,
      worker,
      query,
    });
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
    return (this.task.words[TASK_LINES / 4] as number) < this.#lines;
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
    const first = task.words[TASK_LINES / 4] as number;
    if (this.result === RUN_RULES_FULL) task.pruneRules();
    if (lineBase !== undefined) task.setLineBase(lineBase);
    task.emptyOutput();
    this.result = task.run();
    const end = task.words[TASK_LINES / 4] as number;
    const address = task.output;
    return {
      bytes: this.#memory.subarray(address, address + task.outputBytes),
      address,
      first,
      ends: new Uint32Array(this.#memory.buffer, this.#places + PLACE_BYTES * first, end - first),
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
