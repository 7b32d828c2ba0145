import { RobotsFilterError } from '../errors.js';
import { escapeText } from './display-text.js';

/**
 * Reads the numbers and texts of a table. The checksum tells damage from what was written, not what
 * was written by whom: offsets may be anything, and one that leads out of the table ends the
 * reading with an error.
 */
export class TableReader {
  readonly bytes: Uint8Array;
  readonly #name: string;
  readonly #view: DataView;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.#name = name;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Numbers of 8, 16 and 32 bits. */
  u8(at: number): number {
    return this.#view.getUint8(this.#within(at, 1));
  }

  u16(at: number): number {
    return this.#view.getUint16(this.#within(at, 2), true);
  }

  u32(at: number): number {
    return this.#view.getUint32(this.#within(at, 4), true);
  }

  /** A copy of octets, as they may lie in shared memory. */
  octets(at: number, length: number): Uint8Array {
    return this.bytes.slice(this.#within(at, length), at + length);
  }

  text(at: number, length: number): string {
    return this.#decoder.decode(this.octets(at, length));
  }

  /** A text that is escaped as in a JSON string, and so fit for a terminal, whoever wrote it. */
  escapedText(at: number, length: number): string {
    return this.escapedAgain(this.text(at, length));
  }

  /** The same for a text that has been read. */
  escapedAgain(text: string): string {
    try {
      return escapeText(JSON.parse(`"${text}"`) as string);
    } catch {
      throw this.damaged('a text in it is no JSON string');
    }
  }

  /** Octets that are not escaped, made fit for a terminal. */
  displayed(octets: Uint8Array): string {
    return escapeText(this.#decoder.decode(octets));
  }

  /** The error for content that no builder writes. */
  damaged(what: string): RobotsFilterError {
    return new RobotsFilterError(
      'table',
      `${this.#name}: damaged: ${what}: copy it again, or compile it again`,
    );
  }

  #within(at: number, length: number): number {
    if (at + length <= this.bytes.length) return at;
    throw this.damaged(`it refers to ${length} octets at ${at}, beyond its end`);
  }
}
