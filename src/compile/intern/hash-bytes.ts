import { getRandomValues } from 'node:crypto';

/** From this length on, strings are hashed by words instead of bytes. */
const LONG = 64;

const NO_WORDS = new Int32Array(0);

/**
 * Two random words. Strings come from outside: without the key nobody can choose strings that
 * collide.
 */
export type HashKey = Int32Array;

/** Draws a key at random. */
export function drawKey(): HashKey {
  return getRandomValues(new Int32Array(2));
}

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein, 2012): one round for each word of four bytes, and three
 * rounds at the end. MurmurHash3, which is seeded only at the start, would have collisions that
 * hold for every seed.
 */
export function hashBytes(bytes: Uint8Array, key: HashKey): number {
  const { length } = bytes;
  const whole = length & ~3;
  const aligned = length >= LONG && (bytes.byteOffset & 3) === 0;
  const words = aligned ? new Int32Array(bytes.buffer, bytes.byteOffset, whole >> 2) : NO_WORDS;
  let v0 = key[0] as number;
  let v1 = key[1] as number;
  let v2 = v0 ^ 0x6c796765;
  let v3 = v1 ^ 0x74656462;
  // After the whole words come the remaining bytes with the length, then three zero words.
  for (let at = 0; at <= whole + 12; at += 4) {
    let word = 0;
    if (at < whole) {
      word = aligned
        ? (words[at >> 2] as number)
        : (bytes[at] as number) |
          ((bytes[at + 1] as number) << 8) |
          ((bytes[at + 2] as number) << 16) |
          ((bytes[at + 3] as number) << 24);
    } else if (at === whole) {
      word = length << 24;
      for (let rest = at; rest < length; rest++) {
        word |= (bytes[rest] as number) << (8 * (rest - at));
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
