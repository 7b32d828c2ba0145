import { Readable } from 'node:stream';

/** Where chunks come from. */
export interface ChunkSource {
  /**
   * The next chunk; undefined at the end. Called again only when the last call has been answered.
   */
  next(): Promise<Buffer | undefined>;
  /** Lets go of the source, also while a chunk is awaited; may be called more than once. */
  abandon(): Promise<void>;
}

/** Makes an error of reading one that can be shown; `octets` had come before it. */
export type ErrorExplanation = (error: unknown, octets: number) => Error;

/** A source of chunks of which the first octets can be looked at before they are taken. */
export class Chunks implements ChunkSource {
  readonly #source: ChunkSource;
  readonly #explain: ErrorExplanation;
  #head: Buffer = Buffer.alloc(0);
  #ended = false;
  #octets = 0;

  constructor(source: ChunkSource, explain: ErrorExplanation) {
    this.#source = source;
    this.#explain = explain;
  }

  /** The octets that have come from the source, whether taken or only looked at. */
  get octets(): number {
    return this.#octets;
  }

  /**
   * The first octets, which remain to be taken: as many as come until `suffices` accepts them,
   * there are at least `most` of them, or the source ends.
   */
  async peek(most: number, suffices: (head: Buffer) => boolean): Promise<Buffer> {
    while (!this.#ended && this.#head.length < most && !suffices(this.#head)) {
      const chunk = await this.#fetch();
      if (chunk !== undefined) this.#head = Buffer.concat([this.#head, chunk]);
    }
    return this.#head;
  }

  /** Drops the first octets of those that have been looked at. */
  drop(octets: number): void {
    this.#head = this.#head.subarray(octets);
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

  /** The chunks as a stream. */
  stream(): Readable {
    return new ChunkStream(this);
  }

  async #fetch(): Promise<Buffer | undefined> {
    try {
      const chunk = await this.#source.next();
      this.#ended = chunk === undefined;
      this.#octets += chunk?.length ?? 0;
      return chunk;
    } catch (error) {
      throw this.#explain(error, this.#octets);
    }
  }
}

/** A stream as a source: abandoned, it is destroyed. */
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

/**
 * A source of which the first octets have been taken already; without a rest they are all there is.
 */
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

/** Unlike what `Readable.from` makes, it can be destroyed while a chunk is awaited. */
class ChunkStream extends Readable {
  readonly #chunks: ChunkSource;

  constructor(chunks: ChunkSource) {
    super({ highWaterMark: 65_536 });
    this.#chunks = chunks;
  }

  override _read(): void {
    this.#chunks.next().then(
      (chunk) => this.push(chunk ?? null),
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Not awaited: it may last until the chunk comes that is being read.
    this.#chunks.abandon().catch(() => {});
    callback(error);
  }
}
