const INITIAL_CHUNK_OCTETS = 1 << 12;
const MAX_CHUNK_OCTETS = 1 << 24;
const INITIAL_ITEMS = 64;

/**
 * Strings of octets, each distinct one once, known by a number from 0 in the order in which they came. They
 * lie in chunks that never move, each at a multiple of 4 in its memory: no object for any of them.
 *
 * The hash starts from a number drawn for each store, as the strings come from outside. Nothing that is
 * read out depends on it.
 */
export class OctetStore {
  /** How many distinct strings there are. */
  count = 0;
  /** Octets of all distinct strings. */
  octets = 0;

  readonly #seed = Math.floor(Math.random() * 0x1_0000_0000) | 0;
  readonly #chunks: Uint8Array[] = [];
  #free = 0;
  #chunk = new Uint32Array(INITIAL_ITEMS);
  #start = new Uint32Array(INITIAL_ITEMS);
  #length = new Uint32Array(INITIAL_ITEMS);
  #hash = new Int32Array(INITIAL_ITEMS);
  /** Open addressing with linear probing: numbers plus one; 0 is free. At most half are used. */
  #slots = new Uint32Array(2 * INITIAL_ITEMS);

  /** The number of the string, which is copied if it is new. */
  add(octets: Uint8Array): number {
    const hash = hashOf(octets, this.#seed);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const item = (this.#slots[slot] as number) - 1;
      if (item < 0) break;
      if (this.#hash[item] === hash && this.#equals(item, octets)) return item;
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = this.#keep(octets, hash) + 1;
    if (2 * this.count > this.#slots.length) this.#rehash();
    return this.count - 1;
  }

  length(item: number): number {
    return this.#length[item] as number;
  }

  /** A view of the string. */
  get(item: number): Uint8Array {
    const start = this.#start[item] as number;
    return this.#chunkOf(item).subarray(start, start + (this.#length[item] as number));
  }

  /** Order of two strings by octets, the shorter first. */
  compare(a: number, b: number): number {
    const chunkA = this.#chunkOf(a);
    const chunkB = this.#chunkOf(b);
    const startA = this.#start[a] as number;
    const startB = this.#start[b] as number;
    const lengthA = this.#length[a] as number;
    const lengthB = this.#length[b] as number;
    const length = Math.min(lengthA, lengthB);
    for (let at = 0; at < length; at++) {
      const difference = (chunkA[startA + at] as number) - (chunkB[startB + at] as number);
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }

  #chunkOf(item: number): Uint8Array {
    return this.#chunks[this.#chunk[item] as number] as Uint8Array;
  }

  #equals(item: number, octets: Uint8Array): boolean {
    const { length } = octets;
    if (this.#length[item] !== length) return false;
    const chunk = this.#chunkOf(item);
    const start = this.#start[item] as number;
    for (let at = 0; at < length; at++) if (chunk[start + at] !== octets[at]) return false;
    return true;
  }

  #keep(octets: Uint8Array, hash: number): number {
    const { length } = octets;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || this.#free + length > chunk.length) {
      const doubled = chunk === undefined ? INITIAL_CHUNK_OCTETS : 2 * chunk.length;
      chunk = new Uint8Array(Math.max(length, Math.min(doubled, MAX_CHUNK_OCTETS)));
      this.#chunks.push(chunk);
      this.#free = 0;
    }
    const item = this.count++;
    if (item === this.#start.length) this.#grow();
    chunk.set(octets, this.#free);
    this.#chunk[item] = this.#chunks.length - 1;
    this.#start[item] = this.#free;
    this.#length[item] = length;
    this.#hash[item] = hash;
    this.#free = (this.#free + length + 3) & ~3;
    this.octets += length;
    return item;
  }

  #grow(): void {
    const capacity = 2 * this.#start.length;
    this.#chunk = grown(this.#chunk, new Uint32Array(capacity));
    this.#start = grown(this.#start, new Uint32Array(capacity));
    this.#length = grown(this.#length, new Uint32Array(capacity));
    this.#hash = grown(this.#hash, new Int32Array(capacity));
  }

  #rehash(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let item = 0; item < this.count; item++) {
      let slot = (this.#hash[item] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = item + 1;
    }
    this.#slots = slots;
  }
}

function grown<Numbers extends Uint32Array | Int32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}

/** MurmurHash3, 32 bits, its last word filled up with zeros. */
function hashOf(octets: Uint8Array, seed: number): number {
  const { length } = octets;
  const whole = length & ~3;
  let hash = seed;
  let at = 0;
  for (; at < whole; at += 4) {
    hash = stir(
      hash,
      (octets[at] as number) |
        ((octets[at + 1] as number) << 8) |
        ((octets[at + 2] as number) << 16) |
        ((octets[at + 3] as number) << 24),
    );
  }
  let word = 0;
  for (let shift = 0; at < length; at++, shift += 8) word |= (octets[at] as number) << shift;
  hash = stir(hash, word) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function stir(hash: number, word: number): number {
  let scrambled = Math.imul(word, 0xcc9e2d51);
  scrambled = Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  const mixed = hash ^ scrambled;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}
