import { Buffer } from 'node:buffer';
import { ASTERISK, SLASH } from '../../ascii.js';
import { type Pattern, patternsOf } from '../../compile/automaton/pattern.js';
import type { ComparedRule, Entry } from './compared-rule.js';
import { genericPaths } from './generic-path.js';
import { DEAD, PatternAutomaton } from './pattern-automaton.js';
import { WildcardIndex } from './wildcard-index.js';
import type { WorkBudget } from './work-budget.js';

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
