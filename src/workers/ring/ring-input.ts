import { BASE, CARRY, CARRY_BYTES, INPUT_ENDED, READ, SKIPPING, TRUNCATED } from './ring-words.js';
import type { SharedWords } from './shared-words.js';

/** The progress of a run in its input. Only the producer changes it. */
export class RingInput {
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
