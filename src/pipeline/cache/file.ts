import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  open as openInPool,
  openSync,
  read as readInPool,
  readSync,
  realpath,
} from 'node:fs';
import { RobotsFilterError } from '../../errors.js';
import type { CacheWarningCode } from './entry.js';

/** Octets for a path that need not be UTF-8. */
export type FilePath = string | Uint8Array;

/** As the file system's functions want it: what comes from another thread is no Buffer. */
export function systemPath(path: FilePath): string | Buffer {
  return typeof path === 'string'
    ? path
    : Buffer.from(path.buffer, path.byteOffset, path.byteLength);
}

/** How files are read. */
export interface FileAccess {
  /** The directory that links may not leave, as its real path; `undefined` where they may. */
  readonly boundary: Uint8Array | undefined;
  /**
   * Whether files are opened and read in the thread pool, several at a time,
   * or on the calling thread. For 29,000 files that are in memory the trips to
   * the pool cost twice what the reading does (0.5 s more); for those that are
   * not, the pool takes half the time (1.5 s less), and on a network less still.
   */
  readonly concurrent: boolean;
}

/** Why a path was not read; becomes a warning. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly code: CacheWarningCode;
  readonly message: string;
}

/** A regular file, open; who gets it closes it. */
export interface OpenFile {
  readonly kind: 'file';
  readonly descriptor: number;
  /** Its length in octets when it was opened. */
  readonly length: number;
  /** When it had been written to last, in milliseconds. */
  readonly written: number;
}

export interface Directory {
  readonly kind: 'directory';
  /** The path to read it by: the real one, where links led here. */
  readonly path: FilePath;
}

export interface Missing {
  readonly kind: 'missing';
}

export interface Body {
  readonly kind: 'body';
  readonly octets: Uint8Array;
}

/** A body that is longer than what was to be read at once. */
export interface LongBody {
  readonly kind: 'long';
}

/** Longer bodies are refused: with no parsing limit a file could fill the memory. */
const LONGEST_BODY = 1024 ** 3;

/*
 * Links are never followed by open() itself, only by realpath(), whose result
 * is checked and then opened; O_NONBLOCK keeps a FIFO from waiting for a
 * writer before fstat() can tell that it is one.
 */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What open() with O_NOFOLLOW says of a link: ELOOP, EMLINK on FreeBSD, EFTYPE on NetBSD. */
const LINK_CODES = new Set(['ELOOP', 'EMLINK', 'EFTYPE']);

/** Errors of the process or machine, after which every other file would be refused too. */
const EXHAUSTION_CODES = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/** The system's code of an error (`ENOENT`); empty where it has none. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** An error of the system as half a sentence. */
export function describeSystemError(error: unknown): string {
  switch (systemCode(error)) {
    case 'EACCES':
    case 'EPERM':
      return 'permission denied (EACCES)';
    case 'ENOENT':
      return 'it does not exist (ENOENT)';
    case 'ELOOP':
      return 'its symbolic links form a loop (ELOOP)';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

function notAFile(): Refusal {
  return {
    kind: 'refusal',
    code: 'not-a-file',
    message: 'A pipe, socket or device, no regular file; left out.',
  };
}

/** The refusal that an error of the system stands for. */
export function refusalOf(error: unknown): Refusal {
  const code = systemCode(error);
  // Opening a socket, or a device without a driver.
  if (code === 'ENXIO' || code === 'ENODEV') return notAFile();
  if (EXHAUSTION_CODES.has(code)) {
    throw new RobotsFilterError(
      'input',
      `robots.txt files cannot be opened: ${describeSystemError(error)}. Raise the limits of the process (ulimit -n for open files) and run again.`,
      { cause: error },
    );
  }
  return {
    kind: 'refusal',
    code: 'unreadable',
    message: `Cannot be read: ${describeSystemError(error)}; left out.`,
  };
}

function isInside(path: Buffer, boundary: Uint8Array): boolean {
  const slash = 0x2f;
  const stem = boundary.at(-1) === slash ? boundary.subarray(0, boundary.length - 1) : boundary;
  return (
    path.subarray(0, stem.length).equals(stem) &&
    (path.length === stem.length || path[stem.length] === slash)
  );
}

function open(path: FilePath): Promise<number> {
  return new Promise((resolve, reject) => {
    openInPool(systemPath(path), FLAGS, (error, descriptor) => {
      if (error) reject(error);
      else resolve(descriptor);
    });
  });
}

/** The path with all links resolved. */
export function realPath(path: FilePath): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    realpath.native(systemPath(path), { encoding: 'buffer' }, (error, resolved) => {
      if (error) reject(error);
      else resolve(resolved);
    });
  });
}

/** Closes what was only read: nothing can be lost, so nothing is said if it fails. */
export function close(descriptor: number): void {
  closeSync(descriptor);
}

/** Reads into `buffer` from where the last read ended; 0 octets are the end of the file. */
export function read(descriptor: number, buffer: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    readInPool(descriptor, buffer, 0, buffer.length, null, (error, octets) => {
      if (error) reject(error);
      else resolve(octets);
    });
  });
}

/**
 * Whether there is something, be it a link that leads nowhere: cheaper than the error that opening
 * it makes if there is not.
 */
export function exists(path: FilePath): boolean {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // who opens it says why that fails
  }
}

/** Opens a path that is no link, or was resolved. */
async function openReal(
  path: FilePath,
  concurrent: boolean,
): Promise<OpenFile | Directory | Refusal> {
  const descriptor = concurrent ? await open(path) : openSync(systemPath(path), FLAGS);
  // The inode is in memory since open(): a synchronous call costs less than a trip to the thread
  // pool.
  const stat = fstatSync(descriptor);
  if (stat.isFile()) {
    return { kind: 'file', descriptor, length: stat.size, written: stat.mtimeMs };
  }
  close(descriptor);
  return stat.isDirectory() ? { kind: 'directory', path } : notAFile();
}

/**
 * Opens what a path leads to, by way of links as far as the boundary lets them. Throws only when
 * the process is exhausted.
 */
export async function openFile(
  path: FilePath,
  { boundary, concurrent }: FileAccess,
): Promise<OpenFile | Directory | Missing | Refusal> {
  try {
    return await openReal(path, concurrent);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { kind: 'missing' };
    if (!LINK_CODES.has(systemCode(error))) return refusalOf(error);
  }
  try {
    const resolved = await realPath(path);
    if (boundary !== undefined && !isInside(resolved, boundary)) {
      return {
        kind: 'refusal',
        code: 'link-outside',
        message: 'A symbolic link that leads out of the directory; not followed.',
      };
    }
    return await openReal(resolved, concurrent);
  } catch (error) {
    return refusalOf(error);
  }
}

/** Half a robots.txt allows what the whole one does not. */
const CHANGED: Refusal = {
  kind: 'refusal',
  code: 'unreadable',
  message:
    'It was written to while it was read; left out. Run again, and put files in their place by renaming them.',
};

function isChanged({ descriptor, length, written }: OpenFile): boolean {
  const { size, mtimeMs } = fstatSync(descriptor);
  return size !== length || mtimeMs !== written;
}

/**
 * Reads a regular file from its start, `limit` octets at most, or says that
 * more than `atOnce` octets would have to be read.
 */
export async function readBody(
  path: FilePath,
  access: FileAccess,
  limit: number,
  atOnce: number,
): Promise<Body | LongBody | Directory | Missing | Refusal> {
  const file = await openFile(path, access);
  if (file.kind !== 'file') return file;
  try {
    const length = Math.min(file.length, limit);
    if (length > LONGEST_BODY) {
      return { kind: 'refusal', code: 'too-large', message: 'Larger than 1 GiB; left out.' };
    }
    if (length > atOnce) return { kind: 'long' };
    const octets = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const rest = octets.subarray(filled);
      const count = access.concurrent
        ? await read(file.descriptor, rest)
        : readSync(file.descriptor, rest);
      if (count === 0) break;
      filled += count;
    }
    if (filled < length || isChanged(file)) return CHANGED;
    return { kind: 'body', octets };
  } catch (error) {
    return refusalOf(error);
  } finally {
    close(file.descriptor);
  }
}
