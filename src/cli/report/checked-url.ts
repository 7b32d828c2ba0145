import type { Judgement } from '../../kernel/judge.js';
import { parseAgent } from '../../protocol/agent.js';
import { groupsByProductToken, groupsFor } from '../../protocol/groups.js';
import { type KeptRecord, keptRecords } from '../../protocol/other-record-kinds.js';
import { AgentPreferences } from '../../protocol/preferences.js';
import type { Profile } from '../../protocol/profile.js';
import { recordsFor } from '../../protocol/records-for.js';
import type { RobotsFile } from '../../protocol/robots-file.js';
import { pathMatchers } from '../../robots.js';
import { safeJson } from './rows.js';

/** Describes what one robots.txt says to an agent about URLs, as JSON. */
export class CheckedUrls {
  readonly #records: readonly KeptRecord[];
  readonly #tokens: readonly string[];
  readonly #preferences: AgentPreferences;

  constructor({ groups, ...robots }: RobotsFile, agent: string, profile: Profile) {
    this.#records = keptRecords({ groups, ...robots }, profile);
    const byToken = groupsByProductToken(groups, profile);
    this.#tokens = [...groupsFor(parseAgent(agent, profile), byToken, profile).keys()];
    this.#preferences = new AgentPreferences(this.#records, this.#tokens, pathMatchers(profile));
  }

  /**
   * One object on a line. Preferences are given only where the verdict is allow.
   *
   * @param url the URL as asked
   * @param judged the URL or path that it stands for
   */
  json(url: string, judged: string, { verdict, reason, rule }: Judgement): string {
    const { crawlDelay } = recordsFor(this.#records, this.#tokens);
    const sitemaps = this.#records.filter(({ kind }) => kind === 'sitemap');
    const line = {
      url,
      verdict,
      reason,
      rule: rule === undefined ? null : { line: rule.line, text: rule.text, agent: rule.agent },
      crawlDelay: crawlDelay ?? null,
      sitemaps: sitemaps.map(({ value }) => value),
      preferences: verdict === 'allow' ? this.#preferences.for(judged) : null,
    };
    return `${safeJson(line)}\n`;
  }
}
