import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { TABLE_ADDRESS } from '../../src/judge/table-memory.js';
import { Checksum, checksum } from '../../src/kernel/hashes.js';
import { createMemory } from '../../src/kernel/kernel.js';
import { HEADER_CHECKSUM, HEADER_VERSION, VERSION } from '../../src/table/format.js';
import { Random } from '../random/random.js';

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const LANES = 32;
const BLOCK = 128;
/** Bytes that the kernel gets at a time. */
const PIECE = 1 << 14;

const WORD = 1n << 32n;
const times = (a: number, b: number): number => Number((BigInt(a) * BigInt(b)) % WORD);

/** The definition, a word at a time and with exact numbers. */
function expected(table: Uint8Array): number {
  const padded = new Uint8Array(Math.ceil(table.length / BLOCK) * BLOCK);
  padded.set(table);
  padded.fill(0, HEADER_CHECKSUM, HEADER_CHECKSUM + 4);
  const view = new DataView(padded.buffer);
  const round = (lane: number, word: number): number => {
    const sum = (lane + times(word, PRIME_2)) % 2 ** 32;
    return times(((sum << 13) | (sum >>> 19)) >>> 0, PRIME_1);
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => times(lane + 1, PRIME_1));
  for (let word = 0; word < padded.length / 4; word++) {
    const lane = word % LANES;
    lanes[lane] = round(lanes[lane] as number, view.getUint32(4 * word, true));
  }
  let last = lanes.reduce(round, table.length);
  last = times((last ^ (last >>> 15)) >>> 0, PRIME_2);
  last = times((last ^ (last >>> 13)) >>> 0, PRIME_3);
  return (last ^ (last >>> 16)) >>> 0;
}

/** Random bytes with the header of a version. */
function drawn(random: Random, bytes: number, version: number = VERSION): Uint8Array {
  const table = Uint8Array.from({ length: bytes }, () => random.between(0, 255));
  new DataView(table.buffer).setUint32(HEADER_VERSION, version, true);
  return table;
}

const EDGES = [BLOCK, 3 * BLOCK, PIECE, PIECE + BLOCK, 2 * PIECE].flatMap((edge) => [
  edge - 1,
  edge,
  edge + 1,
]);

describe('the checksum of a table', () => {
  it.each([24, 352, ...EDGES])('is the defined one for %i bytes', (bytes) => {
    const table = drawn(new Random(bytes), bytes);
    expect(checksum(table)).toBe(expected(table));
  });

  it('is the same in whatever pieces the bytes come, and however many sums are under way', () => {
    const random = new Random(1);
    for (let round = 0; round < 60; round++) {
      const drawnTables = [0, 1].map(() => drawn(random, 352 + random.between(0, 3 * PIECE)));
      // The second one is in the memory in which it is to be judged.
      const memory = createMemory(TABLE_ADDRESS + 4 * PIECE);
      const [other, own] = drawnTables as [Uint8Array, Uint8Array];
      const placed = new Uint8Array(memory.buffer, TABLE_ADDRESS, own.length);
      placed.set(own);
      const tables = [other, placed];
      const sums = [new Checksum(), new Checksum(memory)];
      const ends = [0, 0];
      while (tables.some((table, index) => (ends[index] as number) < table.length)) {
        const index = random.between(0, 1);
        const from = ends[index] as number;
        const length = from === 0 ? 24 + random.between(0, 400) : random.between(0, PIECE + 200);
        const piece = (tables[index] as Uint8Array).subarray(from, from + length);
        (sums[index] as Checksum).update(piece);
        ends[index] = from + piece.length;
        // The value so far may be asked for at any time.
        if (random.chance(0.25)) void (sums[index] as Checksum).value;
      }
      expect(sums.map(({ value }) => value)).toEqual(drawnTables.map(expected));
      expect(placed).toEqual(own);
      expect(sums.map(({ bytes }) => bytes)).toEqual(tables.map(({ length }) => length));
    }
  });

  it('changes with every bit, but those of the checksum itself', () => {
    const table = drawn(new Random(2), 3 * BLOCK + 5);
    const whole = checksum(table);
    for (let bit = 0; bit < 8 * table.length; bit++) {
      const at = bit >> 3;
      if (at >= HEADER_VERSION && at < HEADER_VERSION + 4) continue;
      const copy = table.slice();
      copy[at] = (copy[at] as number) ^ (1 << (bit & 7));
      const isOwn = at >= HEADER_CHECKSUM && at < HEADER_CHECKSUM + 4;
      expect(checksum(copy) === whole, `bit ${bit}`).toBe(isOwn);
    }
  });

  it('changes with the places of words and blocks, and with the number of zeros', () => {
    const random = new Random(3);
    const sums = new Set<number>();
    const table = drawn(random, 40 * BLOCK);
    sums.add(checksum(table));
    for (const bytes of [4, 16, BLOCK, 5 * BLOCK]) {
      const swapped = table.slice();
      swapped.copyWithin(BLOCK, 10 * BLOCK, 10 * BLOCK + bytes);
      swapped.set(table.subarray(BLOCK, BLOCK + bytes), 10 * BLOCK);
      sums.add(checksum(swapped));
    }
    const empty = new Uint8Array(50 * BLOCK);
    new DataView(empty.buffer).setUint32(HEADER_VERSION, VERSION, true);
    for (let bytes = 352; bytes <= empty.length; bytes++)
      sums.add(checksum(empty.subarray(0, bytes)));
    expect(sums.size).toBe(1 + 4 + (empty.length - 351));
  });

  it('is the CRC-32 of all other bytes before version 9', () => {
    const random = new Random(4);
    for (const version of [7, 8]) {
      const table = drawn(random, 1000, version);
      const others = Buffer.concat([table.subarray(0, 20), table.subarray(24)]);
      expect(checksum(table)).toBe(crc32(others));
      const sum = new Checksum();
      for (let from = 0; from < 1000; from += 100) sum.update(table.subarray(from, from + 100));
      expect(sum.value).toBe(crc32(others));
    }
  });
});
