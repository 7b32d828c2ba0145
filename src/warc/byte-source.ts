/** The bytes of an open file. */
export interface ByteSource {
  /** Length of the file in bytes when it was opened. */
  readonly length: number;
  /**
   * Reads into a buffer from an offset of the file; resolves to the number of bytes read, 0 at the
   * end.
   *
   * @throws Error if the system cannot read, or if the file was truncated
   */
  read(offset: number, buffer: Buffer): Promise<number>;
}

/** Bytes in and out that are decoded in vain, at most. */
const MOST_IN_VAIN = 64 * 1024 * 1024;

/** What a member that cannot be decoded costs besides its bytes, in bytes: a new decoder. */
const DECODER_COST = 8 * 1024;

/** Bytes that are then skipped after each place that cannot be decoded, at least. */
const SKIPPED = 4 * 1024;

/**
 * Tells where to search on after a damaged gzip member or zstd frame. Nobody knows where it ends,
 * so the search goes on within it. A file of overlapping beginnings would be decoded again and
 * again: after a limit, the search goes on where the decoder stopped, so the time stays linear.
 */
export class DamageSearch {
  #inVain = 0;

  /**
   * The offset at which to search on.
   *
   * @param end up to where the decoder has read
   * @param output bytes that came out of it
   */
  next(start: number, end: number, output: number): number {
    const cost = Math.max(0, end - start) + output + DECODER_COST;
    if (this.#inVain + cost > MOST_IN_VAIN) return Math.max(start + SKIPPED, end);
    this.#inVain += cost;
    return start + 1;
  }
}
