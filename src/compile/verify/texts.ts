import { isControl } from '../../control-characters.js';
import { ESCAPE_GROWTH, UNESCAPED } from '../display-text.js';
import { TEXT_LIMIT } from '../format.js';
import { OctetSet } from './octet-set.js';
import type { TableOctets } from './table-octets.js';

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const LETTER_U = 0x75;

/** Octets of a kept text before it. */
const LENGTH_OCTETS = 2;
const MAX_KEPT_OCTETS = ESCAPE_GROWTH * TEXT_LIMIT;

/** Checks the texts that an automaton keeps, one after another; knows then where they start. */
export class TextCheck {
  count = 0;
  readonly #table: TableOctets;
  readonly #starts = new OctetSet();
  #octets = 0;

  constructor(table: TableOctets) {
    this.#table = table;
  }

  /** Checks those of an automaton. */
  check(start: number, end: number): void {
    const table = this.#table;
    this.#octets = end - start;
    this.#starts.clear(this.#octets);
    for (let at = start; at < end; ) {
      const text = at + LENGTH_OCTETS;
      // Two octets can be read behind every section.
      const next = text + table.u16(at);
      if (next > end) throw table.fault('hosts', at, 'the text ends beyond its automaton');
      if (next - text > MAX_KEPT_OCTETS) throw table.fault('hosts', at, 'the text is too long');
      if (!isEscaped(table.octets, text, next)) {
        throw table.fault('hosts', at, 'the text is not escaped as in a JSON string');
      }
      this.#starts.add(at - start);
      this.count++;
      at = next;
    }
  }

  /** Whether a text of the automaton starts at an offset from the first. */
  has(offset: number): boolean {
    return offset < this.#octets && this.#starts.has(offset);
  }
}

/**
 * Whether octets are UTF-8, escaped as `escapeText` does: the inside of a JSON string, and fit for
 * a terminal.
 */
export function isEscaped(octets: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; ) {
    const octet = octets[at] as number;
    const length =
      UNESCAPED[octet] === 1
        ? 1
        : octet === BACKSLASH
          ? escapeOctets(octets, at, end)
          : characterOctets(octets, at, end);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Octets of the escape sequence at `at`; 0 if there is none that ends up to `end`. */
function escapeOctets(octets: Uint8Array, at: number, end: number): number {
  if (end - at < 2) return 0;
  const kind = octets[at + 1] as number;
  if (kind === QUOTE || kind === BACKSLASH) return 2;
  if (kind !== LETTER_U || end - at < 6) return 0;
  for (let digit = at + 2; digit < at + 6; digit++) {
    if (!isHexDigit(octets[digit] as number)) return 0;
  }
  return 6;
}

function isHexDigit(octet: number): boolean {
  const letter = octet | 0x20;
  return (octet >= 0x30 && octet <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

/**
 * Octets of the character beyond ASCII at `at` that may stand as it is (RFC 3629 section 4); 0 if
 * there is none.
 */
function characterOctets(octets: Uint8Array, at: number, end: number): number {
  const lead = octets[at] as number;
  const length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || end - at < length) return 0;
  let code = lead & (0x7f >> length);
  for (let next = at + 1; next < at + length; next++) {
    const octet = octets[next] as number;
    if ((octet & 0xc0) !== 0x80) return 0;
    code = (code << 6) | (octet & 0x3f);
  }
  if (length === 3)
    return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) || isControl(code) ? 0 : 3;
  if (length === 4) return code < 0x1_0000 || code > 0x10_ffff ? 0 : 4;
  return isControl(code) ? 0 : 2;
}
