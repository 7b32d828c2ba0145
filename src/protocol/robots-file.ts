/** A parsed robots.txt: its groups and rules, and which groups an agent obeys (section 2.2.1). */

import { type Agent, lowerCaseAscii } from './agent.js';
import type { Profile } from './verdict.js';

/** An allow or disallow line (RFC 9309 section 2.2.2). */
export interface Rule {
  readonly allow: boolean;
  /**
   * The path pattern as written, without the white space around it and the comment. An empty or
   * malformed pattern matches nothing. See `Table.rulesFor` for the patterns of a table.
   */
  readonly pattern: Uint8Array;
  /** Number of the line in the file, from 1. */
  readonly line: number;
}

/** One or more user-agent lines and the rules that follow them (RFC 9309 section 2.1). */
export interface Group {
  /**
   * Product tokens in lower case, in the order of their lines; `*` stands for all crawlers. Lines
   * without a usable token add none, so the list may be empty. In the google profile a token may be
   * the empty string.
   */
  readonly productTokens: readonly string[];
  readonly rules: readonly Rule[];
  /** Number of the group's first user-agent line, from 1. */
  readonly line: number;
}

/** A `Crawl-delay` record, which is not part of RFC 9309 (section 2.2.4): reported, not obeyed. */
export interface CrawlDelay {
  /**
   * The product tokens that it is for: those of the user-agent lines of its group since the last
   * `Crawl-delay` there, or the same as for that one if there are none. Empty before any group.
   */
  readonly productTokens: readonly string[];
  /** The delay in seconds; `undefined` if the value is not a non-negative decimal number. */
  readonly seconds: number | undefined;
  readonly value: string;
  readonly line: number;
}

/** Any other record (RFC 9309 section 2.2.4): sitemap, host, clean-param and so on. */
export interface OtherRecord {
  /** The key in lower case. */
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/** The reason why a line has no effect, or another effect than its author may expect. */
export type WarningCode =
  | 'beyond-limit'
  | 'html'
  | 'malformed-pattern'
  | 'missing-colon'
  | 'no-product-token'
  | 'nul'
  | 'not-utf-8'
  | 'over-budget'
  | 'rule-before-group'
  | 'unknown-record'
  | 'line-truncated'
  | 'utf-16';

export interface Warning {
  readonly code: WarningCode;
  /** Number of the line, from 1; 0 for a warning about the file. */
  readonly line: number;
  /** One sentence: the finding and its consequence. */
  readonly message: string;
}

/** A parsed robots.txt: all its contents, before any decision. */
export interface RobotsFile {
  readonly groups: readonly Group[];
  readonly sitemaps: readonly OtherRecord[];
  readonly crawlDelays: readonly CrawlDelay[];
  /**
   * All records other than user-agent, allow and disallow lines, in order; sitemaps and
   * crawl-delays are among them.
   */
  readonly records: readonly OtherRecord[];
  /** The warnings, at most 100. If there are more, the last one tells how many. */
  readonly warnings: readonly Warning[];
  /** Bytes of the body beyond the parsing limit (RFC 9309 section 2.5), which were ignored. */
  readonly ignoredBytes: number;
  /**
   * Whether the file has more records and wildcards than its budget allows, about a million. Only
   * the warnings are then filled in, and every URL is denied as if the file were unreachable. Never
   * true for a file of up to 1,032,444 bytes.
   */
  readonly overBudget: boolean;
}

/**
 * Maps each product token to the groups that name it, in the order of the file. A crawler obeys the
 * rules of all its groups (RFC 9309 section 2.2.1). A group counts once even if it names a token
 * twice. In draft-koster-rep-00 only the first group of `*` counts.
 */
export function groupsByProductToken<G extends Pick<Group, 'productTokens'>>(
  groups: readonly G[],
  profile: Profile,
): Map<string, readonly G[]> {
  const firstStarOnly = profile === 'draft-koster-rep-00';
  const byToken = new Map<string, G[]>();
  for (const group of groups) {
    for (const token of group.productTokens) {
      const named = byToken.get(token);
      if (named === undefined) {
        byToken.set(token, [group]);
        continue;
      }
      if (firstStarOnly && token === '*') continue;
      // Groups come in order, so a group that is already there is the last one.
      if (named[named.length - 1] !== group) named.push(group);
    }
  }
  return byToken;
}

/**
 * The groups that decide for an agent, by the product token that they name: the first token of the
 * chain that a group names, else `*` (RFC 9309 section 2.2.1), unless the agent disregards `*`. In
 * the google profile all tokens of the chain count, and an agent `*` names no group.
 */
export function groupsFor(
  agent: Agent,
  byToken: ReadonlyMap<string, readonly Group[]>,
  profile: Profile,
): Map<string, readonly Group[]> {
  const isGoogle = profile === 'google';
  const found = new Map<string, readonly Group[]>();
  for (const token of agent.chain.map(lowerCaseAscii)) {
    const groups = byToken.get(token);
    if (groups === undefined || (isGoogle && token === '*')) continue;
    found.set(token, groups);
    if (!isGoogle) break;
  }
  if (found.size === 0 && agent.disregardsAny !== true) found.set('*', byToken.get('*') ?? []);
  return found;
}

/** Words of a rule in `RulePlaces.words`: PLACE_… of kernel/compile-layout.ts. */
export const PLACE_WORDS = 3;

/**
 * The rules of a file as places in its text, without an object for each: a million files have tens
 * of millions of rules.
 */
export class RulePlaces {
  /** The memory that holds the text, and where the text begins. */
  readonly memory: ArrayBufferLike;
  readonly memoryOffset: number;
  /** For each rule: offsets of the start and the end of its pattern, `line << 1 | allow`. */
  readonly words: number[] = [];

  constructor({ buffer, byteOffset }: Uint8Array) {
    this.memory = buffer;
    this.memoryOffset = byteOffset;
  }

  get count(): number {
    return this.words.length / PLACE_WORDS;
  }

  add(allow: boolean, start: number, end: number, line: number): void {
    this.words.push(start, end, 2 * line + (allow ? 1 : 0));
  }

  start(rule: number): number {
    return this.words[PLACE_WORDS * rule] as number;
  }

  end(rule: number): number {
    return this.words[PLACE_WORDS * rule + 1] as number;
  }

  /** The rules from number `from` to `to`; their patterns are views of the text. */
  slice(from: number, to: number): Rule[] {
    return Array.from({ length: to - from }, (_, index) => this.#rule(from + index));
  }

  #rule(rule: number): Rule {
    const start = this.start(rule);
    const lineAndAllow = this.words[PLACE_WORDS * rule + 2] as number;
    return {
      allow: lineAndAllow % 2 === 1,
      pattern: new Uint8Array(this.memory, this.memoryOffset + start, this.end(rule) - start),
      line: Math.floor(lineAndAllow / 2),
    };
  }
}
