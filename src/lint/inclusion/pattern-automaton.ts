import type { Pattern } from '../../compile/automaton/pattern.js';
import type { WorkBudget } from './work-budget.js';

/** The state in which no continuation is matched. */
export const DEAD = -1;

/**
 * The deterministic automaton of a pattern: a literal, then literals that may follow anywhere, in
 * their order. A state is the number of literal bytes that are matched. Each literal after a `*` is
 * found as early as possible, with the failure function of Knuth, Morris and Pratt; for a final `$`
 * the last literal is sought to the end.
 */
export class PatternAutomaton {
  readonly start = 0;
  /** The literal bytes of the pattern, one literal after another. */
  readonly bytes: Uint8Array;
  /** Offset in `bytes` of the literal that each byte belongs to. */
  readonly #literal: Int32Array;
  /** For each byte: length of the longest border of its literal up to and with that byte. */
  readonly #border: Int32Array;
  readonly #prefix: number;
  readonly #last: number;
  readonly #anchored: boolean;
  /** Whether the pattern has no `*`. */
  readonly #isLiteral: boolean;

  constructor({ prefix, segments, anchored }: Pattern) {
    const parts = [prefix, ...segments.map(({ first }) => first)];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.bytes = new Uint8Array(length);
    this.#literal = new Int32Array(length);
    this.#border = new Int32Array(length);
    this.#prefix = prefix.length;
    this.#anchored = anchored;
    this.#isLiteral = segments.length === 0;
    let at = 0;
    for (const part of parts) {
      this.bytes.set(part, at);
      this.#literal.fill(at, at, at + part.length);
      this.#findBorders(at, part.length);
      at += part.length;
    }
    this.#last = length - (parts.at(-1)?.length ?? 0);
  }

  #findBorders(start: number, length: number): void {
    const { bytes } = this;
    let border = 0;
    for (let at = start + 1; at < start + length; at++) {
      while (border > 0 && bytes[start + border] !== bytes[at]) {
        border = this.#border[start + border - 1] as number;
      }
      if (bytes[start + border] === bytes[at]) border++;
      this.#border[at] = border;
    }
  }

  /** The state after a byte. Charges the budget, which may become negative. */
  step(state: number, byte: number, budget: WorkBudget): number {
    const { bytes } = this;
    budget.left--;
    if (state === DEAD) return DEAD;
    let literal: number;
    let matched: number;
    if (state === bytes.length) {
      if (!this.#anchored) return state;
      if (this.#isLiteral) return DEAD;
      literal = this.#last;
      matched = this.#border[state - 1] as number;
    } else {
      if (state < this.#prefix) return bytes[state] === byte ? state + 1 : DEAD;
      literal = this.#literal[state] as number;
      matched = state - literal;
    }
    while (bytes[literal + matched] !== byte) {
      if (matched === 0) return literal;
      budget.left--;
      matched = this.#border[literal + matched - 1] as number;
    }
    return literal + matched + 1;
  }

  /** Whether the pattern matches a path that ends in this state. */
  accepts(state: number): boolean {
    return state === this.bytes.length;
  }

  /** Whether the pattern matches every path that passes through this state. */
  acceptsAll(state: number): boolean {
    return state === this.bytes.length && !this.#anchored;
  }
}
