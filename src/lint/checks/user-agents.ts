import { headerCandidates } from '../../protocol/user-agent-header.js';
import { type AgentLine, type DocumentLine, valueSpan } from '../document.js';
import type { Edit } from '../finding.js';
import { type CheckContext, quoted } from './check.js';
import { secondRecord } from './second-record.js';

/** Length of the shortest token that is compared with known ones. */
const SHORTEST_COMPARED = 5;

/** Number of first letters that must be the same. */
const SHORTEST_START = 2;

/** Tokens of headers that no crawler obeys. */
const HEADER_TOKENS: ReadonlySet<string> = new Set(['mozilla', 'opera']);

/** Checks what user-agent lines name. */
export function checkUserAgents(context: CheckContext): void {
  for (const { agents } of context.document.groups) {
    const seen = new Set<string>();
    for (const agent of agents) {
      checkName(agent, context);
      const name = context.document.valueText(agent.line).toLowerCase();
      if (agent.token !== '' && seen.has(name)) {
        context.findings.add('duplicate-agent', valueSpan(agent.line), () => ({
          message: `The group already names ${quoted(name)}.`,
          fix: 'Delete the line.',
        }));
      }
      seen.add(name);
    }
  }
}

function checkName({ token, line }: AgentLine, context: CheckContext): void {
  const { document, findings } = context;
  const name = document.valueText(line);
  // A second record on the line is reported itself, and is no part of the name.
  if (token !== '' && secondRecord(line, document) !== undefined) return;
  if (token === '') {
    findings.add('no-product-token', valueSpan(line), () => ({
      message:
        name === ''
          ? 'The user-agent line names no crawler.'
          : `${quoted(name)} begins with no product token (letters, "-" and "_"; RFC 9309 section 2.2.1), so the line names no crawler.`,
      fix: name.startsWith('*')
        ? 'Write "*" for all crawlers; parts of names cannot be matched.'
        : "Write the crawler's product token, or delete the group.",
    }));
    return;
  }
  if (token === '*') {
    if (name !== '*') checkSuffix(token, name, line, context);
    return;
  }
  if (HEADER_TOKENS.has(token) && name.length > token.length) {
    const [candidate] = headerCandidates(name);
    findings.add('user-agent-header', valueSpan(line), () => ({
      message: `The line holds a whole User-Agent header. It names ${quoted(name.slice(0, token.length))}, which no crawler obeys.`,
      fix:
        candidate === undefined
          ? "Write the crawler's product token alone."
          : `Write "User-agent: ${candidate}".`,
    }));
    return;
  }
  if (name.length > token.length) checkSuffix(token, name, line, context);
  checkSpelling(token, name, line, context);
}

/** Reports what follows a token: a version, or a part of the name that no token has. */
function checkSuffix(
  token: string,
  name: string,
  line: DocumentLine,
  { findings, agents }: CheckContext,
): void {
  if (agents.published.has(name.toLowerCase())) return;
  const kept = name.slice(0, token.length);
  if (token === '*' || '/*+('.includes(name[token.length] ?? '')) {
    findings.add('user-agent-suffix', valueSpan(line), () => ({
      message: `${quoted(name.slice(token.length))} is no part of the product token (RFC 9309 section 2.2.1), and is ignored.`,
      fix: `Write "User-agent: ${kept}".`,
      edit: suffixEdit(token, name, line),
    }));
    return;
  }
  findings.add('truncated-agent', valueSpan(line), () => ({
    message: `Only ${quoted(kept)} of ${quoted(name)} is a product token (letters, "-" and "_"; RFC 9309 section 2.2.1): the group is for the crawler ${quoted(kept)}, and a crawler that compares whole names may not obey it.`,
    fix: "Write the product token that the crawler's operator documents.",
  }));
}

/** The edit that drops a version. */
function suffixEdit(token: string, name: string, line: DocumentLine): Edit | undefined {
  if (token === '*' || name[token.length] !== '/') return undefined;
  return { start: line.valueStart + token.length, end: line.valueEnd, text: '' };
}

function checkSpelling(
  token: string,
  name: string,
  line: DocumentLine,
  { findings, agents }: CheckContext,
): void {
  if (token.length < SHORTEST_COMPARED || agents.tokens.has(token)) return;
  if (!findings.wants('misspelt-agent')) return;
  for (const [known, published] of agents.tokens) {
    if (known.length < SHORTEST_COMPARED || !isOneLetterAway(token, known)) continue;
    findings.add('misspelt-agent', valueSpan(line), () => ({
      message: `${quoted(name)} is one letter away from the known crawler ${published}, which does not obey this group.`,
      fix: `Write "User-agent: ${published}", if you mean it.`,
    }));
    return;
  }
}

/**
 * Whether a letter was left out, doubled or swapped with its neighbour, after the first two, or `_`
 * written for `-`. Another letter that is replaced makes the name of another crawler more often
 * than a misspelt one.
 */
function isOneLetterAway(one: string, other: string): boolean {
  if (one.length === other.length && one.replaceAll('_', '-') === other.replaceAll('_', '-')) {
    return true;
  }
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  if (start < SHORTEST_START) return false;
  const oneRest = one.slice(start);
  const otherRest = other.slice(start);
  const isDoubled = oneRest[0] === one[start - 1];
  return (
    (isDoubled && oneRest.slice(1) === otherRest) ||
    oneRest === otherRest.slice(1) ||
    (oneRest[0] === otherRest[1] &&
      oneRest[1] === otherRest[0] &&
      oneRest.slice(2) === otherRest.slice(2))
  );
}
