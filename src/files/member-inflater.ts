import { crc32, createInflateRaw } from 'node:zlib';
import { decodedBeforeFault, MAX_REPLAY_BYTES, ONE_CHUNK } from './gzip-replay.js';

/** What became of a piece of deflate data. */
export interface InflatedPiece {
  /** Number of bytes of the piece that belong to the data. */
  readonly used: number;
  /** Whether the data have come to their end. */
  readonly hasEnded: boolean;
}

/**
 * Inflates the deflate data of one gzip member, piece by piece. Unlike zlib's own decoder of
 * members, it ends where the member ends, so bytes that follow cannot cost what came before.
 */
export class MemberInflater {
  readonly #inflate;
  readonly #onContent: (content: Buffer) => boolean;
  /** The pieces so far, to decode them again after an error; `undefined` if they are too many. */
  #kept: Buffer[] | undefined = [];
  #written = 0;
  #checksum = 0;
  #length = 0;
  /** Bytes of the pieces before the one that is inflated, and what its promise waits for. */
  #before = 0;
  #onPiece: (piece: InflatedPiece) => void = () => {};
  #onError: (error: unknown) => void = () => {};
  // Streams keep callbacks for a while. This one holds no piece, so each piece can be freed.
  readonly #onWritten = (): void => {
    // If zlib left bytes, the data have ended. The end comes when all content is taken.
    if (this.#inflate.bytesWritten === this.#written) this.#endPiece(false);
  };
  #onDrained = (): void => {};

  /**
   * @param chunkBytes the size of the chunks that come out
   * @param onContent takes a chunk; if it returns false, nothing comes until `resume` is called
   */
  constructor(chunkBytes: number, onContent: (content: Buffer) => boolean) {
    this.#onContent = onContent;
    this.#inflate = createInflateRaw({ chunkSize: chunkBytes, ...ONE_CHUNK })
      .on('data', (content: Buffer) => {
        if (!this.#pass(content)) this.#inflate.pause();
        if (this.#inflate.readableLength === 0) this.#onDrained();
      })
      .on('end', () => this.#endPiece(true))
      .on('error', (error) => this.#failAfterReplay(error));
  }

  /** CRC-32 of the content so far. */
  get checksum(): number {
    return this.#checksum;
  }

  /** Number of bytes of the content so far. */
  get length(): number {
    return this.#length;
  }

  /**
   * Inflates the next piece. At damage, all content before it is passed on first; after
   * `MAX_REPLAY_BYTES`, its last chunk may be missing.
   *
   * @throws Error `Z_…` if the data are damaged
   */
  async write(piece: Buffer): Promise<InflatedPiece> {
    // An error would destroy content that waits.
    await this.drained();
    this.#before = this.#written;
    this.#written += piece.length;
    if (this.#written > MAX_REPLAY_BYTES) this.#kept = undefined;
    this.#kept?.push(Buffer.from(piece));
    const inflated = new Promise<InflatedPiece>((resolve, reject) => {
      this.#onPiece = resolve;
      this.#onError = reject;
    });
    this.#inflate.write(piece, this.#onWritten);
    return inflated;
  }

  /** Waits until all content of the pieces so far has been passed on. */
  async drained(): Promise<void> {
    if (this.#inflate.readableLength === 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
  }

  resume(): void {
    this.#inflate.resume();
  }

  destroy(): void {
    this.#inflate.destroy();
  }

  #endPiece(hasEnded: boolean): void {
    this.#onPiece({ used: this.#inflate.bytesWritten - this.#before, hasEnded });
  }

  #pass(content: Buffer): boolean {
    this.#checksum = crc32(content, this.#checksum);
    this.#length += content.length;
    return this.#onContent(content);
  }

  /** Fails after what zlib had decoded before its error, but has not given. */
  #failAfterReplay(error: Error): void {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept === undefined) {
      this.#onError(error);
      return;
    }
    decodedBeforeFault(kept, this.#length).then((content) => {
      if (content.length > 0) this.#pass(content);
      this.#onError(error);
    }, this.#onError);
  }
}
