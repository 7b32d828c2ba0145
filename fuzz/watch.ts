/**
 * The memory through which the main thread watches the thread that runs a target: words of 32 bits,
 * then the current input. The running thread writes, the other thread only reads; a count of runs
 * that does not change for long is a hang.
 */
const RUNS = 0;
const LENGTH = 1;
const HEADER_BYTES = 8;

const WATCHED_BYTES = 65_536;

export class Watch {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #input: Uint8Array;

  constructor(buffer = new SharedArrayBuffer(HEADER_BYTES + WATCHED_BYTES)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer, 0, HEADER_BYTES / 4);
    this.#input = new Uint8Array(buffer, HEADER_BYTES);
  }

  /** Notes the input that is run now. */
  begin(input: Uint8Array): void {
    this.#input.set(input.subarray(0, WATCHED_BYTES));
    Atomics.store(this.#words, LENGTH, input.length);
    Atomics.add(this.#words, RUNS, 1);
  }

  /** Runs so far, modulo 2^32. */
  get runs(): number {
    return Atomics.load(this.#words, RUNS);
  }

  /** The current input, or the last. */
  get input(): Uint8Array {
    return this.#input.slice(0, Atomics.load(this.#words, LENGTH));
  }
}
