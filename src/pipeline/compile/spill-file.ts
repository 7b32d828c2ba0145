import { type FileHandle, open } from 'node:fs/promises';
import { unwritable } from '../../files/unwritable-file.js';

/** Bytes that are held in memory, for all shards together, before they are written. */
const HELD_BYTES = 1 << 26;

/** A stretch of the file. */
export interface Stretch {
  readonly start: number;
  readonly bytes: number;
}

/** Bytes of one shard that wait to be written. */
interface Held {
  pieces: Uint8Array[];
  bytes: number;
}

/**
 * A temporary file that holds bytes for each shard. The bytes of a shard lie in stretches, in the
 * order in which they were added.
 */
export class SpillFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #held: readonly Held[];
  readonly #stretches: readonly Stretch[][];
  readonly #heldLimit: number;
  #heldBytes = 0;
  #end = 0;

  private constructor(path: string, handle: FileHandle, shards: number, heldLimit: number) {
    this.path = path;
    this.#handle = handle;
    this.#heldLimit = heldLimit;
    this.#held = Array.from({ length: shards }, () => ({ pieces: [], bytes: 0 }));
    this.#stretches = Array.from({ length: shards }, () => []);
  }

  /**
   * @param heldBytes bytes that are held in memory
   * @throws RobotsFilterError `output` if the file cannot be created
   */
  static async create(path: string, shards: number, heldBytes = HELD_BYTES): Promise<SpillFile> {
    try {
      return new SpillFile(path, await open(path, 'wx+'), shards, heldBytes);
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /** Adds bytes of a shard, which must not change afterwards. Call `relieve` soon. */
  add(shard: number, piece: Uint8Array): void {
    const held = this.#held[shard] as Held;
    held.pieces.push(piece);
    held.bytes += piece.length;
    this.#heldBytes += piece.length;
  }

  /**
   * Writes what is held if there is much of it.
   *
   * @throws RobotsFilterError `output`
   */
  async relieve(): Promise<void> {
    if (this.#heldBytes >= this.#heldLimit) await this.flush();
  }

  /**
   * Writes what is held.
   *
   * @throws RobotsFilterError `output`
   */
  async flush(): Promise<void> {
    for (const [shard, held] of this.#held.entries()) {
      if (held.bytes === 0) continue;
      const stretch = { start: this.#end, bytes: held.bytes };
      await this.#write(Buffer.concat(held.pieces, held.bytes));
      this.#stretches[shard]?.push(stretch);
      held.pieces = [];
      held.bytes = 0;
    }
    this.#heldBytes = 0;
  }

  /** The stretches of a shard. Call `flush` before. */
  stretchesOf(shard: number): readonly Stretch[] {
    return this.#stretches[shard] ?? [];
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await this.#handle.write(
          bytes,
          written,
          bytes.length - written,
          this.#end + written,
        );
        written += bytesWritten;
      }
      this.#end += bytes.length;
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }
}
