import type { Profile } from '../../src/protocol/profile.js';
import type { Group, RobotsFile, Rule } from '../../src/protocol/robots-file.js';
import { bytesOf, toLowerAscii } from './bytes.js';
import { canonicalPattern, canonicalTarget, googlePattern } from './canonical.js';
import { type Matcher, matches, matchesWhole } from './match.js';
import { readGoogleUrl, readUrl } from './url.js';

export interface NaiveVerdict {
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
 * agents are merged. Another `matcher` serves only to test that the tests notice it.
 */
export function naiveVerdict(
  robots: RobotsFile,
  profile: Profile,
  agents: readonly string[],
  url: Uint8Array | string,
  matcher: Matcher = matches,
): NaiveVerdict {
  return profile === 'google'
    ? googleVerdict(robots, agents, url, matcher)
    : rfcVerdict(robots, profile, agents, url, matcher);
}

function rfcVerdict(
  robots: RobotsFile,
  profile: Profile,
  agents: readonly string[],
  url: Uint8Array | string,
  matcher: Matcher,
): NaiveVerdict {
  const target = readUrl(url);
  if (target === undefined) return { ...decided(NO_MATCH, NO_MATCH, ''), verdict: 'invalid' };
  const path = canonicalTarget(target);
  // Section 2.2.2: "The /robots.txt URI is implicitly allowed."
  if (path === '/robots.txt') return decided(NO_MATCH, NO_MATCH, path);

  const rules = rulesFor(robots, profile, agents);
  const best = (allow: boolean): Match =>
    longest(
      rules.filter((rule) => rule.allow === allow).map((rule) => rfcMatch(rule, path, matcher)),
    );
  return decided(best(true), best(false), path);
}

function rfcMatch({ pattern, line }: Rule, path: string, matcher: Matcher): Match {
  if (pattern.length === 0) return NO_MATCH;
  const { readings, length } = canonicalPattern(bytesOf(pattern));
  const matched = readings.find((reading) => matcher(reading, path));
  if (matched === undefined) return NO_MATCH;
  return { length, line, reading: matched === readings[0] ? 'own' : 'query', pattern: matched };
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
function decided(allow: Match, disallow: Match, path: string): NaiveVerdict {
  const { line, reading, pattern } = disallow.length > allow.length ? disallow : allow;
  const denied = disallow.length > allow.length && disallow.length > 0;
  const tie = disallow.length === allow.length && allow.length > 0;
  const splitByte = line > 0 && path.includes('%') && !matchesWhole(pattern, path);
  return { verdict: denied ? 'deny' : 'allow', line, tie, reading, splitByte };
}

/** The rules that a crawler must follow, in the order of the file (section 2.2.1). */
function rulesFor(robots: RobotsFile, profile: Profile, agents: readonly string[]): Rule[] {
  for (const agent of [...agents, '*']) {
    let groups = robots.groups.filter((group) => names(group, agent));
    if (groups.length === 0) continue;
    // The draft merges the groups of a product token as well, but uses only the first of the groups
    // for "*".
    if (agent === '*' && profile === 'draft-koster-rep-00') groups = groups.slice(0, 1);
    return groups.flatMap((group) => group.rules);
  }
  return [];
}

function names(group: Group, agent: string): boolean {
  return group.productTokens.some((token) => toLowerAscii(token) === toLowerAscii(agent));
}

/** docs/verdicts.md, the google profile, points 5 to 12. */
function googleVerdict(
  robots: RobotsFile,
  agents: readonly string[],
  url: Uint8Array | string,
  matcher: Matcher,
): NaiveVerdict {
  const path = readGoogleUrl(url);
  // "*" names no crawler: a crawler called "*" has no group of its own.
  const tokens = agents.filter((agent) => agent !== '*');
  const isSpecific = (group: Group): boolean => tokens.some((token) => names(group, token));
  const specific = robots.groups.filter(isSpecific);
  const global = robots.groups.filter((group) => !isSpecific(group) && names(group, '*'));

  const rules = (specific.length > 0 ? specific : global).flatMap((group) => group.rules);
  const best = (allow: boolean): Match =>
    longest(
      rules.filter((rule) => rule.allow === allow).map((rule) => googleMatch(rule, path, matcher)),
    );
  return decided(best(true), best(false), path);
}

/** An empty pattern matches with length 0: google/robotstxt may name it, yet it decides nothing. */
function googleMatch({ allow, pattern, line }: Rule, path: string, matcher: Matcher): Match {
  const escaped = googlePattern(bytesOf(pattern));
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
