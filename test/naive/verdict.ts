import type { Profile } from '../../src/protocol/profile.js';
import type { Group, RobotsFile, Rule } from '../../src/protocol/robots-file.js';
import { canonicalPattern, canonicalTarget, googlePattern, type Unit } from './canonical.js';
import { matches } from './match.js';
import { octetsOf, toLowerAscii } from './octets.js';
import { readGoogleUrl, readUrl } from './url.js';

export interface NaiveVerdict {
  readonly verdict: 'allow' | 'deny' | 'invalid';
  /**
   * Number of the line of the rule that decided; 0 if none did. Among rules of the same kind and
   * length it is the first in the file. In the google profile it may be that of an empty rule.
   */
  readonly line: number;
  /** Whether an allow won over a disallow of the same length. */
  readonly tie: boolean;
  readonly reading: Reading;
}

/**
 * How the rule that decided matched: by its pattern as written, by a further reading of note A,
 * or, in the google profile, as the directory of an index page.
 */
export type Reading = 'as-written' | 'query' | 'directory';

/** The best match of one kind of rule; its length is -1 where none matched. */
interface Match {
  readonly length: number;
  readonly line: number;
  readonly reading: Reading;
}

const NO_MATCH: Match = { length: -1, line: 0, reading: 'as-written' };

/**
 * What RFC 9309 says about a URL, read as literally and as slowly as can be.
 * `agents` is a fallback chain: the first that has a group decides; in the google profile
 * the groups of all of them are merged.
 */
export function naiveVerdict(
  robots: RobotsFile,
  profile: Profile,
  agents: readonly string[],
  url: Uint8Array | string,
): NaiveVerdict {
  return profile === 'google'
    ? googleVerdict(robots, agents, url)
    : rfcVerdict(robots, profile, agents, url);
}

function rfcVerdict(
  robots: RobotsFile,
  profile: Profile,
  agents: readonly string[],
  url: Uint8Array | string,
): NaiveVerdict {
  const target = readUrl(url);
  if (target === undefined) return { ...decided(NO_MATCH, NO_MATCH), verdict: 'invalid' };
  const path = canonicalTarget(target);
  // Section 2.2.2: "The /robots.txt URI is implicitly allowed."
  if (path.join('') === '/robots.txt') return decided(NO_MATCH, NO_MATCH);

  const rules = rulesFor(robots, profile, agents);
  const best = (allow: boolean): Match =>
    longest(rules.filter((rule) => rule.allow === allow).map((rule) => rfcMatch(rule, path)));
  return decided(best(true), best(false));
}

function rfcMatch({ pattern, line }: Rule, path: readonly Unit[]): Match {
  if (pattern.length === 0) return NO_MATCH;
  const { readings, length } = canonicalPattern(octetsOf(pattern));
  const which = readings.findIndex((reading) => matches(reading, path));
  if (which < 0) return NO_MATCH;
  return { length, line, reading: which === 0 ? 'as-written' : 'query' };
}

/** The first of the longest. */
function longest(candidates: readonly Match[]): Match {
  let best = NO_MATCH;
  for (const candidate of candidates) if (candidate.length > best.length) best = candidate;
  return best;
}

/** The longer one decides; of two of the same length, allow (section 2.2.2). A match of length 0 denies nothing. */
function decided(allow: Match, disallow: Match): NaiveVerdict {
  const { line, reading } = disallow.length > allow.length ? disallow : allow;
  const denied = disallow.length > allow.length && disallow.length > 0;
  const tie = disallow.length === allow.length && allow.length > 0;
  return { verdict: denied ? 'deny' : 'allow', line, tie, reading };
}

/** The rules that a crawler must follow, in the order of the file (section 2.2.1). */
function rulesFor(robots: RobotsFile, profile: Profile, agents: readonly string[]): Rule[] {
  for (const agent of [...agents, '*']) {
    let groups = robots.groups.filter((group) => names(group, agent));
    if (groups.length === 0) continue;
    // The draft merges the groups of a product token as well, but of those for "*" it takes the first.
    if (agent === '*' && profile === 'draft-koster-rep-00') groups = groups.slice(0, 1);
    return groups.flatMap((group) => group.rules);
  }
  return [];
}

function names(group: Group, agent: string): boolean {
  return group.productTokens.some((token) => toLowerAscii(token) === toLowerAscii(agent));
}

/** Section 2 of spec-notes, points 5 to 12. */
function googleVerdict(
  robots: RobotsFile,
  agents: readonly string[],
  url: Uint8Array | string,
): NaiveVerdict {
  const path = Array.from(readGoogleUrl(url));
  // "*" names nobody: a crawler called "*" is in no group of its own.
  const tokens = agents.filter((agent) => agent !== '*');
  const isSpecific = (group: Group): boolean => tokens.some((token) => names(group, token));
  const specific = robots.groups.filter(isSpecific);
  const global = robots.groups.filter((group) => !isSpecific(group) && names(group, '*'));

  const rules = (specific.length > 0 ? specific : global).flatMap((group) => group.rules);
  const best = (allow: boolean): Match =>
    longest(rules.filter((rule) => rule.allow === allow).map((rule) => googleMatch(rule, path)));
  return decided(best(true), best(false));
}

/** An empty pattern matches with length 0: it may be what the program names, yet it decides nothing. */
function googleMatch({ allow, pattern, line }: Rule, path: readonly string[]): Match {
  const escaped = googlePattern(octetsOf(pattern));
  if (matches(Array.from(escaped), path)) {
    return { length: escaped.length, line, reading: 'as-written' };
  }
  const slash = escaped.lastIndexOf('/');
  if (allow && slash >= 0 && escaped.startsWith('/index.htm', slash)) {
    const directory = `${escaped.slice(0, slash + 1)}$`;
    if (matches(Array.from(directory), path)) {
      return { length: directory.length, line, reading: 'directory' };
    }
  }
  return NO_MATCH;
}
