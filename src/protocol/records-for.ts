import { crawlDelaySeconds } from './crawl-delay.js';
import type { KeptRecord, RecordKind } from './other-record-kinds.js';

/** What the other records of a robots.txt say to an agent. */
export interface AgentRecords {
  /** The crawl-delay in seconds, the longest of several; as written if none is a number. */
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
 * counts if it is for one of them; one before any group is for nobody.
 */
export function recordsFor(
  records: readonly KeptRecord[],
  tokens: readonly string[],
): AgentRecords {
  let longest: number | undefined;
  let asWritten: string | undefined;
  const preferences: string[] = [];
  const isFor = recipients(tokens);
  for (const record of records) {
    const { kind, value } = record;
    const name = PREFERENCES[kind];
    if (kind !== 'license' && !isFor(record)) continue;
    if (name !== undefined) preferences.push(`${name}: ${value}`);
    if (kind !== 'crawl-delay') continue;
    const seconds = crawlDelaySeconds(value);
    if (seconds === undefined) asWritten ??= value;
    else if (longest === undefined || seconds > longest) longest = seconds;
  }
  return { crawlDelay: longest ?? asWritten, preferences };
}

/** Tells which records are for some product tokens, given records in the order of their file. */
export function recipients(tokens: readonly string[]): (record: KeptRecord) => boolean {
  // The records of a group share one list, which may be as long as the file.
  let last: readonly string[] | undefined;
  let isFor = false;
  return ({ productTokens }) => {
    if (productTokens !== last || last === undefined) {
      last = productTokens;
      isFor = productTokens?.some((token) => tokens.includes(token)) === true;
    }
    return isFor;
  };
}
