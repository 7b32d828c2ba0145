import {
  type AgentLine,
  contentSpan,
  type DocumentGroup,
  type RobotsDocument,
  valueSpan,
} from '../document.js';
import { type CheckContext, quoted } from './check.js';

/** Length of the longest name that a message has whole. */
const LONGEST_NAME = 40;

/** Checks where groups begin and end, and which groups count as one. */
export function checkGroups(context: CheckContext): void {
  for (const group of context.document.groups) checkRunaways(group, context);
  checkEmptyGroups(context);
  checkMergedGroups(context);
  checkDenied(context);
}

/**
 * Finds user-agent lines that are followed by other records alone: these do not end a group (RFC
 * 9309 section 2.2.4), so the crawler gets the rules of the next group.
 */
function checkRunaways(
  { agents, rules }: DocumentGroup,
  { document, findings }: CheckContext,
): void {
  if (rules.length === 0) return;
  const denial = rules.find(({ allow, pattern }) => !allow && isSlash(pattern));
  /** The next user-agent line with another token, while the lines are walked backwards. */
  let other: AgentLine | undefined;
  for (let index = agents.length - 2; index >= 0; index--) {
    const agent = agents[index] as AgentLine;
    const { token, line, other: record } = agent;
    const following = agents[index + 1] as AgentLine;
    if (following.token !== token) other = following;
    if (record === undefined || other === undefined) continue;
    const meant = nameOf(other, document);
    findings.add('runaway-group', contentSpan(document, line), () => {
      const name = token === '*' ? 'every crawler (*)' : nameOf(agent, document);
      const consequence =
        denial === undefined
          ? `${name} gets the rules of ${meant}`
          : `${name} is denied everything by line ${denial.line.line}, which is meant for ${meant}`;
      return {
        message: `No rule follows the line: ${quoted(document.keyText(record))} in line ${record.line} does not end a group (RFC 9309 section 2.2.4), and ${consequence}.`,
        fix: `Write a rule after line ${record.line}: "Disallow:" allows everything.`,
      };
    });
  }
}

/** The name of a crawler as the file has it. */
function nameOf({ token, line }: AgentLine, document: RobotsDocument): string {
  const name = document.valueText(line);
  if (name.length > LONGEST_NAME) return token;
  return name === '' ? 'no crawler' : name;
}

function isSlash(pattern: Uint8Array): boolean {
  return pattern.length === 1 && pattern[0] === 0x2f;
}

/** Finds groups without a rule: their crawlers do not obey the group of `*`. */
function checkEmptyGroups({ document, findings }: CheckContext): void {
  const { groups } = document;
  const last = groups.at(-1);
  // Only the last group can be without rules.
  if (last === undefined || last.rules.length > 0) return;
  const others = groups.slice(0, -1);
  const star = others.find(({ agents }) => agents.some(({ token }) => token === '*'));
  if (star === undefined || !star.rules.some(({ pattern }) => pattern.length > 0)) return;
  const elsewhere = new Set(others.flatMap(({ agents }) => agents.map(({ token }) => token)));
  for (const agent of last.agents) {
    const { token, line } = agent;
    if (token === '' || token === '*' || elsewhere.has(token)) continue;
    findings.add('group-without-rules', valueSpan(line), () => {
      const name = nameOf(agent, document);
      return {
        message: `The group names ${name} and has no rule: ${name} may fetch everything, and does not obey the group of * in line ${star.agents[0]?.line.line}.`,
        fix: 'Repeat the rules of *, or write "Disallow:" if everything is allowed.',
      };
    });
  }
}

/** Finds crawlers that several groups with different rules name. */
function checkMergedGroups({ document, findings }: CheckContext): void {
  const firstOf = new Map<string, { group: DocumentGroup; agent: AgentLine; rules: number }>();
  const ruleSets = new Map<string, number>();
  for (const group of document.groups) {
    if (group.rules.length === 0) continue;
    const rules = numberOf(rulesText(group, document), ruleSets);
    const tokens = new Set<string>();
    for (const agent of group.agents) {
      const { token, line } = agent;
      if (token === '' || tokens.has(token)) continue;
      tokens.add(token);
      const first = firstOf.get(token);
      if (first === undefined) {
        firstOf.set(token, { group, agent, rules });
        continue;
      }
      if (first.rules === rules) continue;
      findings.add('merged-groups', valueSpan(line), () => {
        const draft =
          token === '*' ? ' Crawlers that follow the draft of 2019 obey the first group only.' : '';
        return {
          message: `Line ${first.agent.line.line} names the product token ${quoted(token)} too, with other rules. Both groups count as one (RFC 9309 section 2.2.1).${draft}`,
          fix: 'Write all rules of a crawler in one group.',
        };
      });
    }
  }
}

/** The rules of a group as a text that equal rules share. */
function rulesText({ rules }: DocumentGroup, { bytes }: RobotsDocument): string {
  return rules
    .map(({ allow, line }) => `${allow}${bytes.toString('latin1', line.valueStart, line.valueEnd)}`)
    .join('\n');
}

/** The number of a text among all texts. */
function numberOf(text: string, numbers: Map<string, number>): number {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  numbers.set(text, numbers.size);
  return numbers.size - 1;
}

/** Finds a group of `*` that denies everything, and those that deny all queries. */
function checkDenied({ document, findings }: CheckContext): void {
  for (const { agents, rules } of document.groups) {
    if (!agents.some(({ token }) => token === '*')) continue;
    const allows = rules.some(({ allow, pattern }) => allow && pattern.length > 0);
    for (const { allow, pattern, line } of rules) {
      if (allow) continue;
      const text = Buffer.from(pattern).toString('latin1');
      if (!allows && EVERYTHING.has(text)) {
        findings.add('everything-denied', contentSpan(document, line), () => ({
          message: deniedToAll(document, text),
          fix: 'If that is not meant, write "Disallow:" without a path.',
        }));
      }
      if (QUERIES.has(text)) {
        findings.add('queries-denied', contentSpan(document, line), () => ({
          message:
            'The rule denies every URL with a query to all crawlers, also those with page numbers or languages.',
          fix: 'Name the parameters that are meant: "Disallow: /*?sort=".',
        }));
      }
    }
  }
}

const EVERYTHING: ReadonlySet<string> = new Set(['/', '*', '/*', '/**']);
const QUERIES: ReadonlySet<string> = new Set(['/*?', '/*?*', '*?', '*?*']);

function deniedToAll({ groups }: RobotsDocument, text: string): string {
  const others = new Set(
    groups
      .flatMap(({ agents }) => agents.map(({ token }) => token))
      .filter((token) => token !== '*'),
  );
  others.delete('');
  return others.size === 0
    ? `"Disallow: ${text}" denies the whole site to all crawlers, those of search engines among them.`
    : `"Disallow: ${text}" denies the whole site to all crawlers that no group names.`;
}
