/**
 * The ring through which the threads of a run pass batches of lines, in order. This file is the
 * only description of its words in shared memory, of who may change them, and when. The other files
 * of this directory access these words.
 *
 * Roles: the *producer* reads the input and fills slots with batches. A *consumer* takes a batch
 * and judges it. The *writer* writes the output of the slot whose turn it is.
 *
 * Every access to a word is atomic (SharedWords). Addresses are in bytes. `[lock]` marks words
 * that only the holder of the input lock may use, `[producer]` and `[writer]` words of that role.
 *
 * ## Control block, 256 bytes
 *
 *       0  i32  STOP         0 = run; STOP_TAKING = take no further batch; STOP_ALL = return as
 *                            soon as the current batch allows
 *       4  i32  LOCK         the input lock: 0 = free, 1 = held, 2 = held and waited for
 *       8  i32  NEXT         the slot whose batch is taken next                          [lock]
 *      12  i32  TURN         the slot whose output is written next                     [writer]
 *      16  i32  JUMBO        0, or 1 + the slot that has the region for a line longer than a batch
 *      20  i32  INPUT_ENDED  1 = the file has been read to its end                       [lock]
 *      24  i32  TRUNCATED    1 = the file became shorter while it was read               [lock]
 *      28  i32  SKIPPING     1 = the next batch begins in an overlong line           [producer]
 *      32  u32  CARRY        address of the bytes read after the last batch          [producer]
 *      36  u32  CARRY_BYTES  their number                                            [producer]
 *      40  i64  READ         offset of the next read; a pipe begins at 0             [producer]
 *      48  i64  BASE         bytes read of earlier inputs, minus the start of this one
 *      56  i32  FILL_SLOT    the slot that is filled next                            [producer]
 *      60  i32  PRODUCER     if consumers read a pipe: low 16 bits 0, or 1 + the worker that is
 *                            the producer; the higher bits change with each of its actions
 *      64  i32  WRITER       if consumers write: 0, or 1 + the worker that is the writer
 *      68  i32  BAD_COUNT    entries in the list of bad records                        [writer]
 *      72       BAD          MAX_BAD entries: i64 line from 1, i32 reason, i32 0 [writer]
 *
 * ## Slot header, 192 bytes, one for each slot, after the control block
 *
 *       0  i32  STATE         see below
 *       4  i32  BELL          changes when the slot's turn may have come, when the new state
 *                             concerns the writer, and when the producer leaves this slot
 *       8  i32  FLAGS         FLAG_…
 *      12  u32  INPUT         address of the batch, from when it is FILLED or TAKEN
 *      16  u32  INPUT_BYTES   its length
 *      20  u32  OUTPUT        address of the output that the kernel made and nobody wrote yet
 *      24  u32  OUTPUT_BYTES  its length
 *      28  i32  LINES         judged lines of the batch
 *      32  i64  START         offset of the batch in the input
 *      40  i64  LINES_BEFORE  lines of the input before the batch, from when its turn comes
 *      48  i32  WRITE_BEGUN   1 = a write of the batch's output has begun
 *      52  i32  BAD_COUNT     bad records in OUTPUT
 *      56       BAD           MAX_BAD entries: i32 line of the batch from 0, i32 reason
 *
 * ## Life of a slot
 *
 *     FREE ──▶ OPEN ───────────▶ TAKEN ──▶ JUDGED ──▶ FREE
 *                │  └─▶ FILLED ─▶ │ ▲
 *                ▼                ▼ │
 *              ENDED            YIELDED
 *
 *     state    belongs to    changes to
 *     FREE     the producer  OPEN without lines, once this slot is filled next
 *     OPEN     the producer  OPEN with more lines; without lines also FILLED or ENDED
 *              a consumer    with lines: TAKEN. A compare-and-exchange decides between the two
 *     FILLED   a consumer    TAKEN. The batch is one long line, or the beginning of an overlong one
 *     TAKEN    its worker    JUDGED; YIELDED: the output region is full or the line number is
 *                            needed, and the batch is not done; REFUSED
 *     YIELDED  the writer    TAKEN, once the output is written and the slot's turn has come
 *     JUDGED   the writer    FREE, once the output is written and the turn has passed on
 *     REFUSED  the writer    nothing: the run is strict, and the output ends before the first
 *                            entry of BAD
 *     ENDED    nobody        nothing: the input has ended
 *     FAILED   nobody        nothing: the worker of this batch has died. The main thread sets it
 *
 * The low 4 bits of STATE are the state. The higher bits hold the bytes of complete lines if the
 * state is OPEN, and the worker if the state is TAKEN, YIELDED or JUDGED.
 *
 * ## Who plays which role
 *
 * - Producer: for a stream the main thread. For a file the worker that holds the input lock, which
 *   then takes the slot itself. For a pipe a thread that does nothing else or, if consumers write,
 *   the worker that is the PRODUCER. A worker becomes the PRODUCER while it holds the input lock
 *   and finds nothing to take, and remains the PRODUCER until it has handed over a batch.
 * - Consumer: the worker that holds the input lock, for as long as it takes a batch.
 * - Writer: the main thread or, if consumers write, a worker. Once the slot of the TURN is JUDGED,
 *   the WRITER writes it; before that the slot's own worker writes. A worker that has JUDGED a
 *   batch tries to become the WRITER. If there is a WRITER already, the worker leaves the slot to
 *   that WRITER, so no worker waits for earlier batches.
 *
 * ## When a thread dies
 *
 * A thread of the pool that dies ends the run. Everything that the thread held stays held: no other
 * thread takes over. The main thread learns of the death after the thread's last action. It reacts
 * to what the thread held (src/pipeline/run.ts):
 *
 * - A slot that is TAKEN or YIELDED: the slot becomes FAILED, so that nothing more of its batch is
 *   written. All earlier slots have been TAKEN by then, and their workers need nothing from the
 *   dead worker. So the turn of the FAILED slot comes; then the run stops.
 * - The role of the WRITER: the run stops at once. All slots before the slot of the TURN are
 *   written; of that slot nothing is written unless WRITE_BEGUN.
 * - Neither: STOP becomes STOP_TAKING. TAKEN batches are judged and written. When all other workers
 *   have returned and the turn of slot NEXT has come, the run stops.
 *
 * ## Invariants
 *
 * 1. Slots are filled, taken and written in ring order, and one thread at a time plays each role.
 *    So the output is in order. A producer finds no FREE slot until the writer has freed a slot, so
 *    no thread runs ahead by more than the ring.
 * 2. No word returns to a value while a thread acts on that value. The one race is for an OPEN
 *    slot. Only its producer makes words OPEN, so if an exchange by the producer finds its own last
 *    word, it has lost no update. If not, the batch was taken with the bytes of that last word.
 *    Consumers hold the lock and look only at slot NEXT. All earlier batches have been taken, so an
 *    OPEN or FILLED there is not left over from an earlier round.
 * 3. A producer does not change input that a consumer may read: it appends after the bytes that the
 *    OPEN word names. CARRY points into the input region of the last batch. That region is not
 *    filled again before the carry has been moved, since the same role does both.
 * 4. Fields of a header are written before the STATE that hands them over, and read after it.
 * 5. No thread blocks on a word that it would have to change itself. The main thread, which may be
 *    producer and writer, waits in its event loop. Every wait names the value that was seen, and
 *    each change of a word is followed by a notification, so no wake-up is lost. Several threads
 *    may wait for one STATE; all are woken and look again. The writer waits for the BELL, not for
 *    the STATE, which changes with each read of a pipe. A consumer that lets lines gather waits for
 *    the BELL too. A consumer that may become the PRODUCER waits for that word. The word changes
 *    after every STATE that a producer sets, and when the producer resigns.
 * 6. Lines that have been read are offered before the producer waits for more input: the producer
 *    opens the next slot first.
 * 7. Waiting has no cycle. A producer waits for the writer of earlier slots (FREE, JUMBO), a
 *    consumer for the producer, the writer for the worker of its slot, and a worker that has
 *    YIELDED or waits for its TURN for the writer of earlier slots. The worker of the earliest slot
 *    that is not written waits for nothing but the output. No JUDGED slot is left over: the worker
 *    that JUDGED it looks for a WRITER afterwards, and a WRITER looks for such a slot after it has
 *    resigned. A PRODUCER holds no TAKEN slot and no input lock, so another worker can take the
 *    offered lines.
 * 8. STOP_ALL ends every wait, STOP_TAKING every wait for a batch. A thread that saw the old value
 *    just before may fall asleep after the wake-up. So the main thread repeats the wake-up until
 *    all threads have returned, and no thread sleeps for more than a second at a time.
 */

import { CONTROL_BYTES, SLOT_HEADER_BYTES } from './regions.js';

/** Address of a 32-bit field in a slot header, from the header's start. */
type SlotField = number & { readonly slotField: 32 };
/** Address of a 64-bit field in a slot header, likewise. */
type SlotField64 = number & { readonly slotField: 64 };

const word = (address: number): Word => address as Word;
const word64 = (address: number): Word64 => address as Word64;
const field = (address: number): SlotField => address as SlotField;
const field64 = (address: number): SlotField64 => address as SlotField64;

export const STOP = word(0);
export const LOCK = word(4);
export const NEXT = word(8);
export const TURN = word(12);
export const JUMBO = word(16);
export const INPUT_ENDED = word(20);
export const TRUNCATED = word(24);
export const SKIPPING = word(28);
export const CARRY = word(32);
export const CARRY_BYTES = word(36);
export const READ = word64(40);
export const BASE = word64(48);
export const FILL_SLOT = word(56);
export const PRODUCER = word(60);
export const WRITER = word(64);
export const BAD_COUNT = word(68);
const BAD = 72;
const BAD_BYTES = 16;

export const SLOT_STATE = field(0);
export const SLOT_BELL = field(4);
export const SLOT_FLAGS = field(8);
export const SLOT_INPUT = field(12);
export const SLOT_INPUT_BYTES = field(16);
export const SLOT_OUTPUT = field(20);
export const SLOT_OUTPUT_BYTES = field(24);
export const SLOT_LINES = field(28);
export const SLOT_START = field64(32);
export const SLOT_LINES_BEFORE = field64(40);
export const SLOT_WRITE_BEGUN = field(48);
export const SLOT_BAD_COUNT = field(52);
const SLOT_BAD = 56;
const SLOT_BAD_BYTES = 8;

/** Values of STOP. */
export const STOP_TAKING = 1;
export const STOP_ALL = 2;

/** The bits of PRODUCER that name the worker. */
export const PRODUCER_MASK = 0xffff;

/** The batch lies in the jumbo region. */
export const FLAG_JUMBO = 1;
/** The batch is the beginning of an overlong line. */
export const FLAG_OVERLONG = 2;

/** Address of a field of a slot's header. */
export function slotWord(slot: number, field: SlotField): Word {
  return word(header(slot) + field);
}

/** Address of a 64-bit field of a slot's header. */
export function slotWord64(slot: number, field: SlotField64): Word64 {
  return word64(header(slot) + field);
}

/** Addresses of an entry in the list of bad records. */
export function badEntry(index: number): { readonly line: Word64; readonly reason: Word } {
  const at = BAD + index * BAD_BYTES;
  return { line: word64(at), reason: word(at + 8) };
}

/** Addresses of an entry among a slot's bad records. */
export function slotBadEntry(
  slot: number,
  index: number,
): { readonly line: Word; readonly reason: Word } {
  const at = header(slot) + SLOT_BAD + index * SLOT_BAD_BYTES;
  return { line: word(at), reason: word(at + 4) };
}

function header(slot: number): number {
  return CONTROL_BYTES + slot * SLOT_HEADER_BYTES;
}

/** Address of a 32-bit word, in bytes from the start of the ring. */
export type Word = number & { readonly width: 32 };
/** Address of a 64-bit word, likewise. */
type Word64 = number & { readonly width: 64 };

/**
 * Words of memory that several threads use. Each access is atomic, so no access tears and none is
 * reordered.
 */
export class SharedWords {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #words64: BigInt64Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer, address: number, bytes: number) {
    this.#words = new Int32Array(memory, address, bytes / 4);
    this.#words64 = new BigInt64Array(memory, address, bytes / 8);
  }

  load(word: Word): number {
    return Atomics.load(this.#words, word / 4);
  }

  store(word: Word, value: number): void {
    Atomics.store(this.#words, word / 4, value);
  }

  load64(word: Word64): number {
    return Number(Atomics.load(this.#words64, word / 8));
  }

  store64(word: Word64, value: number): void {
    Atomics.store(this.#words64, word / 8, BigInt(value));
  }

  add(word: Word, value: number): void {
    Atomics.add(this.#words, word / 4, value);
  }

  and(word: Word, value: number): void {
    Atomics.and(this.#words, word / 4, value);
  }

  /** Returns the previous value. */
  exchange(word: Word, value: number): number {
    return Atomics.exchange(this.#words, word / 4, value);
  }

  /** Returns the previous value; if it differs from the expected value, the word is unchanged. */
  compareExchange(word: Word, expected: number, value: number): number {
    return Atomics.compareExchange(this.#words, word / 4, expected, value);
  }

  /** Wakes the threads that wait for the word. */
  notify(word: Word, count?: number): void {
    Atomics.notify(this.#words, word / 4, count);
  }

  /** Sleeps while the word has this value, for at most this many milliseconds. */
  wait(word: Word, value: number, milliseconds: number): void {
    Atomics.wait(this.#words, word / 4, value, milliseconds);
  }

  /** Waits in the event loop while the word has this value. */
  async waitAsync(word: Word, value: number): Promise<void> {
    const result = Atomics.waitAsync(this.#words, word / 4, value);
    if (result.async) await result.value;
  }

  /** Sets all words to 0. */
  clear(): void {
    this.#words.fill(0);
  }
}

// ---- The word STATE of a slot: the table at the top of this file says what each state means

export const FREE = 0;
export const OPEN = 1;
export const FILLED = 2;
export const TAKEN = 3;
export const FAILED = 4;
// This state and all later ones concern the writer.
export const YIELDED = 5;
export const JUDGED = 6;
export const REFUSED = 7;
export const ENDED = 8;

const STATE_BITS = 4;
const STATE_MASK = 2 ** STATE_BITS - 1;

/** Maximum bytes of a batch, so that an OPEN word can hold their number. */
export const MAX_BATCH_BYTES = 2 ** (31 - STATE_BITS) - 1;

export function stateOf(word: number): number {
  return word & STATE_MASK;
}

/** Whether the slot belongs to the writer, or has ENDED. */
export function concernsWriter(word: number): boolean {
  return stateOf(word) >= YIELDED;
}

export function openWord(bytes: number): number {
  return (bytes << STATE_BITS) | OPEN;
}

/** Bytes of complete lines in an OPEN slot. */
export function linesOf(word: number): number {
  return word >>> STATE_BITS;
}

/** The word of a slot that is TAKEN, YIELDED or JUDGED by a worker. */
export function ownedWord(state: number, worker: number): number {
  return (worker << STATE_BITS) | state;
}

/** The worker in the word of a slot that is TAKEN, YIELDED or JUDGED. */
export function ownerOf(word: number): number {
  return word >>> STATE_BITS;
}
