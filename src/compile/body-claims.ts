/** Octets of a SHA-256 digest. */
export const DIGEST_OCTETS = 32;

/**
 * Bodies that can be claimed, and slots to find them by. What is beyond is compiled by every thread
 * that meets it.
 */
const CAPACITY = 1 << 20;
const SLOTS = 2 * CAPACITY;

/** So many slots are looked at: bodies can be made to want the same. */
const MAX_PROBES = 64;

/** States of a slot besides the number of its digest plus one. */
const FREE = 0;
const BEING_WRITTEN = -1;

/**
 * How often a slot that is being written is looked at again, which takes longer than to write one.
 */
const PATIENCE = 10_000;

/**
 * Which bodies of robots.txt are compiled by some thread already, so that no two compile the same
 * one. A claim that is missed costs time and nothing else; bodies are told from one another by
 * their whole digests.
 *
 * One shared memory: the number of digests, SLOTS slots in open addressing, then the digests in the
 * order in which they came.
 */
export class BodyClaims {
  /** For the BodyClaims of other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #digests: Buffer;

  constructor(memory = new SharedArrayBuffer(4 * (1 + SLOTS) + DIGEST_OCTETS * CAPACITY)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, 1 + SLOTS);
    this.#digests = Buffer.from(memory, 4 * (1 + SLOTS));
  }

  /**
   * Whether the caller is the first to ask for a body of this SHA-256 digest, and so has to compile
   * it.
   */
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
        this.#digests.set(digest, DIGEST_OCTETS * number);
        Atomics.store(words, 1 + slot, number + 1);
        return true;
      }
      for (let look = 0; state === BEING_WRITTEN; look++) {
        if (look === PATIENCE) return true;
        state = Atomics.load(words, 1 + slot);
      }
      if (state === FREE) return true; // who was about to write had no room left
      const start = DIGEST_OCTETS * (state - 1);
      if (this.#digests.compare(digest, 0, DIGEST_OCTETS, start, start + DIGEST_OCTETS) === 0) {
        return false;
      }
      slot = (slot + 1) % SLOTS;
    }
    return true;
  }
}
