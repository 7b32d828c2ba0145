/**
 * The ring: how the threads of a run pass batches of lines along, in order, with nothing but words
 * of shared memory. This file is the only description of these words and of who may change them
 * when; ring.ts, and what it is made of, acts upon them.
 *
 * ## Control block, 256 octets
 *
 *       0  i32  STOP        1 = everybody returns as soon as the batch in hand allows
 *       4  i32  LOCK        the input lock: 0 free; else bit 0 = waited for, above it 1 + the
 *                           worker that holds it
 *       8  i32  NEXT        the ticket that the holder of the input lock takes next          [lock]
 *      12  i32  JUMBO       0, or 1 + the slot for which a line longer than a batch is in the jumbo
 *                           region
 *      16  i32  ENDED       1 = the file has been read to its end                           [lock]
 *      20  i32  SKIPPING    1 = the next batch begins in a line that was too long [lock or filler]
 *      24  u32  CARRY       address and octets of what was read behind the last batch [lock or
 *                           filler]
 *      28  u32  CARRY_OCTETS
 *      32  i64  POSITION    where in a file the next batch begins; the carry begins there, too
 *                           [lock]
 *      40  i64  READ        where the input is read next; a pipe begins at 0 [lock or filler]
 *      48  i64  LINES       lines of this input before the batch whose turn it is           [turn]
 *      56  i32  BAD_COUNT   entries in the list of bad records                              [turn]
 *      60  i32  BAD_FIRST   entries of earlier inputs
 *      64       BAD         MAX_BAD_LISTED entries `i64 line from 1, i32 reason, i32 0` [turn]
 *     224  i32  TURN        the ticket whose output is written next, where workers write themselves
 *                           [turn]
 *     228  i32  FILLER      where workers read a pipe: low 16 bits 0, or 1 + the worker that fills;
 *                           another value with all it does
 *     232  i64  BASE        octets read of earlier inputs, less where this one began
 *     240  i32  FILL_SLOT   the slot that is filled next [filler; a taker reads it behind the BELL]
 *     244  i32  WRITER      where workers write themselves: 0, or 1 + the worker that writes
 *     248  i32  TRUNCATED   1 = the file became shorter while it was read [lock]
 *
 * Batches have tickets, in the order of the input. They are counted modulo twice the slots: a
 * ticket's slot is the ticket modulo the slots, and the batch of a slot has another ticket than the
 * next one there.
 *
 * ## Slot header, 192 octets, one for each slot, behind the control block
 *
 *       0  i32  STATE       see below
 *       4  i32  BELL        changes when it may have become this slot's turn, or the writer's, or
 *                           its filler has gone on behind it
 *       8  i32  FLAGS       FLAG_…
 *      12  u32  INPUT, INPUT_OCTETS     the batch, from when it is FILLED or TAKEN
 *      20  u32  OUTPUT, OUTPUT_OCTETS   what the kernel has made of it and nobody has written yet
 *      28  i32  LINES       lines of the batch that are judged
 *      32  i32  TICKET      of the batch, from when it is TAKEN
 *      36  i32  KEPT        1 = the worker's counters as they were before the batch are kept beside
 *                           its block
 *      40  i64  START       where in the input the batch begins
 *      48  i64  END         where in a file the next batch begins
 *      56  i64  WRITTEN     octets of the batch's output that are out
 *      64  i64  LINES_AFTER lines of this input up to the end of the batch, once it is all written
 *      72  i32  WRITING     1 = a write is under way: more than WRITTEN may be out
 *      76  i32  BAD_COUNT   bad records since the output was last taken, then MAX_BAD pairs (line
 *                           of the batch, reason)
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
 *     TAKEN     its worker   JUDGED; YIELDED: output is ready, but the batch is not done; or
 *                            REFUSED
 *     YIELDED   the writer   TAKEN, once the output is written; LINES of the control block then
 *                            holds the number of lines before this batch
 *     JUDGED    the writer   FREE, once the output is written; where workers write, DELIVERED
 *                            before
 *     DELIVERED the writer   FREE: the output is written, what is left is to pass the turn on
 *     REFUSED   the writer   no more: the run is strict, the first bad record is in the list, and
 *                            the output ends before it
 *     FAILED    the writer   no more: the batch has ended two threads, and the output ends before
 *                            what is not written of it
 *     ENDED     nobody       until the run is over
 *
 * The low 4 bits of STATE are the state. An OPEN word holds the octets of complete lines above
 * them; the words of TAKEN, YIELDED and JUDGED hold their worker there, that of DELIVERED the
 * worker that wrote.
 *
 * The filler is the main thread for a stream, and for a file the worker that holds the input lock,
 * which then takes the slot itself. For a pipe it is a thread that does nothing else; or, where
 * workers write themselves, the worker that is the FILLER: one becomes it that holds the input lock
 * and finds nothing to take, and stays it until it has handed a batch over. The taker is the worker
 * that holds the input lock. The writer is the main thread; or, where workers write themselves, of
 * a JUDGED slot whose ticket is the TURN the worker that is the WRITER, and of a slot that is not
 * JUDGED yet its own worker. Whoever has JUDGED a batch tries to become the WRITER and leaves the
 * slot to the one that there is, so that nobody waits for the batches before his own.
 *
 * ## When a worker dies
 *
 * It may throw or be ended between any two of its steps, and what it held stays held. The main
 * thread, which hears of it when the thread does nothing any more, repairs that (recovery.ts) and
 * has another thread go on as the same worker.
 *
 * - A batch is taken by one word, TAKEN; what the fields under the lock are to be afterwards is in
 *   its header by then (END, FLAGS). Before that word nothing of the file is lost: POSITION is
 *   where it was, and the carry but a copy of what stands there. Behind it the fields are set again
 *   from the header.
 * - A batch is done by one word, JUDGED. Before it, the batch is judged again from its beginning:
 *   its input lies in the slot, which the kernel does not change; the counters are set back to what
 *   was KEPT; of the output, which is the same, the first WRITTEN octets are passed over; bad
 *   records are listed once, for their lines grow. Behind it, the output lies in the slot, and
 *   whoever is the WRITER next goes on behind WRITTEN: the thread that goes on for a dead WRITER
 *   begins with that.
 * - The WRITER has no batch that is TAKEN: a thread that goes on with a batch begins with that, and
 *   not with what is due. Else it could die as the WRITER and end the run at its own batch
 *   (FAILED), and nobody would write what comes before that.
 * - It is written by one word, DELIVERED. Behind it, what is left to do (LINES, JUMBO, TURN, FREE)
 *   can be done twice: TURN is passed on by one word, and what comes before it has the same effect
 *   again as long as TURN is the batch's.
 * - Nobody can say what came out of a write whose end was not noted. A worker that dies while
 *   WRITING ends the run.
 * - The thread that goes on may die, too, even before it runs: its task is bound to it
 *   (threads.ts), so that the main thread hears of that as of any other death. A successor that
 *   waited unheard for a thread would break invariant 7.
 * - The filler of a pipe may have octets that are nowhere else. Its death ends the run.
 *
 * ## Invariants
 *
 * 1. Slots are filled, taken and written in the order of the ring, each role by one thread at a
 *   time: the
 *    filler is one thread or holds the lock, takers hold the lock, the writer is one thread, or the
 *    WRITER where the slot of the turn is JUDGED and else its worker. Hence the output is in order,
 *    and the ring is all that a fast thread can run ahead by: a filler finds no FREE slot until the
 *    writer has written one (backpressure).
 * 2. No word returns to a value while somebody acts upon that value. The one race is for an OPEN
 *   slot: only its
 *    filler makes words OPEN, so an exchange by the filler that finds its own last word has lost no
 *    update, and one that does not find it means: taken, with the octets of that last word. Takers
 *    are serialised by the lock and look only at slot NEXT, of which all earlier batches have been
 *    taken: its OPEN or FILLED can be no older one.
 * 3. What a taker may read of the input, a filler no longer changes: it appends behind the octets
 *   that the
 *    word names. CARRY points into the input it was read to, which is not filled again before the
 *    carry has been taken over: the same role does both, one after the other.
 * 4. Fields of a header are written before the STATE that hands them over and read behind it;
 *   `Atomics`
 *    orders both.
 * 5. Nobody blocks on a word that the same thread would have to change (the main thread, which may
 *   be filler and writer,
 *    awaits them in its event loop), and every wait names the value that was
 *    seen: whoever changes a word notifies it afterwards, so no wake-up is lost. A slot's STATE may
 *    have several waiters (filler, taker, a worker that has YIELDED); all are woken and look again.
 *    The writer waits for the BELL, which is rung behind every STATE that is its own or ENDED: not
 *    for the STATE, which changes with each read of a pipe. A taker that lets lines gather in its
 *    slot waits there too, for less than a millisecond: the filler rings when FILL_SLOT is another.
 *    A taker that may become the FILLER waits for that word, which changes behind every STATE that
 *    a filler sets and when it resigns.
 * 6. Lines that have been read are on offer to the takers before the filler waits for more input:
 *   it opens the next
 *    slot first.
 * 7. Waiting is acyclic: a filler waits for the writer of earlier slots (FREE, JUMBO), a taker for
 *   the filler, a writer
 *    for the worker of its slot, a worker that has YIELDED or awaits its TURN for the writer of
 *    earlier slots. The worker of the earliest slot that is not written waits for nobody but the
 *    output. A slot that is JUDGED is not left behind: who made it so looks for a WRITER
 *    afterwards, and a WRITER looks for such a slot after it has resigned. A worker that is the
 *    FILLER holds no slot that is TAKEN, nor the input lock; so if there is another worker, what it
 *    has offered is taken while it waits for more input.
 * 8. STOP ends every wait. A thread that saw STOP = 0 just before may fall asleep after the
 *   wake-up; therefore
 *    the main thread repeats it until all have returned, and no thread sleeps for more than a
 *    second at a time.
 */

import { CONTROL_OCTETS, SLOT_HEADER_OCTETS } from './regions.js';

export const STOP = 0;
export const LOCK = 1;
export const NEXT = 2;
export const JUMBO = 3;
export const ENDED_INPUT = 4;
export const SKIPPING = 5;
export const CARRY = 6;
export const CARRY_OCTETS = 7;
export const POSITION = 4;
export const READ = 5;
export const LINES = 6;
export const BAD_COUNT = 14;
export const BAD_FIRST = 15;
export const BAD = 16;
export const BAD_WORDS = 4;
export const TURN = 56;
export const FILLER = 57;
export const FILLER_MASK = 0xffff;
export const BASE = 29;
export const FILL_SLOT = 60;
export const WRITER = 61;
export const TRUNCATED = 62;

export const SLOT_STATE = 0;
export const SLOT_BELL = 1;
export const SLOT_FLAGS = 2;
export const SLOT_INPUT = 3;
export const SLOT_INPUT_OCTETS = 4;
export const SLOT_OUTPUT = 5;
export const SLOT_OUTPUT_OCTETS = 6;
export const SLOT_LINES = 7;
export const SLOT_TICKET = 8;
export const SLOT_KEPT = 9;
/** These count in 8 octets, from the header. */
export const SLOT_START = 5;
export const SLOT_END = 6;
export const SLOT_WRITTEN = 7;
export const SLOT_LINES_AFTER = 8;
export const SLOT_WRITING = 18;
export const SLOT_BAD_COUNT = 19;
export const SLOT_BAD = 20;
export const SLOT_OUTPUT_AT = 20;

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
export const STATE_BITS = 4;
export const STATE_MASK = 15;

/** The batch lies in the jumbo region. */
export const FLAG_JUMBO = 1;
/** The batch is the beginning of a line that is too long. */
export const FLAG_OVERLONG = 2;
/** The input continues in a line that was too long. */
export const FLAG_SKIPPING_AFTER = 4;
/** The batch is the last of its file. */
export const FLAG_LAST = 8;

/** Bad records of a run that are listed; the rest is only counted. */
export const MAX_BAD_LISTED = 10;

/** Octets that a batch may have: they stand in an OPEN word. */
export const MAX_BATCH_OCTETS = 2 ** (31 - STATE_BITS) - 1;

/**
 * The words of a ring, by their numbers from the control block on: plain reads and writes, for who
 * is alone with them.
 */
export class RingWords {
  readonly all: Int32Array<SharedArrayBuffer>;
  readonly #counters: BigInt64Array<SharedArrayBuffer>;

  /** @param control address of the control block */
  constructor(memory: SharedArrayBuffer, control: number, slots: number) {
    const octets = CONTROL_OCTETS + slots * SLOT_HEADER_OCTETS;
    this.all = new Int32Array(memory, control, octets / 4);
    this.#counters = new BigInt64Array(memory, control, octets / 8);
  }

  get(word: number): number {
    return this.all[word] ?? 0;
  }

  set(word: number, value: number): void {
    this.all[word] = value;
  }

  /** A counter of 8 octets; these are numbered by themselves. */
  counter(index: number): number {
    return Number(this.#counters[index] ?? 0n);
  }

  setCounter(index: number, value: number): void {
    this.#counters[index] = BigInt(value);
  }
}

/** The word at which a slot's header starts. */
export function header(slot: number): number {
  return (CONTROL_OCTETS + slot * SLOT_HEADER_OCTETS) / 4;
}

/** The word to wait on for a slot's turn. */
export function bellWord(slot: number): number {
  return header(slot) + SLOT_BELL;
}

export function stateOf(word: number): number {
  return word & STATE_MASK;
}

/** Whether the slot is the writer's, or ENDED. */
export function concernsWriter(word: number): boolean {
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
