import { ASTERISK, DOLLAR } from '../../ascii.js';
import { ESCAPE_GROWTH, UNESCAPED, writeDisplayText } from '../../table/display-text.js';
import { RULE_STAR, RULE_TEXT, TEXT_LENGTH_BYTES, TEXT_LIMIT } from '../../table/format.js';
import { writeNumber } from '../../table/width.js';
import type { Pattern } from './pattern.js';

/** Width of the length before a text. */
const LENGTH_WIDTH = 1;

/**
 * How the text of a rule derives from its pattern: 0 if they are equal, RULE_STAR if the text has
 * one more `*` at its end, RULE_TEXT if the text must be kept.
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
 * The end in a text of the literal at `start`; -1 if the literal is not there, or needs an escape.
 */
function literalEnd(literal: Uint8Array, written: Uint8Array, start: number): number {
  for (let index = 0; index < literal.length; index++) {
    const byte = literal[index] as number;
    if (written[start + index] !== byte || UNESCAPED[byte] === 0) return -1;
  }
  return start + literal.length;
}

/** The texts that an automaton keeps. The object is reused for the next automaton. */
export class RuleTexts {
  bytes = 0;
  #out = new Uint8Array(1 << 12);

  clear(): void {
    this.bytes = 0;
  }

  /** Appends the text of a rule; returns its offset. */
  add(written: Uint8Array): number {
    const start = this.bytes;
    const text = start + TEXT_LENGTH_BYTES;
    const need = text + ESCAPE_GROWTH * Math.min(written.length, TEXT_LIMIT);
    if (need > this.#out.length) {
      const grown = new Uint8Array(Math.max(need, 2 * this.#out.length));
      grown.set(this.#out);
      this.#out = grown;
    }
    this.bytes = writeDisplayText(written, this.#out, text);
    writeNumber(this.#out, start, this.bytes - text, LENGTH_WIDTH);
    return start;
  }

  /** All texts. */
  get all(): Uint8Array {
    return this.#out.subarray(0, this.bytes);
  }
}
