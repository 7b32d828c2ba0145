import { Buffer } from 'node:buffer';
import { ASTERISK, SLASH } from '../base/ascii.js';
import { type Pattern, patternsOf } from '../kernel/automata.js';

/**
 * Why another rule decides: it is longer; it is as long and allows; or it is as long, has the same
 * verdict and stands first.
 */
export type Precedence = 'longer' | 'allow' | 'first';

/** A rule that never decides. */
export interface NeverDeciding<Rule extends ComparedRule> {
  readonly rule: Rule;
  /** The rules that decide on all of its paths, the strongest first. */
  readonly deciding: readonly Rule[];
  /** Whether the one deciding rule matches exactly the same paths. */
  readonly same: boolean;
  /** Why the deciding rules decide. */
  readonly reasons: ReadonlySet<Precedence>;
}

/**
 * Finds rules that never decide on any path, in the `rfc9309` profile: whatever path such a rule
 * matches, a rule of higher precedence matches too. Precedence is length in canonical form, then
 * allow, then the first line (RFC 9309 section 2.2.2). Every rule that is found never decides. All
 * such rules are found, apart from those that the budget leaves out, those with the two readings of
 * note A, and sets of rules in which every byte occurs.
 *
 * @param rules the rules that one crawler obeys, or some of them, in the order of the file
 * @returns the rules that never decide, and the first rule that was left out when the budget ended
 */
export function findNeverDeciding<Rule extends ComparedRule>(
  rules: readonly Rule[],
  budget: WorkBudget,
): { found: NeverDeciding<Rule>[]; leftOut: Rule | undefined } {
  const found: NeverDeciding<Rule>[] = [];
  const representatives = bestOfEach(rules, found);
  const wildcards = new WildcardIndex(representatives.filter(({ isWildcard }) => isWildcard));
  let leftOut: Rule | undefined;
  if (wildcards.isEmpty) return { found, leftOut };
  for (const entry of representatives) {
    if (budget.left < 0) {
      leftOut = entry.rule;
      break;
    }
    // The readings of note A are not compared.
    if (entry.pattern.twoForms) continue;
    const deciding = decidingInstead(entry, wildcards, budget);
    if (deciding.length === 0) continue;
    found.push(neverDeciding(entry, deciding, false));
  }
  return { found, leftOut };
}

/** Rules that can be asked which of them decides on a path. */
export class RankedRules<Rule extends ComparedRule> {
  /** Rules without `*` and `$`, by their paths: the longest that begins a path beats the others. */
  readonly #literals = new Map<string, Entry<Rule>>();
  /** The lengths of these paths, the longest first. */
  readonly #lengths: readonly number[];
  /** All other rules, the strongest first. */
  readonly #others: readonly Entry<Rule>[];

  constructor(entries: readonly Entry<Rule>[]) {
    const others: Entry<Rule>[] = [];
    for (const entry of entries) {
      const { prefix, isWildcard, pattern } = entry;
      if (isWildcard || pattern.anchored) {
        others.push(entry);
        continue;
      }
      const same = this.#literals.get(prefix);
      if (same === undefined || beats(entry, same)) this.#literals.set(prefix, entry);
    }
    this.#others = others.sort((a, b) => (beats(a, b) ? -1 : 1));
    const lengths = new Set(Array.from(this.#literals.keys(), ({ length }) => length));
    this.#lengths = [...lengths].sort((a, b) => b - a);
  }

  /**
   * The rule that decides on a path, or `none`; `undefined` if the budget ends, or if the readings
   * of note A may decide.
   */
  deciding(path: readonly number[], budget: WorkBudget): Rule | 'none' | undefined {
    const literal = this.#longestLiteral(path, budget);
    for (const entry of this.#others) {
      if (literal !== undefined && beats(literal, entry)) break;
      if (budget.left-- < 0) return undefined;
      if (matches(automatonOf(entry), path, budget)) return entry.rule;
      if (entry.pattern.twoForms) return undefined;
    }
    return budget.left < 0 ? undefined : (literal?.rule ?? 'none');
  }

  #longestLiteral(path: readonly number[], budget: WorkBudget): Entry<Rule> | undefined {
    if (this.#lengths.length === 0) return undefined;
    const text = Buffer.from(path).toString('latin1');
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

/** The rules that match some path, with their patterns. */
export function entriesOf<Rule extends ComparedRule>(rules: readonly Rule[]): Entry<Rule>[] {
  const patterns = patternsOf(rules, 'rfc9309');
  return rules.flatMap((rule, index) => {
    const pattern = patterns[index]?.[0];
    if (pattern === undefined) return [];
    const prefix = latin1(pattern.prefix);
    const isWildcard = rule.pattern.includes(ASTERISK);
    return [{ rule, pattern, index, prefix, isWildcard, automaton: undefined }];
  });
}

/** The deciding rule of all that match the same paths; adds the others to `found`. */
function bestOfEach<Rule extends ComparedRule>(
  rules: readonly Rule[],
  found: NeverDeciding<Rule>[],
): Entry<Rule>[] {
  const classes = new Map<string, Entry<Rule>[]>();
  for (const entry of entriesOf(rules)) {
    const key = languageOf(entry);
    const same = classes.get(key);
    if (same === undefined) classes.set(key, [entry]);
    else same.push(entry);
  }
  const best: Entry<Rule>[] = [];
  for (const [first, ...others] of classes.values()) {
    let decides = first as Entry<Rule>;
    for (const entry of others) if (beats(entry, decides)) decides = entry;
    best.push(decides);
    for (const entry of [first as Entry<Rule>, ...others]) {
      if (entry === decides) continue;
      found.push(neverDeciding(entry, [decides], true));
    }
  }
  return best;
}

function neverDeciding<Rule extends ComparedRule>(
  entry: Entry<Rule>,
  deciding: readonly Entry<Rule>[],
  same: boolean,
): NeverDeciding<Rule> {
  const reasons = new Set(deciding.map((other) => precedence(other, entry)));
  return { rule: entry.rule, deciding: deciding.map(({ rule }) => rule), same, reasons };
}

/** Why a rule decides instead of another one. */
function precedence(one: Entry<ComparedRule>, other: Entry<ComparedRule>): Precedence {
  if (one.pattern.bytes > other.pattern.bytes) return 'longer';
  return one.rule.allow === other.rule.allow ? 'first' : 'allow';
}

/** A text that two entries share only if they match the same paths. */
function languageOf({ pattern }: Entry<unknown>): string {
  const { prefix, segments } = withSlash(pattern);
  const { anchored, twoForms } = pattern;
  // A canonical literal holds neither a raw `*` nor a line end.
  const first = segments.map((segment) => `*${latin1(segment.first)}`).join('');
  const second = twoForms
    ? segments.map((segment) => `\n${latin1(segment.second ?? segment.first)}`).join('')
    : '';
  return `${latin1(prefix)}${first}${anchored ? '\n$' : ''}${second}`;
}

/**
 * The beginning of a pattern as one that begins with `/`, if there is one with the same paths: all
 * paths begin with `/`. So `*`, `*` + `/` and `/` are one, and `*b` is `/*b`; but `*` + `/b`
 * matches `/b` too, and `/*` + `/b` does not.
 */
function withSlash(pattern: Pattern): Pick<Pattern, 'prefix' | 'segments'> {
  const { prefix, segments, anchored, twoForms } = pattern;
  if (prefix.length > 0) return pattern;
  const [first, ...others] = segments;
  if (first?.first[0] !== SLASH) return { prefix: Uint8Array.of(SLASH), segments };
  const isSlash = first.first.length === 1 && !twoForms && !(anchored && others.length === 0);
  return isSlash ? { prefix: first.first, segments: others } : pattern;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Whether a rule decides where both match. */
function beats(one: Entry<ComparedRule>, other: Entry<ComparedRule>): boolean {
  if (one.pattern.bytes !== other.pattern.bytes) return one.pattern.bytes > other.pattern.bytes;
  if (one.rule.allow !== other.rule.allow) return one.rule.allow;
  return one.index < other.index;
}

/** The rules that decide on all paths of a rule, the strongest first; none if there are none. */
function decidingInstead<Rule extends ComparedRule>(
  entry: Entry<Rule>,
  wildcards: WildcardIndex<Rule>,
  budget: WorkBudget,
): Entry<Rule>[] {
  const deciding = new Set<Entry<Rule>>();
  for (const path of genericPaths(entry.pattern)) {
    const covering = wildcards
      .candidates(entry, path, budget)
      .filter((other) => beats(other, entry))
      .sort((a, b) => (beats(a, b) ? -1 : 1))
      .find((other) => budget.left >= 0 && matches(automatonOf(other), path, budget));
    if (covering === undefined) return [];
    deciding.add(covering);
  }
  return [...deciding];
}

function automatonOf(entry: Entry<ComparedRule>): PatternAutomaton {
  entry.automaton ??= new PatternAutomaton(entry.pattern);
  return entry.automaton;
}

/** Whether a pattern matches a path. Linear in the length of the path. */
function matches(
  automaton: PatternAutomaton,
  path: readonly number[],
  budget: WorkBudget,
): boolean {
  let state = automaton.start;
  for (const byte of path) {
    state = automaton.step(state, byte, budget);
    if (state === DEAD) return false;
    if (automaton.acceptsAll(state)) return true;
  }
  return automaton.accepts(state);
}

/** Number of bytes of a literal by which rules are found. */
const KEY_BYTES = 4;

/** Units of work for each rule that is compared with another. */
const PAIR_COST = 8;

/**
 * Finds rules that may cover a rule, or a part of it. A rule that covers some path of another one
 * and is no longer than it has a `*`; its literal before the `*` begins the other's; and its next
 * literal occurs in the paths of the other one.
 */
class WildcardIndex<Rule extends ComparedRule> {
  readonly isEmpty: boolean;
  /** Rules with nothing but `*` after the first literal, by that literal. */
  readonly #prefixes = new Map<string, Entry<Rule>[]>();
  readonly #prefixLengths: readonly number[];
  /** All other rules, by the first bytes of the literal after the first `*`. */
  readonly #literals = new Map<number, Entry<Rule>[]>();
  readonly #keyLengths: readonly number[];

  constructor(wildcards: readonly Entry<Rule>[]) {
    this.isEmpty = wildcards.length === 0;
    const keyLengths = new Set<number>();
    for (const entry of wildcards) {
      const { segments, twoForms } = entry.pattern;
      if (twoForms) continue;
      const [segment] = segments;
      if (segment === undefined) {
        addTo(this.#prefixes, entry.prefix, entry);
        continue;
      }
      const length = Math.min(KEY_BYTES, segment.first.length);
      keyLengths.add(length);
      addTo(this.#literals, keyAt(segment.first, 0, length), entry);
    }
    this.#prefixLengths = [...new Set([...this.#prefixes.keys()].map(({ length }) => length))];
    this.#keyLengths = [...keyLengths];
  }

  /** The rules that may match a path of `entry`: no others do. */
  candidates(entry: Entry<Rule>, path: readonly number[], budget: WorkBudget): Entry<Rule>[] {
    const candidates = new Set<Entry<Rule>>();
    const text = Buffer.from(path).toString('latin1');
    const add = (found: readonly Entry<Rule>[] = []): void => {
      budget.left -= PAIR_COST * found.length;
      if (budget.left < 0) return;
      for (const other of found) {
        if (other !== entry && text.startsWith(other.prefix)) candidates.add(other);
      }
    };
    for (const length of this.#prefixLengths) {
      if (length > text.length) continue;
      budget.left -= length + 1;
      add(this.#prefixes.get(text.slice(0, length)));
    }
    for (const length of this.#keyLengths) {
      budget.left -= path.length;
      for (let at = 0; at + length <= path.length && budget.left >= 0; at++) {
        add(this.#literals.get(keyAt(path, at, length)));
      }
    }
    return [...candidates];
  }
}

function addTo<Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}

/** Up to four bytes, and how many they are, as a number. */
function keyAt(bytes: ArrayLike<number>, at: number, length: number): number {
  let key = length;
  for (let index = 0; index < length; index++) key = 256 * key + (bytes[at + index] as number);
  return key;
}

/** The state in which no continuation is matched. */
const DEAD = -1;

/**
 * The deterministic automaton of a pattern: a literal, then literals that may follow anywhere, in
 * their order. A state is the number of literal bytes that are matched. Each literal after a `*` is
 * found as early as possible, with the failure function of Knuth, Morris and Pratt; for a final `$`
 * the last literal is sought to the end.
 */
class PatternAutomaton {
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

/** A rule as `findNeverDeciding` needs it. */
interface ComparedRule {
  readonly allow: boolean;
  readonly pattern: Uint8Array;
}

/** A rule with its pattern. */
export interface Entry<Rule> {
  readonly rule: Rule;
  readonly pattern: Pattern;
  /** Position among the rules. */
  readonly index: number;
  readonly prefix: string;
  readonly isWildcard: boolean;
  automaton: PatternAutomaton | undefined;
}

/**
 * A byte that stands for all bytes that no pattern holds: canonical patterns hold no bytes outside
 * ASCII.
 */
export const OTHER_BYTE = 0xff;

/**
 * Paths of a pattern that stand for all of its paths: a rule matches all paths of the pattern if it
 * matches these, and misses some if it misses one of these.
 *
 * The generic path of a pattern that begins with `/` has OTHER_BYTE for each `*`, and at its end
 * unless `$` ends the pattern. Literals hold no such byte. So if a rule matches the generic path,
 * each of its literals lies within a literal of the pattern, in the same order; the first one at
 * the start, and one before a `$` at the end. Every path of the pattern holds its literals in this
 * order, so the rule matches it too.
 *
 * A pattern that begins with `*` matches a path in which its next literal stands anywhere, also at
 * the start. As all paths begin with `/`, that is two patterns: one that begins with `/*`, and, if
 * the literal begins with `/`, one without the first `*`. Each has its generic path.
 */
export function genericPaths({ prefix, segments, anchored }: Pattern): number[][] {
  const literals = segments.map(({ first }) => first);
  const [first, ...others] = literals;
  if (prefix.length > 0) return [genericPath([prefix, ...literals], anchored)];
  const anywhere = genericPath([[SLASH], ...literals], anchored);
  if (first?.[0] !== SLASH) return [anywhere];
  return [anywhere, genericPath([first, ...others], anchored)];
}

function genericPath(literals: readonly ArrayLike<number>[], anchored: boolean): number[] {
  const path: number[] = [];
  literals.forEach((literal, index) => {
    if (index > 0) path.push(OTHER_BYTE);
    for (let at = 0; at < literal.length; at++) path.push(literal[at] as number);
  });
  if (!anchored) path.push(OTHER_BYTE);
  return path;
} /** The work that may still be done for a file. A unit is about one step of an automaton. */
export interface WorkBudget {
  left: number;
}

/** Units of work for comparing the rules of a file; about a third of a second. */
export const FILE_WORK = 10_000_000;
