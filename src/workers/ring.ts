import { MAX_BAD, TASK_BAD, TASK_BAD_COUNT, TASK_LINES } from '../kernel/layout.js';
import { BadRecordList } from './bad-record-list.js';
import { FillerRole } from './filler-role.js';
import { JumboRegion } from './jumbo-region.js';
import { KeptCounters } from './kept-counters.js';
import type { Regions } from './regions.js';
import { RingInput } from './ring-input.js';
import {
  BAD,
  BAD_COUNT,
  BAD_WORDS,
  bellWord,
  concernsWriter,
  FILLED,
  FILLER,
  FLAG_JUMBO,
  FLAG_OVERLONG,
  FREE,
  header,
  JUDGED,
  JUMBO,
  LINES,
  LOCK,
  linesOf,
  MAX_BAD_LISTED,
  NEXT,
  OPEN,
  ownedWord,
  RingWords,
  SLOT_BAD,
  SLOT_BAD_COUNT,
  SLOT_FLAGS,
  SLOT_INPUT,
  SLOT_INPUT_OCTETS,
  SLOT_KEPT,
  SLOT_LINES,
  SLOT_LINES_AFTER,
  SLOT_OUTPUT,
  SLOT_OUTPUT_AT,
  SLOT_OUTPUT_OCTETS,
  SLOT_START,
  SLOT_STATE,
  SLOT_TICKET,
  SLOT_WRITING,
  SLOT_WRITTEN,
  STOP,
  stateOf,
  TAKEN,
  TURN,
} from './ring-words.js';
import { WriterRole } from './writer-role.js';

/** Milliseconds after which a waiting thread looks for itself whether it still should. */
const LONGEST_WAIT = 1000;

/** A batch that has been taken. */
export interface Batch {
  readonly slot: number;
  readonly address: number;
  readonly octets: number;
  /** FLAG_… */
  readonly flags: number;
}

/** One thread's view of the ring. */
export class Ring {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  readonly regions: Regions;
  /** Slots that this run uses. */
  readonly slots: number;
  /**
   * Whether those who judge on this thread may block it: not on the main thread, where filler and
   * writer are at work, too.
   */
  readonly mayBlock: boolean;
  readonly input: RingInput;
  readonly filler: FillerRole;
  readonly writer: WriterRole;
  readonly jumbo: JumboRegion;
  readonly counters: KeptCounters;
  readonly badRecords: BadRecordList;
  readonly #fields: RingWords;
  /** The same, for what is atomic. */
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(memory: WebAssembly.Memory, regions: Regions, slots: number, mayBlock = true) {
    this.memory = new Uint8Array(memory.buffer);
    this.regions = regions;
    this.slots = slots;
    this.mayBlock = mayBlock;
    const words = new RingWords(this.memory.buffer, regions.control, regions.slots);
    this.#fields = words;
    this.#words = words.all;
    this.input = new RingInput(words, this.memory);
    this.filler = new FillerRole(words);
    this.writer = new WriterRole(words);
    this.jumbo = new JumboRegion(words);
    this.counters = new KeptCounters(words, this.memory, regions);
    this.badRecords = new BadRecordList(words);
  }

  // ---- A run's beginning and end

  /**
   * Clears everything but what adds up over a flow's inputs; only while no other thread is at work.
   */
  reset(position: number): void {
    const { consumed } = this.input;
    const bad = this.#words.slice(BAD_COUNT, BAD + MAX_BAD_LISTED * BAD_WORDS);
    this.#words.fill(0);
    this.#words.set(bad, BAD_COUNT);
    this.badRecords.beginInput();
    this.input.begin(position, consumed);
  }

  get stopped(): boolean {
    return Atomics.load(this.#words, STOP) !== 0;
  }

  /** Has everybody return. To be repeated until they have: see invariant 8. */
  stop(): void {
    Atomics.store(this.#words, STOP, 1);
    this.wakeAll();
  }

  /** Has everybody who waits look again. */
  wakeAll(): void {
    Atomics.notify(this.#words, STOP);
    Atomics.notify(this.#words, LOCK);
    Atomics.notify(this.#words, JUMBO);
    Atomics.notify(this.#words, FILLER);
    for (let slot = 0; slot < this.slots; slot++) {
      Atomics.notify(this.#words, header(slot) + SLOT_STATE);
      this.#ringBell(slot);
    }
  }

  // ---- Waiting

  /**
   * Sleeps while the word has this value, unless the run is stopped. Returns early at times: the
   * caller looks again.
   */
  wait(word: number, value: number): void {
    if (!this.stopped) Atomics.wait(this.#words, word, value, LONGEST_WAIT);
  }

  /**
   * Sleeps for so many milliseconds, or until the filler has gone on behind the slot, or the run is
   * stopped.
   */
  waitForFiller(slot: number, milliseconds: number): void {
    const end = performance.now() + milliseconds;
    for (let left = milliseconds; left > 0; left = end - performance.now()) {
      const bell = this.#bell(slot);
      if (this.filler.slot !== slot || this.stopped) return;
      Atomics.wait(this.#words, bellWord(slot), bell, left);
    }
  }

  /** Sleeps for so many milliseconds, or until the run is stopped. */
  pause(milliseconds: number): void {
    Atomics.wait(this.#words, STOP, 0, milliseconds);
  }

  /** As `wait`, for the main thread, which alone stops a run and so can't miss that. */
  async waitAsync(word: number, value: number): Promise<void> {
    if (this.stopped) return;
    const result = Atomics.waitAsync(this.#words, word, value);
    if (result.async) await result.value;
  }

  /** As `wait` or `waitAsync`, as this thread may. */
  until(word: number, value: number): void | Promise<void> {
    return this.mayBlock ? this.wait(word, value) : this.waitAsync(word, value);
  }

  /** Waits, on the main thread, while a slot's word is such, unless the run is stopped. */
  async whileState(slot: number, such: (word: number) => boolean): Promise<void> {
    while (!this.stopped) {
      const word = this.loadState(slot);
      if (!such(word)) return;
      await this.waitAsync(this.stateWord(slot), word);
    }
  }

  /** Takes the input lock; false if the run was stopped meanwhile. */
  async lock(worker: number): Promise<boolean> {
    const held = (worker + 1) << 1;
    let seen = Atomics.compareExchange(this.#words, LOCK, 0, held);
    while (seen !== 0) {
      if (this.stopped) return false;
      const awaited = seen | 1;
      if (seen === awaited || Atomics.compareExchange(this.#words, LOCK, seen, awaited) === seen) {
        await this.until(LOCK, awaited);
      }
      // Whoever has waited takes it as waited for, since others may still wait.
      seen = Atomics.compareExchange(this.#words, LOCK, 0, held | 1);
    }
    return true;
  }

  unlock(): void {
    if ((Atomics.exchange(this.#words, LOCK, 0) & 1) !== 0) Atomics.notify(this.#words, LOCK, 1);
  }

  /** The worker that holds the input lock, -1 if it is free. */
  get lockHolder(): number {
    return (Atomics.load(this.#words, LOCK) >> 1) - 1;
  }

  // ---- Slots

  /** The word to wait on for a slot's state. */
  stateWord(slot: number): number {
    return header(slot) + SLOT_STATE;
  }

  /** A slot's state with what else its word holds. */
  loadState(slot: number): number {
    return Atomics.load(this.#words, header(slot) + SLOT_STATE);
  }

  setState(slot: number, word: number): void {
    Atomics.store(this.#words, header(slot) + SLOT_STATE, word);
    Atomics.notify(this.#words, header(slot) + SLOT_STATE);
    if (concernsWriter(word)) this.#ringBell(slot);
  }

  /**
   * Waits, on the main thread, for a word of the slot that concerns the writer; undefined if the
   * run was stopped.
   */
  async wordForWriter(slot: number): Promise<number | undefined> {
    while (!this.stopped) {
      const bell = this.#bell(slot);
      const word = this.loadState(slot);
      if (concernsWriter(word)) return word;
      await this.waitAsync(bellWord(slot), bell);
    }
    return undefined;
  }

  /** Changes a slot's word unless it is another than expected; says whether. */
  exchangeState(slot: number, expected: number, word: number): boolean {
    const state = header(slot) + SLOT_STATE;
    if (Atomics.compareExchange(this.#words, state, expected, word) !== expected) return false;
    Atomics.notify(this.#words, state);
    return true;
  }

  /** To be called when the filler has gone on behind the slot. */
  endFilling(slot: number): void {
    this.#ringBell(slot);
  }

  after(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }

  /**
   * Describes a slot's batch: to be followed by FILLED, or by OPEN and all zeros but for the start.
   */
  setInput(slot: number, address: number, octets: number, flags: number, start: number): void {
    const at = header(slot);
    this.#words[at + SLOT_INPUT] = address;
    this.#words[at + SLOT_INPUT_OCTETS] = octets;
    this.#words[at + SLOT_FLAGS] = flags;
    this.#fields.setCounter(at / 2 + SLOT_START, start);
  }

  /** The batch of a slot. */
  batch(slot: number): Batch {
    const at = header(slot);
    return {
      slot,
      address: this.#fields.get(at + SLOT_INPUT) >>> 0,
      octets: this.#fields.get(at + SLOT_INPUT_OCTETS) >>> 0,
      flags: this.#fields.get(at + SLOT_FLAGS) & (FLAG_JUMBO | FLAG_OVERLONG),
    };
  }

  /** Where in the input the slot's batch begins, in octets. */
  start(slot: number): number {
    return this.#fields.counter(header(slot) / 2 + SLOT_START);
  }

  /** The octets that the kernel has written for the slot and nobody has yet written out. */
  output(slot: number): Uint8Array<SharedArrayBuffer> {
    const at = header(slot);
    const address = this.#fields.get(at + SLOT_OUTPUT) >>> 0;
    const octets = this.#fields.get(at + SLOT_OUTPUT_OCTETS) >>> 0;
    const out = this.writer.written(slot) - this.#fields.counter(at / 2 + SLOT_OUTPUT_AT);
    return this.memory.subarray(address + out, address + octets);
  }

  /**
   * Puts what the kernel has left in a task into the slot's header.
   *
   * @param before octets of the batch's output that come before this
   */
  setOutput(slot: number, task: Int32Array, address: number, octets: number, before: number): void {
    const at = header(slot);
    this.#fields.setCounter(at / 2 + SLOT_OUTPUT_AT, before);
    this.#words[at + SLOT_OUTPUT] = address;
    this.#words[at + SLOT_OUTPUT_OCTETS] = octets;
    this.#words[at + SLOT_LINES] = task[TASK_LINES / 4] ?? 0;
    const bad = Math.min(task[TASK_BAD_COUNT / 4] ?? 0, MAX_BAD);
    this.#words[at + SLOT_BAD_COUNT] = bad;
    this.#words.set(task.subarray(TASK_BAD / 4, TASK_BAD / 4 + 2 * bad), at + SLOT_BAD);
  }

  // ---- Fields of the holder of the input lock

  /** The slot of the next ticket. */
  get nextSlot(): number {
    return this.#fields.get(NEXT) % this.slots;
  }

  /**
   * Takes the batch of the next slot, whose word was seen to be this; undefined if there is none,
   * or it has changed.
   */
  takeBatch(word: number, worker: number): Batch | undefined {
    const state = stateOf(word);
    if (state !== FILLED && (state !== OPEN || linesOf(word) === 0)) return undefined;
    const slot = this.nextSlot;
    const at = header(slot);
    // The filler describes only batches of which it has offered nothing.
    if (state === OPEN) this.#words[at + SLOT_INPUT_OCTETS] = linesOf(word);
    this.#words[at + SLOT_TICKET] = this.#fields.get(NEXT);
    this.#words[at + SLOT_KEPT] = 0;
    this.#words[at + SLOT_WRITING] = 0;
    this.#fields.setCounter(at / 2 + SLOT_WRITTEN, 0);
    return this.exchangeState(slot, word, ownedWord(TAKEN, worker)) ? this.batch(slot) : undefined;
  }

  /**
   * Whether the worker has taken the next ticket's batch, and `advance` was perhaps not called yet.
   */
  hasTakenNext(worker: number): boolean {
    const slot = this.nextSlot;
    return (
      this.loadState(slot) === ownedWord(TAKEN, worker) &&
      this.#fields.get(header(slot) + SLOT_TICKET) === this.#fields.get(NEXT)
    );
  }

  /** Goes on to the next ticket, when the one before is TAKEN. */
  advance(): void {
    Atomics.store(this.#words, NEXT, this.#ticketAfter(this.#fields.get(NEXT)));
  }

  // ---- The order of what is written

  /** Lines of this input before the slot whose turn it is. */
  get lines(): number {
    return this.#fields.counter(LINES);
  }

  /** The next slot to be written, if it is JUDGED; where workers write themselves. */
  get due(): number | undefined {
    const slot = Atomics.load(this.#words, TURN) % this.slots;
    return stateOf(this.loadState(slot)) === JUDGED ? slot : undefined;
  }

  /** Whether the slot is the next to be written; where workers write themselves. */
  hasTurn(slot: number): boolean {
    return Atomics.load(this.#words, TURN) === this.#fields.get(header(slot) + SLOT_TICKET);
  }

  /** Waits until the slot is the next to be written; false if the run was stopped. */
  async awaitTurn(slot: number): Promise<boolean> {
    while (!this.stopped) {
      const bell = this.#bell(slot);
      if (this.hasTurn(slot)) return true;
      await this.until(bellWord(slot), bell);
    }
    return false;
  }

  /**
   * Counts a slot's lines; to be called when all of it is written, and before it is DELIVERED where
   * workers write themselves.
   */
  countLines(slot: number): void {
    const at = header(slot);
    this.#fields.setCounter(
      at / 2 + SLOT_LINES_AFTER,
      this.lines + this.#fields.get(at + SLOT_LINES),
    );
  }

  /** Has the lines of a slot count, and gives back the jumbo region if it had it. */
  settle(slot: number): void {
    this.#fields.setCounter(LINES, this.#fields.counter(header(slot) / 2 + SLOT_LINES_AFTER));
    this.jumbo.give(slot);
  }

  /**
   * Passes on the turn of a slot that is DELIVERED, and has it be FREE. To be done once, or again
   * where that was broken off.
   */
  retire(slot: number): void {
    if (this.hasTurn(slot)) {
      this.settle(slot);
      const ticket = this.#fields.get(header(slot) + SLOT_TICKET);
      Atomics.store(this.#words, TURN, this.#ticketAfter(ticket));
    }
    this.#ringBell(this.after(slot));
    this.setState(slot, FREE);
  }

  #bell(slot: number): number {
    return Atomics.load(this.#words, bellWord(slot));
  }

  #ringBell(slot: number): void {
    Atomics.add(this.#words, bellWord(slot), 1);
    Atomics.notify(this.#words, bellWord(slot));
  }

  #ticketAfter(ticket: number): number {
    return ticket + 1 === 2 * this.slots ? 0 : ticket + 1;
  }
}
