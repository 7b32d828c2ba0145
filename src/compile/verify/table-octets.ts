import { RobotsFilterError } from '../../errors.js';
import type { SectionName } from '../table-check.js';

/**
 * Reads the numbers of a table that is being verified. Who asks has seen that they lie within it.
 */
export class TableOctets {
  readonly octets: Uint8Array;
  readonly #name: string;
  readonly #view: DataView;

  constructor(octets: Uint8Array, name: string) {
    this.octets = octets;
    this.#name = name;
    this.#view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
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

  /** A number of 1, 2 or 4 octets. */
  number(at: number, octets: number): number {
    if (octets === 1) return this.u8(at);
    return octets === 2 ? this.u16(at) : this.u32(at);
  }

  /** Sees that a section is zero between two places, where nothing lies. */
  zeros(section: SectionName, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      if (this.octets[at] !== 0) {
        throw this.fault(section, at, 'nothing refers to this byte, and it is not zero');
      }
    }
  }

  /** The error for content that no builder writes, at an offset in the file. */
  fault(section: SectionName | 'header', at: number, what: string): RobotsFilterError {
    return new RobotsFilterError(
      'table',
      `${this.#name}: not a sound table: section ${section}, byte ${at}: ${what}: do not use it; compile the robots.txt files again`,
    );
  }
}
