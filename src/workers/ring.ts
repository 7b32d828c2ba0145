/**
 * The ring: how the threads of a run pass batches of lines along, in order, with nothing but words of
 * shared memory. This file is the only description of these words and of who may change them when.
 *
 * ## Control block, 256 octets
 *
 *       0  i32  STOP        1 = everybody returns as soon as the batch in hand allows
 *       4  i32  LOCK        the input lock: 0 free, 1 held, 2 held and waited for
 *       8  i32  NEXT        the slot that the holder of the input lock takes next            [lock]
 *      12  i32  JUMBO       1 = a line longer than a batch is in the jumbo region
 *      16  i32  ENDED       1 = the file has been read to its end                           [lock]
 *      20  i32  SKIPPING    1 = the input continues in a line that was too long       [lock or filler]
 *      24  u32  CARRY       address and octets of what was read behind the last batch [lock or filler]
 *      28  u32  CARRY_OCTETS
 *      32  i64  POSITION    where the file is read next                                     [lock]
 *      40  i64  CONSUMED    octets of input read so far, over all inputs              [lock or filler]
 *      48  i64  LINES       lines of this input before the batch whose turn it is           [turn]
 *      56  i32  BAD_COUNT   entries in the list of bad records                              [turn]
 *      64       BAD         MAX_BAD_LISTED entries `i64 line from 1, i32 reason, i32 0`          [turn]
 *
 * ## Slot header, 128 octets, one for each slot, behind the control block
 *
 *       0  i32  STATE       see below
 *       4  i32  TURN        1 = it is this slot's turn to be written, where workers write themselves
 *       8  i32  FLAGS       FLAG_…
 *      12  u32  INPUT, INPUT_OCTETS     the batch, where the state is FILLED; else it is the OPEN word's
 *      20  u32  OUTPUT, OUTPUT_OCTETS   what the kernel has made of it
 *      28  i32  LINES       lines of the batch that are judged
 *      32  i32  BAD_COUNT   bad records since the output was last taken, then MAX_BAD pairs (line of the batch, reason)
 *
 * ## Life of a slot
 *
 *     FREE ──▶ OPEN ───────────▶ TAKEN ──▶ JUDGED ──▶ FREE
 *                │  └─▶ FILLED ─▶ │ ▲
 *                ▼                ▼ │
 *              ENDED            YIELDED
 *
 *     state     belongs to   and changes to
 *     FREE      the filler   OPEN without lines, when it is the filler's next slot
 *     OPEN      the filler   OPEN with more lines; without lines also FILLED or ENDED
 *               the taker    with lines: TAKEN. A compare-and-exchange decides between the two
 *     FILLED    the taker    TAKEN: a batch that is no number of whole lines, described in the header
 *     TAKEN     its worker   JUDGED; YIELDED: output is ready, but the batch is not done; or REFUSED
 *     YIELDED   the writer   TAKEN, once the output is written; LINES of the control block then holds
 *                            the number of lines before this batch
 *     JUDGED    the writer   FREE
 *     REFUSED   the writer   no more: the run is strict, the first bad record is in the list, and the output ends before it
 *     ENDED     nobody       until the run is over
 *
 * The low 3 bits of STATE are the state. An OPEN word holds the octets of complete lines above them.
 *
 * The filler is the thread that reads a pipe, the main thread for a stream, and for a file the worker
 * that holds the input lock, which then takes the slot itself. The taker is the worker that holds the
 * input lock. The writer is the main thread, or the worker whose slot has its TURN.
 *
 * ## Invariants
 *
 * 1. Slots are filled, taken and written in the order of the ring, each role by one thread at a time: the
 *    filler is one thread or holds the lock, takers hold the lock, the writer is one thread or has the turn. Hence
 *    the output is in order, and the ring is all that a fast thread can run ahead by: a filler finds no
 *    FREE slot until the writer has written one (backpressure).
 * 2. No word returns to a value while somebody acts upon that value. The one race is for an OPEN slot: only its
 *    filler makes words OPEN, so an exchange by the filler that finds its own last word has lost no update, and one that
 *    does not find it means: taken, with the octets of that last word. Takers are serialised by the lock and look
 *    only at slot NEXT, of which all earlier batches have been taken: its OPEN or FILLED can be no older one.
 * 3. What a taker may read of the input, a filler no longer changes: it appends behind the octets that the
 *    word names. CARRY points into the input it was read to, which is not filled again before the carry has been
 *    taken over: the same role does both, one after the other.
 * 4. Fields of a header are written before the STATE that hands them over and read behind it; `Atomics`
 *    orders both.
 * 5. Nobody blocks on a word that the same thread would have to change (the main thread, which may be filler and writer,
 *    awaits them in its event loop), and every wait names the value that was
 *    seen: whoever changes a word notifies it afterwards, so no wake-up is lost. A slot's STATE may have
 *    several waiters (filler, taker, writer); all are woken and look again.
 * 6. Lines that have been read are on offer to the takers before the filler waits for more input: it opens the next
 *    slot first.
 * 7. Waiting is acyclic: a filler waits for the writer of earlier slots (FREE, JUMBO), a taker for the filler, a writer
 *    for the worker of its slot, a worker that has YIELDED or awaits its TURN for the writer of earlier slots. The worker
 *    of the earliest slot that is not written waits for nobody but the output.
 * 8. STOP ends every wait. A thread that saw STOP = 0 just before may fall asleep after the wake-up; therefore
 *    the main thread repeats it until all have returned, and no thread sleeps for more than LONGEST_WAIT at a time.
 */

import { MAX_BAD, TASK_BAD, TASK_BAD_COUNT, TASK_LINES } from '../kernel/layout.js';
import { CONTROL_OCTETS, type Regions, SLOT_HEADER_OCTETS } from './regions.js';

const STOP = 0;
export const LOCK = 1;
const NEXT = 2;
export const JUMBO = 3;
const ENDED_INPUT = 4;
const SKIPPING = 5;
const CARRY = 6;
const CARRY_OCTETS = 7;
const POSITION = 4;
const CONSUMED = 5;
const LINES = 6;
const BAD_COUNT = 14;
const BAD = 16;
const BAD_WORDS = 4;

const SLOT_STATE = 0;
const SLOT_TURN = 1;
const SLOT_FLAGS = 2;
const SLOT_INPUT = 3;
const SLOT_INPUT_OCTETS = 4;
const SLOT_OUTPUT = 5;
const SLOT_OUTPUT_OCTETS = 6;
const SLOT_LINES = 7;
const SLOT_BAD_COUNT = 8;
const SLOT_BAD = 9;

export const FREE = 0;
export const OPEN = 1;
export const FILLED = 2;
export const TAKEN = 3;
export const YIELDED = 4;
export const JUDGED = 5;
export const REFUSED = 6;
export const ENDED = 7;
const STATE_BITS = 3;
const STATE_MASK = 7;

/** The batch lies in the jumbo region. */
export const FLAG_JUMBO = 1;
/** The batch is the beginning of a line that is too long. */
export const FLAG_OVERLONG = 2;

/** Bad records of a run that are listed; the rest is only counted. */
export const MAX_BAD_LISTED = 10;

/** Milliseconds after which a waiting thread looks for itself whether it still should. */
const LONGEST_WAIT = 1000;

/** Octets that a batch may have: they stand in an OPEN word. */
export const MAX_BATCH_OCTETS = 2 ** (31 - STATE_BITS) - 1;

/** A batch that has been taken. */
export interface Batch {
  readonly slot: number;
  readonly address: number;
  readonly octets: number;
  /** FLAG_… */
  readonly flags: number;
}

/** A record that could not be judged; `reason` is one of the kernel's REASON_…. */
export interface ListedRecord {
  /** From 1. */
  readonly line: number;
  readonly reason: number;
}

/** One thread's view of the ring. */
export class Ring {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  readonly regions: Regions;
  /** Slots that this run uses. */
  readonly slots: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #counters: BigInt64Array<SharedArrayBuffer>;

  constructor(memory: WebAssembly.Memory, regions: Regions, slots: number) {
    const octets = CONTROL_OCTETS + regions.slots * SLOT_HEADER_OCTETS;
    this.memory = new Uint8Array(memory.buffer);
    this.regions = regions;
    this.slots = slots;
    this.#words = new Int32Array(memory.buffer, regions.control, octets / 4);
    this.#counters = new BigInt64Array(memory.buffer, regions.control, CONTROL_OCTETS / 8);
  }

  // ---- A run's beginning and end

  /** Clears everything but what adds up over a flow's inputs; only while no other thread is at work. */
  reset(position: number): void {
    const consumed = this.consumed;
    const bad = this.#words.slice(BAD_COUNT, BAD + MAX_BAD_LISTED * BAD_WORDS);
    this.#words.fill(0);
    this.#words.set(bad, BAD_COUNT);
    this.consumed = consumed;
    this.position = position;
    this.#words[header(0) + SLOT_TURN] = 1;
  }

  get stopped(): boolean {
    return Atomics.load(this.#words, STOP) !== 0;
  }

  /** Has everybody return. To be repeated until they have: see invariant 8. */
  stop(): void {
    Atomics.store(this.#words, STOP, 1);
    Atomics.notify(this.#words, STOP);
    Atomics.notify(this.#words, LOCK);
    Atomics.notify(this.#words, JUMBO);
    for (let slot = 0; slot < this.slots; slot++) {
      Atomics.notify(this.#words, header(slot) + SLOT_STATE);
      Atomics.notify(this.#words, header(slot) + SLOT_TURN);
    }
  }

  // ---- Waiting

  /**
   * Sleeps while the word has this value, unless the run is stopped. Returns early at times: the caller looks again.
   */
  wait(word: number, value: number): void {
    if (!this.stopped) Atomics.wait(this.#words, word, value, LONGEST_WAIT);
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

  /** Takes the input lock; false if the run was stopped meanwhile. */
  lock(): boolean {
    let seen = Atomics.compareExchange(this.#words, LOCK, 0, 1);
    while (seen !== 0) {
      if (this.stopped) return false;
      if (seen === 2 || Atomics.compareExchange(this.#words, LOCK, 1, 2) !== 0) {
        this.wait(LOCK, 2);
      }
      // Whoever has waited takes it as waited for, since others may still wait.
      seen = Atomics.compareExchange(this.#words, LOCK, 0, 2);
    }
    return true;
  }

  unlock(): void {
    if (Atomics.exchange(this.#words, LOCK, 0) === 2) Atomics.notify(this.#words, LOCK, 1);
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

  setState(slot: number, state: number): void {
    Atomics.store(this.#words, header(slot) + SLOT_STATE, state);
    Atomics.notify(this.#words, header(slot) + SLOT_STATE);
  }

  /** Changes a slot's word unless it is another than expected; says whether. */
  exchangeState(slot: number, expected: number, word: number): boolean {
    const state = header(slot) + SLOT_STATE;
    if (Atomics.compareExchange(this.#words, state, expected, word) !== expected) return false;
    Atomics.notify(this.#words, state);
    return true;
  }

  after(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }

  /** Describes a slot's batch: to be followed by FILLED, or by OPEN and all zeros. */
  setInput(slot: number, address: number, octets: number, flags: number): void {
    const at = header(slot);
    this.#words[at + SLOT_INPUT] = address;
    this.#words[at + SLOT_INPUT_OCTETS] = octets;
    this.#words[at + SLOT_FLAGS] = flags;
  }

  /** Takes the batch of a slot whose word was seen to be this; undefined if there is none, or it has changed. */
  takeBatch(slot: number, word: number): Batch | undefined {
    const state = stateOf(word);
    if (state !== FILLED && (state !== OPEN || linesOf(word) === 0)) return undefined;
    if (!this.exchangeState(slot, word, TAKEN)) return undefined;
    if (state === OPEN) {
      const { inputs, inputStride } = this.regions;
      return { slot, address: inputs + slot * inputStride, octets: linesOf(word), flags: 0 };
    }
    const at = header(slot);
    return {
      slot,
      address: this.#word(at + SLOT_INPUT) >>> 0,
      octets: this.#word(at + SLOT_INPUT_OCTETS) >>> 0,
      flags: this.#word(at + SLOT_FLAGS),
    };
  }

  /** The octets that the kernel has written for the slot and nobody has yet written out. */
  output(slot: number): Uint8Array<SharedArrayBuffer> {
    const address = this.#word(header(slot) + SLOT_OUTPUT) >>> 0;
    const octets = this.#word(header(slot) + SLOT_OUTPUT_OCTETS) >>> 0;
    return this.memory.subarray(address, address + octets);
  }

  /** Puts what the kernel has left in a task into the slot's header. */
  setOutput(slot: number, task: Int32Array, address: number, octets: number): void {
    const at = header(slot);
    this.#words[at + SLOT_OUTPUT] = address;
    this.#words[at + SLOT_OUTPUT_OCTETS] = octets;
    this.#words[at + SLOT_LINES] = task[TASK_LINES / 4] ?? 0;
    const bad = Math.min(task[TASK_BAD_COUNT / 4] ?? 0, MAX_BAD);
    this.#words[at + SLOT_BAD_COUNT] = bad;
    this.#words.set(task.subarray(TASK_BAD / 4, TASK_BAD / 4 + 2 * bad), at + SLOT_BAD);
  }

  // ---- Fields of the holder of the input lock, or of the one filler

  get next(): number {
    return this.#word(NEXT);
  }

  set next(slot: number) {
    this.#words[NEXT] = slot;
  }

  get ended(): boolean {
    return this.#word(ENDED_INPUT) !== 0;
  }

  set ended(ended: boolean) {
    this.#words[ENDED_INPUT] = ended ? 1 : 0;
  }

  get skipping(): boolean {
    return this.#word(SKIPPING) !== 0;
  }

  set skipping(skipping: boolean) {
    this.#words[SKIPPING] = skipping ? 1 : 0;
  }

  /** Sets aside what was read behind a batch, where it lies. */
  setCarry(address: number, octets: number): void {
    this.#words[CARRY] = address;
    this.#words[CARRY_OCTETS] = octets;
  }

  /** Moves what was set aside to an address; returns its octets. */
  takeCarry(address: number): number {
    const from = this.#word(CARRY) >>> 0;
    const octets = this.#word(CARRY_OCTETS) >>> 0;
    if (octets > 0) this.memory.copyWithin(address, from, from + octets);
    this.#words[CARRY_OCTETS] = 0;
    return octets;
  }

  get position(): number {
    return this.#counter(POSITION);
  }

  set position(position: number) {
    this.#counters[POSITION] = BigInt(position);
  }

  get consumed(): number {
    return this.#counter(CONSUMED);
  }

  set consumed(octets: number) {
    this.#counters[CONSUMED] = BigInt(octets);
  }

  /** Takes the jumbo region if it is free. */
  takeJumbo(): boolean {
    return Atomics.compareExchange(this.#words, JUMBO, 0, 1) === 0;
  }

  // ---- Fields of the writer

  /** Lines of this input before the slot whose turn it is. */
  get lines(): number {
    return this.#counter(LINES);
  }

  /** Waits until the slot is the next to be written; false if the run was stopped. */
  awaitTurn(slot: number): boolean {
    const word = header(slot) + SLOT_TURN;
    while (Atomics.load(this.#words, word) === 0) {
      if (this.stopped) return false;
      this.wait(word, 0);
    }
    return !this.stopped;
  }

  /** Gives the turn to the slot behind this one. */
  passTurn(slot: number): void {
    Atomics.store(this.#words, header(slot) + SLOT_TURN, 0);
    const word = header(this.after(slot)) + SLOT_TURN;
    Atomics.store(this.#words, word, 1);
    Atomics.notify(this.#words, word);
  }

  /** Lists the slot's bad records, whose absolute lines are known now; to be called when its output is written. */
  listBadRecords(slot: number): void {
    const at = header(slot);
    const before = this.lines;
    const count = this.#word(at + SLOT_BAD_COUNT);
    for (let i = 0; i < count; i++) {
      const listed = this.#word(BAD_COUNT);
      if (listed === MAX_BAD_LISTED) return;
      const entry = BAD + listed * BAD_WORDS;
      const line = before + 1 + this.#word(at + SLOT_BAD + 2 * i);
      this.#counters[entry / 2] = BigInt(line);
      this.#words[entry + 2] = this.#word(at + SLOT_BAD + 2 * i + 1);
      Atomics.store(this.#words, BAD_COUNT, listed + 1);
    }
  }

  /** Counts a slot's lines and gives back the jumbo region if it had it; to be called when all of it is written. */
  settle(slot: number): void {
    this.#counters[LINES] = BigInt(this.lines + this.#word(header(slot) + SLOT_LINES));
    if ((this.#word(header(slot) + SLOT_FLAGS) & FLAG_JUMBO) !== 0) {
      Atomics.store(this.#words, JUMBO, 0);
      Atomics.notify(this.#words, JUMBO);
    }
  }

  /** The bad record at which a strict run stops: the first of the slot whose turn it is. */
  strictRecord(slot: number): ListedRecord {
    const at = header(slot) + SLOT_BAD;
    return { line: this.lines + 1 + this.#word(at), reason: this.#word(at + 1) };
  }

  /** Bad records that have been listed, from the given one on. */
  badRecords(from: number): ListedRecord[] {
    const records: ListedRecord[] = [];
    const count = Atomics.load(this.#words, BAD_COUNT);
    for (let i = from; i < count; i++) {
      const entry = BAD + i * BAD_WORDS;
      records.push({ line: this.#counter(entry / 2), reason: this.#word(entry + 2) });
    }
    return records;
  }

  #word(index: number): number {
    return this.#words[index] ?? 0;
  }

  #counter(index: number): number {
    return Number(this.#counters[index] ?? 0n);
  }
}

/** The word at which a slot's header starts. */
function header(slot: number): number {
  return (CONTROL_OCTETS + slot * SLOT_HEADER_OCTETS) / 4;
}

export function stateOf(word: number): number {
  return word & STATE_MASK;
}

/** Octets of complete lines in an OPEN slot. */
export function linesOf(word: number): number {
  return word >>> STATE_BITS;
}

export function openWord(octets: number): number {
  return (octets << STATE_BITS) | OPEN;
}
