import { PageFault } from './hybrid.js';

/** Length of the shortest match of LZ4, in bytes. */
const SHORTEST_MATCH = 4;

/**
 * Decompresses an LZ4 block without a frame, which the Parquet format calls LZ4_RAW.
 *
 * @param length bytes that must come out
 * @throws PageFault if the block is damaged or of another length
 */
export function decompressLz4(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  let at = 0;
  let filled = 0;
  const extended = (nibble: number): number => {
    let size = nibble;
    if (nibble < 15) return size;
    for (;;) {
      const byte = input[at++];
      if (byte === undefined) throw new PageFault('the lz4 data is truncated');
      size += byte;
      if (byte < 255) return size;
    }
  };
  while (at < input.length) {
    const token = input[at++] as number;
    const literals = extended(token >> 4);
    if (at + literals > input.length || filled + literals > length) {
      throw new PageFault('the lz4 data is damaged');
    }
    output.set(input.subarray(at, at + literals), filled);
    at += literals;
    filled += literals;
    if (at === input.length) break;
    const distance = (input[at] as number) + 256 * (input[at + 1] ?? 0);
    at += 2;
    const match = extended(token & 15) + SHORTEST_MATCH;
    if (distance === 0 || distance > filled || filled + match > length) {
      throw new PageFault('the lz4 data is damaged');
    }
    copyMatch(output, filled, distance, match);
    filled += match;
  }
  if (filled !== length) throw new PageFault(`the lz4 data has ${filled} bytes, not ${length}`);
  return output;
}

/** Copies bytes. If source and target overlap, the bytes repeat. */
function copyMatch(output: Uint8Array, to: number, distance: number, length: number): void {
  if (distance >= length) {
    output.copyWithin(to, to - distance, to - distance + length);
    return;
  }
  for (let index = 0; index < length; index++) {
    output[to + index] = output[to + index - distance] as number;
  }
}
