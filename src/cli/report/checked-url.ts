import type { Judgement } from '../../kernel/judge.js';
import { type Agent, parseAgent } from '../../protocol/agent.js';
import { type KeptRecord, keptRecords } from '../../protocol/other-record-kinds.js';
import { lowerCaseAscii } from '../../protocol/product-token.js';
import type { Profile } from '../../protocol/profile.js';
import {
  type ContentUsage,
  parseContentSignal,
  parseContentUsage,
} from '../../protocol/record-values.js';
import { recordsFor } from '../../protocol/records-for.js';
import type { RobotsFile } from '../../protocol/robots-file.js';
import { Robots } from '../../robots.js';
import { safeJson } from './rows.js';

/** Describes what one robots.txt says to an agent about URLs, as JSON. */
export class CheckedUrls {
  readonly #profile: Profile;
  readonly #records: readonly KeptRecord[];
  readonly #tokens: readonly string[];
  readonly #usages: readonly ContentUsage[];

  constructor(robots: RobotsFile, agent: string, profile: Profile) {
    this.#profile = profile;
    this.#records = keptRecords(robots, profile);
    this.#tokens = tokensOf(robots, parseAgent(agent, profile), profile);
    this.#usages = this.#ofGroup('content-usage').flatMap(
      ({ value }) => parseContentUsage(value) ?? [],
    );
  }

  /** One object on a line. Preferences are given only where the verdict is allow. */
  json(url: string, { verdict, reason, rule }: Judgement): string {
    const { crawlDelay } = recordsFor(this.#records, this.#tokens);
    const ofKind = (kind: string): string[] =>
      this.#records.filter((record) => record.kind === kind).map(({ value }) => value);
    const preferences =
      verdict === 'allow'
        ? {
            contentUsage: this.#usageOf(url),
            contentSignal: this.#signals(),
            license: ofKind('license'),
          }
        : null;
    const line = {
      url,
      verdict,
      reason,
      rule: rule === undefined ? null : { line: rule.line, text: rule.text, agent: rule.agent },
      crawlDelay: crawlDelay ?? null,
      sitemaps: ofKind('sitemap'),
      preferences,
    };
    return `${safeJson(line)}\n`;
  }

  #ofGroup(kind: KeptRecord['kind']): KeptRecord[] {
    return this.#records.filter(
      (record) =>
        record.kind === kind && record.productTokens?.some((token) => this.#tokens.includes(token)),
    );
  }

  /**
   * The preferences of the `Content-Usage` records with the longest path that matches, as for rules
   * (draft-ietf-aipref-attach). If several have this path, `n` wins.
   */
  #usageOf(url: string): Readonly<Record<string, 'y' | 'n'>> {
    // The matcher of rules finds the record: its line is the number of the record.
    const rules = this.#usages.map(({ path = '/' }) => `Disallow: ${path}\n`);
    const matcher = Robots.parse(`User-agent: *\n${rules.join('')}`, { profile: this.#profile });
    const { rule } = matcher.verdict(url, '*');
    if (rule === undefined) return {};
    const path = this.#usages[rule.line - 2]?.path ?? '/';
    const found: Record<string, 'y' | 'n'> = Object.create(null);
    for (const { path: other = '/', preferences } of this.#usages) {
      if (other !== path) continue;
      for (const [key, value] of Object.entries(preferences)) {
        if (found[key] !== 'n') found[key] = value;
      }
    }
    return found;
  }

  #signals(): Readonly<Record<string, string>> {
    const signals = this.#ofGroup('content-signal').map(({ value }) => parseContentSignal(value));
    return Object.assign(Object.create(null), ...signals);
  }
}

/** The product tokens whose groups decide for an agent (RFC 9309 section 2.2.1). */
function tokensOf(robots: RobotsFile, agent: Agent, profile: Profile): string[] {
  const named = new Set(robots.groups.flatMap(({ productTokens }) => productTokens));
  const own = agent.chain.map(lowerCaseAscii).filter((token) => named.has(token));
  if (own.length === 0) return ['*'];
  return profile === 'google' ? own : own.slice(0, 1);
}
