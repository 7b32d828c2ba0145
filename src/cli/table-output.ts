import { HEADER_OCTETS } from '../compile/format.js';
import type { ReplacementFile } from '../pipeline/replacement-file.js';

/** Octets that are written at once. */
const PIECE = 1 << 24;

/** Writes a table to a file, if that can be, while the rest of it is laid out: its header comes last. */
export class TableOutput {
  readonly #file: ReplacementFile;
  readonly #pieces: Promise<void>[] = [];
  /** Up to where all but the header is written, or being written. */
  #end = HEADER_OCTETS;

  constructor(file: ReplacementFile) {
    this.#file = file;
  }

  /** Says that the octets of a table up to `end`, but for its header, are as they will stay. */
  laidOut(table: Uint8Array, end: number): void {
    if (!this.#file.isSeekable || end - this.#end < PIECE) return;
    this.#write(table, this.#end, end);
    this.#end = end;
  }

  /**
   * Writes what is left of the table, which is whole.
   *
   * @throws RobotsFilterError `output`
   */
  async finish(table: Uint8Array): Promise<void> {
    if (!this.#file.isSeekable) return this.#file.write(table);
    this.#write(table, this.#end, table.length);
    this.#write(table, 0, HEADER_OCTETS);
    await Promise.all(this.#pieces);
  }

  #write(table: Uint8Array, from: number, to: number): void {
    const written = this.#file.write(table.subarray(from, to), from);
    written.catch(() => {}); // heard when the table is whole
    this.#pieces.push(written);
  }
}
