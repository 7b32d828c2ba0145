/** A fault in a page. The reader of pages adds the place. */
export class PageFault extends Error {}

/**
 * Decodes runs of the RLE and bit-packing hybrid ("RLE" in the Parquet format): `output.length`
 * values of `width` bits. Time is linear in the bytes and the values.
 *
 * @param end offset after the last byte that may be read
 * @throws PageFault if there are too few values, or a run is malformed
 */
export function decodeHybrid(
  bytes: Uint8Array,
  start: number,
  end: number,
  width: number,
  output: Uint8Array | Uint32Array,
): void {
  const wanted = output.length;
  const valueBytes = (width + 7) >> 3;
  const mask = width === 32 ? 0xffffffff : 2 ** width - 1;
  let at = start;
  let filled = 0;
  while (filled < wanted) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end || shift > 28) throw new PageFault('a run of levels or indices is truncated');
      const byte = bytes[at++] as number;
      header += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const isPacked = header % 2 === 1;
    const length = Math.floor(header / 2);
    if (length === 0) {
      if (at >= end) throw new PageFault('levels or indices are missing');
      continue;
    }
    if (!isPacked) {
      if (at + valueBytes > end) throw new PageFault('a run of levels or indices is truncated');
      let value = 0;
      for (let index = 0; index < valueBytes; index++) {
        value += (bytes[at++] as number) * 2 ** (8 * index);
      }
      if (value > mask) throw new PageFault('a level or index has more bits than its width');
      const until = Math.min(wanted, filled + length);
      output.fill(value, filled, until);
      filled = until;
      continue;
    }
    const count = Math.min(8 * length, wanted - filled);
    if (at + Math.ceil((count * width) / 8) > end) {
      throw new PageFault('a run of levels or indices is truncated');
    }
    unpack(bytes, at, width, mask, output.subarray(filled, filled + count));
    at += length * width;
    filled += count;
  }
}

function unpack(
  bytes: Uint8Array,
  start: number,
  width: number,
  mask: number,
  output: Uint8Array | Uint32Array,
): void {
  let at = start;
  // The window has at most 7 + 32 bits, which is too many for bit operators, so it is a double.
  let window = 0;
  let bits = 0;
  const size = mask + 1;
  for (let index = 0; index < output.length; index++) {
    while (bits < width) {
      window += (bytes[at++] as number) * 2 ** bits;
      bits += 8;
    }
    const value = window % size;
    output[index] = value;
    window = (window - value) / size;
    bits -= width;
  }
}

/** Encodes values of `width` bits: runs of eight or more as runs, the others bit-packed. */
export function encodeHybrid(values: ArrayLike<number>, width: number): Buffer {
  const out = new BitWriter(values.length, width);
  const { length } = values;
  let at = 0;
  while (at < length) {
    const run = runLength(values, at);
    if (run >= 8 || at + run === length) {
      out.run(values[at] as number, run);
      at += run;
      continue;
    }
    // Groups of eight up to the next long run. Only the last group of all may be short.
    const begin = at;
    while (at < length && runLength(values, at) < 8) at = Math.min(at + 8, length);
    out.packed(values, begin, at);
  }
  return out.bytes();
}

/** The number of equal values from `from` on. */
function runLength(values: ArrayLike<number>, from: number): number {
  const value = values[from];
  let at = from + 1;
  while (at < values.length && values[at] === value) at++;
  return at - from;
}

class BitWriter {
  readonly #buffer: Buffer;
  readonly #width: number;
  #at = 0;

  constructor(values: number, width: number) {
    // A run has at least eight values, or is the last, and takes at most nine bytes. A packed
    // stretch takes its bits, and five bytes of header for at least eight values.
    this.#buffer = Buffer.alloc(Math.ceil((values * (width + 9)) / 8) + width + 32);
    this.#width = width;
  }

  run(value: number, count: number): void {
    this.#varint(2 * count);
    for (let index = 0; index < (this.#width + 7) >> 3; index++) {
      this.#buffer[this.#at++] = Math.floor(value / 2 ** (8 * index)) % 256;
    }
  }

  packed(values: ArrayLike<number>, begin: number, end: number): void {
    const groups = Math.ceil((end - begin) / 8);
    this.#varint(2 * groups + 1);
    let window = 0;
    let bits = 0;
    for (let index = begin; index < begin + 8 * groups; index++) {
      window += (index < end ? (values[index] as number) : 0) * 2 ** bits;
      bits += this.#width;
      while (bits >= 8) {
        this.#buffer[this.#at++] = window % 256;
        window = Math.floor(window / 256);
        bits -= 8;
      }
    }
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128))
      this.#buffer[this.#at++] = (rest % 128) | 128;
    this.#buffer[this.#at++] = rest;
  }
}
