import { Buffer } from 'node:buffer';
import { ASTERISK } from '../../ascii.js';
import { patternsOf } from '../../compile/automaton/pattern.js';
import type { ComparedRule, Entry } from './compared-rule.js';
import { genericPaths } from './generic-path.js';
import { DEAD, PatternAutomaton } from './pattern-automaton.js';
import { WildcardIndex } from './wildcard-index.js';
import type { WorkBudget } from './work-budget.js';

/** A rule that never decides. */
export interface NeverDeciding<Rule extends ComparedRule> {
  readonly rule: Rule;
  /** The rules that decide on all of its paths, the strongest first. */
  readonly deciding: readonly Rule[];
  /** Whether the one deciding rule matches exactly the same paths. */
  readonly same: boolean;
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
    found.push({ rule: entry.rule, deciding: deciding.map(({ rule }) => rule), same: false });
  }
  return { found, leftOut };
}

/** The deciding rule of all that match the same paths; adds the others to `found`. */
function bestOfEach<Rule extends ComparedRule>(
  rules: readonly Rule[],
  found: NeverDeciding<Rule>[],
): Entry<Rule>[] {
  const classes = new Map<string, Entry<Rule>[]>();
  const patterns = patternsOf(rules, 'rfc9309');
  rules.forEach((rule, index) => {
    const pattern = patterns[index]?.[0];
    if (pattern === undefined) return;
    const prefix = latin1(pattern.prefix);
    const isWildcard = rule.pattern.includes(ASTERISK);
    const entry = { rule, pattern, index, prefix, isWildcard, automaton: undefined };
    const key = languageOf(entry);
    const same = classes.get(key);
    if (same === undefined) classes.set(key, [entry]);
    else same.push(entry);
  });
  const best: Entry<Rule>[] = [];
  for (const [first, ...others] of classes.values()) {
    let decides = first as Entry<Rule>;
    for (const entry of others) if (beats(entry, decides)) decides = entry;
    best.push(decides);
    for (const entry of [first as Entry<Rule>, ...others]) {
      if (entry === decides) continue;
      found.push({ rule: entry.rule, deciding: [decides.rule], same: true });
    }
  }
  return best;
}

/** A text that two entries share only if they match the same paths. */
function languageOf({ prefix, pattern }: Entry<unknown>): string {
  const { segments, anchored, twoForms } = pattern;
  // A canonical literal holds neither a raw `*` nor a line end.
  const first = segments.map((segment) => `*${latin1(segment.first)}`).join('');
  const second = twoForms
    ? segments.map((segment) => `\n${latin1(segment.second ?? segment.first)}`).join('')
    : '';
  return `${prefix}${first}${anchored ? '\n$' : ''}${second}`;
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
