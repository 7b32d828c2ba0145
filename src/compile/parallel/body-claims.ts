import { DIGEST_BYTES } from '../intern/digest.js';

/**
 * Maximum number of claimed bodies. Further bodies are compiled by every thread that meets them.
 */
const CAPACITY = 1 << 20;
const SLOTS = 2 * CAPACITY;

/** Maximum number of slots that a claim probes, because bodies can be made to collide. */
const MAX_PROBES = 64;

/** States of a slot, other than the number of its digest plus one. */
const FREE = 0;
const BEING_WRITTEN = -1;

/** Maximum number of reads of a slot that is being written. Writing a slot takes less time. */
const MAX_READS = 10_000;

/**
 * Records which bodies of robots.txt some thread already compiles, so that no other thread compiles
 * them. A missed claim only costs time. Bodies are distinguished by their whole digests.
 *
 * The shared memory holds the number of digests, SLOTS slots in open addressing, then the digests
 * in order of arrival.
 */
export class BodyClaims {
  /** Pass this memory to the BodyClaims of other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #digests: Buffer;

  constructor(memory = new SharedArrayBuffer(4 * (1 + SLOTS) + DIGEST_BYTES * CAPACITY)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, 1 + SLOTS);
    this.#digests = Buffer.from(memory, 4 * (1 + SLOTS));
  }

  /** Claims a SHA-256 digest; returns true for the first caller, which then compiles the body. */
  claim(digest: Buffer): boolean {
    const words = this.#words;
    let slot = digest.readUInt32LE(0) % SLOTS;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      let state = Atomics.compareExchange(words, 1 + slot, FREE, BEING_WRITTEN);
      if (state === FREE) {
        const number = Atomics.add(words, 0, 1);
        if (number >= CAPACITY) {
          Atomics.store(words, 0, CAPACITY);
          Atomics.store(words, 1 + slot, FREE);
          return true;
        }
        this.#digests.set(digest, DIGEST_BYTES * number);
        Atomics.store(words, 1 + slot, number + 1);
        return true;
      }
      for (let look = 0; state === BEING_WRITTEN; look++) {
        if (look === MAX_READS) return true;
        state = Atomics.load(words, 1 + slot);
      }
      if (state === FREE) return true; // the other thread has found no room
      const start = DIGEST_BYTES * (state - 1);
      if (this.#digests.compare(digest, 0, DIGEST_BYTES, start, start + DIGEST_BYTES) === 0) {
        return false;
      }
      slot = (slot + 1) % SLOTS;
    }
    return true;
  }
}
