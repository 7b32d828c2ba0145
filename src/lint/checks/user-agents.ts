import { isDigit, isLetter } from '../../protocol/byte.js';
import { endOfProductToken } from '../../protocol/product-token.js';
import { headerCandidates } from '../../protocol/user-agent-header.js';
import { type AgentLine, type DocumentLine, valueSpan } from '../document.js';
import type { Edit } from '../finding.js';
import { type AgentNames, type CheckContext, listed, quoted } from './check.js';
import { secondRecord } from './second-record.js';

/** Length of the shortest token that is compared with known ones. */
const SHORTEST_COMPARED = 5;

/** Number of first letters that must be the same. */
const SHORTEST_START = 2;

/** Tokens of headers that no crawler obeys. */
const HEADER_TOKENS: ReadonlySet<string> = new Set(['mozilla', 'opera', 'compatible']);

/** Checks what user-agent lines name. */
export function checkUserAgents(context: CheckContext): void {
  for (const { agents } of context.document.groups) {
    const seen = new Set<string>();
    for (const agent of agents) {
      if (!context.explained.has(agent.line)) checkName(agent, context);
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
  const { document, findings, agents } = context;
  const name = document.valueText(line);
  // A second record on the line is reported itself, and is no part of the name.
  if (secondRecord(line, document) !== undefined) return;
  const names = severalNames(name, agents);
  if (names.length > 1) {
    findings.add('several-agents', valueSpan(line), () => ({
      message: `The line names ${token === '' ? 'no crawler' : `${token === '*' ? '*' : quoted(name.slice(0, token.length))} alone`}: a user-agent line has one product token (RFC 9309 section 2.2.1). ${listed(names.slice(token === '' ? 0 : 1))} ${names.length === (token === '' ? 1 : 2) ? 'is' : 'are'} not in the group.`,
      fix: `Write a line for each: ${listed(names.map((each) => `"User-agent: ${each}"`))}.`,
    }));
    return;
  }
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

/** What separates names, apart from white space. */
const SEPARATORS = ',;|';

/** The names on a line, if it looks like a list of several. */
function severalNames(value: string, agents: AgentNames): readonly string[] {
  if (agents.published.has(value.toLowerCase())) return [];
  // What stands in parentheses is a comment of a User-Agent header.
  const [text = ''] = value.split('(', 1);
  const pieces = splitAt(text, SEPARATORS).map(withoutQuotes);
  const names = pieces.flatMap((piece) => namesOfPiece(piece, agents));
  if (pieces.length > 1 && !names.includes('')) return distinct(names);
  const known = knownNames(text, agents);
  // A name may hold another one: "Yahoo! Slurp".
  return known.includes(firstWord(text)) ? distinct(known) : [];
}

/** The names of a piece between commas; an empty one if it does not look like a name. */
function namesOfPiece(piece: string, agents: AgentNames): readonly string[] {
  if (piece === '') return [];
  const known = knownNames(piece, agents);
  if (known.length > 1 && known.includes(firstWord(piece))) return known;
  const [name = '', version = ''] = piece.split('/', 2);
  const isName = name === '*' || (isNameStart(name) && Array.from(name).every(isOfName));
  return [isName && isVersion(version) ? name : ''];
}

/** The words of a text that are known agents, or `*`. */
function knownNames(text: string, agents: AgentNames): readonly string[] {
  return splitAt(text, `${SEPARATORS} \t/+&`)
    .map(withoutQuotes)
    .filter((word) => word === '*' || agents.names.has(word.toLowerCase()));
}

function firstWord(text: string): string {
  return withoutQuotes(splitAt(text, `${SEPARATORS} \t/+&`).find((word) => word !== '') ?? '');
}

function splitAt(text: string, separators: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !separators.includes(text.charAt(at))) continue;
    pieces.push(text.slice(from, at).trim());
    from = at + 1;
  }
  return pieces;
}

function withoutQuotes(text: string): string {
  const quote = text.charAt(0);
  const isQuoted = text.length > 1 && `"'`.includes(quote) && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1).trim() : text;
}

/** Whether a name begins with a product token. */
function isNameStart(name: string): boolean {
  const bytes = Buffer.from(name);
  return endOfProductToken(bytes, 0, bytes.length) > 0;
}

/** Whether a character is one of names, also of those that are not product tokens. */
function isOfName(character: string): boolean {
  const code = character.charCodeAt(0);
  return isLetter(code) || isDigit(code) || '-_ '.includes(character);
}

function isVersion(text: string): boolean {
  return Array.from(text).every((each) => isDigit(each.charCodeAt(0)) || each === '.');
}

/** Texts without those that differ from an earlier one in case alone. */
function distinct(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return names.filter((name) => {
    const lower = name.toLowerCase();
    return !seen.has(lower) && seen.add(lower);
  });
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
      edits: suffixEdits(token, name, line),
    }));
    return;
  }
  const [known] = knownNames(name, agents);
  findings.add('truncated-agent', valueSpan(line), () => ({
    message: `Only ${quoted(kept)} of ${quoted(name)} is a product token (letters, "-" and "_"; RFC 9309 section 2.2.1): the group is for the crawler ${quoted(kept)}, and a crawler that compares whole names may not obey it.`,
    fix:
      known === undefined
        ? "Write the product token that the crawler's operator documents."
        : `Write "User-agent: ${known}", if you mean it.`,
  }));
}

/** The edit that drops a version. */
function suffixEdits(token: string, name: string, line: DocumentLine): readonly Edit[] {
  if (token === '*' || name[token.length] !== '/') return [];
  return [{ start: line.valueStart + token.length, end: line.valueEnd, text: '' }];
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
