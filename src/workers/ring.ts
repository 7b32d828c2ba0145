/**
 * The ring: how the threads of a run pass batches of lines along, in order, with nothing but words of
 * shared memory. This file is the only description of these words and of who may change them when.
 *
 * ## Control block, 256 octets
 *
 *       0  i32  STOP        1 = everybody returns as soon as the batch in hand allows
 *       4  i32  LOCK        the input lock: 0 free; else bit 0 = waited for, above it 1 + the worker that holds it
 *       8  i32  NEXT        the ticket that the holder of the input lock takes next          [lock]
 *      12  i32  JUMBO       0, or 1 + the slot for which a line longer than a batch is in the jumbo region
 *      16  i32  ENDED       1 = the file has been read to its end                           [lock]
 *      20  i32  SKIPPING    1 = the next batch begins in a line that was too long     [lock or filler]
 *      24  u32  CARRY       address and octets of what was read behind the last batch [lock or filler]
 *      28  u32  CARRY_OCTETS
 *      32  i64  POSITION    where in a file the next batch begins; the carry begins there, too  [lock]
 *      40  i64  READ        where the input is read next; a pipe begins at 0          [lock or filler]
 *      48  i64  LINES       lines of this input before the batch whose turn it is           [turn]
 *      56  i32  BAD_COUNT   entries in the list of bad records                              [turn]
 *      60  i32  BAD_FIRST   entries of earlier inputs
 *      64       BAD         MAX_BAD_LISTED entries `i64 line from 1, i32 reason, i32 0`          [turn]
 *     224  i32  TURN        the ticket whose output is written next, where workers write themselves [turn]
 *     228  i32  FILLER      where workers read a pipe: low 16 bits 0, or 1 + the worker that fills; another value with all it does
 *     232  i64  BASE        octets read of earlier inputs, less where this one began
 *     240  i32  FILL_SLOT   the slot that is filled next                                 [filler]
 *     244  i32  WRITER      where workers write themselves: 0, or 1 + the worker that writes
 *
 * Batches have tickets, in the order of the input. They are counted modulo twice the slots: a ticket's slot
 * is the ticket modulo the slots, and the batch of a slot has another ticket than the next one there.
 *
 * ## Slot header, 192 octets, one for each slot, behind the control block
 *
 *       0  i32  STATE       see below
 *       4  i32  BELL        changes when it may have become this slot's turn, or the writer's
 *       8  i32  FLAGS       FLAG_…
 *      12  u32  INPUT, INPUT_OCTETS     the batch, from when it is FILLED or TAKEN
 *      20  u32  OUTPUT, OUTPUT_OCTETS   what the kernel has made of it and nobody has written yet
 *      28  i32  LINES       lines of the batch that are judged
 *      32  i32  TICKET      of the batch, from when it is TAKEN
 *      36  i32  KEPT        1 = the worker's counters as they were before the batch are kept beside its block
 *      40  i64  START       where in the input the batch begins
 *      48  i64  END         where in a file the next batch begins
 *      56  i64  WRITTEN     octets of the batch's output that are out
 *      64  i64  LINES_AFTER lines of this input up to the end of the batch, once it is all written
 *      72  i32  WRITING     1 = a write is under way: more than WRITTEN may be out
 *      76  i32  BAD_COUNT   bad records since the output was last taken, then MAX_BAD pairs (line of the batch, reason)
 *     160  i64  OUTPUT_AT   octets of the batch's output that come before OUTPUT
 *
 * ## Life of a slot
 *
 *     FREE ──▶ OPEN ───────────▶ TAKEN ──▶ JUDGED ──▶ (DELIVERED) ──▶ FREE
 *                │  └─▶ FILLED ─▶ │ ▲
 *                ▼                ▼ │
 *              ENDED            YIELDED
 *
 *     state     belongs to   and changes to
 *     FREE      the filler   OPEN without lines, when it is the filler's next slot
 *     OPEN      the filler   OPEN with more lines; without lines also FILLED or ENDED
 *               the taker    with lines: TAKEN. A compare-and-exchange decides between the two
 *     FILLED    the taker    TAKEN: a batch that is no number of whole lines
 *     TAKEN     its worker   JUDGED; YIELDED: output is ready, but the batch is not done; or REFUSED
 *     YIELDED   the writer   TAKEN, once the output is written; LINES of the control block then holds
 *                            the number of lines before this batch
 *     JUDGED    the writer   FREE, once the output is written; where workers write, DELIVERED before
 *     DELIVERED the writer   FREE: the output is written, what is left is to pass the turn on
 *     REFUSED   the writer   no more: the run is strict, the first bad record is in the list, and the output ends before it
 *     FAILED    the writer   no more: the batch has ended two threads, and the output ends before what is not written of it
 *     ENDED     nobody       until the run is over
 *
 * The low 4 bits of STATE are the state. An OPEN word holds the octets of complete lines above them; the words of TAKEN,
 * YIELDED and JUDGED hold their worker there, that of DELIVERED the worker that wrote.
 *
 * The filler is the main thread for a stream, and for a file the worker that holds the input lock, which then takes the slot
 * itself. For a pipe it is a thread that does nothing else; or, where workers write themselves, the worker that is the FILLER:
 * one becomes it that holds the input lock and finds nothing to take, and stays it until it has handed a batch over. The taker is the worker
 * that holds the input lock. The writer is the main thread; or, where workers write themselves, of a JUDGED slot whose ticket is the TURN the
 * worker that is the WRITER, and of a slot that is not JUDGED yet its own worker. Whoever has JUDGED a batch tries to become the WRITER
 * and leaves the slot to the one that there is, so that nobody waits for the batches before his own.
 *
 * ## When a worker dies
 *
 * It may throw or be ended between any two of its steps, and what it held stays held. The main thread, which hears of it
 * when the thread does nothing any more, repairs that (recovery.ts) and has another thread go on as the same worker.
 *
 * - A batch is taken by one word, TAKEN; what the fields under the lock are to be afterwards is in its header by then
 *   (END, FLAGS). Before that word nothing of the file is lost: POSITION is where it was, and the
 *   carry but a copy of what stands there. Behind it the fields are set again from the header.
 * - A batch is done by one word, JUDGED. Before it, the batch is judged again from its beginning: its input lies in
 *   the slot, which the kernel does not change; the counters are set back to what was KEPT; of the
 *   output, which is the same, the first WRITTEN octets are passed over; bad records are listed once,
 *   for their lines grow. Behind it, the output lies in the slot, and whoever is the WRITER next goes on behind WRITTEN: the
 *   thread that goes on for a dead WRITER begins with that.
 * - It is written by one word, DELIVERED. Behind it, what is left to do (LINES, JUMBO, TURN, FREE) can be done twice: TURN is passed on by one
 *   word, and what comes before it has the same effect again as long as TURN is the batch's.
 * - Nobody can say what came out of a write whose end was not noted. A worker that dies while WRITING ends the run.
 * - The thread that goes on may die, too, even before it runs: its task is bound to it (threads.ts), so that the main thread hears
 *   of that as of any other death. A successor that waited unheard for a thread would break invariant 7.
 * - The filler of a pipe may have octets that are nowhere else. Its death ends the run.
 *
 * ## Invariants
 *
 * 1. Slots are filled, taken and written in the order of the ring, each role by one thread at a time: the
 *    filler is one thread or holds the lock, takers hold the lock, the writer is one thread, or the WRITER where the slot of the turn
 *    is JUDGED and else its worker. Hence
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
 *    several waiters (filler, taker, a worker that has YIELDED); all are woken and look again. The writer waits for the
 *    BELL, which is rung behind every STATE that is its own or ENDED: not for the STATE, which changes with each read of a pipe.
 *    A taker that may become the FILLER waits for that word, which changes behind every STATE that a filler sets and when it resigns.
 * 6. Lines that have been read are on offer to the takers before the filler waits for more input: it opens the next
 *    slot first.
 * 7. Waiting is acyclic: a filler waits for the writer of earlier slots (FREE, JUMBO), a taker for the filler, a writer
 *    for the worker of its slot, a worker that has YIELDED or awaits its TURN for the writer of earlier slots. The worker
 *    of the earliest slot that is not written waits for nobody but the output. A slot that is JUDGED is not left behind: who
 *    made it so looks for a WRITER afterwards, and a WRITER looks for such a slot after it has resigned. A worker that is the FILLER holds no slot that is
 *    TAKEN, nor the input lock; so if there is another worker, what it has offered is taken while it waits for more input.
 * 8. STOP ends every wait. A thread that saw STOP = 0 just before may fall asleep after the wake-up; therefore
 *    the main thread repeats it until all have returned, and no thread sleeps for more than LONGEST_WAIT at a time.
 */

import { MAX_BAD, TASK_BAD, TASK_BAD_COUNT, TASK_LINES, WORKER_TALLY } from '../kernel/layout.js';
import {
  CONTROL_OCTETS,
  COUNTERS_OCTETS,
  counterRanges,
  type Regions,
  SLOT_HEADER_OCTETS,
} from './regions.js';

const STOP = 0;
const LOCK = 1;
const NEXT = 2;
export const JUMBO = 3;
const ENDED_INPUT = 4;
const SKIPPING = 5;
const CARRY = 6;
const CARRY_OCTETS = 7;
const POSITION = 4;
const READ = 5;
const LINES = 6;
const BAD_COUNT = 14;
const BAD_FIRST = 15;
const BAD = 16;
const BAD_WORDS = 4;
const TURN = 56;
const FILLER = 57;
const FILLER_MASK = 0xffff;
const BASE = 29;
const FILL_SLOT = 60;
const WRITER = 61;

const SLOT_STATE = 0;
const SLOT_BELL = 1;
const SLOT_FLAGS = 2;
const SLOT_INPUT = 3;
const SLOT_INPUT_OCTETS = 4;
const SLOT_OUTPUT = 5;
const SLOT_OUTPUT_OCTETS = 6;
const SLOT_LINES = 7;
const SLOT_TICKET = 8;
const SLOT_KEPT = 9;
/** These count in 8 octets, from the header. */
const SLOT_START = 5;
const SLOT_END = 6;
const SLOT_WRITTEN = 7;
const SLOT_LINES_AFTER = 8;
const SLOT_WRITING = 18;
const SLOT_BAD_COUNT = 19;
const SLOT_BAD = 20;
const SLOT_OUTPUT_AT = 20;

export const FREE = 0;
export const OPEN = 1;
export const FILLED = 2;
export const TAKEN = 3;
// From here on they concern the writer.
export const YIELDED = 4;
export const JUDGED = 5;
export const REFUSED = 6;
export const ENDED = 7;
export const FAILED = 8;
export const DELIVERED = 9;
const STATE_BITS = 4;
const STATE_MASK = 15;

/** The batch lies in the jumbo region. */
export const FLAG_JUMBO = 1;
/** The batch is the beginning of a line that is too long. */
export const FLAG_OVERLONG = 2;
/** The input continues in a line that was too long. */
const FLAG_SKIPPING_AFTER = 4;
/** The batch is the last of its file. */
const FLAG_LAST = 8;

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

/** What of a file comes behind a batch. */
export interface Rest {
  /** Where the next batch begins, in octets. */
  readonly position: number;
  /** It begins in a line that was too long. */
  readonly skipping: boolean;
  /** There is none. */
  readonly ended: boolean;
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
  /** Whether those who judge on this thread may block it: not on the main thread, where filler and writer are at work, too. */
  readonly mayBlock: boolean;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #counters: BigInt64Array<SharedArrayBuffer>;

  constructor(memory: WebAssembly.Memory, regions: Regions, slots: number, mayBlock = true) {
    const octets = CONTROL_OCTETS + regions.slots * SLOT_HEADER_OCTETS;
    this.memory = new Uint8Array(memory.buffer);
    this.regions = regions;
    this.slots = slots;
    this.mayBlock = mayBlock;
    this.#words = new Int32Array(memory.buffer, regions.control, octets / 4);
    this.#counters = new BigInt64Array(memory.buffer, regions.control, octets / 8);
  }

  // ---- A run's beginning and end

  /** Clears everything but what adds up over a flow's inputs; only while no other thread is at work. */
  reset(position: number): void {
    const consumed = this.consumed;
    const bad = this.#words.slice(BAD_COUNT, BAD + MAX_BAD_LISTED * BAD_WORDS);
    this.#words.fill(0);
    this.#words.set(bad, BAD_COUNT);
    this.#words[BAD_FIRST] = this.#word(BAD_COUNT);
    this.#setCounter(BASE, consumed - position);
    this.#setCounter(POSITION, position);
    this.#setCounter(READ, position);
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

  /** Waits, on the main thread, for a word of the slot that concerns the writer; undefined if the run was stopped. */
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

  after(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }

  /** Describes a slot's batch: to be followed by FILLED, or by OPEN and all zeros but for the start. */
  setInput(slot: number, address: number, octets: number, flags: number, start: number): void {
    const at = header(slot);
    this.#words[at + SLOT_INPUT] = address;
    this.#words[at + SLOT_INPUT_OCTETS] = octets;
    this.#words[at + SLOT_FLAGS] = flags;
    this.#setCounter(at / 2 + SLOT_START, start);
  }

  /** The batch of a slot. */
  batch(slot: number): Batch {
    const at = header(slot);
    return {
      slot,
      address: this.#word(at + SLOT_INPUT) >>> 0,
      octets: this.#word(at + SLOT_INPUT_OCTETS) >>> 0,
      flags: this.#word(at + SLOT_FLAGS) & (FLAG_JUMBO | FLAG_OVERLONG),
    };
  }

  /** Where in the input the slot's batch begins, in octets. */
  start(slot: number): number {
    return this.#counter(header(slot) / 2 + SLOT_START);
  }

  /** The octets that the kernel has written for the slot and nobody has yet written out. */
  output(slot: number): Uint8Array<SharedArrayBuffer> {
    const at = header(slot);
    const address = this.#word(at + SLOT_OUTPUT) >>> 0;
    const octets = this.#word(at + SLOT_OUTPUT_OCTETS) >>> 0;
    const out = this.written(slot) - this.#counter(at / 2 + SLOT_OUTPUT_AT);
    return this.memory.subarray(address + out, address + octets);
  }

  /**
   * Puts what the kernel has left in a task into the slot's header.
   *
   * @param before octets of the batch's output that come before this
   */
  setOutput(slot: number, task: Int32Array, address: number, octets: number, before: number): void {
    const at = header(slot);
    this.#setCounter(at / 2 + SLOT_OUTPUT_AT, before);
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
    return this.#word(NEXT) % this.slots;
  }

  /**
   * Takes the batch of the next slot, whose word was seen to be this; undefined if there is none, or it has changed.
   */
  takeBatch(word: number, worker: number): Batch | undefined {
    const state = stateOf(word);
    if (state !== FILLED && (state !== OPEN || linesOf(word) === 0)) return undefined;
    const slot = this.nextSlot;
    const at = header(slot);
    // The filler describes only batches of which it has offered nothing.
    if (state === OPEN) this.#words[at + SLOT_INPUT_OCTETS] = linesOf(word);
    this.#words[at + SLOT_TICKET] = this.#word(NEXT);
    this.#words[at + SLOT_KEPT] = 0;
    this.#words[at + SLOT_WRITING] = 0;
    this.#setCounter(at / 2 + SLOT_WRITTEN, 0);
    return this.exchangeState(slot, word, ownedWord(TAKEN, worker)) ? this.batch(slot) : undefined;
  }

  /** Whether the worker has taken the next ticket's batch, and `advance` was perhaps not called yet. */
  hasTakenNext(worker: number): boolean {
    const slot = this.nextSlot;
    return (
      this.loadState(slot) === ownedWord(TAKEN, worker) &&
      this.#word(header(slot) + SLOT_TICKET) === this.#word(NEXT)
    );
  }

  /** Goes on to the next ticket, when the one before is TAKEN. */
  advance(): void {
    Atomics.store(this.#words, NEXT, this.#ticketAfter(this.#word(NEXT)));
  }

  get ended(): boolean {
    return this.#word(ENDED_INPUT) !== 0;
  }

  /** Where in a file the next batch begins, in octets. */
  get position(): number {
    return this.#counter(POSITION);
  }

  /** Notes what comes behind the batch of a slot that is not TAKEN yet. */
  setRest(slot: number, { position, skipping, ended }: Rest): void {
    const at = header(slot);
    this.#setCounter(at / 2 + SLOT_END, position);
    const flags = (skipping ? FLAG_SKIPPING_AFTER : 0) | (ended ? FLAG_LAST : 0);
    this.#words[at + SLOT_FLAGS] = this.#word(at + SLOT_FLAGS) | flags;
  }

  /** Sets the fields of the input to what comes behind the batch of a slot that is TAKEN. */
  proceedBehind(slot: number): void {
    const at = header(slot);
    const flags = this.#word(at + SLOT_FLAGS);
    this.#setCounter(POSITION, this.#counter(at / 2 + SLOT_END));
    this.#words[SKIPPING] = (flags & FLAG_SKIPPING_AFTER) === 0 ? 0 : 1;
    this.#words[ENDED_INPUT] = (flags & FLAG_LAST) === 0 ? 0 : 1;
  }

  /** Has all that does not belong to a batch that was taken be read again from the file. */
  readAgain(): void {
    this.#words[CARRY_OCTETS] = 0;
    this.#setCounter(READ, this.position);
  }

  // ---- Fields of the holder of the input lock, or of the one filler

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

  /** Octets that were set aside. */
  get carryOctets(): number {
    return this.#word(CARRY_OCTETS) >>> 0;
  }

  /** Moves what was set aside to an address; returns its octets. */
  takeCarry(address: number): number {
    const from = this.#word(CARRY) >>> 0;
    const octets = this.carryOctets;
    if (octets > 0) this.memory.copyWithin(address, from, from + octets);
    this.#words[CARRY_OCTETS] = 0;
    return octets;
  }

  /** Where the input is read next, in octets. */
  get read(): number {
    return this.#counter(READ);
  }

  set read(position: number) {
    this.#setCounter(READ, position);
  }

  /** Octets of input read so far, over all inputs. */
  get consumed(): number {
    return this.#counter(BASE) + this.read;
  }

  /** Takes the jumbo region for a slot if it is free. */
  takeJumbo(slot: number): boolean {
    return Atomics.compareExchange(this.#words, JUMBO, 0, slot + 1) === 0;
  }

  /** The value of JUMBO, to wait while it has it. */
  get jumbo(): number {
    return Atomics.load(this.#words, JUMBO);
  }

  /** Gives the jumbo region back if it is the slot's. */
  giveJumbo(slot: number): void {
    if (Atomics.compareExchange(this.#words, JUMBO, slot + 1, 0) === slot + 1) {
      Atomics.notify(this.#words, JUMBO);
    }
  }

  /** The word that tells who is the filler, and another value after each thing that one has done: to be seen before a slot's. */
  get filler(): number {
    return Atomics.load(this.#words, FILLER);
  }

  /** Makes the worker, which holds the input lock, the filler, if there was none when the word was seen. */
  becomeFiller(seen: number, worker: number): boolean {
    if ((seen & FILLER_MASK) !== 0) return false;
    return Atomics.compareExchange(this.#words, FILLER, seen, seen | (worker + 1)) === seen;
  }

  /** Waits until the filler has done something since the word was seen, unless the run is stopped. */
  awaitFiller(seen: number): void {
    this.wait(FILLER, seen);
  }

  /** To be called by the filler when it has changed a slot's word, before it waits for anything. */
  tellOfFilling(): void {
    Atomics.add(this.#words, FILLER, FILLER_MASK + 1);
    Atomics.notify(this.#words, FILLER);
  }

  /** To be called by the filler when it has handed a batch over, or ENDED. */
  resignAsFiller(): void {
    Atomics.and(this.#words, FILLER, ~FILLER_MASK);
    this.tellOfFilling();
  }

  /** Whether a worker is the filler. */
  get filling(): boolean {
    return (this.filler & FILLER_MASK) !== 0;
  }

  /** Whether the worker is the filler. */
  isFiller(worker: number): boolean {
    return (this.filler & FILLER_MASK) === worker + 1;
  }

  /** The slot that the filler fills next. */
  get fillSlot(): number {
    return this.#word(FILL_SLOT);
  }

  /** Goes on to the slot behind the one that has been filled. */
  proceedFilling(): void {
    this.#words[FILL_SLOT] = this.after(this.fillSlot);
  }

  // ---- Fields of the worker of a slot

  /** Keeps the worker's counters as they are before the slot's batch. */
  keepCounters(slot: number, worker: number): void {
    const { block, kept, octets } = counterRanges(this.regions, worker);
    this.memory.copyWithin(kept, block, block + COUNTERS_OCTETS);
    this.memory.copyWithin(
      kept + COUNTERS_OCTETS,
      block + WORKER_TALLY,
      block + WORKER_TALLY + octets,
    );
    Atomics.store(this.#words, header(slot) + SLOT_KEPT, 1);
  }

  /** Sets the worker's counters back to what they were before the slot's batch, and the rest of its block to zeros. */
  restoreCounters(slot: number, worker: number): void {
    if (Atomics.load(this.#words, header(slot) + SLOT_KEPT) === 0) return;
    const { block, kept, octets } = counterRanges(this.regions, worker);
    this.memory.copyWithin(block, kept, kept + COUNTERS_OCTETS);
    this.memory.copyWithin(
      block + WORKER_TALLY,
      kept + COUNTERS_OCTETS,
      kept + COUNTERS_OCTETS + octets,
    );
    this.memory.fill(0, block + COUNTERS_OCTETS, block + WORKER_TALLY);
  }

  // ---- Fields of the writer

  /** Lines of this input before the slot whose turn it is. */
  get lines(): number {
    return this.#counter(LINES);
  }

  /** Octets of the output of the slot's batch that are out. */
  written(slot: number): number {
    return this.#counter(header(slot) / 2 + SLOT_WRITTEN);
  }

  /** To be called before octets of the slot's output are written; `endWrite` says how many were. */
  beginWrite(slot: number): void {
    Atomics.store(this.#words, header(slot) + SLOT_WRITING, 1);
  }

  endWrite(slot: number, octets: number): void {
    this.#setCounter(header(slot) / 2 + SLOT_WRITTEN, this.written(slot) + octets);
    Atomics.store(this.#words, header(slot) + SLOT_WRITING, 0);
  }

  isWriting(slot: number): boolean {
    return Atomics.load(this.#words, header(slot) + SLOT_WRITING) !== 0;
  }

  /** The next slot to be written, if it is JUDGED; where workers write themselves. */
  get due(): number | undefined {
    const slot = Atomics.load(this.#words, TURN) % this.slots;
    return stateOf(this.loadState(slot)) === JUDGED ? slot : undefined;
  }

  /** Makes the worker the writer if there is none; says whether. */
  becomeWriter(worker: number): boolean {
    return Atomics.compareExchange(this.#words, WRITER, 0, worker + 1) === 0;
  }

  /** To be called by the writer, which looks afterwards whether something has become due. */
  resignAsWriter(): void {
    Atomics.store(this.#words, WRITER, 0);
  }

  /** Whether the worker is the writer. */
  isWriter(worker: number): boolean {
    return Atomics.load(this.#words, WRITER) === worker + 1;
  }

  /** Whether the slot is the next to be written; where workers write themselves. */
  hasTurn(slot: number): boolean {
    return Atomics.load(this.#words, TURN) === this.#word(header(slot) + SLOT_TICKET);
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
   * Lists the slot's bad records, whose absolute lines are known now; to be called when its output is written. A
   * batch that is judged again finds its records listed.
   */
  listBadRecords(slot: number): void {
    const at = header(slot);
    const before = this.lines;
    const count = this.#word(at + SLOT_BAD_COUNT);
    for (let i = 0; i < count; i++) {
      const listed = this.#word(BAD_COUNT);
      if (listed === MAX_BAD_LISTED) return;
      const entry = BAD + listed * BAD_WORDS;
      const line = before + 1 + this.#word(at + SLOT_BAD + 2 * i);
      const last = listed > this.#word(BAD_FIRST) ? this.#counter((entry - BAD_WORDS) / 2) : 0;
      if (line <= last) continue;
      this.#setCounter(entry / 2, line);
      this.#words[entry + 2] = this.#word(at + SLOT_BAD + 2 * i + 1);
      Atomics.store(this.#words, BAD_COUNT, listed + 1);
    }
  }

  /** Counts a slot's lines; to be called when all of it is written, and before it is DELIVERED where workers write themselves. */
  countLines(slot: number): void {
    const at = header(slot);
    this.#setCounter(at / 2 + SLOT_LINES_AFTER, this.lines + this.#word(at + SLOT_LINES));
  }

  /** Has the lines of a slot count, and gives back the jumbo region if it had it. */
  settle(slot: number): void {
    this.#setCounter(LINES, this.#counter(header(slot) / 2 + SLOT_LINES_AFTER));
    this.giveJumbo(slot);
  }

  /** Passes on the turn of a slot that is DELIVERED, and has it be FREE. To be done once, or again where that was broken off. */
  retire(slot: number): void {
    if (this.hasTurn(slot)) {
      this.settle(slot);
      const ticket = this.#word(header(slot) + SLOT_TICKET);
      Atomics.store(this.#words, TURN, this.#ticketAfter(ticket));
    }
    this.#ringBell(this.after(slot));
    this.setState(slot, FREE);
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

  #word(index: number): number {
    return this.#words[index] ?? 0;
  }

  #counter(index: number): number {
    return Number(this.#counters[index] ?? 0n);
  }

  #setCounter(index: number, value: number): void {
    this.#counters[index] = BigInt(value);
  }
}

/** The word at which a slot's header starts. */
function header(slot: number): number {
  return (CONTROL_OCTETS + slot * SLOT_HEADER_OCTETS) / 4;
}

/** The word to wait on for a slot's turn. */
function bellWord(slot: number): number {
  return header(slot) + SLOT_BELL;
}

export function stateOf(word: number): number {
  return word & STATE_MASK;
}

/** Whether the slot is the writer's, or ENDED. */
function concernsWriter(word: number): boolean {
  return stateOf(word) >= YIELDED;
}

/** Octets of complete lines in an OPEN slot. */
export function linesOf(word: number): number {
  return word >>> STATE_BITS;
}

export function openWord(octets: number): number {
  return (octets << STATE_BITS) | OPEN;
}

/** The worker in the word of a slot that is TAKEN, YIELDED or JUDGED. */
export function ownerOf(word: number): number {
  return word >>> STATE_BITS;
}

/** The word of a slot that is TAKEN, YIELDED or JUDGED by a worker. */
export function ownedWord(state: number, worker: number): number {
  return (worker << STATE_BITS) | state;
}
