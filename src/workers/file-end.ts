import { fstatSync } from 'node:fs';

/** A file as it was before it was read. */
export interface FileBefore {
  /** Octets. */
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * Watches that a file which is read to its end was not cut off meanwhile: that would look like a shorter file. One that
 * grows is read for as long as something comes.
 */
export class FileEnd {
  readonly #descriptor: number;
  readonly before: FileBefore;

  /** @param before as it was before the first read; by default as it is */
  constructor(descriptor: number, before: FileBefore = fstatSync(descriptor)) {
    this.#descriptor = descriptor;
    this.before = { size: before.size, mtimeMs: before.mtimeMs };
  }

  /**
   * Whether the file was longer before; to be asked when nothing more comes.
   *
   * @param position where that was, in octets
   * @throws Error if the system does not say
   */
  isCutOff(position: number): boolean {
    const { size, mtimeMs } = this.before;
    // Files that the system makes up as they are read may be shorter than they say, but do not change.
    return position < size && fstatSync(this.#descriptor).mtimeMs !== mtimeMs;
  }

  /**
   * To be called when nothing more comes.
   *
   * @param position where that was, in octets
   * @throws Error if the file was longer before
   */
  check(position: number): void {
    if (!this.isCutOff(position)) return;
    throw new Error(
      `it was cut off while it was read: ${position} of ${this.before.size} bytes were left`,
    );
  }
}
