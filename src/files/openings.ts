/**
 * Opens and reads paths that may be pipes, such that a signal ends the wait for their other ends.
 * `process.exit` waits for a thread that blocks in a system call, so no thread may stay in one.
 */

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  open,
  openSync,
  read,
  readSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { errorCode } from './system-error.js';

// From node:fs, because node:fs/promises takes longer to load.
const openElsewhere = promisify(open);
const readElsewhere = promisify(read);

/** Milliseconds between two attempts to wake pending opens. */
const INTERVAL = 10;

/**
 * Milliseconds after which a pipe that cannot be woken is given up, such as another user's pipe.
 */
const TIMEOUT = 1000;

/** Milliseconds between two attempts on a pipe that is empty or full; the wait doubles. */
const SHORTEST_WAIT = 1;
const LONGEST_WAIT = 50;

/** Bytes of one read of a whole file. */
const LEAST_READ_BYTES = 1 << 16;
const MOST_READ_BYTES = 1 << 22;

/** Paths of pending opens. A path that is being opened twice is listed twice. */
const openings: string[] = [];

/** Number of calls of `wakeOpenings`. */
let wakes = 0;

/**
 * Registers a path while it is being opened. The open of a named pipe blocks a thread until another
 * program opens the other end. `process.exit` waits for that thread, so `wakeOpenings` must wake
 * it.
 */
export async function opening<Opened>(path: string, opened: Promise<Opened>): Promise<Opened> {
  openings.push(path);
  try {
    return await opened;
  } finally {
    openings.splice(openings.indexOf(path), 1);
  }
}

/**
 * Opens a path: a regular file at once, and anything else on a thread of Node's, because a named
 * pipe opens when another program opens its other end.
 */
export async function openPath(path: string, flags: string | number): Promise<number> {
  return isRegularFile(path)
    ? openSync(path, flags)
    : await opening(path, openElsewhere(path, flags));
}

/**
 * Opens a path for reading with `readOpened`: a named pipe when it has a writer.
 *
 * Not without blocking at once: a pipe without a writer would look like one that has ended.
 */
export async function openToRead(path: string): Promise<number> {
  const descriptor = await openPath(path, 'r');
  const status = fstatSync(descriptor);
  if (status.isFile() || status.isDirectory()) return descriptor;
  const unblocked = openUnblocked(descriptor, constants.O_RDONLY);
  if (unblocked === undefined) return descriptor;
  closeSync(descriptor);
  return unblocked;
}

/**
 * Opens a pipe or device again, so that its reads and writes fail with EAGAIN and do not block. The
 * descriptor itself would change for all processes that share it. `undefined` without /proc, and
 * for the pipe of another user.
 */
export function openUnblocked(descriptor: number, flags: number): number | undefined {
  try {
    const unblocked = flags | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openSync(`/proc/self/fd/${descriptor}`, unblocked);
  } catch {
    return undefined;
  }
}

/**
 * Opens a file that is read at any offset. Neither waits for a pipe's writer nor for a device, so
 * look at the status before reading.
 */
export function openUnwaiting(path: string): Promise<number> {
  return openElsewhere(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
}

/**
 * Whether a descriptor is a terminal. Asks node:tty of devices alone: a start that loads it takes 3
 * ms longer.
 */
export function isTerminal(descriptor: number): boolean {
  return isDevice(descriptor) && isatty(descriptor);
}

/** Whether a descriptor is a device that does something: not the null device. */
function isDevice(descriptor: number): boolean {
  try {
    const status = fstatSync(descriptor);
    return status.isCharacterDevice() && status.rdev !== statSync(devNull).rdev;
  } catch {
    return true; // the descriptor is closed, or the system has no such path: node:tty knows
  }
}

/** What a path is that is not a regular file, for messages: `a pipe`. */
export function kindName(status: Stats): string {
  if (status.isDirectory()) return 'a directory';
  if (status.isFIFO()) return 'a pipe';
  return status.isSocket() ? 'a socket' : 'a device';
}

/**
 * Reads into `room` what has come, but at least a byte; returns 0 at the end.
 *
 * @param position the place in a file; `null` for where the last read ended
 * @throws Error after `wakeOpenings`, if nothing has come
 */
export async function readOpened(
  descriptor: number,
  room: Uint8Array,
  position: number | null,
): Promise<number> {
  const attempt = async (): Promise<number> =>
    (await readElsewhere(descriptor, room, 0, room.length, position)).bytesRead;
  return orWoken(await untilReady(attempt, wakeCheck()));
}

/** The number of bytes that were read or written; throws if a wake-up came first. */
export function orWoken(bytes: number | undefined): number {
  if (bytes === undefined) throw new Error('a signal has ended the wait for a pipe');
  return bytes;
}

/** Returns a function that tells whether `wakeOpenings` has been called since. */
export function wakeCheck(): () => boolean {
  const before = wakes;
  return () => wakes !== before;
}

/**
 * Repeats a read or write that does not block until it reads or writes something.
 *
 * @returns its bytes, or `undefined` once it is given up
 */
export async function untilReady(
  attempt: () => Promise<number>,
  isGivenUp: () => boolean,
): Promise<number | undefined> {
  for (let delay = SHORTEST_WAIT; !isGivenUp(); delay = Math.min(2 * delay, LONGEST_WAIT)) {
    try {
      return await attempt();
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
    }
    await pause(delay);
  }
  return undefined;
}

/**
 * Reads a file, or a pipe or device to its end.
 *
 * @returns `undefined` if it holds more than `most` bytes: a device may have no end
 */
export async function readWhole(path: string, most: number): Promise<Buffer | undefined> {
  const descriptor = await openToRead(path);
  try {
    return await readToEnd(descriptor, most);
  } finally {
    closeSync(descriptor);
  }
}

/** As `readWhole`, of a descriptor that `openToRead` or `openUnwaiting` has opened. */
export async function readToEnd(descriptor: number, most: number): Promise<Buffer | undefined> {
  const { size } = fstatSync(descriptor);
  const roomBytes = Math.min(Math.max(size + 1, LEAST_READ_BYTES), MOST_READ_BYTES);
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= most; ) {
    const room = Buffer.allocUnsafe(roomBytes);
    const read = await readOpened(descriptor, room, null);
    if (read === 0) return Buffer.concat(pieces);
    pieces.push(room.subarray(0, read));
    bytes += read;
  }
  return undefined;
}

function isRegularFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // opening it gives the error
  }
}

/**
 * Makes all pending opens of named pipes return, as if the other end had been opened and closed,
 * and ends all waits of `readOpened`.
 */
export function wakeOpenings(): void {
  wakes++;
  for (const path of openings) {
    try {
      if (!statSync(path).isFIFO()) continue;
      // Opening for reading and writing does not block, and wakes readers and writers.
      closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    } catch {
      // The pipe belongs to another user.
    }
  }
}

/** Wakes pending opens until none are left. */
export async function endOpenings(): Promise<void> {
  if (openings.length === 0) return;
  const begin = performance.now();
  while (openings.length > 0 && performance.now() - begin < TIMEOUT) {
    wakeOpenings();
    await pause(INTERVAL);
  }
}

/**
 * A socket from which an input is read. Fails with `ECONNRESET` if the writer reset the connection.
 *
 * libuv reports an end if a reset came together with the last bytes. A truncated input would then
 * pass as complete. The error is still pending in the system, so one more read reports it.
 *
 * Not a class of its own, because node:net is loaded for sockets alone.
 */
export function inputSocket(descriptor: number): Socket {
  const socket = new Socket({ fd: descriptor, readable: true, writable: false });
  // A reset before the first read would end the process. The reader gets the error.
  socket.on('error', () => {});
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) {
      try {
        readSync(descriptor, Buffer.alloc(1));
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined);
        return false;
      }
    }
    return push(chunk, encoding);
  };
  return socket;
}

/**
 * Yields the bytes of a socket, which `readOpened` would wait for in a thread.
 *
 * @throws Error after `wakeOpenings`
 */
export async function* socketChunks(descriptor: number): AsyncGenerator<Buffer> {
  const socket = inputSocket(descriptor);
  const isWoken = wakeCheck();
  const checks = setInterval(() => {
    if (isWoken()) socket.destroy(new Error('a signal has ended the wait for a socket'));
  }, LONGEST_WAIT);
  try {
    for await (const chunk of socket) yield chunk as Buffer;
  } finally {
    clearInterval(checks);
  }
}

/** The path that stands for standard input. */
export const STANDARD_INPUT = '-';

/** Names of standard input. Bytes that one of them has read from a pipe are lost to the others. */
const STANDARD_INPUT_NAMES = [STANDARD_INPUT, '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'];

/** Whether a path leads to standard input. */
export function isStandardInput(path: string): boolean {
  return STANDARD_INPUT_NAMES.includes(path);
}

/** The name of an input in messages. */
export function inputName(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}

/** A bigint, because the number of a file may have 64 bits on Windows. */
const EXACT = { bigint: true } as const;

/** The status of a path, or of a descriptor, by which `isSameFile` knows it. */
export function exactStatus(place: string | number): BigIntStats {
  return typeof place === 'number' ? fstatSync(place, EXACT) : statSync(place, EXACT);
}

/** The same; undefined if there is none. */
export function findExactStatus(place: string | number): BigIntStats | undefined {
  try {
    return exactStatus(place);
  } catch {
    return undefined;
  }
}

/** A whole path without links. The last names need not exist, and a link may lead nowhere. */
export function pathWithoutLinks(path: string): string {
  const whole = resolve(path);
  try {
    return realpathSync.native(whole);
  } catch {
    const parent = dirname(whole);
    return parent === whole ? whole : join(pathWithoutLinks(parent), basename(whole));
  }
}

/** Whether two names or descriptors are one regular file. */
export function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.isFile() && a.ino === b.ino && a.dev === b.dev;
}

/**
 * Magic numbers (statfs(2)) of file systems that generate their files on reading. Such a file may
 * end before its size, which is the size of a page.
 */
const GENERATED: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x62656570, // configfs
  0x64626720, // debugfs
  0x74726163, // tracefs
]);

/**
 * Notices that a regular file is truncated while it is read. The end of such a file looks like the
 * end of a shorter file. A file that grows is read as long as bytes come.
 *
 * Only the size is reliable: mtime may change later. A file is truncated if it ends before its
 * first size, or if it is smaller than its first size after a read. A file that is truncated and
 * regains its size between two reads looks like a file that grew.
 */
export class FileEnd {
  readonly #descriptor: number;
  /** The size before the first read, in bytes. */
  readonly size: number;

  /** @param size the size before the first read, in bytes; default: the current size */
  constructor(descriptor: number, size: number = fstatSync(descriptor).size) {
    this.#descriptor = descriptor;
    this.size = size;
  }

  /**
   * Whether the file has been truncated. Call it after each read, before the bytes are used: they
   * may be zeros, or half a line.
   *
   * @param position offset at which the read began, in bytes
   * @param bytes number of bytes that the read returned; 0 at the end of the file
   * @throws Error if the system call fails
   */
  isTruncated(position: number, bytes: number): boolean {
    if (bytes > 0) return fstatSync(this.#descriptor).size < this.size;
    return position < this.size && !isGenerated(this.#descriptor);
  }

  /**
   * Checks a read as `isTruncated` does.
   *
   * @throws Error if the file has been truncated
   */
  check(position: number, bytes: number): void {
    if (this.isTruncated(position, bytes)) throw truncationError(this.size);
  }
}

/** @param size the size before the first read, in bytes */
export function truncationError(size: number): Error {
  return new Error(`the file had ${size} bytes at first and was truncated while it was read`);
}

function isGenerated(descriptor: number): boolean {
  try {
    return GENERATED.has(statfsSync(`/proc/self/fd/${descriptor}`).type);
  } catch {
    return false; // without /proc no such file system exists
  }
}
