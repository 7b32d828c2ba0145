/** The slots of the ring: their states, and who waits for which. */

import { MAX_BAD, TASK_BAD, TASK_BAD_COUNT, TASK_LINES } from '../../kernel/layout.js';
import {
  concernsWriter,
  FLAG_JUMBO,
  FLAG_OVERLONG,
  ownedWord,
  type SharedWords,
  SLOT_BAD_COUNT,
  SLOT_BELL,
  SLOT_FLAGS,
  SLOT_INPUT,
  SLOT_INPUT_BYTES,
  SLOT_LINES,
  SLOT_OUTPUT,
  SLOT_OUTPUT_BYTES,
  SLOT_START,
  SLOT_STATE,
  STOP,
  STOP_ALL,
  slotBadEntry,
  slotWord,
  slotWord64,
  TAKEN,
  type Word,
  YIELDED,
} from './words.js';

/** A batch that has been taken. */
export interface Batch {
  readonly slot: number;
  readonly address: number;
  readonly bytes: number;
  /** FLAG_… */
  readonly flags: number;
}

/** The slots of a ring: their states, and the batches in them. */
export class Slots {
  /** Number of slots that this run uses. */
  readonly count: number;
  readonly #words: SharedWords;
  readonly #memory: Uint8Array<SharedArrayBuffer>;
  readonly #waits: Waits;

  constructor(
    words: SharedWords,
    memory: Uint8Array<SharedArrayBuffer>,
    waits: Waits,
    count: number,
  ) {
    this.#words = words;
    this.#memory = memory;
    this.#waits = waits;
    this.count = count;
  }

  /** The slot after this one in ring order. */
  after(slot: number): number {
    return slot + 1 === this.count ? 0 : slot + 1;
  }

  // ---- States

  /** The word to wait on for a slot's state. */
  stateWord(slot: number): Word {
    return slotWord(slot, SLOT_STATE);
  }

  /** The word of a slot: its state, and the other contents of the word. */
  state(slot: number): number {
    return this.#words.load(slotWord(slot, SLOT_STATE));
  }

  setState(slot: number, word: number): void {
    this.#words.store(slotWord(slot, SLOT_STATE), word);
    this.#words.notify(slotWord(slot, SLOT_STATE));
    if (concernsWriter(word)) this.ringBell(slot);
  }

  /** Changes a slot's word if it has the expected value; returns whether it had. */
  exchangeState(slot: number, expected: number, word: number): boolean {
    const state = slotWord(slot, SLOT_STATE);
    if (this.#words.compareExchange(state, expected, word) !== expected) return false;
    this.#words.notify(state);
    return true;
  }

  /** The slot whose batch the worker has taken and not finished. */
  heldBy(worker: number): number | undefined {
    for (let slot = 0; slot < this.count; slot++) {
      const word = this.state(slot);
      if (word === ownedWord(TAKEN, worker) || word === ownedWord(YIELDED, worker)) return slot;
    }
    return undefined;
  }

  /**
   * Waits, on the main thread, until a word of the slot concerns the writer; undefined if the run
   * was stopped.
   */
  async wordForWriter(slot: number): Promise<number | undefined> {
    while (!this.#waits.stopped) {
      const bell = this.bell(slot);
      const word = this.state(slot);
      if (concernsWriter(word)) return word;
      await this.#waits.inEventLoop(this.bellWord(slot), bell);
    }
    return undefined;
  }

  /** The word to wait on for a slot's turn. */
  bellWord(slot: number): Word {
    return slotWord(slot, SLOT_BELL);
  }

  bell(slot: number): number {
    return this.#words.load(slotWord(slot, SLOT_BELL));
  }

  ringBell(slot: number): void {
    this.#words.add(slotWord(slot, SLOT_BELL), 1);
    this.#words.notify(slotWord(slot, SLOT_BELL));
  }

  // ---- Batches

  /**
   * Describes the slot's batch. The length may be set by the consumer instead.
   *
   * @param start offset of the batch in the input
   */
  setInput(slot: number, batch: Omit<Batch, 'slot'>, start: number): void {
    this.#words.store(slotWord(slot, SLOT_INPUT), batch.address);
    this.setInputBytes(slot, batch.bytes);
    this.#words.store(slotWord(slot, SLOT_FLAGS), batch.flags);
    this.#words.store64(slotWord64(slot, SLOT_START), start);
  }

  setInputBytes(slot: number, bytes: number): void {
    this.#words.store(slotWord(slot, SLOT_INPUT_BYTES), bytes);
  }

  /** The batch of a slot that is TAKEN. */
  batch(slot: number): Batch {
    return {
      slot,
      address: this.#words.load(slotWord(slot, SLOT_INPUT)) >>> 0,
      bytes: this.#words.load(slotWord(slot, SLOT_INPUT_BYTES)) >>> 0,
      flags: this.#words.load(slotWord(slot, SLOT_FLAGS)) & (FLAG_JUMBO | FLAG_OVERLONG),
    };
  }

  /** The first byte of the slot's batch, counted from the start of the input. */
  start(slot: number): number {
    return this.#words.load64(slotWord64(slot, SLOT_START));
  }

  /** The output that the kernel has written for the slot and that is not yet written out. */
  output(slot: number): Uint8Array<SharedArrayBuffer> {
    const address = this.#words.load(slotWord(slot, SLOT_OUTPUT)) >>> 0;
    const bytes = this.#words.load(slotWord(slot, SLOT_OUTPUT_BYTES)) >>> 0;
    return this.#memory.subarray(address, address + bytes);
  }

  /** Copies the kernel's results from a task to the slot's header. */
  setOutput(slot: number, task: Int32Array, address: number, bytes: number): void {
    this.#words.store(slotWord(slot, SLOT_OUTPUT), address);
    this.#words.store(slotWord(slot, SLOT_OUTPUT_BYTES), bytes);
    this.#words.store(slotWord(slot, SLOT_LINES), task[TASK_LINES / 4] ?? 0);
    const bad = Math.min(task[TASK_BAD_COUNT / 4] ?? 0, MAX_BAD);
    this.#words.store(slotWord(slot, SLOT_BAD_COUNT), bad);
    for (let index = 0; index < bad; index++) {
      const entry = slotBadEntry(slot, index);
      this.#words.store(entry.line, task[TASK_BAD / 4 + 2 * index] ?? 0);
      this.#words.store(entry.reason, task[TASK_BAD / 4 + 2 * index + 1] ?? 0);
    }
  }

  /** Number of judged lines of the slot's batch. */
  lines(slot: number): number {
    return this.#words.load(slotWord(slot, SLOT_LINES));
  }
}

/** Milliseconds after which a waiting thread checks again whether it must still wait. */
const LONGEST_WAIT = 1000;

/** Waits of one thread for words of the ring. Any wait may return early: check the word again. */
export class Waits {
  readonly #words: SharedWords;
  /**
   * Whether consumers on this thread may block it. On the main thread they may not, because
   * producer and writer work there too.
   */
  readonly mayBlock: boolean;

  constructor(words: SharedWords, mayBlock: boolean) {
    this.#words = words;
    this.mayBlock = mayBlock;
  }

  /** Whether all threads must return. */
  get stopped(): boolean {
    return this.#words.load(STOP) === STOP_ALL;
  }

  /** Sleeps while the word has this value, unless the run is stopped. */
  block(word: Word, value: number, milliseconds = LONGEST_WAIT): void {
    if (!this.stopped) this.#words.wait(word, value, milliseconds);
  }

  /**
   * As `block`, for the main thread. Only the main thread stops a run, so it cannot miss the stop.
   */
  async inEventLoop(word: Word, value: number): Promise<void> {
    if (!this.stopped) await this.#words.waitAsync(word, value);
  }

  /** As `block` or `inEventLoop`, whichever is allowed on this thread. */
  while(word: Word, value: number): void | Promise<void> {
    return this.mayBlock ? this.block(word, value) : this.inEventLoop(word, value);
  }

  /** Sleeps for this many milliseconds, or until the run is stopped. */
  pause(milliseconds: number): void {
    const stop = this.#words.load(STOP);
    if (stop !== STOP_ALL) this.#words.wait(STOP, stop, milliseconds);
  }
}
