/** A line of a byte stream. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Its octets without the line end (LF), until the next line is asked for; `undefined` when they are more than the limit. */
  readonly octets: Buffer | undefined;
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

  /** The whole line, given the rest of it. */
  finish(rest: Buffer): Buffer | undefined {
    if (this.#length === 0) return rest.length > this.#limit ? undefined : rest;
    this.append(rest);
    const line = this.#length > this.#limit ? undefined : this.#held.subarray(0, this.#length);
    this.#length = 0;
    if (this.#held.length > KEPT) this.#held = Buffer.alloc(0);
    return line;
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
  const begun = new BegunLine(maxOctets);
  let number = 1;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const octets = begun.finish(chunk.subarray(start, end));
      start = end + 1;
      yield { number: number++, octets };
    }
    if (start < chunk.length) begun.append(chunk.subarray(start));
  }
  if (!begun.isEmpty) yield { number, octets: begun.finish(Buffer.alloc(0)) };
}
