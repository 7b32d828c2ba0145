/** Copies of pipes in temporary files, for what is read more than once. */

import { rmSync } from 'node:fs';
import { mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RobotsFilterError } from '../base/errors.js';
import { describeSystemError } from './system-error.js';

/** Temporary files in a directory of their own, which ends with the process at the latest. */
export class TemporaryCopies {
  #directory: string | undefined;
  #count = 0;
  /** A second signal ends the process at once, and then the copies are deleted too. */
  readonly #onExit = (): void => this.discard();

  /**
   * Returns the path of a new copy, to be written.
   *
   * @throws RobotsFilterError `output`
   */
  async newPath(): Promise<string> {
    if (this.#directory === undefined) {
      const stem = join(tmpdir(), 'robots-filter-');
      this.#directory = await mkdtemp(stem).catch((cause: unknown) => {
        throw unwritable(tmpdir(), cause);
      });
      process.on('exit', this.#onExit);
    }
    return join(this.#directory, String(this.#count++));
  }

  /**
   * Writes a copy. The next chunk may overwrite the one before.
   *
   * @throws RobotsFilterError `output`; the errors of the chunks, and the reason of the signal
   */
  async write(
    path: string,
    chunks: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void> {
    const file = await open(path, 'wx', 0o600).catch((cause: unknown) => {
      throw unwritable(path, cause);
    });
    try {
      for await (const chunk of chunks) {
        signal?.throwIfAborted();
        for (let at = 0; at < chunk.length; ) {
          const { bytesWritten } = await file.write(chunk, at).catch((cause: unknown) => {
            throw unwritable(path, cause);
          });
          at += bytesWritten;
        }
      }
    } finally {
      await file.close();
    }
  }

  /** Deletes the copies. */
  discard(): void {
    process.off('exit', this.#onExit);
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }
}

function unwritable(path: string, cause: unknown): RobotsFilterError {
  const message = `${path}: a pipe cannot be copied there: ${describeSystemError(cause)}. Set TMPDIR to a directory with room, or write the pipe to a file and name that`;
  return new RobotsFilterError('output', message, { cause });
}
