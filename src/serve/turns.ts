/** Words of the turns. */
const LOCK = 0;
const REQUESTS = 1;
const ANSWERS = 2;
const ENDED = 3;
const WORDS = 4;

const FREE = 0;
const TAKEN = 1;

/**
 * The order of requests and answers among threads. One thread at a time reads a request; answers
 * are written in the order of the requests. A thread that waits to write holds no lock, and the
 * thread whose turn it is waits for nobody: so some thread always goes on.
 */
export class Turns {
  /** Shared by all threads. */
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(buffer = new SharedArrayBuffer(4 * WORDS)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  /**
   * Reads a request while no other thread does.
   *
   * @param read returns undefined at the end of the input; after that, and after an error, no
   *   thread reads
   * @returns the request and its number, for `answer`; undefined at the end
   */
  request<Request>(
    read: () => Request | undefined,
  ): { readonly request: Request; readonly number: number } | undefined {
    const words = this.#words;
    while (Atomics.compareExchange(words, LOCK, FREE, TAKEN) !== FREE) {
      Atomics.wait(words, LOCK, TAKEN);
    }
    try {
      if (Atomics.load(words, ENDED) !== 0) return undefined;
      // Set until the request is whole: after an error nothing is read, either.
      Atomics.store(words, ENDED, 1);
      const request = read();
      if (request === undefined) return undefined;
      Atomics.store(words, ENDED, 0);
      return { request, number: Atomics.add(words, REQUESTS, 1) };
    } finally {
      Atomics.store(words, LOCK, FREE);
      Atomics.notify(words, LOCK, 1);
    }
  }

  /** Writes the answer to a request when all earlier ones have been written. */
  answer(number: number, write: () => void): void {
    const words = this.#words;
    for (;;) {
      const next = Atomics.load(words, ANSWERS);
      if (next === number) break;
      Atomics.wait(words, ANSWERS, next);
    }
    write();
    // Both counters wrap around at 2^32 alike.
    Atomics.add(words, ANSWERS, 1);
    Atomics.notify(words, ANSWERS);
  }
}
