import type { JumboRegion } from './jumbo-region.js';
import {
  SLOT_LINES_BEFORE,
  SLOT_WRITE_BEGUN,
  slotWord,
  slotWord64,
  TURN,
  WRITER,
} from './ring-words.js';
import type { SharedWords } from './shared-words.js';
import { FREE, JUDGED, stateOf } from './slot-state.js';
import type { Slots } from './slots.js';
import type { Waits } from './waits.js';

/** Decides whose output is written next and, if the workers write, by which worker. */
export class WriterRole {
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
