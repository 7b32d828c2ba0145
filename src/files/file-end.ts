import { fstatSync, statfsSync } from 'node:fs';

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
