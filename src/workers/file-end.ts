import { fstatSync, statfsSync } from 'node:fs';

/**
 * File systems whose files the kernel makes up as they are read, by their magic numbers
 * (statfs(2)): there a file may end before its size, which is that of a page. Other such file
 * systems give sizes of 0.
 */
const MADE_UP: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x62656570, // configfs
  0x64626720, // debugfs
  0x74726163, // tracefs
]);

/**
 * Watches that a regular file is not truncated while it is read to its end: that would look like a
 * shorter file. A file that grows is read for as long as something comes.
 *
 * Only the size tells. A file system may change the size at once and mtime some 70 ms later. So a
 * file is truncated if it ends before the size that it had at first, or is smaller than that after
 * some read. A file that is truncated and grows to its old size again between two reads looks like
 * one that only grew.
 */
export class FileEnd {
  readonly #descriptor: number;
  /** The octets that the file had before the first read. */
  readonly size: number;

  /** @param size by default what the file has now */
  constructor(descriptor: number, size: number = fstatSync(descriptor).size) {
    this.#descriptor = descriptor;
    this.size = size;
  }

  /**
   * Whether the file has been truncated. To be asked after each read, before its octets are used:
   * they may be zeros, or half a line.
   *
   * @param position where the read began, in octets
   * @param octets what the read has brought; 0 at the end of the file
   * @throws Error if the system does not say
   */
  isTruncated(position: number, octets: number): boolean {
    if (octets > 0) return fstatSync(this.#descriptor).size < this.size;
    return position < this.size && !isMadeUp(this.#descriptor);
  }

  /**
   * As `isTruncated`, which see.
   *
   * @throws Error if the file has been truncated
   */
  check(position: number, octets: number): void {
    if (this.isTruncated(position, octets)) throw truncationError(this.size);
  }
}

/** @param size octets that the file had before the first read */
export function truncationError(size: number): Error {
  return new Error(`the file had ${size} bytes at first and was truncated while it was read`);
}

function isMadeUp(descriptor: number): boolean {
  try {
    return MADE_UP.has(statfsSync(`/proc/self/fd/${descriptor}`).type);
  } catch {
    return false; // without /proc there are no such file systems
  }
}
