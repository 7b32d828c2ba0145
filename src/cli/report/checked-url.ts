import type { Judgement } from '../../kernel/judge.js';
import { parseAgent } from '../../protocol/agent.js';
import { groupsByProductToken, groupsFor } from '../../protocol/groups.js';
import { type KeptRecord, keptRecords } from '../../protocol/other-record-kinds.js';
import { preferencesFor } from '../../protocol/preferences.js';
import type { Profile } from '../../protocol/profile.js';
import { recordsFor } from '../../protocol/records-for.js';
import type { RobotsFile } from '../../protocol/robots-file.js';
import { mostSpecificFor } from '../../robots.js';
import { safeJson } from './rows.js';

/** Describes what one robots.txt says to an agent about URLs, as JSON. */
export class CheckedUrls {
  readonly #profile: Profile;
  readonly #records: readonly KeptRecord[];
  readonly #tokens: readonly string[];

  constructor({ groups, ...robots }: RobotsFile, agent: string, profile: Profile) {
    this.#profile = profile;
    this.#records = keptRecords({ groups, ...robots }, profile);
    const byToken = groupsByProductToken(groups, profile);
    this.#tokens = [...groupsFor(parseAgent(agent, profile), byToken, profile).keys()];
  }

  /** One object on a line. Preferences are given only where the verdict is allow. */
  json(url: string, { verdict, reason, rule }: Judgement): string {
    const { crawlDelay } = recordsFor(this.#records, this.#tokens);
    const sitemaps = this.#records.filter(({ kind }) => kind === 'sitemap');
    const line = {
      url,
      verdict,
      reason,
      rule: rule === undefined ? null : { line: rule.line, text: rule.text, agent: rule.agent },
      crawlDelay: crawlDelay ?? null,
      sitemaps: sitemaps.map(({ value }) => value),
      preferences:
        verdict === 'allow'
          ? preferencesFor(this.#records, this.#tokens, mostSpecificFor(url, this.#profile))
          : null,
    };
    return `${safeJson(line)}\n`;
  }
}
