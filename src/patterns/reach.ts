/** Decides how much of a site some rules allow, by proof: everything, nothing or part of it. */

import { Buffer } from 'node:buffer';
import type { TablePattern } from '../view/table-content.js';
import { findNeverDeciding } from './never-deciding.js';
import {
  ANYTHING,
  FILE_WORK,
  isAllow,
  type RankedRule,
  ROBOTS_TXT,
  ROBOTS_TXT_RULE,
  RuleList,
  rankedRule,
  witnessesOf,
} from './rules.js';

/** How much is allowed: everything, nothing but /robots.txt, or neither was proven. */
export type Reach = 'all' | 'part' | 'none';

/** What some rules say about a site. */
export interface RuleSummary {
  readonly reach: Reach;
  /** Number of rules that can decide. */
  readonly rules: number;
  /** The verdict on `/`. */
  readonly rootAllowed: boolean;
  /** The line of the rule that decides `/`; `undefined` if no rule matches it. */
  readonly rootLine: number | undefined;
}

const ROOT = Buffer.from('/');
const ANY_PATH = Buffer.from(`/${String.fromCharCode(ANYTHING)}`, 'latin1');

/**
 * Summarises the rules of one group or of several.
 *
 * @param google whether the rules decide on /robots.txt too, as in the google profile
 */
export function summarise(patterns: readonly TablePattern[], google: boolean): RuleSummary {
  const rules = patterns.map(rankedRule);
  const compared = google ? rules : [ROBOTS_TXT_RULE, ...rules];
  const root = new RuleList(rules).winner(ROOT, { left: FILE_WORK });
  return {
    reach: reachOf(rules, google),
    rules: rules.length - findNeverDeciding(compared, { left: FILE_WORK }).found.length,
    rootAllowed: root === undefined || isAllow(root),
    rootLine: root?.line,
  };
}

/**
 * How much some rules allow. Everything, if an allow rule wins on the witnesses of each disallow
 * rule: it wins on all paths of that rule then. Nothing, if a disallow rule wins on the witness of
 * all paths, and on those of each allow rule.
 *
 * @param google whether the rules decide on /robots.txt too, as in the google profile
 */
export function reachOf(rules: readonly RankedRule[], google: boolean): Reach {
  const list = new RuleList(rules);
  const budget = { left: FILE_WORK };
  /** Whether on each witness of `rule` a rule of the other kind wins. */
  const isOverridden = (rule: RankedRule, exempt: boolean): boolean => {
    if (!rule.isWhole) return false;
    return witnessesOf(rule).every((path) => {
      if (exempt && path.equals(ROBOTS_TXT)) return true;
      const winner = list.winner(path, budget);
      return winner !== undefined && isAllow(winner) !== isAllow(rule);
    });
  };
  if (rules.every((rule) => isAllow(rule) || isOverridden(rule, !google))) return 'all';
  const ofAll = list.winner(ANY_PATH, budget);
  if (ofAll === undefined || isAllow(ofAll)) return 'part';
  return rules.every((rule) => !isAllow(rule) || isOverridden(rule, true)) ? 'none' : 'part';
}
