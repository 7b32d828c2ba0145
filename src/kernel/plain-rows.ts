import { FIRST_ADDRESS, PrivateKernel } from './private-kernel.js';

/**
 * Finds rows of CSV or TSV (RFC 4180) that are lines as they stand, with the kernel:
 * assembly/csv/plain-rows.ts.
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
