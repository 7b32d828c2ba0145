/** Whole lines of a byte stream. */
export interface LineBlock {
  /** Number of the first, from 1. */
  readonly firstLine: number;
  /**
   * Their octets with the line ends (LF), of which the stream's last line may have none, in memory
   * of their own; `undefined` for one line of more octets than the limit.
   */
  readonly octets: Uint8Array<ArrayBuffer> | undefined;
}

const LF = 0x0a;

/** Memory in octets that is kept for the next begun line. */
const KEPT = 1024 * 1024;

/** The octets of a line that is not at its end yet, up to a limit beyond which none are held. */
class BegunLine {
  readonly #limit: number;
  #held = Buffer.alloc(0);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether the line is longer than the limit if so many octets follow. */
  isTooLong(octets: number): boolean {
    return this.#length + octets > this.#limit;
  }

  append(octets: Buffer): void {
    const start = this.#length;
    this.#length += octets.length;
    if (this.#length > this.#limit) {
      this.#held = Buffer.alloc(0);
      return;
    }
    if (this.#length > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#length * 2, this.#limit));
      this.#held.copy(grown, 0, 0, start);
      this.#held = grown;
    }
    octets.copy(this.#held, start);
  }

  /**
   * The octets of the line and those that follow it, in memory of their own; `undefined` where the
   * line is too long.
   */
  finish(rest: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    const length = this.#length;
    this.#length = 0;
    if (length > this.#limit) return undefined;
    const octets = Buffer.allocUnsafeSlow(length + rest.length);
    octets.set(this.#held.subarray(0, length));
    octets.set(rest, length);
    if (this.#held.length > KEPT) this.#held = Buffer.alloc(0);
    return octets;
  }
}

/**
 * Cuts a stream into blocks of whole lines. Holds one chunk, and `maxOctets` at most of a line that
 * began in earlier ones: of a longer line nothing is held. A last line without a line end is a
 * line.
 */
export async function* cutLines(
  chunks: AsyncIterable<Buffer>,
  maxOctets: number,
): AsyncGenerator<LineBlock> {
  const begun = new BegunLine(maxOctets);
  let firstLine = 1;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LF) + 1;
    let start = 0;
    if (end > 0 && begun.isTooLong(chunk.indexOf(LF))) {
      begun.finish(chunk.subarray(0, 0));
      yield { firstLine: firstLine++, octets: undefined };
      start = chunk.indexOf(LF) + 1;
    }
    if (start < end) {
      const lines = countLineEnds(chunk, start, end);
      yield { firstLine, octets: begun.finish(chunk.subarray(start, end)) };
      firstLine += lines;
    }
    if (end < chunk.length) begun.append(chunk.subarray(end));
  }
  if (!begun.isEmpty) yield { firstLine, octets: begun.finish(Buffer.alloc(0)) };
}

function countLineEnds(chunk: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = chunk.indexOf(LF, start); at >= 0 && at < end; at = chunk.indexOf(LF, at + 1)) {
    count++;
  }
  return count;
}

/** A line of a block. */
export interface Line {
  readonly number: number;
  /** Its octets without the line end; `undefined` for more of them than the limit. */
  readonly octets: Buffer | undefined;
}

/** The lines of a block that `cutLines` has cut to the same limit. */
export function* linesOf({ firstLine, octets }: LineBlock, maxOctets: number): Generator<Line> {
  if (octets === undefined) {
    yield { number: firstLine, octets };
    return;
  }
  const block = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  let number = firstLine;
  for (let start = 0; start < block.length; number++) {
    const found = block.indexOf(LF, start);
    const end = found < 0 ? block.length : found;
    yield { number, octets: end - start > maxOctets ? undefined : block.subarray(start, end) };
    start = end + 1;
  }
}

/**
 * Cuts a stream into lines. Holds one chunk, and `maxOctets` at most of a line
 * that began in earlier ones: a longer line is passed by without being held.
 * A last line without a line end is a line.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxOctets: number,
): AsyncGenerator<Line> {
  for await (const block of cutLines(chunks, maxOctets)) yield* linesOf(block, maxOctets);
}
