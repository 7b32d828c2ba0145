import { Readable } from 'node:stream';

/** A source of chunks. */
export interface ChunkSource {
  /** The next chunk; `undefined` at the end. Calls must not overlap. */
  next(): Promise<Buffer | undefined>;
  /** Gives up the source, even while a chunk is awaited. May be called more than once. */
  abandon(): Promise<void>;
}

/** Turns a reading error into an error for the user, given the number of bytes that came before. */
export type ErrorExplanation = (error: unknown, bytes: number) => Error;

/** A source whose first bytes can be examined before they are taken. */
export class Chunks implements ChunkSource {
  readonly #source: ChunkSource;
  readonly #explain: ErrorExplanation;
  #head: Buffer = Buffer.alloc(0);
  #ended = false;
  #bytes = 0;

  constructor(source: ChunkSource, explain: ErrorExplanation) {
    this.#source = source;
    this.#explain = explain;
  }

  /** Number of bytes that have come from the source, taken or not. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the first bytes, which can still be taken afterwards. Reads until `suffices` accepts
   * them, there are at least `most`, or the source ends.
   */
  async peek(most: number, suffices: (head: Buffer) => boolean): Promise<Buffer> {
    while (!this.#ended && this.#head.length < most && !suffices(this.#head)) {
      const chunk = await this.#fetch();
      if (chunk !== undefined) this.#head = Buffer.concat([this.#head, chunk]);
    }
    return this.#head;
  }

  /** Drops this many of the bytes that `peek` has returned. */
  drop(bytes: number): void {
    this.#head = this.#head.subarray(bytes);
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#head.length > 0) {
      const head = this.#head;
      this.#head = Buffer.alloc(0);
      return head;
    }
    return this.#ended ? undefined : this.#fetch();
  }

  abandon(): Promise<void> {
    return this.#source.abandon();
  }

  /** Returns the chunks as a stream. */
  stream(): Readable {
    return streamOf(this);
  }

  async #fetch(): Promise<Buffer | undefined> {
    try {
      const chunk = await this.#source.next();
      this.#ended = chunk === undefined;
      this.#bytes += chunk?.length ?? 0;
      return chunk;
    } catch (error) {
      throw this.#explain(error, this.#bytes);
    }
  }
}

/** A stream as a source. Abandoning it destroys the stream. */
export function streamSource(stream: Readable): ChunkSource {
  const iterator: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const result = await iterator.next();
      return result.done ? undefined : result.value;
    },
    async abandon() {
      stream.destroy();
    },
  };
}

/** A source as a stream. The chunks before an error reach the reader of the stream. */
export function streamOf(source: ChunkSource): Readable {
  return new ChunkStream(source);
}

/** A source whose first bytes have been read before. Without `rest`, they are the whole source. */
export function startedSource(start: Buffer, rest: ChunkSource | undefined): ChunkSource {
  let isNew = start.length > 0;
  return {
    async next() {
      if (!isNew) return rest?.next();
      isNew = false;
      return start;
    },
    async abandon() {
      await rest?.abandon();
    },
  };
}

/**
 * A stream of chunks. Unlike a stream of `Readable.from`, it can be destroyed while it awaits a
 * chunk.
 */
class ChunkStream extends Readable {
  readonly #chunks: ChunkSource;

  constructor(chunks: ChunkSource) {
    // An error destroys what the reader has not taken, so one chunk comes at a time.
    super({ highWaterMark: 1 });
    this.#chunks = chunks;
  }

  override _read(): void {
    this.#chunks.next().then(
      (chunk) => this.push(chunk ?? null),
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Not awaited, because it may last until the pending chunk arrives.
    this.#chunks.abandon().catch(() => {});
    callback(error);
  }
}
