/** Files that are read as robots.txt files: paths of any bytes, sizes, and why one is skipped. */

import { isUtf8 } from 'node:buffer';
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
import { sep } from 'node:path';
import { SPACE, TILDE } from '../base/ascii.js';
import { decodeBytes, escapeByte, printable } from '../base/control-characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { type Compression, compressionOf, decompressed } from '../files/compression.js';
import { startsWith } from '../files/magic.js';
import { FileEnd, readOpened } from '../files/openings.js';
import { describeSystemError, errorCode } from '../files/system-error.js';
import { ARC_MAGIC, describeUnsupported, MAGIC_BYTES } from '../files/unsupported-formats.js';
import type { ByteSource } from '../warc/records.js';
import type { CacheWarningCode } from './entry.js';

/** A path, as bytes if it may not be UTF-8. */
export type FilePath = string | Uint8Array;

/** The path for `node:fs`: bytes from another thread are a Uint8Array, not a Buffer. */
export function systemPath(path: FilePath): string | Buffer {
  return typeof path === 'string'
    ? path
    : Buffer.from(path.buffer, path.byteOffset, path.byteLength);
}

/** Options for reading files. */
export interface FileAccess {
  /** The real path of the directory that links may not leave; `undefined` if they may. */
  readonly boundary: Uint8Array | undefined;
  /**
   * Whether files are opened and read in Node's thread pool, several at a time, or on the calling
   * thread. The pool is slower for files in the page cache and faster for all others.
   */
  readonly concurrent: boolean;
}

/** The reason why something is skipped, which becomes a warning. */
export interface Skip {
  readonly kind: 'skip';
  readonly code: CacheWarningCode;
  readonly message: string;
}

/** An open regular file. The receiver closes it. */
interface OpenFile {
  readonly kind: 'file';
  readonly descriptor: number;
  /** Length of the file in bytes when it was opened. */
  readonly length: number;
  /** Time of the last write before the file was opened, in milliseconds since 1970. */
  readonly written: number;
}

interface Directory {
  readonly kind: 'directory';
  /** The path to open: the real path, if a link led here. */
  readonly path: FilePath;
}

interface Missing {
  readonly kind: 'missing';
}

export interface FileBody {
  readonly kind: 'body';
  readonly bytes: Uint8Array;
  /** When the file was written, in milliseconds since 1970. */
  readonly written: number;
}

/** A body that is too long for this call of `readFileBody`. */
export interface LongBody {
  readonly kind: 'long';
}

/**
 * Maximum length of a body that is read, in bytes. Without a parsing limit, a file could fill
 * memory.
 */
export const LONGEST_BODY = 1024 ** 3;

/*
 * open() follows no link. realpath() resolves it, and its result is checked before it is opened.
 * O_NONBLOCK keeps the open of a FIFO from waiting for a writer.
 */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether open() can refuse to follow links. Windows cannot, so a link is looked for before. */
const REFUSES_LINKS = constants.O_NOFOLLOW !== undefined;

/** What realpath() writes between names. */
const SEPARATOR = sep.charCodeAt(0);

/** Errors of open() with O_NOFOLLOW on a link: ELOOP, EMLINK on FreeBSD, EFTYPE on NetBSD. */
const LINK_CODES = new Set(['ELOOP', 'EMLINK', 'EFTYPE']);

/** Codes of errors that every other file would meet too. */
const EXHAUSTION_CODES = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

const NOT_A_FILE: Skip = {
  kind: 'skip',
  code: 'not-a-file',
  message: 'A pipe, socket or device, not a regular file; skipped.',
};

/**
 * Why a file is skipped after a system error.
 *
 * @throws RobotsFilterError `input` if every other file would meet the error, too
 */
export function skipOf(error: unknown): Skip {
  const code = errorCode(error);
  // The file is a socket, or a device without a driver.
  if (code === 'ENXIO' || code === 'ENODEV') return NOT_A_FILE;
  if (EXHAUSTION_CODES.has(code)) {
    throw new RobotsFilterError(
      'input',
      `robots.txt files cannot be opened: ${describeSystemError(error)}. Raise the limits of the process (ulimit -n for open files) and run again.`,
      { cause: error },
    );
  }
  return {
    kind: 'skip',
    code: 'unreadable',
    message: `Cannot be read: ${describeSystemError(error)}; skipped.`,
  };
}

function isInside(path: Buffer, boundary: Uint8Array): boolean {
  const stem = boundary.at(-1) === SEPARATOR ? boundary.subarray(0, boundary.length - 1) : boundary;
  return (
    path.subarray(0, stem.length).equals(stem) &&
    (path.length === stem.length || path[stem.length] === SEPARATOR)
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

/** Closes a descriptor. */
export function close(descriptor: number): void {
  closeSync(descriptor);
}

/** Reads into `buffer` from the end of the last read; resolves to 0 at the end of the file. */
function read(descriptor: number, buffer: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    readInPool(descriptor, buffer, 0, buffer.length, null, (error, bytes) => {
      if (error) reject(error);
      else resolve(bytes);
    });
  });
}

/** Whether a path exists, even as a link that leads nowhere. Cheaper than a failing open. */
export function exists(path: FilePath): boolean {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // opening the path gives the error
  }
}

/** Opens a path that is not a link. */
async function openReal(path: FilePath, concurrent: boolean): Promise<OpenFile | Directory | Skip> {
  if (!REFUSES_LINKS && lstatSync(systemPath(path)).isSymbolicLink()) {
    throw Object.assign(new Error('is a link'), { code: 'ELOOP' });
  }
  const descriptor = concurrent ? await open(path) : openSync(systemPath(path), FLAGS);
  // open() has loaded the inode, so a synchronous call is cheaper than the thread pool.
  const stat = fstatSync(descriptor);
  if (stat.isFile()) {
    return { kind: 'file', descriptor, length: stat.size, written: stat.mtimeMs };
  }
  close(descriptor);
  return stat.isDirectory() ? { kind: 'directory', path } : NOT_A_FILE;
}

/**
 * Opens a path; follows links that stay within the boundary.
 *
 * @throws RobotsFilterError `input` if the process runs out of descriptors or memory
 */
export async function openFile(
  path: FilePath,
  { boundary, concurrent }: FileAccess,
): Promise<OpenFile | Directory | Missing | Skip> {
  try {
    return await openReal(path, concurrent);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { kind: 'missing' };
    if (!LINK_CODES.has(errorCode(error))) return skipOf(error);
  }
  try {
    const resolved = await realPath(path);
    if (boundary !== undefined && !isInside(resolved, boundary)) {
      return {
        kind: 'skip',
        code: 'link-outside',
        message:
          'A symbolic link that leads out of the directory; skipped. --follow-links follows it.',
      };
    }
    return await openReal(resolved, concurrent);
  } catch (error) {
    return skipOf(error);
  }
}

/**
 * A file that is being written is skipped: half a robots.txt may allow what the whole file denies.
 */
const CHANGED: Skip = {
  kind: 'skip',
  code: 'unreadable',
  message:
    'The file was written to while it was read; skipped. Run again, and replace files by renaming new ones.',
};

function isChanged({ descriptor, length, written }: OpenFile): boolean {
  const { size, mtimeMs } = fstatSync(descriptor);
  return size !== length || mtimeMs !== written;
}

/**
 * Reads a regular file from its start.
 *
 * @param limit number of bytes of the file that count; the rest is not read
 * @param most if more bytes than this count, nothing is read, and the result is a LongBody
 */
export async function readFileBody(
  path: FilePath,
  access: FileAccess,
  limit: number,
  most: number,
): Promise<FileBody | LongBody | Directory | Missing | Skip> {
  const file = await openFile(path, access);
  if (file.kind !== 'file') return file;
  try {
    const length = Math.min(file.length, limit);
    if (length > LONGEST_BODY) {
      return { kind: 'skip', code: 'too-large', message: 'Larger than 1 GiB; skipped.' };
    }
    if (length > most) return { kind: 'long' };
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const rest = bytes.subarray(filled);
      const count = access.concurrent
        ? await read(file.descriptor, rest)
        : readSync(file.descriptor, rest);
      if (count === 0) break;
      filled += count;
    }
    if (filled < length || isChanged(file)) return CHANGED;
    return { kind: 'body', bytes, written: file.written };
  } catch (error) {
    return skipOf(error);
  } finally {
    close(file.descriptor);
  }
}

/*
 * Names are bytes to the file system. Lists of names hold strings with one character per byte
 * ("byte names"). Such strings take half the memory of buffers, and sort in the order of the bytes.
 */

function isPlain(byteName: string): boolean {
  for (let i = 0; i < byteName.length; i++) {
    const byte = byteName.charCodeAt(i);
    if (byte < SPACE || byte > TILDE) return false;
  }
  return true;
}

/** The text of a byte name; `undefined` if it is not UTF-8. */
export function decodeName(byteName: string): string | undefined {
  if (isPlain(byteName)) return byteName;
  const bytes = Buffer.from(byteName, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/**
 * Formats a byte name for display on one line: control characters, and bytes that are not UTF-8,
 * become `\xNN` or `\u{NNNN}`.
 */
export function displayName(byteName: string): string {
  if (isPlain(byteName)) return byteName;
  const bytes = Buffer.from(byteName, 'latin1');
  const { text, left } = decodeBytes(bytes);
  return printable(text) + Array.from(bytes.subarray(bytes.length - left), escapeByte).join('');
}

/** Number of bytes that are read, or decompressed, at a time. */
const CHUNK = 1024 * 1024;

/**
 * Yields the bytes of the file. Each chunk overwrites the one before. The first chunk is long
 * enough to recognise a format, unless the file is shorter.
 */
export async function* readChunks(descriptor: number): AsyncGenerator<Buffer> {
  const end = new FileEnd(descriptor);
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  let filled = 0;
  let position = 0;
  for (;;) {
    const bytes = await readOpened(descriptor, chunk.subarray(filled), null);
    end.check(position, bytes);
    filled += bytes;
    position += bytes;
    // One read of a pipe may yield fewer bytes.
    if (bytes > 0 && filled < MAGIC_BYTES) continue;
    if (filled > 0) yield chunk.subarray(0, filled);
    if (bytes === 0) return;
    filled = 0;
  }
}

/** Yields a chunk, and the chunks after it. */
export async function* joined(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/** Decompresses chunks. */
export function decompress(
  compression: Compression,
  first: Buffer,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer, undefined> {
  return decompressed(compression, copies(first, rest), CHUNK);
}

/** Copies chunks: streams read ahead, so the next chunk must not overwrite this one. */
async function* copies(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of joined(first, rest)) yield Buffer.from(chunk);
  } finally {
    await rest.return(undefined);
  }
}

/**
 * Describes an ARC file, plain or compressed, and says how to convert it; `undefined` for any other
 * file.
 *
 * @param chunks the bytes of the file, as `readChunks` yields them
 */
export async function describeArc(chunks: AsyncGenerator<Buffer>): Promise<string | undefined> {
  const { value: first } = await chunks.next();
  if (first === undefined) return undefined;
  const compression = compressionOf(first);
  const content =
    compression === undefined ? joined(first, chunks) : decompress(compression, first, chunks);
  try {
    for await (const start of content) {
      return startsWith(start, ARC_MAGIC)
        ? describeUnsupported(start, compression?.name)
        : undefined;
    }
  } catch {} // The data is damaged, which whoever reads it names.
  return undefined;
}

/** The bytes of an open regular file. */
export class DescriptorSource implements ByteSource {
  readonly length: number;
  readonly #descriptor: number;
  readonly #end: FileEnd;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.#end = new FileEnd(descriptor);
    this.length = this.#end.size;
  }

  async read(offset: number, buffer: Buffer): Promise<number> {
    const bytes = await new Promise<number>((resolve, reject) => {
      readInPool(this.#descriptor, buffer, 0, buffer.length, offset, (error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    });
    // An archive may refer to offsets beyond its end.
    if (offset < this.length || bytes > 0) this.#end.check(offset, bytes);
    return bytes;
  }
}
