/**
 * Rules as the sets of paths that they match, and the rule that wins on a path.
 *
 * One path tells about all paths of a pattern. In the **witness** of a pattern, one byte that no
 * pattern holds stands for each `*`, and for the free rest after a pattern without `$`. A rule that
 * matches the witness has each of its literals within a literal of the pattern, in the same order:
 * the first one at the start, and one before a `$` at the end. Every path of the pattern holds its
 * literals in this order, so the rule matches it too. And the witness is a path like others to the
 * rules: a rule that misses the witness misses a path of the pattern.
 *
 * A witness may need a byte that no URL's path holds. So what is proven of all paths is always
 * true, and that something holds for some paths only is almost always true.
 */

import { Buffer } from 'node:buffer';
import { SLASH } from '../base/ascii.js';
import { patternsOf } from '../kernel/automata.js';
import type { TablePattern } from '../view/table-content.js';

/** The work that may still be done. A unit is about one step of an automaton. */
export interface WorkBudget {
  left: number;
}

/** Units of work for the rules of a file; about a third of a second. */
export const FILE_WORK = 10_000_000;

/** Stands for any text in a witness. Canonical patterns are ASCII. */
export const ANYTHING = 0xff;

export const ROBOTS_TXT = Buffer.from('/robots.txt');

/** A rule, as the paths that it matches. */
export interface RankedRule {
  /** Specificity, and 1 for an allow rule. Of rules that match, the one with the highest wins. */
  readonly rank: number;
  /** Of rules of the same rank, the one with the lowest wins. */
  readonly line: number;
  readonly canonical: TablePattern;
  /** The rule matches what one of these matches: its readings, see spec note A. */
  readonly patterns: readonly Pattern[];
  /** Whether `patterns` has all readings. */
  readonly isWhole: boolean;
}

/** Maximum segments of a rule whose readings in the query are told apart. */
const MAX_TWO_FORM_SEGMENTS = 32;

const QUERY_START = Buffer.from('?');

export function rankedRule(canonical: TablePattern): RankedRule {
  const { rank, line, prefix, first, second = [], isEnd } = canonical;
  const patterns = [new Pattern(prefix, first, isEnd)];
  const isWhole = second.length <= MAX_TWO_FORM_SEGMENTS;
  for (let star = 0; isWhole && star < second.length; star++) {
    const inQuery = [...first.slice(0, star), QUERY_START, ...second.slice(star)];
    patterns.push(new Pattern(prefix, inQuery, isEnd));
  }
  return { rank, line, canonical, patterns, isWhole };
}

/**
 * The rules that match some path in the `rfc9309` profile.
 *
 * @returns rules whose `line` is their index in `rules`
 */
export function rankedRules(
  rules: readonly { readonly allow: boolean; readonly pattern: Uint8Array }[],
): RankedRule[] {
  const patterns = patternsOf(rules, 'rfc9309');
  return rules.flatMap(({ allow }, line) => {
    const [pattern] = patterns[line] ?? [];
    if (pattern === undefined) return [];
    const { bytes, prefix, segments, anchored, twoForms } = pattern;
    return rankedRule({
      rank: 2 * bytes + (allow ? 1 : 0),
      line,
      prefix,
      first: segments.map(({ first }) => first),
      second: twoForms ? segments.map(({ first, second }) => second ?? first) : undefined,
      isEnd: anchored,
    });
  });
}

/** Whether a rule allows what it matches. */
export function isAllow({ rank }: RankedRule): boolean {
  return (rank & 1) !== 0;
}

/** Sorts rules: the one that wins first. */
export function byPrecedence(one: RankedRule, other: RankedRule): number {
  return other.rank - one.rank || one.line - other.line;
}

/** Whether a rule is longer than its literals, so that it holds a `*`. */
export function isWildcard({ rank, canonical: { prefix, first, isEnd } }: RankedRule): boolean {
  return first.length > 0 || rank >>> 1 > prefix.length + (isEnd ? 1 : 0);
}

export function matches({ patterns }: RankedRule, path: Uint8Array, budget: WorkBudget): boolean {
  for (const pattern of patterns) if (pattern.matches(path, budget)) return true;
  return false;
}

/** The witnesses of all readings of a rule. */
export function witnessesOf({ patterns }: RankedRule): Buffer[] {
  return patterns.flatMap((pattern) => pattern.witnesses());
}

/** A text that two rules share only if they match the same paths. */
export function languageOf({ canonical }: RankedRule): string {
  const { prefix, first } = withSlash(canonical);
  const { isEnd, second } = canonical;
  // A canonical literal holds neither a raw `*` nor a line end.
  const ofSecond = second === undefined ? '' : second.map((each) => `\n${latin1(each)}`).join('');
  const ofFirst = first.map((each) => `*${latin1(each)}`).join('');
  return `${latin1(prefix)}${ofFirst}${isEnd ? '\n$' : ''}${ofSecond}`;
}

/**
 * The beginning of a pattern as one that begins with `/`, if there is one with the same paths: all
 * paths begin with `/`. So `*`, `*` + `/` and `/` are one, and `*b` is `/*b`; but `*` + `/b`
 * matches `/b` too, and `/*` + `/b` does not.
 */
function withSlash(pattern: TablePattern): Pick<TablePattern, 'prefix' | 'first'> {
  const { prefix, first, second, isEnd } = pattern;
  if (prefix.length > 0) return pattern;
  const [head, ...others] = first;
  if (head?.[0] !== SLASH) return { prefix: Uint8Array.of(SLASH), first };
  const isSlash = head.length === 1 && second === undefined && !(isEnd && others.length === 0);
  return isSlash ? { prefix: head, first: others } : pattern;
}

export function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

/** Rules that can be asked which of them wins on a path. */
export class RuleList {
  /** Rules without `*` and `$`, by their paths: the longest that begins a path beats the others. */
  readonly #literals = new Map<string, RankedRule>();
  /** The lengths of these paths, the longest first. */
  readonly #lengths: readonly number[];
  /** All other rules, the strongest first. */
  readonly #others: readonly RankedRule[];

  constructor(rules: readonly RankedRule[]) {
    const others: RankedRule[] = [];
    for (const rule of rules) {
      if (rule.canonical.isEnd || isWildcard(rule)) {
        others.push(rule);
        continue;
      }
      const path = latin1(rule.canonical.prefix);
      const same = this.#literals.get(path);
      if (same === undefined || byPrecedence(rule, same) < 0) this.#literals.set(path, rule);
    }
    this.#others = others.sort(byPrecedence);
    const lengths = new Set(Array.from(this.#literals.keys(), ({ length }) => length));
    this.#lengths = [...lengths].sort((a, b) => b - a);
  }

  /** The rule that decides on a path; `undefined` if none matches, or the budget ended. */
  winner(path: Buffer, budget: WorkBudget): RankedRule | undefined {
    const literal = this.#longestLiteral(path, budget);
    for (const rule of this.#others) {
      if (literal !== undefined && byPrecedence(literal, rule) < 0) break;
      if (budget.left-- < 0) return undefined;
      if (matches(rule, path, budget)) return rule;
    }
    return budget.left < 0 ? undefined : literal;
  }

  #longestLiteral(path: Buffer, budget: WorkBudget): RankedRule | undefined {
    if (this.#lengths.length === 0) return undefined;
    const text = path.toString('latin1');
    budget.left -= text.length;
    for (const length of this.#lengths) {
      if (length > text.length) continue;
      budget.left -= 1 + (length >> 3);
      if (budget.left < 0) return undefined;
      const found = this.#literals.get(text.slice(0, length));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const ROOT = Buffer.from('/');
const ANY = Buffer.of(ANYTHING);

/** A literal with which a path begins, and literals that follow in order, with any text between. */
export class Pattern {
  readonly prefix: Uint8Array;
  readonly segments: readonly Uint8Array[];
  /** Whether the last literal must end the path. */
  readonly isEnd: boolean;
  #automaton: PatternAutomaton | undefined;

  constructor(prefix: Uint8Array, segments: readonly Uint8Array[], isEnd: boolean) {
    this.prefix = prefix;
    this.segments = segments;
    this.isEnd = isEnd;
  }

  /** The number of states of the automaton, apart from DEAD and MATCHED. */
  get states(): number {
    return this.segments.reduce((sum, { length }) => sum + length, this.prefix.length + 1);
  }

  get automaton(): PatternAutomaton {
    this.#automaton ??= new PatternAutomaton(this);
    return this.#automaton;
  }

  /**
   * The witnesses: one, or two if a first `*` may match nothing before a literal that begins with
   * `/`. All paths begin with `/`, so such a pattern is two: with `/` before the `*`, and without
   * the `*`.
   */
  witnesses(): Buffer[] {
    const { prefix, segments, isEnd } = this;
    const rest: Uint8Array[] = segments.flatMap((segment) => [ANY, segment]);
    if (!isEnd) rest.push(ANY);
    if (prefix.length > 0) return [Buffer.concat([prefix, ...rest])];
    const afterSlash = Buffer.concat([ROOT, ...rest]);
    return segments[0]?.[0] === SLASH ? [afterSlash, Buffer.concat(rest.slice(1))] : [afterSlash];
  }

  /** Whether the pattern matches a path. Linear in the length of the path. */
  matches(path: Uint8Array, budget: WorkBudget): boolean {
    const { prefix, segments, isEnd } = this;
    for (let at = 0; at < prefix.length; at++) {
      if (path[at] === prefix[at]) continue;
      budget.left -= at + 1;
      return false;
    }
    budget.left -= prefix.length;
    if (segments.length === 0) return !isEnd || path.length === prefix.length;
    const { automaton } = this;
    let state = prefix.length;
    for (let at = state; at < path.length; at++) {
      state = automaton.step(state, path[at] as number, budget);
      if (state === MATCHED) return true;
    }
    return automaton.endsAt(state);
  }
}

/** The state of an automaton whose pattern matches no continuation of the path. */
export const DEAD = -1;

/** The state of an automaton whose pattern matches the path, and whatever it goes on with. */
export const MATCHED = -2;

/**
 * The deterministic automaton of a pattern. A state is the number of literal bytes that the path
 * has matched. Between two `*` the leftmost occurrence of a literal counts, as it leaves most room
 * for the others; it is found with the failure function of Knuth, Morris and Pratt. For a final `$`
 * the last literal is sought to the end.
 */
export class PatternAutomaton {
  /** The literal bytes of the pattern, one literal after another: each leads to the next state. */
  readonly #bytes: Uint8Array;
  /** The state that takes another byte: itself if such a byte changes nothing. */
  readonly #others: Int32Array;
  readonly #isEnd: boolean;

  constructor({ prefix, segments, isEnd, states }: Pattern) {
    // At the end of a path, an empty segment matches anything.
    this.#isEnd = isEnd && segments.at(-1)?.length !== 0;
    this.#bytes = Buffer.concat([prefix, ...segments]);
    this.#others = new Int32Array(states).fill(DEAD, 0, prefix.length + 1);
    let at = prefix.length;
    for (const { length } of segments) {
      this.#addSegment(at, at + length);
      at += length;
    }
  }

  /** Sets the states of the literal from `start` to `end`, and that after it. */
  #addSegment(start: number, end: number): void {
    const [bytes, others] = [this.#bytes, this.#others];
    others[start] = start;
    let border = start;
    for (let at = start + 1; at <= end; at++) {
      others[at] = border;
      while (border > start && bytes[at] !== bytes[border]) border = others[border] as number;
      if (bytes[at] === bytes[border]) border++;
    }
  }

  get start(): number {
    return this.#at(0);
  }

  /** The state after one more byte. Charges the budget, which may become negative. */
  step(state: number, byte: number, budget: WorkBudget): number {
    for (let at = state; ; ) {
      budget.left--;
      if (this.#bytes[at] === byte) return this.#at(at + 1);
      const other = this.#others[at] as number;
      if (other === DEAD || other === at) return other;
      at = other;
    }
  }

  /** Marks the bytes that lead to other states than the rest. Charges the budget. */
  mark(state: number, marks: Uint8Array, budget: WorkBudget): void {
    for (let at = state; ; ) {
      budget.left--;
      marks[this.#bytes[at] ?? 0] = 1;
      const other = this.#others[at] as number;
      if (other === DEAD || other === at) return;
      at = other;
    }
  }

  /** Whether the pattern matches a path that ends in a state. */
  endsAt(state: number): boolean {
    return state === this.#bytes.length;
  }

  #at(state: number): number {
    return state === this.#bytes.length && !this.#isEnd ? MATCHED : state;
  }
}

/** The path that is always allowed, as a rule that wins over all others. */
export const ROBOTS_TXT_RULE = rankedRule({
  rank: Number.MAX_SAFE_INTEGER,
  line: 0,
  prefix: ROBOTS_TXT,
  first: [],
  second: undefined,
  isEnd: true,
});
