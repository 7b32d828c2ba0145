import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../errors.js';
import { escapeText } from '../table/display-text.js';

/**
 * Reads the numbers and texts of a table. A checksum detects damage, not forgery, so an offset may
 * be anything. Reading outside the table throws RobotsFilterError `table`.
 */
export class TableReader {
  readonly bytes: Uint8Array;
  /** The table's name in messages. */
  readonly name: string;
  readonly #view: DataView;
  #buffer: Buffer | undefined;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.name = name;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(at: number): number {
    return this.#view.getUint8(this.within(at, 1));
  }

  u16(at: number): number {
    return this.#view.getUint16(this.within(at, 2), true);
  }

  u32(at: number): number {
    return this.#view.getUint32(this.within(at, 4), true);
  }

  /** A copy of bytes, because TextDecoder refuses shared memory. */
  copy(at: number, length: number): Uint8Array {
    return this.bytes.slice(this.within(at, length), at + length);
  }

  /** A text that is ASCII, which is faster. */
  asciiText(at: number, length: number): string {
    const { buffer, byteOffset, byteLength } = this.bytes;
    this.#buffer ??= Buffer.from(buffer, byteOffset, byteLength);
    return this.#buffer.toString('latin1', this.within(at, length), at + length);
  }

  text(at: number, length: number): string {
    return this.#decoder.decode(this.copy(at, length));
  }

  /** A text that is stored escaped, escaped again so that it is safe to print. */
  escapedText(at: number, length: number): string {
    return this.escapedAgain(this.text(at, length));
  }

  /** Escapes an escaped text again. */
  escapedAgain(text: string): string {
    try {
      return escapeText(JSON.parse(`"${text}"`) as string);
    } catch {
      throw this.damaged('a text in it is no JSON string');
    }
  }

  /** Escapes bytes that are stored unescaped. */
  displayed(text: Uint8Array): string {
    return escapeText(this.#decoder.decode(text));
  }

  /** The error for a table that no compiler writes. */
  damaged(what: string): RobotsFilterError {
    return new RobotsFilterError(
      'table',
      `${this.name}: damaged: ${what}: copy it again, or compile it again`,
    );
  }

  /** Checks that bytes lie in the table; returns where. */
  within(at: number, length: number): number {
    if (at + length <= this.bytes.length) return at;
    throw this.damaged(`it refers to ${length} bytes at ${at}, beyond its end`);
  }
}
