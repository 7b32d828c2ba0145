/**
 * Finds paths on which two lists of rules disagree, or proves that there are none.
 *
 * Only rules that one list lacks need to be tried first. If the lists disagree on a path, its
 * winners differ, and the winner of the higher rank is not in the other list: it would win there
 * as well. Most changes show on the witness of such a rule (reach.ts). A change may also show only
 * where a wildcard rule meets another rule, which lies in both lists: then all paths are searched.
 */

import { Buffer } from 'node:buffer';
import { type FoundPaths, ONE, OTHER, PathSearch, type SharedRule } from './path-search.js';
import {
  ANYTHING,
  isAllow,
  PAIRS_PER_RULE,
  type RankedRule,
  ROBOTS_TXT,
  winnerOn,
  witnesses,
} from './reach.js';
import { isUrlPath, writtenPath } from './url-path.js';

/** As many are found: the first one on which the verdicts of the tables differ is shown. */
const MOST_PATHS = 4;

const ANY_TEXT = String.fromCharCode(ANYTHING);

/** Texts to try in place of "any text" in a witness, until the rules disagree on the path. */
const ANY_TEXTS = ['', 'any', 'zq', '~', '-/'];

/** The path that is always allowed, as a rule before all others. */
const ROBOTS_TXT_RULE: RankedRule = {
  rank: Number.MAX_SAFE_INTEGER,
  line: 0,
  readings: [{ prefix: ROBOTS_TXT, segments: [], isEnd: true }],
  isWhole: true,
};

/**
 * Finds paths of URLs on which two lists of rules disagree.
 *
 * @param google whether the rules are for the google profile
 */
export function differingPaths(
  one: readonly RankedRule[],
  other: readonly RankedRule[],
  google: boolean,
): FoundPaths {
  const { paths, isComplete } = comparedPaths(one, other, google);
  // The google profile takes URLs as they stand.
  return { paths: google ? paths : paths.map(writtenPath), isComplete };
}

/** As `differingPaths`, with paths as rules see them. */
function comparedPaths(
  one: readonly RankedRule[],
  other: readonly RankedRule[],
  google: boolean,
): FoundPaths {
  const shared = sharedRules(one, other);
  const paths = [...pathsOfWitnesses(one, other, shared, google)];
  if (paths.length > 0) return { paths, isComplete: false };
  const rules = google ? shared : [{ rule: ROBOTS_TXT_RULE, lists: ONE | OTHER }, ...shared];
  if (!PathSearch.accepts(rules)) return { paths, isComplete: false };
  return new PathSearch(rules, google).find(MOST_PATHS);
}

/** The rules of both lists, each once, the one that wins first. */
function sharedRules(one: readonly RankedRule[], other: readonly RankedRule[]): SharedRule[] {
  const shared = new Map<string, SharedRule>();
  for (const [rules, list] of [
    [one, ONE],
    [other, OTHER],
  ] as const) {
    for (const rule of rules) {
      const text = textOf(rule);
      const known = shared.get(text) ?? { rule, lists: 0 };
      shared.set(text, { ...known, lists: known.lists | list });
    }
  }
  return [...shared.values()].sort((a, b) => b.rule.rank - a.rule.rank);
}

/** Paths in place of the witnesses of the rules that only one list has. */
function pathsOfWitnesses(
  one: readonly RankedRule[],
  other: readonly RankedRule[],
  shared: readonly SharedRule[],
  google: boolean,
): Set<string> {
  const pairs = { left: PAIRS_PER_RULE * (one.length + other.length) };
  const disagree = (path: Buffer): boolean => {
    const [first, second] = [winnerOn(one, path, pairs), winnerOn(other, path, pairs)];
    if (pairs.left <= 0) return false;
    return (first === undefined || isAllow(first)) !== (second === undefined || isAllow(second));
  };
  const found = new Set<string>();
  for (const { rule, lists } of shared) {
    if (lists === (ONE | OTHER)) continue;
    for (const witness of rule.readings.flatMap(witnesses)) {
      if (pairs.left <= 0) return found;
      if (!disagree(witness)) continue;
      const text = ANY_TEXTS.find((each) => {
        const path = pathOf(witness, each);
        if (!google && (!isUrlPath(path) || ROBOTS_TXT.equals(Buffer.from(path)))) return false;
        return disagree(Buffer.from(path));
      });
      if (text === undefined) continue;
      found.add(pathOf(witness, text));
      if (found.size === MOST_PATHS) return found;
    }
  }
  return found;
}

/** The path of a witness, with `text` where the witness stands for any text. */
function pathOf(witness: Buffer, text: string): string {
  return witness.toString('latin1').replaceAll(ANY_TEXT, text);
}

/** The same text for rules with the same pattern and rank. ANYTHING stands for a `*`. */
function textOf({ rank, readings }: RankedRule): string {
  let text = String(rank);
  for (const { prefix, segments, isEnd } of readings) {
    text += ` ${latin1(prefix)}`;
    for (const segment of segments) text += ANY_TEXT + latin1(segment);
    if (isEnd) text += ' $';
  }
  return text;
}

function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}
