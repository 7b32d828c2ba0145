import type { DocumentGroup, RuleLine } from '../document.js';
import { contentSpan, type RobotsDocument } from '../document.js';
import type { Edit } from '../finding.js';
import {
  findNeverDeciding,
  type NeverDeciding,
  type Precedence,
} from '../inclusion/never-deciding.js';
import { FILE_WORK, type WorkBudget } from '../inclusion/work-budget.js';
import type { CheckContext } from './check.js';

/**
 * Finds rules that never decide. The rules of groups that name the same crawlers are compared
 * together. A crawler may obey further groups: these can only make rules decide less.
 */
export function checkDecisions({ document, findings }: CheckContext): void {
  const budget: WorkBudget = { left: FILE_WORK };
  let firstLeftOut: RuleLine | undefined;
  for (const groups of groupsOfSameAgents(document.groups)) {
    const rules = groups.flatMap((group) => group.rules);
    const groupOf = new Map<RuleLine, DocumentGroup>(
      groups.flatMap((group) => group.rules.map((rule) => [rule, group] as const)),
    );
    const { found, leftOut } = findNeverDeciding(rules, budget);
    for (const never of found) {
      const { rule, deciding, same } = never;
      const isOverruled = deciding.some(({ allow }) => allow !== rule.allow);
      const name = isOverruled ? 'contradicting-rule' : same ? 'duplicate-rule' : 'shadowed-rule';
      const group = groupOf.get(rule);
      // Without its last rule, a group would run into the next one.
      const isRemovable = deciding.every((other) => groupOf.get(other) === group);
      findings.add(name, contentSpan(document, rule.line), () => ({
        message: messageFor(never, isOverruled, document),
        fix: isOverruled
          ? `Delete the line; or, if it is meant, line ${deciding[0]?.line.line}.`
          : 'Delete the line.',
        edits: isRemovable ? [removal(rule, document)] : [],
      }));
    }
    firstLeftOut ??= leftOut;
  }
  if (firstLeftOut === undefined) return;
  findings.add('analysis-limit', contentSpan(document, firstLeftOut.line), () => ({
    message:
      'The file has too many wildcards to compare all rules: from here on, only rules for exactly the same paths were found.',
    fix: 'Write fewer rules with "*": one shorter pattern can match what many long ones do.',
  }));
}

/** Puts together the groups that name the same crawlers, in the order of the file. */
function groupsOfSameAgents(groups: readonly DocumentGroup[]): Iterable<DocumentGroup[]> {
  const byAgents = new Map<string, DocumentGroup[]>();
  for (const group of groups) {
    const tokens = new Set(group.agents.map(({ token }) => token));
    tokens.delete('');
    // A group without a crawler has no paths to decide on.
    if (tokens.size === 0) continue;
    const key = [...tokens].sort().join();
    const same = byAgents.get(key);
    if (same === undefined) byAgents.set(key, [group]);
    else same.push(group);
  }
  return byAgents.values();
}

function messageFor(
  { deciding, same, reasons }: NeverDeciding<RuleLine>,
  isOverruled: boolean,
  document: RobotsDocument,
): string {
  const named = deciding.map(
    ({ allow, line }) =>
      `${allow ? 'Allow' : 'Disallow'}: ${shortened(document.valueText(line))} in line ${line.line}`,
  );
  const others = named.join(' and ');
  if (same && !isOverruled)
    return `The rule matches the same paths as ${others}, and never decides.`;
  const reason = reasonFor(reasons);
  return same
    ? `The rule matches the same paths as ${others}, which overrules it (${reason}; RFC 9309 section 2.2.2). It never decides.`
    : `The rule never decides: ${others} ${deciding.length === 1 ? 'matches' : 'match'} all of its paths and ${deciding.length === 1 ? 'overrules' : 'overrule'} it (${reason}; RFC 9309 section 2.2.2).`;
}

/** The sentence of RFC 9309 by which the deciding rules decide. */
function reasonFor(reasons: ReadonlySet<Precedence>): string {
  const ties = reasons.has('allow') ? 'of rules of equal length Allow wins' : SAME_EITHER_WAY;
  if (!reasons.has('longer')) return ties;
  return reasons.size === 1 ? 'a longer rule wins' : `a longer rule wins, and ${ties}`;
}

const SAME_EITHER_WAY = 'of rules of equal length and verdict either may decide';

function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

/** The edit that deletes a rule with its line end. */
function removal({ line }: RuleLine, document: RobotsDocument): Edit {
  return { start: line.start, end: document.nextLine(line), text: '' };
}
