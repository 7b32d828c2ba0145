import { crc32 } from 'node:zlib';
import { HEADER_CHECKSUM } from './format.js';

/** Octets that are handed over at once. */
const PIECE = 1 << 26;

const CHECKSUM_END = HEADER_CHECKSUM + 4;

/** Computes the CRC-32 of a table's octets but those that hold it, as they come. */
export class Checksum {
  #sum = 0;
  #octets = 0;

  /** Takes the table's next octets. */
  update(octets: Uint8Array): void {
    const start = this.#octets;
    this.#octets += octets.length;
    if (start < HEADER_CHECKSUM) {
      this.#sum = crc32(octets.subarray(0, HEADER_CHECKSUM - start), this.#sum);
    }
    for (let at = Math.max(0, CHECKSUM_END - start); at < octets.length; at += PIECE) {
      this.#sum = crc32(octets.subarray(at, at + PIECE), this.#sum);
    }
  }

  /** How many octets it has taken. */
  get octets(): number {
    return this.#octets;
  }

  get value(): number {
    return this.#sum;
  }
}

/** The CRC-32 of a table's octets but those that hold it. */
export function checksum(table: Uint8Array): number {
  const sum = new Checksum();
  sum.update(table);
  return sum.value;
}
