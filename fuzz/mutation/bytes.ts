import type { Random } from '../../test/random/random.js';

/** Bytes that end, separate or quote something in one of the formats, and the ends of ranges. */
const TELLING = [
  ...Array.from('\0\t\n\r "#$%&\'*+,-./09:;<=?@AZ[\\]^_az{|}~', (text) => text.charCodeAt(0)),
  ...[0x1f, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xff],
];

/**
 * Runs of these lengths end at, just before and just after the vectors in which the kernel reads.
 */
const RUN_LENGTHS = [2, 3, 4, 8, 12, 14, 15, 16, 17, 18, 31, 32, 33, 48, 62, 63, 64, 65, 127, 128];

/**
 * Changes of an input that ignore its meaning; one of them at random. May exceed any limit by some
 * hundred bytes.
 */
export function changedBytes(
  random: Random,
  input: Uint8Array,
  other: Uint8Array,
  word: Uint8Array,
): Uint8Array {
  const at = random.between(0, input.length);
  const [from, to] = range(random, input.length);
  switch (random.between(0, 13)) {
    case 0:
      return withByte(input, at, (byte) => byte ^ (1 << random.between(0, 7)));
    case 1:
      return withByte(input, at, () => random.between(0, 255));
    case 2:
      return withByte(input, at, () => random.pick(TELLING));
    case 3:
      return withByte(input, at, (byte) => byte + random.pick([-1, 1, 0x20, -0x20]));
    case 4:
    case 5:
      return replaced(input, from, to, new Uint8Array(0));
    case 6:
      return replaced(input, at, at, input.subarray(from, to));
    case 7:
      return replaced(input, from, to, word);
    case 8:
    case 9:
      return replaced(input, at, at, word);
    case 10:
      return replaced(input, at, at, Uint8Array.of(random.pick(TELLING)));
    case 11:
      return replaced(input, at, at, run(random, input[at] ?? random.pick(TELLING)));
    case 12: {
      // The beginning of one input and the end of another.
      return replaced(input, at, input.length, other.subarray(random.between(0, other.length)));
    }
    default: {
      const [start, end] = range(random, other.length);
      return replaced(input, at, at, other.subarray(start, end));
    }
  }
}

/** The bytes with the range from `from` to `to` replaced. */
export function replaced(
  bytes: Uint8Array,
  from: number,
  to: number,
  others: Uint8Array,
): Uint8Array {
  const result = new Uint8Array(bytes.length - (to - from) + others.length);
  result.set(bytes.subarray(0, from));
  result.set(others, from);
  result.set(bytes.subarray(to), from + others.length);
  return result;
}

function withByte(input: Uint8Array, at: number, change: (byte: number) => number): Uint8Array {
  const result = input.slice();
  const byte = result[at];
  if (byte !== undefined) result[at] = change(byte);
  return result;
}

/** A range, usually short. */
function range(random: Random, length: number): [number, number] {
  const from = random.between(0, length);
  const longest = random.chance(0.7) ? Math.min(8, length - from) : length - from;
  return [from, from + random.between(0, longest)];
}

function run(random: Random, byte: number): Uint8Array {
  return new Uint8Array(random.pick(RUN_LENGTHS)).fill(byte);
}
