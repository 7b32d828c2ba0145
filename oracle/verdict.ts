import type { Profile, Verdict } from '../src/protocol/verdict.js';
import { isEscape, textOf, toLowerAscii } from './bytes.js';
import { type OracleGroup, type OracleRule, readGroups, ruleOf } from './robots.js';
import { canonicalPattern, canonicalTarget, googlePattern, readGoogleUrl, readUrl } from './url.js';

export interface OracleVerdict {
  readonly verdict: 'allow' | 'deny' | 'invalid';
  /**
   * Line number of the rule that decided; 0 if none did. Among rules of the same kind and length
   * the first in the file decides. In the google profile the rule may be empty.
   */
  readonly line: number;
  /** Whether an allow won over a disallow of the same length. */
  readonly tie: boolean;
  readonly reading: Reading;
  /** Whether the rule that decided matched only because a pattern may split a `%XX` of the path. */
  readonly splitByte: boolean;
}

/**
 * How the rule that decided matched: by its pattern's own canonical form, by a further reading of
 * note A, or, in the google profile, as the directory of an index page.
 */
export type Reading = 'own' | 'query' | 'directory';

/** The best match of one kind of rule; its length is -1 if none matched. */
interface Match {
  readonly length: number;
  readonly line: number;
  readonly reading: Reading;
  /** The form of the pattern that matched. */
  readonly pattern: string;
}

const NO_MATCH: Match = { length: -1, line: 0, reading: 'own', pattern: '' };

/**
 * The verdict of RFC 9309 on a URL, read as literally and as slowly as possible. `agents` is a
 * fallback chain: the first agent with a group decides; in the google profile the groups of all
 * agents are merged. If no agent has one, `*` decides, unless the crawler disregards it. Another
 * `matcher` serves only to test that the tests notice it.
 */
export function verdictOf(
  groups: readonly OracleGroup[],
  profile: Profile,
  agents: readonly string[],
  url: Uint8Array | string,
  matcher: Matcher = matches,
  disregardsAny = false,
): OracleVerdict {
  const heard = disregardsAny ? groups.filter((group) => isNamed(group, agents)) : groups;
  return profile === 'google'
    ? googleVerdict(heard, agents, url, matcher)
    : rfcVerdict(heard, profile, agents, url, matcher);
}

function isNamed(group: OracleGroup, agents: readonly string[]): boolean {
  return agents.some((agent) => names(group, agent));
}

function rfcVerdict(
  groups: readonly OracleGroup[],
  profile: Profile,
  agents: readonly string[],
  url: Uint8Array | string,
  matcher: Matcher,
): OracleVerdict {
  const target = readUrl(url);
  if (target === undefined) return { ...decided(NO_MATCH, NO_MATCH, ''), verdict: 'invalid' };
  const path = canonicalTarget(target);
  // Section 2.2.2: "The /robots.txt URI is implicitly allowed."
  if (path === '/robots.txt') return decided(NO_MATCH, NO_MATCH, path);

  const rules = rulesFor(groups, profile, agents);
  const best = (allow: boolean): Match =>
    longest(
      rules.filter((rule) => rule.allow === allow).map((rule) => rfcMatch(rule, path, matcher)),
    );
  return decided(best(true), best(false), path);
}

function rfcMatch({ pattern, line }: OracleRule, path: string, matcher: Matcher): Match {
  if (pattern === '') return NO_MATCH;
  const { readings, length } = canonicalPattern(pattern);
  const matched = readings.find((reading) => matcher(reading, path));
  if (matched === undefined) return NO_MATCH;
  return { length, line, reading: matched === readings[0] ? 'own' : 'query', pattern: matched };
}

/**
 * The longest of some path patterns that match a URL, and of several the first line; its length is
 * -1 if none matches. None is a rule, so none has the exceptions of rules.
 */
export function longestOf(
  patterns: readonly Omit<OracleRule, 'allow'>[],
  profile: Profile,
  url: Uint8Array | string,
): { readonly length: number; readonly line: number } {
  const rules = patterns.map((pattern) => ({ ...pattern, allow: false }));
  if (profile === 'google') {
    const path = readGoogleUrl(url);
    return longest(rules.map((rule) => googleMatch(rule, path, matches)));
  }
  const target = readUrl(url);
  if (target === undefined) return NO_MATCH;
  const path = canonicalTarget(target);
  return longest(rules.map((rule) => rfcMatch(rule, path, matches)));
}

/** The first of the longest rules. */
function longest(candidates: readonly Match[]): Match {
  let best = NO_MATCH;
  for (const candidate of candidates) if (candidate.length > best.length) best = candidate;
  return best;
}

/**
 * The longer rule decides; of two with the same length, the allow (section 2.2.2). A match of
 * length 0 denies nothing.
 */
function decided(allow: Match, disallow: Match, path: string): OracleVerdict {
  const { line, reading, pattern } = disallow.length > allow.length ? disallow : allow;
  const denied = disallow.length > allow.length && disallow.length > 0;
  const tie = disallow.length === allow.length && allow.length > 0;
  const splitByte = line > 0 && path.includes('%') && !matchesWhole(pattern, path);
  return { verdict: denied ? 'deny' : 'allow', line, tie, reading, splitByte };
}

/** The rules that a crawler must follow, in the order of the file (section 2.2.1). */
function rulesFor(
  groups: readonly OracleGroup[],
  profile: Profile,
  agents: readonly string[],
): OracleRule[] {
  for (const agent of [...agents, '*']) {
    let named = groups.filter((group) => names(group, agent));
    if (named.length === 0) continue;
    // The draft merges the groups of a product token as well, but uses only the first of the groups
    // for "*".
    if (agent === '*' && profile === 'draft-koster-rep-00') named = named.slice(0, 1);
    return named.flatMap((group) => group.rules);
  }
  return [];
}

function names(group: OracleGroup, agent: string): boolean {
  return group.productTokens.some((token) => toLowerAscii(token) === toLowerAscii(agent));
}

/** docs/verdicts.md, the google profile, points 5 to 12. */
function googleVerdict(
  groups: readonly OracleGroup[],
  agents: readonly string[],
  url: Uint8Array | string,
  matcher: Matcher,
): OracleVerdict {
  const path = readGoogleUrl(url);
  // "*" names no crawler: a crawler called "*" has no group of its own.
  const tokens = agents.filter((agent) => agent !== '*');
  const isSpecific = (group: OracleGroup): boolean => tokens.some((token) => names(group, token));
  const specific = groups.filter(isSpecific);
  const global = groups.filter((group) => !isSpecific(group) && names(group, '*'));

  const rules = (specific.length > 0 ? specific : global).flatMap((group) => group.rules);
  const best = (allow: boolean): Match =>
    longest(
      rules.filter((rule) => rule.allow === allow).map((rule) => googleMatch(rule, path, matcher)),
    );
  return decided(best(true), best(false), path);
}

/** An empty pattern matches with length 0: google/robotstxt may name it, yet it decides nothing. */
function googleMatch({ allow, pattern, line }: OracleRule, path: string, matcher: Matcher): Match {
  const escaped = googlePattern(pattern);
  if (matcher(escaped, path)) {
    return { length: escaped.length, line, reading: 'own', pattern: escaped };
  }
  const slash = escaped.lastIndexOf('/');
  if (allow && slash >= 0 && escaped.startsWith('/index.htm', slash)) {
    const directory = `${escaped.slice(0, slash + 1)}$`;
    if (matcher(directory, path)) {
      return { length: directory.length, line, reading: 'directory', pattern: directory };
    }
  }
  return NO_MATCH;
}

/** Whether a pattern in canonical form matches a canonical path. */
export type Matcher = (pattern: string, path: string) => boolean;

/**
 * Whether a pattern matches a path from its beginning (RFC 9309 sections 2.2.2 and 2.2.3): `*` is
 * any run of characters, including the empty one; a final `$` is the end; any other character is
 * itself. Keeps the set of all places in the path that the pattern read so far can have reached.
 */
export function matches(pattern: ArrayLike<string>, path: ArrayLike<string>): boolean {
  let reached = new Set([0]);
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index];
    const next = new Set<number>();
    if (character === '*') {
      for (let place = Math.min(...reached); place <= path.length; place++) next.add(place);
    } else if (character === '$' && index === pattern.length - 1) {
      return reached.has(path.length);
    } else {
      for (const place of reached) if (path[place] === character) next.add(place + 1);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return true;
}

/** As `matches`, but with `%XX` as one character: a fault that the tests must notice. */
export function matchesWhole(pattern: string, path: string): boolean {
  return matches(withWholeEscapes(pattern), withWholeEscapes(path));
}

function withWholeEscapes(bytes: string): string[] {
  const characters: string[] = [];
  for (let index = 0; index < bytes.length; ) {
    const length = isEscape(bytes, index) ? 3 : 1;
    characters.push(bytes.slice(index, index + length));
    index += length;
  }
  return characters;
}

/** What is known of the robots.txt of a host: its body, or why there is none. */
export type Answer = Uint8Array | 'unavailable' | 'unreachable' | 'unknown';

/** Most hosts whose groups a judge keeps: URLs of a host often stand close together. */
const MOST_KEPT = 10_000;

/** Decides URLs of many hosts, for one agent and in the profile rfc9309. */
export class Judge {
  readonly #agent: string;
  readonly #known = new Map<string, readonly OracleGroup[] | Exclude<Answer, Uint8Array>>();

  constructor(agent: string) {
    this.#agent = agent;
  }

  /**
   * The verdict, and the deciding rule as a line of text or an empty string.
   *
   * @param answerOf called for a host that the judge does not know yet
   */
  decide(url: string, host: string, answerOf: () => Answer): { verdict: Verdict; rule: string } {
    const groups = this.#groupsOf(host, answerOf);
    if (groups === 'unknown') return { verdict: 'unknown', rule: '' };
    if (groups === 'unavailable') return { verdict: 'allow', rule: '' };
    if (groups === 'unreachable') return { verdict: 'deny', rule: '' };
    const { verdict, line } = verdictOf(groups, 'rfc9309', [this.#agent], url);
    const rule = ruleOf(groups, line);
    if (rule === undefined) return { verdict, rule: '' };
    return { verdict, rule: `${rule.allow ? 'Allow' : 'Disallow'}: ${textOf(rule.pattern)}` };
  }

  #groupsOf(
    host: string,
    answerOf: () => Answer,
  ): readonly OracleGroup[] | Exclude<Answer, Uint8Array> {
    const known = this.#known.get(host);
    if (known !== undefined) return known;
    if (this.#known.size === MOST_KEPT) this.#known.clear();
    const answer = answerOf();
    const groups = typeof answer === 'string' ? answer : readGroups(answer, 'rfc9309');
    this.#known.set(host, groups);
    return groups;
  }
}
