import { crawlDelaySeconds } from './crawl-delay.js';
import type { KeptRecord, RecordKind } from './other-record-kinds.js';

/** What the other records of a robots.txt say to an agent. */
export interface AgentRecords {
  /** The first crawl-delay in seconds; the value as written if it is no number. */
  readonly crawlDelay: number | string | undefined;
  /** Records about the use of content, as `KEY: VALUE`, in the order of the file. */
  readonly preferences: readonly string[];
}

const PREFERENCES: Partial<Record<RecordKind, string>> = {
  'content-usage': 'Content-Usage',
  'content-signal': 'Content-Signal',
  license: 'License',
};

/**
 * The records for an agent whose groups are those of these product tokens. A record of a group
 * counts if its group names one of them; one before any group is for nobody.
 */
export function recordsFor(
  records: readonly KeptRecord[],
  tokens: readonly string[],
): AgentRecords {
  let crawlDelay: number | string | undefined;
  const preferences: string[] = [];
  for (const { kind, productTokens, value } of records) {
    const name = PREFERENCES[kind];
    if (kind === 'license') {
      preferences.push(`${name}: ${value}`);
      continue;
    }
    if (productTokens?.some((token) => tokens.includes(token)) !== true) continue;
    if (name !== undefined) preferences.push(`${name}: ${value}`);
    if (kind === 'crawl-delay') crawlDelay ??= crawlDelaySeconds(value) ?? value;
  }
  return { crawlDelay, preferences };
}
