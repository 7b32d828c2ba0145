import { BACKSLASH, LOWER_A, LOWER_CASE_BIT, LOWER_F, LOWER_U, QUOTE } from '../../ascii.js';
import { isControl } from '../../control-characters.js';
import { isDigit } from '../../protocol/byte.js';
import { ESCAPE_GROWTH, UNESCAPED } from '../../table/display-text.js';
import { TEXT_LENGTH_BYTES, TEXT_LIMIT } from '../../table/format.js';
import { ByteSet } from './byte-set.js';
import type { TableBytes } from './table-bytes.js';

const MAX_KEPT_BYTES = ESCAPE_GROWTH * TEXT_LIMIT;

/** Checks the kept texts of an automaton, and keeps where each text starts. */
export class TextCheck {
  count = 0;
  readonly #table: TableBytes;
  readonly #starts = new ByteSet();
  #bytes = 0;

  constructor(table: TableBytes) {
    this.#table = table;
  }

  /** Checks the texts of the next automaton. */
  check(start: number, end: number): void {
    const table = this.#table;
    this.#bytes = end - start;
    this.#starts.clear(this.#bytes);
    for (let at = start; at < end; ) {
      const text = at + TEXT_LENGTH_BYTES;
      // In bounds: TAIL_BYTES follow the section.
      const next = text + table.u16(at);
      if (next > end) throw table.fault('hosts', at, 'the text ends beyond its automaton');
      if (next - text > MAX_KEPT_BYTES) throw table.fault('hosts', at, 'the text is too long');
      if (!isEscaped(table.bytes, text, next)) {
        throw table.fault('hosts', at, 'the text is not escaped as in a JSON string');
      }
      this.#starts.add(at - start);
      this.count++;
      at = next;
    }
  }

  /** Whether a text starts at an offset from the end of the nodes. */
  has(offset: number): boolean {
    return offset < this.#bytes && this.#starts.has(offset);
  }
}

/** Whether bytes are UTF-8, escaped as `escapeText` escapes it: safe in JSON and to print. */
export function isEscaped(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; ) {
    const byte = bytes[at] as number;
    const length =
      UNESCAPED[byte] === 1
        ? 1
        : byte === BACKSLASH
          ? escapeBytes(bytes, at, end)
          : characterBytes(bytes, at, end);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Length of the escape sequence at `at`; 0 if none ends up to `end`. */
function escapeBytes(bytes: Uint8Array, at: number, end: number): number {
  if (end - at < 2) return 0;
  const kind = bytes[at + 1] as number;
  if (kind === QUOTE || kind === BACKSLASH) return 2;
  if (kind !== LOWER_U || end - at < 6) return 0;
  for (let digit = at + 2; digit < at + 6; digit++) {
    if (!isHexDigit(bytes[digit] as number)) return 0;
  }
  return 6;
}

function isHexDigit(byte: number): boolean {
  const letter = byte | LOWER_CASE_BIT;
  return isDigit(byte) || (letter >= LOWER_A && letter <= LOWER_F);
}

/**
 * Length of the non-ASCII character at `at` that needs no escape (RFC 3629 section 4); 0 if there
 * is none.
 */
function characterBytes(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number;
  const length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || end - at < length) return 0;
  let code = lead & (0x7f >> length);
  for (let next = at + 1; next < at + length; next++) {
    const byte = bytes[next] as number;
    if ((byte & 0xc0) !== 0x80) return 0;
    code = (code << 6) | (byte & 0x3f);
  }
  if (length === 3)
    return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) || isControl(code) ? 0 : 3;
  if (length === 4) return code < 0x1_0000 || code > 0x10_ffff ? 0 : 4;
  return isControl(code) ? 0 : 2;
}
