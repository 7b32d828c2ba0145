import { ESCAPE_GROWTH, UNESCAPED, writeDisplayText } from './display-text.js';
import { RULE_STAR, RULE_TEXT, TEXT_LIMIT } from './format.js';
import type { Pattern } from './pattern.js';
import { writeNumber } from './width.js';

const ASTERISK = 0x2a;
const DOLLAR = 0x24;
const PERCENT = 0x25;

/** Octets of a text before it. */
const LENGTH_OCTETS = 2;
const LENGTH_WIDTH = 1;

/** The three octets of which the canonical form makes a percent-encoded one; see kernel/assembly/octets.ts. */
const UNIT_OCTETS = 3;
const FIRST_OF_UNIT = 0x80;

/**
 * How the text of a rule follows from its pattern as an automaton holds it: 0 where it is just that, RULE_STAR where one more `*` ends
 * it, RULE_TEXT where it must be kept.
 */
export function textForm(pattern: Pattern, written: Uint8Array): number {
  const { length } = written;
  if (length > TEXT_LIMIT) return RULE_TEXT;
  if (pattern.plain) return 0;
  let at = literalEnd(pattern.prefix, written, 0);
  for (const { first } of pattern.segments) {
    if (at < 0 || written[at] !== ASTERISK) return RULE_TEXT;
    at = literalEnd(first, written, at + 1);
  }
  if (at < 0) return RULE_TEXT;
  if (pattern.anchored && written[at++] !== DOLLAR) return RULE_TEXT;
  if (at === length) return 0;
  return at === length - 1 && written[at] === ASTERISK ? RULE_STAR : RULE_TEXT;
}

/** Where a canonical literal that begins at `start` ends in a text; -1 if it reads otherwise there, or is unfit to be shown as it stands. */
function literalEnd(literal: Uint8Array, written: Uint8Array, start: number): number {
  let at = start;
  for (let index = 0; index < literal.length; index++) {
    const octet = literal[index] as number;
    if (octet < FIRST_OF_UNIT) {
      if (written[at++] !== octet || UNESCAPED[octet] === 0) return -1;
      continue;
    }
    if (
      written[at] !== PERCENT ||
      written[at + 1] !== upperHex(octet) ||
      written[at + 2] !== upperHex(literal[index + 1] as number)
    ) {
      return -1;
    }
    index += UNIT_OCTETS - 1;
    at += UNIT_OCTETS;
  }
  return at;
}

/** The digit of the lower half of an octet. */
export function upperHex(octet: number): number {
  const half = octet & 15;
  return half < 10 ? 0x30 + half : 0x37 + half;
}

/** The texts that an automaton keeps, one behind the other. Used again for automaton after automaton. */
export class RuleTexts {
  octets = 0;
  #out = new Uint8Array(1 << 12);

  clear(): void {
    this.octets = 0;
  }

  /** Appends the text of a rule; returns its offset. */
  add(written: Uint8Array): number {
    const start = this.octets;
    const text = start + LENGTH_OCTETS;
    const need = text + ESCAPE_GROWTH * Math.min(written.length, TEXT_LIMIT);
    if (need > this.#out.length) {
      const grown = new Uint8Array(Math.max(need, 2 * this.#out.length));
      grown.set(this.#out);
      this.#out = grown;
    }
    this.octets = writeDisplayText(written, this.#out, text);
    writeNumber(this.#out, start, this.octets - text, LENGTH_WIDTH);
    return start;
  }

  /** All of them. */
  get all(): Uint8Array {
    return this.#out.subarray(0, this.octets);
  }
}
