import { crc32 } from 'node:zlib';
import { HEADER_CHECKSUM } from './format.js';

/** Octets that are handed over at once. */
const PIECE = 1 << 26;

/** The CRC-32 of a table's octets but those that hold it. */
export function checksum(table: Uint8Array): number {
  let sum = crc32(table.subarray(0, HEADER_CHECKSUM));
  for (let at = HEADER_CHECKSUM + 4; at < table.length; at += PIECE) {
    sum = crc32(table.subarray(at, at + PIECE), sum);
  }
  return sum;
}
