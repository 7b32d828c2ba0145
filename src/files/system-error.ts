/** Says in words what the system refused, and what to do about it. */

import { mkdirSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { RobotsFilterError } from '../base/errors.js';

/** The system's code of an error, such as `ENOENT`; empty if the error has none. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** The text of any error. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || errorCode(error) || error.name;
  return String(error);
}

/** Describes a system error in a few words, with its code. */
export function describeSystemError(error: unknown): string {
  const code = errorCode(error);
  const meaning = MEANINGS.get(code);
  return meaning === undefined ? errorText(error) : `${meaning} (${code})`;
}

const DENIED = 'permission denied';

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['EACCES', DENIED],
  ['EPERM', DENIED],
  ['ENOENT', 'it does not exist'],
  ['EISDIR', 'it is a directory'],
  ['ENXIO', 'it is a socket'],
  ['ELOOP', 'its symbolic links form a loop'],
]);

/** The operation that the system refused. */
type Attempt =
  /** To read an input. */
  | 'read'
  /** To write to a descriptor or stream. */
  | 'write'
  /** To write a file that replaces another. */
  | 'replace';

const DENIED_BY_SYSTEM = 'permission denied.';
const TOO_LARGE = 'the file would be larger than its file system or ulimit -f allows.';
const NO_SPACE = 'no space left on the device.';
const NO_QUOTA = 'the disk quota is used up.';
const GONE = 'its reader has gone away, and the output is incomplete';
const NO_DIRECTORY = 'a part of the path is not a directory. Check the spelling';
const READABLE = 'Make it readable for this user (chmod +r)';
const WRITABLE = 'Choose a directory that this user may write to';

/** What happened and the remedy, by the system's code. */
const REMEDIES: Readonly<Record<Attempt, ReadonlyMap<string, string>>> = {
  read: new Map([
    ['ENOENT', 'no such file. Check the spelling and the working directory'],
    ['ENOTDIR', `no such file: ${NO_DIRECTORY}`],
    ['EISDIR', 'is a directory. Name a file in it'],
    ['EACCES', `${DENIED_BY_SYSTEM} ${READABLE}`],
    ['EPERM', `${DENIED_BY_SYSTEM} ${READABLE}`],
    ['EBADF', 'is closed. Redirect something into it, or name a file'],
    ['ENXIO', 'is a socket, which cannot be opened. Name a file or a pipe'],
    ['EMFILE', 'too many open files. Raise the limit (ulimit -n)'],
  ]),
  write: new Map([
    ['ENOSPC', `${NO_SPACE} Make room, or write elsewhere`],
    ['EDQUOT', `${NO_QUOTA} Make room, or write elsewhere`],
    ['EFBIG', `${TOO_LARGE} Write elsewhere`],
    ['EBADF', 'is closed or not open for writing. Redirect it, or name a file'],
  ]),
  replace: new Map([
    ['EPIPE', `${GONE}. Read it to its end, or name a file`],
    ['ENOENT', 'the directory does not exist. Create it first (mkdir -p)'],
    ['ENOTDIR', NO_DIRECTORY],
    ['EACCES', `${DENIED_BY_SYSTEM} ${WRITABLE}`],
    ['EPERM', `${DENIED_BY_SYSTEM} ${WRITABLE}`],
    ['EROFS', 'the file system is read-only. Choose another directory'],
    ['EFBIG', `${TOO_LARGE} Choose another directory`],
    ['ENOSPC', `${NO_SPACE} Make room, or choose another directory`],
    ['EDQUOT', `${NO_QUOTA} Make room, or choose another directory`],
  ]),
};

/**
 * Describes an error and its remedy, as sentences without the last full stop; `undefined` if the
 * error is not known.
 */
export function systemRemedy(error: unknown, attempt: Attempt): string | undefined {
  return REMEDIES[attempt].get(errorCode(error));
}

/** The error for a file that cannot be read. */
export function unreadable(path: string, cause: unknown): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ??
    `cannot be read (${errorText(cause)}). Try again, or name a copy of it`;
  return new RobotsFilterError('input', `${path}: ${remedy}.`, { cause });
}

/** The error for a file or directory that cannot be written; a RobotsFilterError stays itself. */
export function unwritable(path: string, cause: unknown): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  const remedy =
    systemRemedy(cause, 'replace') ??
    `cannot be written (${errorText(cause)}). Choose another place`;
  return new RobotsFilterError('output', `${path}: ${remedy}.`, { cause });
}

/**
 * Whether the process has a working directory, which somebody may have deleted. Node asks for the
 * directory whenever it starts a thread, and ends the thread if there is none.
 */
export function hasWorkingDirectory(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates a directory, and its parents if they are missing.
 *
 * @throws the system's error, such as `ENOENT` if the path is relative and the working directory
 *   has been deleted. Node's own recursive `mkdir` would never return in that case
 */
export function makeDirectory(path: string): void {
  if (!isAbsolute(path)) statSync(process.cwd());
  mkdirSync(resolve(path), { recursive: true });
}
