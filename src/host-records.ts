import { Buffer } from 'node:buffer';
import { checkUrl } from './arguments.js';
import { RobotsFilterError } from './errors.js';
import { agentLists, linksOf } from './inspect/agent-lists.js';
import { answersFor } from './inspect/authority-match.js';
import { groupRules } from './inspect/rule-patterns.js';
import type { TableAuthority, TableGroup } from './inspect/table-content.js';
import type { TableView } from './inspect/table-view.js';
import { parseAgent } from './protocol/agent.js';
import { authorityOfUrl } from './protocol/authority.js';
import { AgentPreferences, type Preferences } from './protocol/preferences.js';
import type { Profile } from './protocol/profile.js';
import { recordsFor } from './protocol/records-for.js';
import type { Rule } from './protocol/robots-file.js';
import { pathMatchers } from './robots.js';
import type { TableRecord } from './table/record-list.js';

/** The groups of one robots.txt that an agent obeys, and the product tokens that they name. */
interface AgentGroups {
  readonly tokens: readonly string[];
  readonly groups: readonly TableGroup[];
  /** The table, or the shard of it, that has the groups. */
  readonly view: TableView;
}

/** Answers from a table what the robots.txt of a URL's host says beside its verdicts. */
export class HostRecords {
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
    const { tokens, groups, view } = this.#groupsFor(authority, agent);
    return groupRules(view, { productTokens: tokens, groups });
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
    if (authority?.accessResult !== 'successful') {
      return { tokens: [], groups: [], view: this.#view };
    }
    const { view, start } = this.#view.partAt(authority.robots);
    const { groupLists } = view;
    const isGoogle = this.#profile === 'google';
    const { tokens, lists } = agentLists(groupLists, start, linksOf(view, agent), isGoogle);
    return { tokens, groups: distinct(lists.flatMap((list) => groupLists.groups(list))), view };
  }

  /** @throws RobotsFilterError `usage` if the table has no records */
  checkRecords(): void {
    if (!this.#view.hasRecords) {
      throw new RobotsFilterError(
        'usage',
        `${this.#name} was compiled without crawl-delays, sitemaps and preferences. Compile it with { records: true }, or on the command line with --records`,
      );
    }
  }

  #recordsOf(authority: TableAuthority | undefined): readonly TableRecord[] {
    this.checkRecords();
    return authority === undefined ? [] : this.#view.recordsOf(authority).records;
  }
}

/** Each group once: in the google profile, tokens of a chain may share groups. */
function distinct(groups: readonly TableGroup[]): TableGroup[] {
  return [
    ...new Map(groups.map((group) => [`${group.automaton} ${group.firstLine}`, group])).values(),
  ];
}
