import type { RankedRule, Reading } from './reach.js';

/** A rule that no path can match any more. */
export const DEAD = -1;

/** A rule that matches the path, and whatever the path goes on with. */
export const MATCHED = -2;

/**
 * The automata of some readings, each with one state for each byte of its literals: how far the
 * path has come. Between two `*` the leftmost occurrence of a literal counts, as it leaves most
 * room for the others; the states of a literal are those of Knuth, Morris and Pratt.
 */
export class LiteralMatchers {
  /** By state: the byte that leads on; 0 for none. */
  readonly #bytes: Uint8Array;
  /** The state after that byte. */
  readonly #next: Int32Array;
  /** The state that takes another byte: itself if such a byte changes nothing. */
  readonly #others: Int32Array;
  /** Whether a path may end there. */
  readonly #ends: Uint8Array;
  /** By state, the index of its rule. */
  readonly owners: Int32Array;
  #count = 0;

  /** @param rules whose first states `first` returns */
  constructor(rules: readonly RankedRule[]) {
    const most = statesOf(rules);
    this.#bytes = new Uint8Array(most);
    this.#next = new Int32Array(most);
    this.#others = new Int32Array(most);
    this.#ends = new Uint8Array(most);
    this.owners = new Int32Array(most);
  }

  /** Adds a reading of a rule; returns its first state. */
  add({ prefix, segments, isEnd }: Reading, owner: number): number {
    const from = this.#count;
    let after = MATCHED;
    for (let index = segments.length - 1; index >= 0; index--) {
      const isLast = isEnd && index === segments.length - 1;
      after = this.#addLiteral(segments[index] as Uint8Array, after, isLast, true);
    }
    const first = this.#addLiteral(prefix, after, isEnd && segments.length === 0, false);
    this.owners.fill(owner, from, this.#count);
    return first;
  }

  /** The state after one more byte. */
  step(state: number, byte: number): number {
    for (let at = state; ; ) {
      if (this.#bytes[at] === byte) return this.#next[at] as number;
      const other = this.#others[at] as number;
      if (other === DEAD || other === at) return other;
      at = other;
    }
  }

  /** Marks the bytes that lead to other states than the rest; returns the number of its steps. */
  mark(state: number, marks: Uint8Array): number {
    for (let at = state, steps = 1; ; steps++) {
      marks[this.#bytes[at] as number] = 1;
      const other = this.#others[at] as number;
      if (other === DEAD || other === at) return steps;
      at = other;
    }
  }

  /** Whether the rule matches a path that ends in a state. */
  endsAt(state: number): boolean {
    return this.#ends[state] === 1;
  }

  /** Adds the states of a literal, which `after` follows or the end of the path. */
  #addLiteral(literal: Uint8Array, after: number, isEnd: boolean, isSegment: boolean): number {
    // At the end of a path, an empty segment matches anything.
    if (literal.length === 0 && (isSegment || !isEnd)) return after;
    const first = this.#count;
    const length = literal.length;
    this.#count += length + (isEnd ? 1 : 0);
    this.#bytes.set(literal, first);
    for (let at = 0; at < length; at++) this.#next[first + at] = first + at + 1;
    if (isEnd) this.#ends[first + length] = 1;
    else this.#next[first + length - 1] = after;
    if (!isSegment) {
      this.#others.fill(DEAD, first, this.#count);
      return first;
    }
    this.#others[first] = first;
    for (let at = 1, border = 0; first + at < this.#count; at++) {
      this.#others[first + at] = first + border;
      if (at === length) break;
      while (border > 0 && literal[at] !== literal[border]) {
        border = (this.#others[first + border] as number) - first;
      }
      if (literal[at] === literal[border]) border++;
    }
    return first;
  }
}

/** The greatest number of states that the readings of some rules have. */
export function statesOf(rules: readonly RankedRule[]): number {
  let states = 0;
  for (const { readings } of rules) {
    for (const { prefix, segments } of readings) {
      states += prefix.length + 1;
      for (const segment of segments) states += segment.length;
    }
  }
  return states;
}
