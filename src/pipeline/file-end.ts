import { fstatSync, type Stats } from 'node:fs';

/**
 * Watches that a file which is read to its end was not cut off meanwhile: that would look like a shorter file. One that
 * grows is read for as long as something comes.
 */
export class FileEnd {
  readonly #descriptor: number;
  readonly #before: Stats;

  /** To be made before the first read. */
  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.#before = fstatSync(descriptor);
  }

  /**
   * To be called when nothing more comes.
   *
   * @param position where that was, in octets
   * @throws Error if the file was longer before
   */
  check(position: number): void {
    const { size, mtimeMs } = this.#before;
    // Files that the system makes up as they are read may be shorter than they say, but do not change.
    if (position >= size || fstatSync(this.#descriptor).mtimeMs === mtimeMs) return;
    throw new Error(`it was cut off while it was read: ${position} of ${size} bytes were left`);
  }
}
