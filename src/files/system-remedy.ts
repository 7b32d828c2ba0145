import { errorCode } from './system-error.js';

/** The operation that the system refused. */
export type Attempt =
  /** To read an input. */
  | 'read'
  /** To write to a descriptor or stream. */
  | 'write'
  /** To write a file that replaces another. */
  | 'replace';

const DENIED = 'permission denied.';
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
    ['EACCES', `${DENIED} ${READABLE}`],
    ['EPERM', `${DENIED} ${READABLE}`],
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
    ['EACCES', `${DENIED} ${WRITABLE}`],
    ['EPERM', `${DENIED} ${WRITABLE}`],
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
