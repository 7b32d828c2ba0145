/**
 * What a table says of a URL's host beside verdicts: groups, sitemaps, preferences, crawl-delay.
 */

import { Buffer } from 'node:buffer';
import { checkUrl } from '../base/arguments.js';
import { ASTERISK, DOLLAR } from '../base/ascii.js';
import { RobotsFilterError } from '../base/errors.js';
import { type Agent, lowerCaseAscii, parseAgent } from '../protocol/agent.js';
import { authorityOfUrl } from '../protocol/authority.js';
import { recordsFor } from '../protocol/fields.js';
import { AgentPreferences, type Preferences } from '../protocol/preferences.js';
import type { Rule } from '../protocol/robots-file.js';
import type { Profile } from '../protocol/verdict.js';
import { MAX_PATTERN_BYTES } from '../table/check.js';
import { isWholeText } from '../table/display-text.js';
import { TOKEN_ANY } from '../table/format.js';
import type { TableRecord } from '../table/record-list.js';
import { automatonAt, rulesOf } from '../view/automaton-view.js';
import type { GroupLists, ShardView } from '../view/shard-view.js';
import {
  answersFor,
  type MergedGroup,
  type TableAuthority,
  type TableGroup,
  type TablePattern,
} from '../view/table-content.js';
import type { TableView } from '../view/table-view.js';
import { pathMatchers } from './robots.js';

/** The groups of one robots.txt that an agent obeys, and the product tokens that they name. */
interface AgentGroups {
  readonly tokens: readonly string[];
  readonly groups: readonly TableGroup[];
}

/** Answers from a table what the robots.txt of a URL's host says beside its verdicts. */
export class HostAnswers {
  readonly #view: TableView;
  readonly #profile: Profile;
  readonly #name: string;

  /** @param name the table's name in messages */
  constructor(view: TableView, profile: Profile, name: string) {
    this.#view = view;
    this.#profile = profile;
    this.#name = name;
  }

  rulesFor(url: string | Uint8Array, agent: string | readonly string[]): Rule[] {
    const authority = this.#authorityOf(url);
    const { tokens, groups } = this.#groupsFor(authority, agent);
    if (authority === undefined || groups.length === 0) return [];
    return groupRules(this.#view.shardAt(authority.robots), { productTokens: tokens, groups });
  }

  crawlDelay(url: string | Uint8Array, agent: string | readonly string[]): number | undefined {
    const authority = this.#authorityOf(url);
    const { tokens } = this.#groupsFor(authority, agent);
    const { crawlDelay } = recordsFor(this.#recordsOf(authority), tokens);
    return typeof crawlDelay === 'number' ? crawlDelay : undefined;
  }

  sitemaps(url: string | Uint8Array): string[] {
    return this.#recordsOf(this.#authorityOf(url))
      .filter(({ kind, value, isTruncated }) => kind === 'sitemap' && value !== '' && !isTruncated)
      .map(({ value }) => value);
  }

  preferences(url: string | Uint8Array, agent: string | readonly string[]): Preferences {
    return this.agentPreferences(url, agent).for(url);
  }

  /** The preferences for an agent on all URLs of a URL's scheme, host and port. */
  agentPreferences(url: string | Uint8Array, agent: string | readonly string[]): AgentPreferences {
    const authority = this.#authorityOf(url);
    const { tokens } = this.#groupsFor(authority, agent);
    return new AgentPreferences(this.#recordsOf(authority), tokens, pathMatchers(this.#profile));
  }

  #authorityOf(url: string | Uint8Array): TableAuthority | undefined {
    checkUrl(url);
    const asked = authorityOfUrl(typeof url === 'string' ? url : Buffer.from(url).toString());
    if (asked === undefined) return undefined;
    const host = this.#view.find(asked.host);
    return host?.authorities.find((authority) => answersFor(authority, asked));
  }

  #groupsFor(authority: TableAuthority | undefined, name: string | readonly string[]): AgentGroups {
    const agent = parseAgent(name, this.#profile);
    this.#view.checkAgent(agent);
    if (authority?.accessResult !== 'successful') return { tokens: [], groups: [] };
    const { robots } = authority;
    const shard = this.#view.shardAt(robots);
    const { groupLists } = shard;
    const isGoogle = this.#profile === 'google';
    const { tokens, lists } = agentLists(groupLists, robots, linksOf(shard, agent), isGoogle);
    return { tokens, groups: distinct(lists.flatMap((list) => groupLists.groups(list))) };
  }

  /** @throws RobotsFilterError `usage` if the table has no records */
  requireRecords(): void {
    if (this.#view.isOfThePast) {
      const remedy = 'Ask the table itself, not what at() returned';
      throw new RobotsFilterError(
        'usage',
        `${this.#name} keeps crawl-delays, sitemaps and preferences of the newest robots.txt alone. ${remedy}`,
      );
    }
    if (!this.#view.hasRecords) {
      throw new RobotsFilterError(
        'usage',
        `${this.#name} was compiled without crawl-delays, sitemaps and preferences. Compile it with { records: true }, or on the command line with --records`,
      );
    }
  }

  #recordsOf(authority: TableAuthority | undefined): readonly TableRecord[] {
    this.requireRecords();
    return authority === undefined ? [] : this.#view.recordsOf(authority).records;
  }
}

/** Each group once: in the google profile, tokens of a chain may share groups. */
function distinct(groups: readonly TableGroup[]): TableGroup[] {
  return [
    ...new Map(groups.map((group) => [`${group.automaton} ${group.firstLine}`, group])).values(),
  ];
}

const encoder = new TextEncoder();

/**
 * The rules of a group in the order of the file, with patterns to match with. A table keeps texts
 * for display: where a text lacks bytes of its pattern, the rule has the canonical pattern.
 */
function groupRules(view: ShardView, group: MergedGroup): Rule[] {
  let patterns: ReadonlyMap<string, TablePattern> | undefined;
  let left = MAX_PATTERN_BYTES;
  return rulesOf(view, group).map(({ allow, text, bytes, line }) => {
    const written = JSON.parse(`"${text}"`) as string;
    if (isWholeText(written)) return { allow, pattern: encoder.encode(written), line };
    patterns ??= patternsOf(view, group);
    left -= bytes;
    const pattern = patterns.get(keyOf(line, 2 * bytes + (allow ? 1 : 0)));
    if (pattern === undefined || bytes < literalBytes(pattern) || left < 0) {
      throw view.reader.damaged(`the rule on line ${line} has no pattern`);
    }
    return { allow, pattern: canonicalPattern(pattern), line };
  });
}

/** Identifies a rule: in the google profile, a line may have two rules of different rank. */
function keyOf(line: number, rank: number): string {
  return `${line} ${rank}`;
}

/** The canonical patterns of a group's rules, by key. */
function patternsOf(view: ShardView, { groups }: MergedGroup): ReadonlyMap<string, TablePattern> {
  const patterns = new Map<string, TablePattern>();
  for (const { automaton, firstLine } of groups) {
    if (automaton === 0) continue;
    for (const pattern of automatonAt(view, automaton).patterns()) {
      patterns.set(keyOf(firstLine + pattern.line, pattern.rank), pattern);
    }
  }
  return patterns;
}

/** Length of the literals of a pattern, with the `*` before each segment and the final `$`. */
function literalBytes({ prefix, first, isEnd }: TablePattern): number {
  const start = prefix.length + (isEnd ? 1 : 0);
  return first.reduce((sum, segment) => sum + 1 + segment.length, start);
}

/**
 * Writes a canonical pattern. A pattern with some `*` side by side, or at its end, is longer than
 * its literals. These `*` are written where they change no match: after the prefix if the pattern
 * ends in `$`, else at the end.
 */
function canonicalPattern(pattern: TablePattern): Uint8Array {
  const { rank, prefix, first, isEnd } = pattern;
  const bytes = new Uint8Array(rank >>> 1).fill(ASTERISK);
  bytes.set(prefix);
  let at = prefix.length;
  if (isEnd) {
    at += bytes.length - literalBytes(pattern);
    bytes[bytes.length - 1] = DOLLAR;
  }
  for (const segment of first) {
    bytes.set(segment, at + 1);
    at += 1 + segment.length;
  }
  return bytes;
}

/** A product token of an agent: its text, and its number in the table, -1 if no file names it. */
export interface Link {
  readonly token: string;
  readonly number: number;
}

/** The lists of the groups that decide for an agent, and the product tokens that they name. */
export interface AgentLists {
  /** In lower case: one of the agent's chain, or `*`; in the google profile all that are named. */
  readonly tokens: readonly string[];
  readonly lists: readonly number[];
}

/** The tokens of an agent that obeys the groups of `*`: most agents share them. */
export const ANY: readonly string[] = ['*'];
/** Those of an agent for which no group is. */
export const NO_LISTS: AgentLists = { tokens: [], lists: [] };

/** An agent as a shard knows it. */
export interface AgentLinks {
  /** Its product tokens, preferred first. */
  readonly links: readonly Link[];
  readonly disregardsAny: boolean;
}

export function linksOf(view: ShardView, { chain, disregardsAny = false }: Agent): AgentLinks {
  const links = chain.map((link) => {
    const token = lowerCaseAscii(link);
    return { token, number: view.tokenNumber(token) };
  });
  return { links, disregardsAny };
}

/**
 * The lists that decide for an agent in the robots record at `robots` (RFC 9309 section 2.2.1):
 * those of its own tokens, else that of `*`, unless the agent disregards it. Empty if no group is
 * for the agent.
 *
 * @param isGoogle whether the groups of all tokens count, as in the google profile
 */
export function agentLists(
  groupLists: GroupLists,
  robots: number,
  { links, disregardsAny }: AgentLinks,
  isGoogle: boolean,
): AgentLists {
  const tokens: string[] = [];
  const lists: number[] = [];
  for (const { token, number } of links) {
    const list = number < 0 ? 0 : groupLists.find(robots, number);
    if (list === 0) continue;
    if (!tokens.includes(token)) tokens.push(token);
    if (!lists.includes(list)) lists.push(list);
    if (!isGoogle) break;
  }
  if (lists.length > 0) return { tokens, lists };
  if (disregardsAny) return NO_LISTS;
  const any = groupLists.find(robots, TOKEN_ANY);
  return any === 0 ? NO_LISTS : { tokens: ANY, lists: [any] };
}
