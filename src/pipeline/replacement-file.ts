import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { RobotsFilterError } from '../errors.js';
import { opening } from '../openings.js';
import { begun, finished } from './unfinished-files.js';

/** Permissions of a new file, less the umask. */
const NEW_FILE_MODE = 0o666;

/** Links that Linux follows on the way to a file. */
const MOST_LINKS = 40;

/** Octets: Node refuses more than 2^31 - 1 at once. */
const LONGEST_WRITE = 2 ** 30;

/**
 * A file that is written beside the one that it is to replace, and takes its place only when it is
 * complete: until then, and if that fails, the old one stays as it was. What is no regular file
 * (`/dev/null`, a pipe) is written to directly.
 */
export class ReplacementFile {
  /** As the user named it. */
  readonly path: string;
  readonly #handle: FileHandle;
  /** The file that is replaced, links resolved; undefined where it is written to directly. */
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

  /** @throws RobotsFilterError `output` if no file can be written there */
  static async create(path: string): Promise<ReplacementFile> {
    try {
      const existing = await stat(path).catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return undefined;
        throw error;
      });
      if (existing?.isDirectory())
        throw new RobotsFilterError('output', `${path}: is a directory. Name a file in it.`);
      if (existing !== undefined && !existing.isFile()) {
        const handle = await opening(path, open(path, 'w'));
        return new ReplacementFile(path, handle, undefined, path);
      }
      const target = existing === undefined ? await endOfLinks(path) : await realpath(path);
      const name = `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`;
      const temporary = join(dirname(target), name);
      const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
      begun(temporary);
      let handle: FileHandle | undefined;
      try {
        handle = await open(temporary, flags, NEW_FILE_MODE);
        if (existing !== undefined) await handle.chmod(existing.mode & 0o777);
        return new ReplacementFile(path, handle, target, temporary);
      } catch (error) {
        await handle?.close().catch(() => {});
        if (handle !== undefined) await unlink(temporary).catch(() => {});
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

  /** Whether octets can be written at any offset: not to a pipe. */
  get isSeekable(): boolean {
    return this.#target !== undefined;
  }

  /**
   * Writes octets at an offset of the file, or where none is given behind those that were written
   * before.
   *
   * @throws RobotsFilterError `output`
   */
  async write(octets: Uint8Array, offset?: number): Promise<void> {
    try {
      let written = 0;
      while (written < octets.length) {
        const position = offset === undefined ? null : offset + written;
        const length = Math.min(octets.length - written, LONGEST_WRITE);
        const { bytesWritten } = await this.#handle.write(octets, written, length, position);
        written += bytesWritten;
      }
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /**
   * Puts the file in its place.
   *
   * @param durable whether to wait until it is on the disk, so that even a loss of power leaves the
   *   old or the new one
   * @throws RobotsFilterError `output`; the old file stays then
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

  /** Takes the incomplete file away, unless it has been committed. */
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
 * Where a path leads to at which there is no file yet: itself, or what a link that leads nowhere is
 * meant for.
 */
async function endOfLinks(path: string): Promise<string> {
  let end = path;
  // The system, which has just found no file there, gives up beyond 40 links itself.
  for (let links = 0; links <= MOST_LINKS; links++) {
    const link = await readlink(end).catch(() => undefined);
    if (link === undefined) return end;
    end = resolve(await realpath(dirname(end)), link);
  }
  return path;
}

async function syncDirectory(path: string): Promise<void> {
  // Not every system can sync a directory; the file itself is safe by then.
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close().catch(() => {});
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'the directory does not exist. Make it first (mkdir -p).'],
  ['ENOTDIR', 'a part of the path is no directory. Mind the spelling.'],
  ['EACCES', 'permission denied. Choose a directory that this user may write to.'],
  ['EPERM', 'permission denied. Choose a directory that this user may write to.'],
  ['EROFS', 'the file system is read-only. Choose another directory.'],
  [
    'EFBIG',
    'the file would be larger than its file system or ulimit -f allows. Choose another directory.',
  ],
  ['ENOSPC', 'no space is left on the device. Make room, or choose another directory.'],
  ['EDQUOT', 'the quota is used up. Make room, or choose another directory.'],
]);

function unwritable(path: string, cause: unknown): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy =
    REMEDIES.get(systemCode(cause)) ?? `cannot be written (${reason}). Choose another place.`;
  return new RobotsFilterError('output', `${path}: ${remedy}`, { cause });
}
