/**
 * Finds rules that never decide, because other rules match all of their paths and overrule them.
 */

import type { Buffer } from 'node:buffer';
import { addTo } from '../base/maps.js';
import {
  byPrecedence,
  isAllow,
  isWildcard,
  languageOf,
  latin1,
  matches,
  type RankedRule,
  type WorkBudget,
  witnessesOf,
} from './rules.js';

/**
 * Why another rule decides: it is longer; it is as long and allows; or it is as long, has the same
 * verdict and stands first.
 */
export type Precedence = 'longer' | 'allow' | 'first';

/** A rule that never decides. */
export interface NeverDeciding {
  readonly rule: RankedRule;
  /** The rules that decide on all of its paths, the strongest first. */
  readonly deciding: readonly RankedRule[];
  /** Whether the one deciding rule matches exactly the same paths. */
  readonly same: boolean;
  /** Why the deciding rules decide. */
  readonly reasons: ReadonlySet<Precedence>;
}

/**
 * Finds rules that never decide on any path: whatever path such a rule matches, a rule of higher
 * precedence matches too. Every rule that is found never decides. All such rules are found, apart
 * from those that the budget leaves out, those of which not all readings are known, and sets of
 * rules in which every byte occurs.
 *
 * @param rules the rules that one crawler obeys, or some of them
 * @returns the rules that never decide, and the first rule that was left out when the budget ended
 */
export function findNeverDeciding(
  rules: readonly RankedRule[],
  budget: WorkBudget,
): { found: NeverDeciding[]; leftOut: RankedRule | undefined } {
  const found: NeverDeciding[] = [];
  const representatives = bestOfEach(rules, found);
  const wildcards = new WildcardIndex(representatives.filter(isWildcard));
  let leftOut: RankedRule | undefined;
  if (wildcards.isEmpty) return { found, leftOut };
  for (const rule of representatives) {
    if (budget.left < 0) {
      leftOut = rule;
      break;
    }
    if (!rule.isWhole) continue;
    const deciding = decidingInstead(rule, wildcards, budget);
    if (deciding.length > 0) found.push(neverDeciding(rule, deciding, false));
  }
  return { found, leftOut };
}

/** The deciding rule of all that match the same paths; adds the others to `found`. */
function bestOfEach(rules: readonly RankedRule[], found: NeverDeciding[]): RankedRule[] {
  const classes = new Map<string, RankedRule[]>();
  for (const rule of rules) addTo(classes, languageOf(rule), rule);
  const best: RankedRule[] = [];
  for (const [first, ...others] of classes.values()) {
    let decides = first as RankedRule;
    for (const rule of others) if (byPrecedence(rule, decides) < 0) decides = rule;
    best.push(decides);
    for (const rule of [first as RankedRule, ...others]) {
      if (rule !== decides) found.push(neverDeciding(rule, [decides], true));
    }
  }
  return best;
}

function neverDeciding(
  rule: RankedRule,
  deciding: readonly RankedRule[],
  same: boolean,
): NeverDeciding {
  return { rule, deciding, same, reasons: new Set(deciding.map((one) => precedence(one, rule))) };
}

/** Why a rule decides instead of another one. */
function precedence(one: RankedRule, other: RankedRule): Precedence {
  if (one.rank >>> 1 > other.rank >>> 1) return 'longer';
  return isAllow(one) === isAllow(other) ? 'first' : 'allow';
}

/** The rules that decide on all paths of a rule, the strongest first; none if there are none. */
function decidingInstead(
  rule: RankedRule,
  wildcards: WildcardIndex,
  budget: WorkBudget,
): RankedRule[] {
  const deciding = new Set<RankedRule>();
  for (const path of witnessesOf(rule)) {
    const covering = wildcards
      .candidates(rule, path, budget)
      .filter((other) => byPrecedence(other, rule) < 0)
      .sort(byPrecedence)
      .find((other) => budget.left >= 0 && matches(other, path, budget));
    if (covering === undefined) return [];
    deciding.add(covering);
  }
  return [...deciding];
}

/** Number of bytes of a literal by which rules are found. */
const KEY_BYTES = 4;

/** Units of work for each rule that is compared with another. */
const PAIR_COST = 8;

interface IndexedRule {
  readonly rule: RankedRule;
  readonly prefix: string;
}

/**
 * Finds rules that may cover a rule, or a part of it. A rule that covers some path of another one
 * and is no longer than it has a `*`; its literal before the `*` begins the other's; and its next
 * literal occurs in the paths of the other one.
 */
class WildcardIndex {
  readonly isEmpty: boolean;
  /** Rules with nothing but `*` after the first literal, by that literal. */
  readonly #prefixes = new Map<string, IndexedRule[]>();
  readonly #prefixLengths: readonly number[];
  /** All other rules, by the first bytes of the literal after the first `*`. */
  readonly #literals = new Map<number, IndexedRule[]>();
  readonly #keyLengths: readonly number[];

  constructor(wildcards: readonly RankedRule[]) {
    this.isEmpty = wildcards.length === 0;
    const keyLengths = new Set<number>();
    for (const rule of wildcards) {
      for (const { prefix: bytes, segments } of rule.patterns) {
        const prefix = latin1(bytes);
        const [segment] = segments;
        if (segment === undefined) {
          addTo(this.#prefixes, prefix, { rule, prefix });
          continue;
        }
        const length = Math.min(KEY_BYTES, segment.length);
        keyLengths.add(length);
        addTo(this.#literals, keyAt(segment, 0, length), { rule, prefix });
      }
    }
    this.#prefixLengths = [...new Set([...this.#prefixes.keys()].map(({ length }) => length))];
    this.#keyLengths = [...keyLengths];
  }

  /** The rules that may match a path of `rule`: no others do. */
  candidates(rule: RankedRule, path: Buffer, budget: WorkBudget): RankedRule[] {
    const candidates = new Set<RankedRule>();
    const text = path.toString('latin1');
    const add = (found: readonly IndexedRule[] = []): void => {
      budget.left -= PAIR_COST * found.length;
      if (budget.left < 0) return;
      for (const other of found) {
        if (other.rule !== rule && text.startsWith(other.prefix)) candidates.add(other.rule);
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

/** Up to four bytes, and how many they are, as a number. */
function keyAt(bytes: Uint8Array, at: number, length: number): number {
  let key = length;
  for (let index = 0; index < length; index++) key = 256 * key + (bytes[at + index] as number);
  return key;
}
