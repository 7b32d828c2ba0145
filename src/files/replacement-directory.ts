import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { RobotsFilterError } from '../errors.js';
import { errorCode } from './system-error.js';
import { begun, finished } from './unfinished-files.js';
import { unwritable } from './unwritable-file.js';

/**
 * Replaces a directory: files are written into a temporary directory beside it, which is renamed
 * when they are complete. Until then, and on failure, the old directory stays. Between two renames
 * there is, for a moment, no directory of that name.
 */
export class ReplacementDirectory {
  /** The path as the user gave it. */
  readonly path: string;
  /** The temporary directory, for the files. */
  readonly temporary: string;
  readonly #target: string;
  #settled = false;

  private constructor(path: string, target: string, temporary: string) {
    this.path = path;
    this.#target = target;
    this.temporary = temporary;
  }

  /**
   * @param isOwn whether a file with this name may be in a directory that is replaced
   * @throws RobotsFilterError `output` if the directory cannot be made, or if the directory to be
   *   replaced holds other files
   */
  static async create(
    path: string,
    isOwn: (name: string) => boolean,
  ): Promise<ReplacementDirectory> {
    const target = resolve(path);
    try {
      const foreign = (await namesIn(target, path)).find((name) => !isOwn(name));
      if (foreign !== undefined) {
        throw new RobotsFilterError(
          'output',
          `${path}: holds ${foreign}, which would be lost. Name a new directory, or one that compile --shards wrote`,
        );
      }
      const name = `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`;
      const temporary = join(dirname(target), name);
      begun(temporary);
      // On this thread, as in ReplacementFile.
      mkdirSync(temporary);
      return new ReplacementDirectory(path, target, temporary);
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /**
   * Puts the directory in place.
   *
   * @throws RobotsFilterError `output`; the old directory then stays
   */
  async commit(): Promise<void> {
    const old = `${this.temporary}.old`;
    try {
      const isReplaced = await rename(this.#target, old).then(
        () => true,
        (error: unknown) => {
          if (errorCode(error) === 'ENOENT') return false;
          throw error;
        },
      );
      try {
        await rename(this.temporary, this.#target);
      } catch (error) {
        if (isReplaced) await rename(old, this.#target);
        throw error;
      }
      this.#settled = true;
      finished(this.temporary);
      await rm(old, { recursive: true, force: true });
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }

  /** Removes the incomplete directory, unless it has been committed. */
  async discard(): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    await rm(this.temporary, { recursive: true, force: true }).catch(() => {});
    finished(this.temporary);
  }
}

/** The names in a directory; none if it does not exist. */
async function namesIn(target: string, path: string): Promise<readonly string[]> {
  const status = await stat(target).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (status === undefined) return [];
  if (status.isDirectory()) return readdir(target);
  throw new RobotsFilterError('output', `${path}: is no directory. Name a new one`);
}
