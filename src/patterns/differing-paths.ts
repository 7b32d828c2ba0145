/**
 * Finds paths on which two lists of rules disagree, or proves that there are none.
 *
 * Only rules that one list lacks need to be tried first. If the lists disagree on a path, its
 * winners differ, and the winner of the higher rank is not in the other list: it would win there
 * as well. Most changes show on the witness of such a rule (rules.ts). A change may also show only
 * where a wildcard rule meets another rule, which lies in both lists: then all paths are searched.
 */

import { Buffer } from 'node:buffer';
import {
  DIGIT_0,
  LOWER_A,
  LOWER_CASE_BIT,
  LOWER_F,
  PERCENT,
  QUESTION_MARK,
} from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { isUnreserved } from '../protocol/agent.js';
import {
  type FoundPaths,
  isUrlPath,
  type PathQuestion,
  PathSearch,
  type SharedRule,
  sharedRules,
} from './path-search.js';
import {
  ANYTHING,
  FILE_WORK,
  isAllow,
  type RankedRule,
  ROBOTS_TXT,
  ROBOTS_TXT_RULE,
  RuleList,
  type WorkBudget,
  witnessesOf,
} from './rules.js';

/** As many are found: the first one on which the verdicts of the tables differ is shown. */
const MOST_PATHS = 4;

const ANY_TEXT = String.fromCharCode(ANYTHING);

/** Texts to try in place of "any text" in a witness, until the rules disagree on the path. */
const ANY_TEXTS = ['', 'any', 'zq', '~', '-/'];

/** Two lists. */
const BOTH = 3;

/**
 * Finds paths of URLs on which two lists of rules disagree.
 *
 * @param google whether the rules are for the google profile
 * @param allowing only paths that this one of the lists allows; both if undefined
 */
export function differingPaths(
  one: readonly RankedRule[],
  other: readonly RankedRule[],
  google: boolean,
  allowing?: 'one' | 'other',
): FoundPaths {
  const sought = allowing === undefined ? [1, 2] : [allowing === 'one' ? 1 : 2];
  const disagrees = (found: number): boolean => sought.includes(found);
  const question: PathQuestion = {
    lists: [one, other],
    first: google ? [] : [{ rule: ROBOTS_TXT_RULE, lists: BOTH }],
    unmatched: BOTH,
    compared: 1,
    isSought: disagrees,
    mayFollow: (found, undecided) => undecided !== 0 || disagrees(found),
  };
  return differenceOf(question, google);
}

/**
 * Finds paths of URLs on which the halves of some lists answer differently.
 *
 * @param google whether the rules are for the google profile
 */
export function differenceOf(question: PathQuestion, google: boolean): FoundPaths {
  const { paths, isComplete } = comparedPaths(question, google);
  // The google profile takes URLs as they stand.
  return { paths: google ? paths : paths.map(writtenPath), isComplete };
}

/** As `differenceOf`, with paths as rules see them. */
function comparedPaths(question: PathQuestion, google: boolean): FoundPaths {
  const rules = sharedRules(question.lists);
  const paths = [...pathsOfWitnesses(question, rules, google)];
  if (paths.length > 0) return { paths, isComplete: false };
  return PathSearch.find(question, rules, google, MOST_PATHS);
}

/** Paths in place of the witnesses of the rules that only one half of the lists has. */
function pathsOfWitnesses(
  { lists, first, unmatched, compared, isSought }: PathQuestion,
  rules: readonly SharedRule[],
  google: boolean,
): Set<string> {
  const budget: WorkBudget = { left: FILE_WORK };
  const known = new Map<readonly RankedRule[], RuleList>();
  const ruleLists = lists.map((each) => {
    const list = known.get(each) ?? new RuleList(each);
    known.set(each, list);
    return list;
  });
  const isFound = (path: Buffer): boolean => {
    let allowing = 0;
    ruleLists.forEach((list, index) => {
      const winner = list.winner(path, budget);
      const isAllowed = winner === undefined ? ((unmatched >> index) & 1) !== 0 : isAllow(winner);
      if (isAllowed) allowing |= 1 << index;
    });
    return budget.left >= 0 && isSought(allowing);
  };
  const isExempt = (path: Buffer): boolean => first.length > 0 && ROBOTS_TXT.equals(path);
  const half = lists.length >> 1;
  const found = new Set<string>();
  for (const { rule, lists: holders } of rules) {
    if (compared !== 0 && ((holders ^ (holders >> half)) & compared) === 0) continue;
    for (const witness of witnessesOf(rule)) {
      if (budget.left < 0) return found;
      if (!isFound(witness)) continue;
      const text = ANY_TEXTS.find((each) => {
        const path = pathOf(witness, each);
        if (!google && !isUrlPath(path)) return false;
        return !isExempt(Buffer.from(path)) && isFound(Buffer.from(path));
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

/**
 * Writes a path, as rules see it, for a URL. An escape that would change has its last digit
 * encoded: `/%2a` is written `/%2%61`.
 */
function writtenPath(path: string): string {
  let written = '';
  let inQuery = false;
  for (let at = 0; at < path.length; at++) {
    inQuery ||= path.charCodeAt(at) === QUESTION_MARK;
    if (changes(path, at, inQuery)) {
      written += `${path.slice(at, at + 2)}%${path.charCodeAt(at + 2).toString(16)}`;
      at += 2;
    } else {
      written += path.charAt(at);
    }
  }
  return written;
}

/** Whether an escape stands at a place of a path whose canonical form is another. */
function changes(path: string, at: number, inQuery: boolean): boolean {
  if (path.charCodeAt(at) !== PERCENT) return false;
  const [high, low] = [path.charCodeAt(at + 1), path.charCodeAt(at + 2)];
  const value = (hexDigit(high) << 4) | hexDigit(low);
  if (value < 0) return false;
  return (
    high >= LOWER_A || low >= LOWER_A || isUnreserved(value) || (inQuery && isFreeInQuery(value))
  );
}

/** The value of a hex digit; -1 for any other byte. */
function hexDigit(byte: number): number {
  if (isDigit(byte)) return byte - DIGIT_0;
  const lower = byte | LOWER_CASE_BIT;
  return lower >= LOWER_A && lower <= LOWER_F ? lower - LOWER_A + 10 : -1;
}

/** Bytes that have no role in a query: spec note A. */
function isFreeInQuery(byte: number): boolean {
  return '/:?@[]'.includes(String.fromCharCode(byte));
}
