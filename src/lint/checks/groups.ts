/** Checks of groups and user-agent lines: repeated, unknown, misspelt, rules that never decide. */

import { ASTERISK, DOLLAR, SLASH } from '../../base/ascii.js';
import { isDigit, isLetter } from '../../base/characters.js';
import {
  ANYTHING,
  FILE_WORK,
  isAllow,
  type RankedRule,
  RuleList,
  rankedRules,
  type WorkBudget,
  witnessesOf,
} from '../../patterns/rules.js';
import { endOfProductToken, headerCandidates } from '../../protocol/agent.js';
import {
  type AgentNames,
  type CheckContext,
  listed,
  listedLines,
  quoted,
  secondRecord,
} from '../check.js';
import {
  type AgentLine,
  contentSpan,
  type DocumentGroup,
  type DocumentLine,
  type RobotsDocument,
  type RuleLine,
  valueSpan,
} from '../document.js';
import type { Edit } from '../finding.js';
import { isCutAtHash } from './patterns.js';

/** Length of the longest name that a message has whole. */
const LONGEST_NAME = 40;

/** Checks where groups begin and end, which groups count as one, and what they leave out. */
export function checkGroups(context: CheckContext): void {
  const groups = groupsByToken(context.document.groups);
  /** Rules that deny everything to `*` because a group ran away. */
  const runaways = new Set<RuleLine>();
  for (const group of context.document.groups) checkRunaways(group, runaways, context);
  checkInheritance(groups, context);
  checkMergedGroups(groups, context);
  checkDenied(runaways, context);
}

/** The groups that name a product token, each with the line that names it first. */
type NamedGroups = readonly { readonly index: number; readonly agent: AgentLine }[];

function groupsByToken(groups: readonly DocumentGroup[]): ReadonlyMap<string, NamedGroups> {
  const byToken = new Map<string, { index: number; agent: AgentLine }[]>();
  groups.forEach(({ agents }, index) => {
    for (const agent of agents) {
      if (agent.token === '') continue;
      const named = byToken.get(agent.token);
      if (named === undefined) byToken.set(agent.token, [{ index, agent }]);
      else if (named.at(-1)?.index !== index) named.push({ index, agent });
    }
  });
  return byToken;
}

/**
 * Finds user-agent lines that are followed by other records alone: these do not end a group (RFC
 * 9309 section 2.2.4), so the crawler gets the rules of the next group.
 */
function checkRunaways(
  { agents, rules }: DocumentGroup,
  runaways: Set<RuleLine>,
  { document, findings }: CheckContext,
): void {
  if (rules.length === 0) return;
  /** The user-agent lines that run away, each with the next one of another token. */
  const found: { agent: AgentLine; meant: AgentLine }[] = [];
  let other: AgentLine | undefined;
  for (let index = agents.length - 2; index >= 0; index--) {
    const agent = agents[index] as AgentLine;
    const following = agents[index + 1] as AgentLine;
    if (following.token !== agent.token) other = following;
    if (agent.other !== undefined && other !== undefined) found.unshift({ agent, meant: other });
  }
  // The worst case stands for the others, which have the same cause.
  const worst = found.find(({ agent }) => agent.token === '*') ?? found[0];
  if (worst === undefined) return;
  const { agent, meant } = worst;
  const record = agent.other ?? agent.line;
  const denial = rules.find(({ allow, pattern }) => !allow && matchesAll(pattern));
  if (denial !== undefined && agent.token === '*' && findings.wants('runaway-group')) {
    runaways.add(denial);
  }
  findings.add('runaway-group', contentSpan(document, agent.line), () => {
    const name = agent.token === '*' ? 'every crawler (*)' : nameOf(agent, document);
    const target = nameOf(meant, document);
    const consequence =
      denial === undefined
        ? `${name} gets the rules of ${target}`
        : `${name} is denied everything by line ${denial.line.line}, which is meant for ${target}`;
    const further = found.filter((each) => each !== worst).map((each) => each.agent.line);
    const more = further.length === 0 ? '' : ` The same holds for ${listedLines(further)}.`;
    return {
      message: `No rule follows the line: ${quoted(document.keyText(record))} in line ${record.line} does not end a group (RFC 9309 section 2.2.4), and ${consequence}.${more}`,
      fix: `Write a rule after line ${record.line}: "Disallow:" allows everything.`,
    };
  });
}

/** The name of a crawler as the file has it. */
function nameOf({ token, line }: AgentLine, document: RobotsDocument): string {
  const name = document.valueText(line);
  if (name.length > LONGEST_NAME) return token;
  return name === '' ? 'no crawler' : name;
}

/** Whether a pattern matches every path: `/`, `*`, `/*`, `*$` and the like. */
function matchesAll(pattern: Uint8Array): boolean {
  let end = pattern.length;
  if (pattern[end - 1] === DOLLAR && pattern[end - 2] === ASTERISK) end--;
  let slashes = 0;
  for (let at = 0; at < end; at++) {
    if (pattern[at] === SLASH) slashes++;
    else if (pattern[at] !== ASTERISK) return false;
  }
  return end > 0 && slashes < 2;
}

/** Google's crawlers that no group of `*` binds anyway, in lower case. */
const WITHOUT_STAR: ReadonlySet<string> = new Set([
  'adsbot-google',
  'adsbot-google-mobile',
  'adsbot-google-mobile-apps',
  'apis-google',
  'google-safety',
  'feedfetcher-google',
  'mediapartners-google',
]);

/** Units of work for each byte of a file, for finding what groups leave out. */
const WORK_PER_BYTE = 32;

/** Rules of `*` that deny, with the paths that stand for all of theirs. */
interface Denial {
  readonly rule: RuleLine;
  readonly paths: readonly Buffer[];
}

/** Crawlers that obey the same groups. */
interface NamedCrawlers {
  readonly agents: readonly AgentLine[];
  readonly rules: readonly RuleLine[];
}

type InheritanceRule = 'group-without-rules' | 'rules-not-inherited' | 'rules-not-repeated';

/** Finds named groups without rules of `*`: their crawlers obey none of these (section 2.2.1). */
function checkInheritance(
  byToken: ReadonlyMap<string, NamedGroups>,
  { document, findings }: CheckContext,
): void {
  const star = byToken.get('*');
  const ofStar = star?.flatMap(({ index }) => document.groups[index]?.rules ?? []) ?? [];
  if (star === undefined || !ofStar.some(isDenial)) return;
  const budget: WorkBudget = {
    left: Math.min(FILE_WORK, WORK_PER_BYTE * document.bytes.length),
  };
  const crawlers = namedCrawlers(byToken, document, budget);
  if (crawlers.length === 0) return;
  const all = document.groups.flatMap(({ rules }) => rules);
  const ranks = new Map(rankedRules(all).map((rule) => [all[rule.line], rule]));
  const listOf = (rules: readonly RuleLine[]): RuleList =>
    new RuleList(rules.flatMap((rule) => ranks.get(rule) ?? []));
  const rulesOfStar = listOf(ofStar);
  const deniesAll = denies(rulesOfStar.winner(Buffer.of(SLASH, ANYTHING), budget));
  const denials = denialsOf(ofStar, ranks, rulesOfStar, budget);
  /** Groups that leave out the same rules have one cause. */
  const found = new Map<string, { rule: InheritanceRule; open: Denial[]; agents: AgentLine[] }>();
  for (const { agents, rules } of crawlers) {
    if (budget.left < 0) break;
    if (rules.length > 0 && (isDeliberate(rules) || (deniesAll && rules.some(isDenial)))) continue;
    // Patterns that match nothing are reported themselves.
    if (rules.some(isDenial) && !rules.some((rule) => ranks.has(rule))) continue;
    const own = listOf(rules);
    const { open, kept } = sidesOf(denials, own, budget);
    const rule = ruleFor(rules, open.length, kept);
    budget.left -= open.length;
    if (rule === undefined || open.length === 0 || budget.left < 0) continue;
    const key = `${rule} ${open.map((denial) => denial.rule.line.line).join()}`;
    const same = found.get(key);
    if (same === undefined) found.set(key, { rule, open, agents: [...agents] });
    else same.agents.push(...agents);
  }
  const line = star[0]?.agent.line.line ?? 0;
  for (const { rule, open, agents } of found.values()) {
    const [first] = agents as [AgentLine];
    findings.add(rule, valueSpan(first.line), () => {
      const names = listed(agents.map((agent) => nameOf(agent, document)));
      const paths = open.some((denial) => matchesAll(denial.rule.pattern))
        ? 'everything'
        : listed(open.map((denial) => quoted(document.valueText(denial.rule.line))));
      const what = rule === 'group-without-rules' ? ', and no rule follows' : '';
      return {
        message: `${agents.length === 1 ? 'The group names' : 'Groups name'} ${names}${what}. A crawler that a group names does not obey the group of * in line ${line} (RFC 9309 section 2.2.1): it may fetch ${paths}, which * denies.`,
        fix: `Repeat the Disallow lines of *; or write "${what === '' ? 'Allow: /' : 'Disallow:'}", if that is meant.`,
      };
    });
  }
}

function isDenial({ allow, pattern }: RuleLine): boolean {
  return !allow && pattern.length > 0;
}

/** Whether rules say that everything is allowed that they do not deny. */
function isDeliberate(rules: readonly RuleLine[]): boolean {
  if (rules.some(({ allow, pattern }) => allow && matchesAll(pattern))) return true;
  return !rules.some(isDenial) && rules.some(({ pattern }) => pattern.length === 0);
}

/**
 * What is wrong with rules that leave out some denials of `*`. Authors who repeat a few of them
 * know that groups do not add up, and left out the others on purpose.
 */
function ruleFor(
  rules: readonly RuleLine[],
  open: number,
  kept: number,
): InheritanceRule | undefined {
  if (rules.length === 0) return 'group-without-rules';
  if (kept === 0 || !rules.some(isDenial)) return 'rules-not-inherited';
  return open <= kept ? 'rules-not-repeated' : undefined;
}

/** Whether a rule decides that a path may not be fetched. */
function denies(rule: RankedRule | undefined): boolean {
  return rule !== undefined && !isAllow(rule);
}

/**
 * The denials of `*` on whose paths no own rule decides, and the number of those that own rules
 * repeat. What an own rule allows is meant.
 */
function sidesOf(
  denials: readonly Denial[],
  own: RuleList,
  budget: WorkBudget,
): { open: Denial[]; kept: number } {
  const open: Denial[] = [];
  let kept = 0;
  for (const denial of denials) {
    if (budget.left < 0) break;
    const winners = denial.paths.map((path) => own.winner(path, budget));
    if (winners.includes(undefined)) open.push(denial);
    else if (winners.some(denies)) kept++;
  }
  return { open, kept };
}

/** Puts together the crawlers that obey the same groups, and do not obey `*`. */
function namedCrawlers(
  byToken: ReadonlyMap<string, NamedGroups>,
  { groups }: RobotsDocument,
  budget: WorkBudget,
): NamedCrawlers[] {
  const byGroups = new Map<string, { agents: AgentLine[]; named: NamedGroups }>();
  for (const [token, named] of byToken) {
    const [first] = named;
    if (token === '*' || WITHOUT_STAR.has(token) || first === undefined) continue;
    const key = named.map(({ index }) => index).join();
    // Crawlers of a group of * obey its rules.
    if (named.some(({ index }) => groups[index]?.agents.some(isStar))) continue;
    const same = byGroups.get(key);
    if (same === undefined) byGroups.set(key, { agents: [first.agent], named });
    else same.agents.push(first.agent);
  }
  const crawlers: NamedCrawlers[] = [];
  for (const { agents, named } of byGroups.values()) {
    for (const { index } of named) budget.left -= groups[index]?.rules.length ?? 0;
    if (budget.left < 0) break;
    crawlers.push({ agents, rules: named.flatMap(({ index }) => groups[index]?.rules ?? []) });
  }
  return crawlers;
}

function isStar({ token }: AgentLine): boolean {
  return token === '*';
}

/** The rules of `*` that deny on some of the paths that stand for theirs. */
function denialsOf(
  ofStar: readonly RuleLine[],
  ranks: ReadonlyMap<RuleLine | undefined, RankedRule>,
  list: RuleList,
  budget: WorkBudget,
): Denial[] {
  const denials: Denial[] = [];
  for (const rule of ofStar) {
    if (budget.left < 0) break;
    const ranked = ranks.get(rule);
    if (rule.allow || ranked === undefined) continue;
    const paths = witnessesOf(ranked).filter((path) => denies(list.winner(path, budget)));
    if (paths.length > 0) denials.push({ rule, paths });
  }
  return denials;
}

/** Finds crawlers that several groups with different rules name. */
function checkMergedGroups(
  byToken: ReadonlyMap<string, NamedGroups>,
  { document, findings }: CheckContext,
): void {
  const texts = new Map<string, number>();
  const numbers = document.groups.map((group) => numberOf(rulesText(group, document), texts));
  const found = new Map<string, { groups: NamedGroups; tokens: string[] }>();
  for (const [token, named] of byToken) {
    if (named.length === 1) continue;
    const [first, ...others] = named.filter(
      ({ index }) => document.groups[index]?.rules.length !== 0,
    );
    if (first === undefined) continue;
    const further = others.filter(({ index }) => numbers[index] !== numbers[first.index]);
    if (further.length === 0) continue;
    const groups = [first, ...further];
    const key = groups.map(({ index }) => index).join();
    const same = found.get(key);
    if (same === undefined) found.set(key, { groups, tokens: [token] });
    else same.tokens.push(token);
  }
  for (const { groups, tokens } of found.values()) {
    const [first, second] = groups as [NamedGroups[0], NamedGroups[0]];
    findings.add('merged-groups', valueSpan(second.agent.line), () => {
      const draft = tokens.includes('*')
        ? ' Crawlers that follow the draft of 2019 obey the first group of * only.'
        : '';
      const others = groups.slice(2).map(({ agent }) => agent.line);
      const more =
        others.length === 0
          ? ''
          : ` So ${others.length === 1 ? 'does the group' : 'do the groups'} in ${listedLines(others)}.`;
      return {
        message: `${listed(tokens.map(quoted))} already ${tokens.length === 1 ? 'has' : 'have'} a group in line ${first.agent.line.line}, with other rules. Both groups count as one (RFC 9309 section 2.2.1).${more}${draft}`,
        fix: 'Write all rules of a crawler in one group.',
      };
    });
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
function checkDenied(runaways: ReadonlySet<RuleLine>, { document, findings }: CheckContext): void {
  for (const { agents, rules } of document.groups) {
    if (!agents.some(isStar)) continue;
    const allows = rules.some(({ allow, pattern }) => allow && pattern.length > 0);
    const denial = rules.find(({ allow, pattern }) => !allow && matchesAll(pattern));
    const isExplained =
      denial !== undefined && (runaways.has(denial) || isCutAtHash(denial.line, document));
    if (denial !== undefined && !allows && !isExplained) {
      findings.add('everything-denied', contentSpan(document, denial.line), () => ({
        message: deniedToAll(document, document.valueText(denial.line)),
        fix: 'If that is not meant, write "Disallow:" without a path.',
      }));
    }
    const queries = rules.find(
      ({ allow, line }) => !allow && QUERIES.has(document.valueText(line)),
    );
    if (queries === undefined) continue;
    findings.add('queries-denied', contentSpan(document, queries.line), () => ({
      message:
        'The rule denies every URL with a query to all crawlers, also those with page numbers or languages.',
      fix: 'Name the parameters that are meant: "Disallow: /*?sort=".',
    }));
  }
}

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
