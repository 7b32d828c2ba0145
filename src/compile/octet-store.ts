import { getRandomValues } from 'node:crypto';

const INITIAL_CHUNK_OCTETS = 1 << 12;
const MAX_CHUNK_OCTETS = 1 << 24;
const INITIAL_ITEMS = 64;

/**
 * Strings of octets, each distinct one once, known by a number from 0 in the order in which they came. They
 * lie in chunks that never move, each at a multiple of 4 in its memory: no object for any of them.
 *
 * The strings come from outside, so the hash is one that takes a key, drawn for each store: without it nobody can make strings that
 * collide. Nothing that is read out depends on it.
 */
export class OctetStore {
  /** How many distinct strings there are. */
  count = 0;
  /** Octets of all distinct strings. */
  octets = 0;

  readonly #key = getRandomValues(new Int32Array(2));
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
    const hash = hashOf(octets, this.#key[0] as number, this.#key[1] as number);
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

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein, 2012): an add, rotate and exclusive-or round for each word of four octets, three more at the
 * end. A hash that takes its seed at the start alone, as MurmurHash3 does, has collisions that hold for every seed.
 */
function hashOf(octets: Uint8Array, key0: number, key1: number): number {
  const { length } = octets;
  const whole = length & ~3;
  let v0 = key0;
  let v1 = key1;
  let v2 = key0 ^ 0x6c796765;
  let v3 = key1 ^ 0x74656462;
  // Behind the words of the string: what is left of it with its length, then three words of nothing.
  for (let at = 0; at <= whole + 12; at += 4) {
    let word = 0;
    if (at < whole) {
      word =
        (octets[at] as number) |
        ((octets[at + 1] as number) << 8) |
        ((octets[at + 2] as number) << 16) |
        ((octets[at + 3] as number) << 24);
    } else if (at === whole) {
      word = length << 24;
      for (let rest = at; rest < length; rest++) {
        word |= (octets[rest] as number) << (8 * (rest - at));
      }
    } else if (at === whole + 4) {
      v2 ^= 0xff;
    }
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return v1 ^ v3;
}
