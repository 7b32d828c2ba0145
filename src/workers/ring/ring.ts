/** The ring of slots through which threads pass batches, and the roles at it. */

import { MAX_BAD } from '../../kernel/layout.js';
import { CONTROL_BYTES, type Regions, SLOT_HEADER_BYTES } from './regions.js';
import { type Batch, Slots, Waits } from './slots.js';
import {
  BAD_COUNT,
  BASE,
  badEntry,
  CARRY,
  CARRY_BYTES,
  FILL_SLOT,
  FILLED,
  FREE,
  INPUT_ENDED,
  JUDGED,
  JUMBO,
  LOCK,
  linesOf,
  NEXT,
  OPEN,
  ownedWord,
  PRODUCER,
  PRODUCER_MASK,
  READ,
  SharedWords,
  SKIPPING,
  SLOT_BAD_COUNT,
  SLOT_LINES_BEFORE,
  SLOT_WRITE_BEGUN,
  STOP,
  STOP_ALL,
  STOP_TAKING,
  slotBadEntry,
  slotWord,
  slotWord64,
  stateOf,
  TAKEN,
  TRUNCATED,
  TURN,
  WRITER,
} from './words.js';

/** One thread's view of the ring. */
export class Ring {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  readonly regions: Regions;
  readonly waits: Waits;
  readonly slots: Slots;
  readonly input: RingInput;
  readonly producer: ProducerRole;
  readonly consumer: ConsumerRole;
  readonly writer: WriterRole;
  readonly jumbo: JumboRegion;
  readonly badRecords: BadRecordList;
  readonly #words: SharedWords;

  /**
   * @param slots slots that this run uses
   * @param mayBlock whether consumers on this thread may block it
   */
  constructor(memory: WebAssembly.Memory, regions: Regions, slots: number, mayBlock = true) {
    this.memory = new Uint8Array(memory.buffer);
    this.regions = regions;
    const bytes = CONTROL_BYTES + regions.slots * SLOT_HEADER_BYTES;
    const words = new SharedWords(this.memory.buffer, regions.control, bytes);
    this.#words = words;
    this.waits = new Waits(words, mayBlock);
    this.slots = new Slots(words, this.memory, this.waits, slots);
    this.input = new RingInput(words, this.memory);
    this.producer = new ProducerRole(words, this.slots);
    this.consumer = new ConsumerRole(words, this.slots, this.waits);
    this.jumbo = new JumboRegion(words);
    this.writer = new WriterRole(words, this.slots, this.waits, this.jumbo);
    this.badRecords = new BadRecordList(words, this.writer);
  }

  /**
   * Clears everything except the sums over a run's inputs; only while no other thread is at work.
   *
   * @param position the first byte of the input that is read
   */
  reset(position: number): void {
    const { consumed } = this.input;
    const records = this.badRecords.from(0);
    this.#words.clear();
    this.badRecords.restore(records);
    this.input.begin(position, consumed);
  }

  /** Whether all threads must return. */
  get stopped(): boolean {
    return this.waits.stopped;
  }

  /**
   * Makes all threads return. Repeat the call until they have returned: see invariant 8 of
   * workers/ring/words.ts.
   */
  stop(): void {
    this.#words.store(STOP, STOP_ALL);
    this.#wakeAll();
  }

  /** Lets no thread take a further batch. Repeat the call like `stop`. */
  stopTaking(): void {
    this.#words.compareExchange(STOP, 0, STOP_TAKING);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const word of [STOP, LOCK, JUMBO, PRODUCER]) this.#words.notify(word);
    for (let slot = 0; slot < this.slots.count; slot++) {
      this.#words.notify(this.slots.stateWord(slot));
      this.slots.ringBell(slot);
    }
  }
}

/** The progress of a run in its input. Only the producer changes it. */
class RingInput {
  readonly #words: SharedWords;
  readonly #memory: Uint8Array;

  constructor(words: SharedWords, memory: Uint8Array) {
    this.#words = words;
    this.#memory = memory;
  }

  /**
   * Begins an input; all other words are 0.
   *
   * @param position its first byte that is read
   * @param consumed bytes read of earlier inputs
   */
  begin(position: number, consumed: number): void {
    this.#words.store64(BASE, consumed - position);
    this.#words.store64(READ, position);
  }

  /** Whether the file has been read to its end. */
  get ended(): boolean {
    return this.#words.load(INPUT_ENDED) !== 0;
  }

  set ended(ended: boolean) {
    this.#words.store(INPUT_ENDED, ended ? 1 : 0);
  }

  /**
   * Whether the file was truncated while it was read. The input ends with the bytes read before the
   * truncation.
   */
  get truncated(): boolean {
    return this.#words.load(TRUNCATED) !== 0;
  }

  set truncated(truncated: boolean) {
    this.#words.store(TRUNCATED, truncated ? 1 : 0);
  }

  /** Whether the next batch begins in an overlong line. */
  get skipping(): boolean {
    return this.#words.load(SKIPPING) !== 0;
  }

  set skipping(skipping: boolean) {
    this.#words.store(SKIPPING, skipping ? 1 : 0);
  }

  /** Sets aside the bytes read after a batch, in place. */
  setCarry(address: number, bytes: number): void {
    this.#words.store(CARRY, address);
    this.#words.store(CARRY_BYTES, bytes);
  }

  /** Number of bytes that were set aside. */
  get carryBytes(): number {
    return this.#words.load(CARRY_BYTES) >>> 0;
  }

  /** Moves the bytes that were set aside to an address; returns their number. */
  takeCarry(address: number): number {
    const from = this.#words.load(CARRY) >>> 0;
    const bytes = this.carryBytes;
    if (bytes > 0) this.#memory.copyWithin(address, from, from + bytes);
    this.#words.store(CARRY_BYTES, 0);
    return bytes;
  }

  /** Offset of the next read, in bytes from the start of the input. */
  get read(): number {
    return this.#words.load64(READ);
  }

  set read(position: number) {
    this.#words.store64(READ, position);
  }

  /** Bytes read so far, over all inputs. */
  get consumed(): number {
    return this.#words.load64(BASE) + this.read;
  }
}

/** Decides which slot is filled next and, if the workers read a pipe, by which worker. */
class ProducerRole {
  readonly #words: SharedWords;
  readonly #slots: Slots;

  constructor(words: SharedWords, slots: Slots) {
    this.#words = words;
    this.#slots = slots;
  }

  /**
   * A word that names the producer, and changes with each of its actions. Read this word before a
   * slot's word.
   */
  get word(): number {
    return this.#words.load(PRODUCER);
  }

  /**
   * Makes the worker, which holds the input lock, the producer if there was none when the word was
   * read; returns whether it became the producer.
   */
  become(seen: number, worker: number): boolean {
    if ((seen & PRODUCER_MASK) !== 0) return false;
    return this.#words.compareExchange(PRODUCER, seen, seen | (worker + 1)) === seen;
  }

  /** The producer calls this when it has changed a slot's word, before it waits for anything. */
  tell(): void {
    this.#words.add(PRODUCER, PRODUCER_MASK + 1);
    this.#words.notify(PRODUCER);
  }

  /** The producer calls this when it has handed over a batch, or the input has ENDED. */
  resign(): void {
    this.#words.and(PRODUCER, ~PRODUCER_MASK);
    this.tell();
  }

  /** Whether some worker is the producer. */
  get isHeld(): boolean {
    return (this.word & PRODUCER_MASK) !== 0;
  }

  /** The slot that is filled next. */
  get slot(): number {
    return this.#words.load(FILL_SLOT);
  }

  /** Moves on to the next slot, once the batch of this slot is handed over. */
  advance(): void {
    const { slot } = this;
    this.#words.store(FILL_SLOT, this.#slots.after(slot));
    this.#slots.ringBell(slot);
  }
}

const UNLOCKED = 0;
const LOCKED = 1;
const AWAITED = 2;

/** Decides who takes the next batch: the worker that holds the input lock. */
class ConsumerRole {
  readonly #words: SharedWords;
  readonly #slots: Slots;
  readonly #waits: Waits;

  constructor(words: SharedWords, slots: Slots, waits: Waits) {
    this.#words = words;
    this.#slots = slots;
    this.#waits = waits;
  }

  /** Whether no further batch may be taken. */
  get stopped(): boolean {
    return this.#words.load(STOP) !== 0;
  }

  /** Takes the input lock; false if no further batch may be taken. */
  async lock(): Promise<boolean> {
    let seen = this.#words.compareExchange(LOCK, UNLOCKED, LOCKED);
    while (seen !== UNLOCKED) {
      if (this.stopped) return false;
      if (seen === AWAITED || this.#words.compareExchange(LOCK, LOCKED, AWAITED) !== UNLOCKED) {
        await this.#waits.while(LOCK, AWAITED);
      }
      // A thread that has waited marks the lock as awaited, since others may still wait.
      seen = this.#words.compareExchange(LOCK, UNLOCKED, AWAITED);
    }
    return true;
  }

  unlock(): void {
    if (this.#words.exchange(LOCK, UNLOCKED) === AWAITED) this.#words.notify(LOCK, 1);
  }

  /** The slot of the next batch. */
  get slot(): number {
    return this.#words.load(NEXT);
  }

  /**
   * Takes the batch of the next slot if its word still has this value. Undefined if there is no
   * batch, or the word has changed.
   */
  take(word: number, worker: number): Batch | undefined {
    const state = stateOf(word);
    if (state !== FILLED && (state !== OPEN || linesOf(word) === 0)) return undefined;
    const { slot } = this;
    // A producer sets the length only of batches that it has not offered before.
    if (state === OPEN) this.#slots.setInputBytes(slot, linesOf(word));
    this.#words.store(slotWord(slot, SLOT_WRITE_BEGUN), 0);
    if (!this.#slots.exchangeState(slot, word, ownedWord(TAKEN, worker))) return undefined;
    return this.#slots.batch(slot);
  }

  /** Moves on to the next slot, once the batch of this slot is TAKEN. */
  advance(): void {
    this.#words.store(NEXT, this.#slots.after(this.slot));
  }
}

/** Decides whose output is written next and, if the workers write, by which worker. */
class WriterRole {
  readonly #words: SharedWords;
  readonly #slots: Slots;
  readonly #waits: Waits;
  readonly #jumbo: JumboRegion;

  constructor(words: SharedWords, slots: Slots, waits: Waits, jumbo: JumboRegion) {
    this.#words = words;
    this.#slots = slots;
    this.#waits = waits;
    this.#jumbo = jumbo;
  }

  /** Makes the worker the writer if there is none; returns whether it became the writer. */
  become(worker: number): boolean {
    return this.#words.compareExchange(WRITER, 0, worker + 1) === 0;
  }

  /** The writer calls this to resign, and checks afterwards whether output has become due. */
  resign(): void {
    this.#words.store(WRITER, 0);
  }

  isHeldBy(worker: number): boolean {
    return this.#words.load(WRITER) === worker + 1;
  }

  /** The slot whose output is written next. */
  get turn(): number {
    return this.#words.load(TURN);
  }

  /** The slot whose output is written next, if it is JUDGED. */
  get due(): number | undefined {
    const slot = this.turn;
    return stateOf(this.#slots.state(slot)) === JUDGED ? slot : undefined;
  }

  /** Waits until it is the slot's turn; false if the run was stopped. */
  async awaitTurn(slot: number): Promise<boolean> {
    while (!this.#waits.stopped) {
      const bell = this.#slots.bell(slot);
      if (this.turn === slot) return true;
      await this.#waits.while(this.#slots.bellWord(slot), bell);
    }
    return false;
  }

  /** Lines of the input before the slot whose turn it is. */
  get linesBefore(): number {
    return this.#words.load64(slotWord64(this.turn, SLOT_LINES_BEFORE));
  }

  /** Call this before output of the slot is written. */
  beginWrite(slot: number): void {
    this.#words.store(slotWord(slot, SLOT_WRITE_BEGUN), 1);
  }

  /** Whether output of the slot's batch may have been written. */
  hasBegun(slot: number): boolean {
    return this.#words.load(slotWord(slot, SLOT_WRITE_BEGUN)) !== 0;
  }

  /** Passes on the turn of a written slot, and frees the slot and the jumbo region. */
  retire(slot: number): void {
    this.#jumbo.give(slot);
    const next = this.#slots.after(slot);
    const lines = this.linesBefore + this.#slots.lines(slot);
    this.#words.store64(slotWord64(next, SLOT_LINES_BEFORE), lines);
    this.#words.store(TURN, next);
    this.#slots.ringBell(next);
    this.#slots.setState(slot, FREE);
  }
}

/** A record that could not be judged; `reason` is one of the kernel's REASON_…. */
export interface ListedRecord {
  /** Number of the line in the input, from 1. */
  readonly line: number;
  readonly reason: number;
}

/** The first bad records of a run, over all its inputs. The writer enters them. */
class BadRecordList {
  readonly #words: SharedWords;
  readonly #writer: WriterRole;

  constructor(words: SharedWords, writer: WriterRole) {
    this.#words = words;
    this.#writer = writer;
  }

  /**
   * Lists the bad records of the slot whose turn it is; to be called once for each of its outputs.
   */
  list(slot: number): void {
    const count = this.#words.load(slotWord(slot, SLOT_BAD_COUNT));
    for (let index = 0; index < count; index++) {
      const listed = this.#words.load(BAD_COUNT);
      if (listed === MAX_BAD) return;
      const { line, reason } = this.#record(slot, index);
      const entry = badEntry(listed);
      this.#words.store64(entry.line, line);
      this.#words.store(entry.reason, reason);
      this.#words.store(BAD_COUNT, listed + 1);
    }
  }

  /** The bad record at which a strict run stops: the first of the slot whose turn it is. */
  strict(slot: number): ListedRecord {
    return this.#record(slot, 0);
  }

  /** The listed records from this index on. */
  from(first: number): ListedRecord[] {
    const records: ListedRecord[] = [];
    const count = this.#words.load(BAD_COUNT);
    for (let index = first; index < count; index++) {
      const entry = badEntry(index);
      records.push({
        line: this.#words.load64(entry.line),
        reason: this.#words.load(entry.reason),
      });
    }
    return records;
  }

  /** Replaces the contents of the list by these records. */
  restore(records: readonly ListedRecord[]): void {
    records.forEach(({ line, reason }, index) => {
      const entry = badEntry(index);
      this.#words.store64(entry.line, line);
      this.#words.store(entry.reason, reason);
    });
    this.#words.store(BAD_COUNT, records.length);
  }

  /** A bad record of the slot whose turn it is. */
  #record(slot: number, index: number): ListedRecord {
    const entry = slotBadEntry(slot, index);
    return {
      line: this.#writer.linesBefore + 1 + this.#words.load(entry.line),
      reason: this.#words.load(entry.reason),
    };
  }
}

/** The region for a line longer than a batch. One slot has it at a time. */
class JumboRegion {
  readonly #words: SharedWords;

  constructor(words: SharedWords) {
    this.#words = words;
  }

  /** Takes the region for a slot if the region is free; returns whether it was free. */
  take(slot: number): boolean {
    return this.#words.compareExchange(JUMBO, 0, slot + 1) === 0;
  }

  /** The value of JUMBO, to wait for; 0 if the region is free. */
  get word(): number {
    return this.#words.load(JUMBO);
  }

  /** Returns the region if the slot has it. */
  give(slot: number): void {
    if (this.#words.compareExchange(JUMBO, slot + 1, 0) === slot + 1) this.#words.notify(JUMBO);
  }
}
