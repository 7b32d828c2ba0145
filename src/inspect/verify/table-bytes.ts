import { RobotsFilterError } from '../../errors.js';
import type { SectionName } from '../../table/table-check.js';

/** Reads the numbers of a table that is being verified; the caller has checked the bounds. */
export class TableBytes {
  readonly bytes: Uint8Array;
  readonly #name: string;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.#name = name;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(at: number): number {
    return this.#view.getUint8(at);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  /** A number of 1, 2 or 4 bytes. */
  number(at: number, bytes: number): number {
    if (bytes === 1) return this.u8(at);
    return bytes === 2 ? this.u16(at) : this.u32(at);
  }

  /** Checks that a section is zero from `from` to `to`. */
  zeros(section: SectionName, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      if (this.bytes[at] !== 0) {
        throw this.fault(section, at, 'nothing refers to this byte, and it is not zero');
      }
    }
  }

  /** The error for a table that no compiler writes, with the offset in the file. */
  fault(section: SectionName | 'header', at: number, what: string): RobotsFilterError {
    return new RobotsFilterError(
      'table',
      `${this.#name}: not a sound table: section ${section}, byte ${at}: ${what}: do not use it. Compile the robots.txt files again`,
    );
  }
}
