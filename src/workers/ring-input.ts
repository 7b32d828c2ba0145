import {
  BASE,
  CARRY,
  CARRY_OCTETS,
  ENDED_INPUT,
  FLAG_LAST,
  FLAG_SKIPPING_AFTER,
  header,
  POSITION,
  READ,
  type RingWords,
  SKIPPING,
  SLOT_END,
  SLOT_FLAGS,
  TRUNCATED,
} from './ring-words.js';

/** What of a file comes behind a batch. */
export interface Rest {
  /** Where the next batch begins, in octets. */
  readonly position: number;
  /** It begins in a line that was too long. */
  readonly skipping: boolean;
  /** There is none. */
  readonly ended: boolean;
}

/**
 * How far a run has read its input: words of the holder of the input lock, or of the one filler.
 */
export class RingInput {
  readonly #words: RingWords;
  readonly #memory: Uint8Array;

  constructor(words: RingWords, memory: Uint8Array) {
    this.#words = words;
    this.#memory = memory;
  }

  /** Begins a further input at an octet of it; all other words are zero. */
  begin(position: number, consumed: number): void {
    this.#words.setCounter(BASE, consumed - position);
    this.#words.setCounter(POSITION, position);
    this.#words.setCounter(READ, position);
  }

  get ended(): boolean {
    return this.#words.get(ENDED_INPUT) !== 0;
  }

  /** Whether the file has been found truncated: what was read before that is its end then. */
  get truncated(): boolean {
    return this.#words.get(TRUNCATED) !== 0;
  }

  set truncated(truncated: boolean) {
    this.#words.set(TRUNCATED, truncated ? 1 : 0);
  }

  /** Where in a file the next batch begins, in octets. */
  get position(): number {
    return this.#words.counter(POSITION);
  }

  /** Notes what comes behind the batch of a slot that is not TAKEN yet. */
  setRest(slot: number, { position, skipping, ended }: Rest): void {
    const at = header(slot);
    this.#words.setCounter(at / 2 + SLOT_END, position);
    const flags = (skipping ? FLAG_SKIPPING_AFTER : 0) | (ended ? FLAG_LAST : 0);
    this.#words.set(at + SLOT_FLAGS, this.#words.get(at + SLOT_FLAGS) | flags);
  }

  /** Goes on to what comes behind the batch of a slot that is TAKEN. */
  proceedBehind(slot: number): void {
    const at = header(slot);
    const flags = this.#words.get(at + SLOT_FLAGS);
    this.#words.setCounter(POSITION, this.#words.counter(at / 2 + SLOT_END));
    this.#words.set(SKIPPING, (flags & FLAG_SKIPPING_AFTER) === 0 ? 0 : 1);
    this.#words.set(ENDED_INPUT, (flags & FLAG_LAST) === 0 ? 0 : 1);
  }

  /** Has all that does not belong to a batch that was taken be read again from the file. */
  readAgain(): void {
    this.#words.set(CARRY_OCTETS, 0);
    this.read = this.position;
  }

  /** Whether the next batch begins in a line that was too long. */
  get skipping(): boolean {
    return this.#words.get(SKIPPING) !== 0;
  }

  set skipping(skipping: boolean) {
    this.#words.set(SKIPPING, skipping ? 1 : 0);
  }

  /** Sets aside what was read behind a batch, where it lies. */
  setCarry(address: number, octets: number): void {
    this.#words.set(CARRY, address);
    this.#words.set(CARRY_OCTETS, octets);
  }

  /** Octets that were set aside. */
  get carryOctets(): number {
    return this.#words.get(CARRY_OCTETS) >>> 0;
  }

  /** Moves what was set aside to an address; returns its octets. */
  takeCarry(address: number): number {
    const from = this.#words.get(CARRY) >>> 0;
    const octets = this.carryOctets;
    if (octets > 0) this.#memory.copyWithin(address, from, from + octets);
    this.#words.set(CARRY_OCTETS, 0);
    return octets;
  }

  /** Where the input is read next, in octets. */
  get read(): number {
    return this.#words.counter(READ);
  }

  set read(position: number) {
    this.#words.setCounter(READ, position);
  }

  /** Octets of input read so far, over all inputs. */
  get consumed(): number {
    return this.#words.counter(BASE) + this.read;
  }
}
