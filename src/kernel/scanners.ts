/** Decodes strings of JSON in the kernel, and finds plain rows of CSV. */

import { FIRST_ADDRESS, PrivateKernel } from './kernel.js';

/** The longest text, in bytes, whose strings are decoded. A thread keeps twice as much memory. */
export const LONGEST_TEXT = 8 * 1024 * 1024;

/** The kernel stores the address of the last quote here. */
const QUOTE_AT = 0;
const WORD_BYTES = 8;
/**
 * Address of the text. It is aligned to words, because only then does the engine copy to shared
 * memory in words instead of bytes.
 */
const TEXT = FIRST_ADDRESS;

let own: PrivateKernel | undefined;

/** A string of a JSON text. */
interface JsonString {
  /** The decoded text, in UTF-8; a lone surrogate is U+FFFD. The next call overwrites it. */
  readonly bytes: Uint8Array;
  /** Offset in the text after its last quote. */
  readonly end: number;
}

/**
 * Decodes the string of a JSON text, in UTF-8, whose first quote is at `start`. Returns `undefined`
 * if no valid string is there, or if the text is longer than LONGEST_TEXT.
 */
export function decodeJsonString(text: Uint8Array, start: number): JsonString | undefined {
  const { length } = text;
  if (length > LONGEST_TEXT) return undefined;
  own ??= new PrivateKernel();
  const at = TEXT + (text.byteOffset % WORD_BYTES);
  // The kernel reads some bytes past the text: they are not those that it writes.
  const target = Math.ceil((at + length) / WORD_BYTES) * WORD_BYTES + FIRST_ADDRESS;
  const bytes = own.bytes(target + length);
  bytes.set(text, at);
  const end = own.kernel.decodeString(at + start + 1, at + length, target, QUOTE_AT);
  if (end === 0) return undefined;
  const quoteAt = new DataView(bytes.buffer).getUint32(QUOTE_AT, true);
  return { bytes: bytes.subarray(target, end), end: quoteAt - at + 1 };
}

/**
 * Finds rows of CSV or TSV (RFC 4180) that are lines as they stand, with the kernel:
 * kernel/assembly/rows.ts.
 */
export class PlainRows {
  readonly #own = new PrivateKernel();
  readonly #delimiter: number;
  /** The address after the bytes. */
  #end = FIRST_ADDRESS;

  /** @param delimiter the byte between two fields */
  constructor(delimiter: number) {
    this.#delimiter = delimiter;
  }

  /** Copies the bytes in which `endFrom` searches. The memory grows to the most bytes of a call. */
  take(bytes: Uint8Array): void {
    this.#end = FIRST_ADDRESS + bytes.length;
    this.#own.bytes(this.#end).set(bytes, FIRST_ADDRESS);
  }

  /**
   * The offset after the last plain row with only plain rows before it, or `start` if the first row
   * is not plain or does not end.
   *
   * @param start the offset at which a row begins
   */
  endFrom(start: number): number {
    const { kernel } = this.#own;
    const end = kernel.endOfPlainRows(FIRST_ADDRESS + start, this.#end, this.#delimiter);
    return end - FIRST_ADDRESS;
  }
}
