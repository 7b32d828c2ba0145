/**
 * Splits a stream of bytes into lines. A line beyond the limit is dropped as it comes, so an input
 * without line ends takes no memory.
 */

import { LF } from '../base/ascii.js';

/** Whole lines of a byte stream. */
export interface LineBlock {
  /** Number of the first line, from 1. */
  readonly firstLine: number;
  /**
   * The lines with their line ends (LF), in their own memory. The last line of a stream may lack
   * its line end. `undefined` for a single line that is longer than the limit.
   */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** A line of a block. */
export interface Line {
  /** Number of the line, from 1. */
  readonly number: number;
  /** The bytes without the line end; `undefined` if the line is longer than the limit. */
  readonly bytes: Buffer | undefined;
}

/** Number of bytes of memory that an unfinished line keeps for the next one. */
const KEPT = 1024 * 1024;

/** The beginning of a line that continues in the next chunk. A line beyond the limit is dropped. */
class UnfinishedLine {
  readonly #limit: number;
  #held = Buffer.alloc(0);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether `bytes` more bytes make the line longer than the limit. */
  isTooLong(bytes: number): boolean {
    return this.#length + bytes > this.#limit;
  }

  append(bytes: Buffer): void {
    const start = this.#length;
    this.#length += bytes.length;
    if (this.#length > this.#limit) {
      this.#held = Buffer.alloc(0);
      return;
    }
    if (this.#length > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#length * 2, this.#limit));
      this.#held.copy(grown, 0, 0, start);
      this.#held = grown;
    }
    bytes.copy(this.#held, start);
  }

  /**
   * Returns the line followed by `rest`, in its own memory; `undefined` if the line is too long.
   */
  finish(rest: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    const length = this.#length;
    this.#length = 0;
    if (length > this.#limit) return undefined;
    const bytes = Buffer.allocUnsafeSlow(length + rest.length);
    bytes.set(this.#held.subarray(0, length));
    bytes.set(rest, length);
    if (this.#held.length > KEPT) this.#held = Buffer.alloc(0);
    return bytes;
  }
}

/**
 * Splits a stream into blocks of whole lines. The memory holds one chunk, and at most `maxBytes`
 * bytes of a line that spans chunks. A last line without a line end is a line.
 */
export async function* splitBlocks(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<LineBlock> {
  const unfinished = new UnfinishedLine(maxBytes);
  let firstLine = 1;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LF) + 1;
    let start = 0;
    if (end > 0 && unfinished.isTooLong(chunk.indexOf(LF))) {
      unfinished.finish(chunk.subarray(0, 0));
      yield { firstLine: firstLine++, bytes: undefined };
      start = chunk.indexOf(LF) + 1;
    }
    if (start < end) {
      const lines = countLineEnds(chunk, start, end);
      yield { firstLine, bytes: unfinished.finish(chunk.subarray(start, end)) };
      firstLine += lines;
    }
    if (end < chunk.length) unfinished.append(chunk.subarray(end));
  }
  if (!unfinished.isEmpty) yield { firstLine, bytes: unfinished.finish(Buffer.alloc(0)) };
}

function countLineEnds(chunk: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = chunk.indexOf(LF, start); at >= 0 && at < end; at = chunk.indexOf(LF, at + 1)) {
    count++;
  }
  return count;
}

/** The lines of a block that `splitBlocks` made with the same limit. */
export function* linesOf({ firstLine, bytes }: LineBlock, maxBytes: number): Generator<Line> {
  if (bytes === undefined) {
    yield { number: firstLine, bytes };
    return;
  }
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let number = firstLine;
  for (let start = 0; start < block.length; number++) {
    const found = block.indexOf(LF, start);
    const end = found < 0 ? block.length : found;
    yield { number, bytes: end - start > maxBytes ? undefined : block.subarray(start, end) };
    start = end + 1;
  }
}

/** Splits a stream into lines. Memory and last line are as in `splitBlocks`. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line> {
  for await (const block of splitBlocks(chunks, maxBytes)) yield* linesOf(block, maxBytes);
}

/** Whether a line holds only spaces and controls, such as the CR of a CRLF. */
export function isBlankLine(line: Buffer): boolean {
  // For most lines, the first byte decides.
  return (line[0] ?? 0) <= 0x20 && line.every((byte) => byte <= 0x20);
}
