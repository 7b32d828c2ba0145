/**
 * Through this memory the main thread watches the thread that runs a target: words of 32 bits, then
 * the input at hand. The thread that runs writes, the other only reads; a word of runs that stays
 * the same for long is a hang.
 */
const RUNS = 0;
const LENGTH = 1;
const HEADER_OCTETS = 8;

const WATCHED_OCTETS = 65_536;

export class Watch {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #input: Uint8Array;

  constructor(buffer = new SharedArrayBuffer(HEADER_OCTETS + WATCHED_OCTETS)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer, 0, HEADER_OCTETS / 4);
    this.#input = new Uint8Array(buffer, HEADER_OCTETS);
  }

  /** Says that this input is run now. */
  begin(input: Uint8Array): void {
    this.#input.set(input.subarray(0, WATCHED_OCTETS));
    Atomics.store(this.#words, LENGTH, input.length);
    Atomics.add(this.#words, RUNS, 1);
  }

  /** Runs so far, modulo 2^32. */
  get runs(): number {
    return Atomics.load(this.#words, RUNS);
  }

  /** The input that is run now, or was the last. */
  get input(): Uint8Array {
    return this.#input.slice(0, Atomics.load(this.#words, LENGTH));
  }
}
