import { ESCAPE_GROWTH, UNESCAPED, writeDisplayText } from './display-text.js';
import { RULE_STAR, RULE_TEXT, TEXT_LIMIT } from './format.js';
import type { Pattern } from './pattern.js';
import { writeNumber } from './width.js';

const ASTERISK = 0x2a;
const DOLLAR = 0x24;

/** Octets of a text before it. */
const LENGTH_OCTETS = 2;
const LENGTH_WIDTH = 1;

/**
 * How the text of a rule follows from its pattern as an automaton holds it: 0 where it is just
 * that, RULE_STAR where one more `*` ends it, RULE_TEXT where it must be kept.
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

/**
 * Where a canonical literal that begins at `start` ends in a text; -1 if it reads otherwise there,
 * or is unfit to be shown as it stands.
 */
function literalEnd(literal: Uint8Array, written: Uint8Array, start: number): number {
  for (let index = 0; index < literal.length; index++) {
    const octet = literal[index] as number;
    if (written[start + index] !== octet || UNESCAPED[octet] === 0) return -1;
  }
  return start + literal.length;
}

/**
 * The texts that an automaton keeps, one behind the other. Used again for automaton after
 * automaton.
 */
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
