import { crc32 } from 'node:zlib';
import { HEADER_CHECKSUM } from './format.js';

/** Bytes that one call of `crc32` takes. */
const PIECE = 1 << 26;

const CHECKSUM_END = HEADER_CHECKSUM + 4;

/**
 * The CRC-32 of a table, computed as the bytes arrive. The bytes of the checksum itself are
 * omitted.
 */
export class Checksum {
  #sum = 0;
  #bytes = 0;

  /** Adds the next bytes of the table. */
  update(bytes: Uint8Array): void {
    const start = this.#bytes;
    this.#bytes += bytes.length;
    if (start < HEADER_CHECKSUM) {
      this.#sum = crc32(bytes.subarray(0, HEADER_CHECKSUM - start), this.#sum);
    }
    for (let at = Math.max(0, CHECKSUM_END - start); at < bytes.length; at += PIECE) {
      this.#sum = crc32(bytes.subarray(at, at + PIECE), this.#sum);
    }
  }

  /** Number of bytes so far, including those of the checksum. */
  get bytes(): number {
    return this.#bytes;
  }

  get value(): number {
    return this.#sum;
  }
}

/** The checksum of a whole table. */
export function checksum(table: Uint8Array): number {
  const sum = new Checksum();
  sum.update(table);
  return sum.value;
}
