/** Writes a file or directory under another name and renames it into place when it is whole. */

import { randomBytes } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync, type Stats } from 'node:fs';
import {
  type FileHandle,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { RobotsFilterError } from '../base/errors.js';
import { opening, orWoken, pathWithoutLinks, untilReady, wakeCheck } from './openings.js';
import { errorCode, unwritable } from './system-error.js';

/** Permissions of a new file, before the umask. */
const NEW_FILE_MODE = 0o666;

/** Maximum number of links that Linux follows in a path. */
const MAX_LINKS = 40;

/** Maximum number of bytes of one write: Node refuses more than 2^31 - 1. */
const LONGEST_WRITE = 2 ** 30;

/** The directories whose entries are the descriptors of this process. */
const DESCRIPTORS: readonly string[] = ['/dev/fd', `/proc/${process.pid}/fd`];

/**
 * Replaces a file atomically: writes a temporary file beside it, and renames the temporary file
 * when it is complete. Until then, and on failure, the old file stays. A path that is not a regular
 * file (`/dev/null`, a pipe) is written to directly. A regular file behind a descriptor
 * (`/dev/stdout`) is refused: whoever has the descriptor would go on with the replaced file.
 */
export class ReplacementFile {
  /** The path as the user gave it. */
  readonly path: string;
  readonly #handle: FileHandle;
  /** The file to replace, links resolved; `undefined` if it is written to directly. */
  readonly #target: string | undefined;
  readonly #temporary: string;
  #settled = false;

  private constructor(
    path: string,
    handle: FileHandle,
    target: string | undefined,
    temporary: string,
  ) {
    this.path = path;
    this.#handle = handle;
    this.#target = target;
    this.#temporary = temporary;
  }

  /** @throws RobotsFilterError `output` if the file cannot be written */
  static async create(path: string): Promise<ReplacementFile> {
    try {
      const existing = await statusOf(path);
      if (existing?.isDirectory())
        throw new RobotsFilterError('output', `${path}: is a directory. Name a file in it.`);
      if (existing?.isSocket())
        throw new RobotsFilterError(
          'output',
          `${path}: is a socket, which cannot be opened. Name a file or a pipe.`,
        );
      if (existing?.isFile() && (await isDescriptor(path)))
        throw new RobotsFilterError(
          'output',
          `${path}: leads to a file that is already open, and would be replaced. Name the file itself.`,
        );
      if (existing !== undefined && !existing.isFile()) {
        const handle = await opening(path, open(path, 'w'));
        const own = existing.isFIFO() ? await unblocked(handle) : handle;
        return new ReplacementFile(path, own, undefined, path);
      }
      const target = existing === undefined ? await endOfLinks(path) : await realpath(path);
      const name = `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`;
      const temporary = join(dirname(target), name);
      const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
      begun(temporary);
      let isCreated = false;
      let handle: FileHandle | undefined;
      try {
        // On this thread: at an exit, a file that another thread creates could outlive its removal.
        closeSync(openSync(temporary, flags, NEW_FILE_MODE));
        isCreated = true;
        handle = await open(temporary, constants.O_RDWR);
        if (existing !== undefined) await handle.chmod(existing.mode & 0o777);
        return new ReplacementFile(path, handle, target, temporary);
      } catch (error) {
        await handle?.close().catch(() => {});
        if (isCreated) await unlink(temporary).catch(() => {});
        finished(temporary);
        throw error;
      }
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  get descriptor(): number {
    return this.#handle.fd;
  }

  /** Whether the file can be written at any offset, unlike a pipe. */
  get isSeekable(): boolean {
    return this.#target !== undefined;
  }

  /**
   * Writes bytes at an offset of the file; without an offset, after the bytes written before.
   *
   * @throws RobotsFilterError `output`
   */
  async write(bytes: Uint8Array, offset?: number): Promise<void> {
    try {
      let written = 0;
      while (written < bytes.length) {
        const position = offset === undefined ? null : offset + written;
        const length = Math.min(bytes.length - written, LONGEST_WRITE);
        const attempt = async (): Promise<number> =>
          (await this.#handle.write(bytes, written, length, position)).bytesWritten;
        written += orWoken(await untilReady(attempt, wakeCheck()));
      }
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** The error for a pipe whose reader has gone away before the end. */
  cutShort(): RobotsFilterError {
    return unwritable(this.path, { code: 'EPIPE' });
  }

  /**
   * Puts the file in place.
   *
   * @param durable whether to sync it to disk first, so that even a power failure leaves the old or
   *   the new file
   * @throws RobotsFilterError `output`; the old file then stays
   */
  async commit(durable: boolean): Promise<void> {
    if (this.#settled) return;
    try {
      if (durable && this.#target !== undefined) await this.#handle.sync();
      await this.#handle.close();
      if (this.#target !== undefined) {
        await rename(this.#temporary, this.#target);
        finished(this.#temporary);
        if (durable) await syncDirectory(dirname(this.#target));
      }
      this.#settled = true;
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** Removes the incomplete file, unless it has been committed. */
  async discard(): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    await this.#handle.close().catch(() => {});
    if (this.#target === undefined) return;
    await unlink(this.#temporary).catch(() => {});
    finished(this.#temporary);
  }
}

/**
 * The path of the file that is replaced or created at a path, all links resolved. Two paths of one
 * file have the same.
 */
export async function replacedPath(path: string): Promise<string> {
  return pathWithoutLinks(await endOfLinks(path));
}

/**
 * The file to create for a path that does not exist: the path, or the target of a dangling link.
 */
async function endOfLinks(path: string): Promise<string> {
  let end = path;
  for await (const target of targetsOf(path)) end = target;
  return end;
}

/** Whether a path, or a link on its way, names a descriptor of this process. */
async function isDescriptor(path: string): Promise<boolean> {
  for await (const target of targetsOf(resolve(path))) {
    const directory = await realpath(dirname(target)).catch(() => '');
    if (DESCRIPTORS.includes(directory)) return true;
  }
  return false;
}

/** A path, then the targets of its links, one after another. */
async function* targetsOf(path: string): AsyncGenerator<string, undefined> {
  let target = path;
  // A stat() before has followed these links, and fails beyond 40.
  for (let links = 0; links <= MAX_LINKS; links++) {
    yield target;
    const link = await readlink(target).catch(() => undefined);
    if (link === undefined) return;
    target = resolve(await realpath(dirname(target)), link);
  }
}

/**
 * A pipe that is opened again, so that a write to a full one does not block its thread: a signal
 * would have to wait for the reader. Without /proc the pipe itself.
 */
async function unblocked(pipe: FileHandle): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_NONBLOCK;
  const again = await open(`/proc/self/fd/${pipe.fd}`, flags).catch(() => undefined);
  if (again === undefined) return pipe;
  await pipe.close();
  return again;
}

async function syncDirectory(path: string): Promise<void> {
  // Not every system can sync a directory; the file itself is already synced.
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close().catch(() => {});
}

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
      // Without a turn of the event loop: an exit between the two would leave no directory.
      const isReplaced = isRenamed(this.#target, old);
      try {
        renameSync(this.temporary, this.#target);
      } catch (error) {
        if (isReplaced) renameSync(old, this.#target);
        throw error;
      }
      this.#settled = true;
      begun(old);
      finished(this.temporary);
      await rm(old, { recursive: true, force: true });
      finished(old);
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

/** Renames a directory; returns false if there is none. */
function isRenamed(path: string, to: string): boolean {
  try {
    renameSync(path, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Writes a file, or replaces it when the new one is complete.
 *
 * @throws RobotsFilterError `output` if the file cannot be written; an old file then stays
 */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const file = await ReplacementFile.create(path);
  try {
    await file.write(bytes);
    await file.commit(false);
  } finally {
    await file.discard();
  }
}

/** The status of a file; `undefined` if it does not exist. */
function statusOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** The names in a directory; none if it does not exist. */
async function namesIn(target: string, path: string): Promise<readonly string[]> {
  const status = await statusOf(target);
  if (status === undefined) return [];
  if (status.isDirectory()) return readdir(target);
  throw new RobotsFilterError('output', `${path}: is no directory. Name a new one`);
}

const unfinished = new Set<string>();

/**
 * Registers a temporary file or directory before it is created. If the process exits before
 * `finished` is called, it is removed, except after an unhandled signal.
 */
export function begun(path: string): void {
  if (unfinished.size === 0) process.on('exit', removeAll);
  unfinished.add(path);
}

/** Unregisters a file that has been renamed or removed. */
export function finished(path: string): void {
  unfinished.delete(path);
  if (unfinished.size === 0) process.off('exit', removeAll);
}

function removeAll(): void {
  for (const path of unfinished) {
    try {
      // Threads that still write into a directory may keep it from being removed at first.
      rmSync(path, { recursive: true, force: true, maxRetries: 2 });
    } catch {
      // The file cannot be removed. The process is exiting anyway.
    }
  }
}
