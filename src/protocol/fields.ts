/**
 * The other lines of a robots.txt (section 2.2.4), such as sitemaps and crawl-delays, and whom they
 * concern.
 */

import { DOT } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import type { CrawlDelay, Group, RobotsFile } from './robots-file.js';
import type { Profile } from './verdict.js';

/**
 * The kinds of other records (RFC 9309 section 2.2.4) that a table keeps. Their numbers in a table
 * count from 1. `web-page` is no line of a file: it tells that the file begins like a web page.
 */
export const RECORD_KINDS = [
  'sitemap',
  'crawl-delay',
  'content-usage',
  'content-signal',
  'license',
  'host',
  'clean-param',
  'request-rate',
  'visit-time',
  'noindex',
  'web-page',
] as const;

export type RecordKind = (typeof RECORD_KINDS)[number];

/** The kind of a record that no line of a file has. */
const WEB_PAGE: RecordKind = 'web-page';

/** Keys that are read as a kind without being its name. */
const ALIASES: ReadonlyMap<string, RecordKind> = new Map([['content-signals', 'content-signal']]);

/** The keys of other records that are read, in lower case. */
export const READ_KEYS: readonly string[] = [
  ...RECORD_KINDS.filter((kind) => kind !== WEB_PAGE),
  ...ALIASES.keys(),
];

/** Those whose records have signals about the use of content (protocol/uses.ts). */
export const SIGNAL_KEYS: readonly string[] = [
  'content-usage',
  'content-signal',
  'content-signals',
];

/** The kind of record that a key stands for, given in lower case. */
export function kindOfKey(key: string): RecordKind | undefined {
  if (key === WEB_PAGE) return undefined;
  return RECORD_KINDS.find((kind) => kind === key) ?? ALIASES.get(key);
}

/** A group without its rules. */
type GroupHead = Omit<Group, 'rules'>;

/** The kinds that belong to the group in which they stand. All others belong to the whole file. */
const KINDS_OF_GROUPS: ReadonlySet<RecordKind> = new Set<RecordKind>([
  'crawl-delay',
  'content-usage',
  'content-signal',
  'request-rate',
  'visit-time',
  'noindex',
]);

/** Whether records of this kind belong to the group in which they stand. */
export function isOfGroup(kind: RecordKind): boolean {
  return KINDS_OF_GROUPS.has(kind);
}

/** One other record of a kind that a table keeps. */
export interface KeptRecord {
  readonly kind: RecordKind;
  /** Number of its line in the file, from 1. */
  readonly line: number;
  /**
   * The product tokens of its group, in lower case; of a crawl-delay those that it is for: see
   * `CrawlDelay`. `undefined` for a kind that belongs to the whole file, and before any group.
   */
  readonly productTokens: readonly string[] | undefined;
  /** The value as written, without the white space around it and the comment. */
  readonly value: string;
  /** Whether the rest of the value is missing. */
  readonly isTruncated?: boolean;
}

const A_WEB_PAGE: KeptRecord = { kind: WEB_PAGE, line: 1, productTokens: undefined, value: '' };

/**
 * The records of a file that a table keeps, in the order of the file.
 *
 * In draft-koster-rep-00 only the first group of `*` counts, so later groups do not name `*`.
 *
 * @param kept the product tokens, besides `*`, whose groups count; `undefined` for all
 */
export function keptRecords(
  file: Pick<RobotsFile, 'records' | 'sitemaps' | 'crawlDelays' | 'warnings'> & {
    readonly groups: readonly GroupHead[];
  },
  profile: Profile,
  kept?: ReadonlySet<string>,
): KeptRecord[] {
  const { groups, records, crawlDelays, warnings } = file;
  const found: KeptRecord[] = warnings.some(({ code }) => code === 'html') ? [A_WEB_PAGE] : [];
  if (records.length === 0) return found;
  const sitemaps = new Set(file.sitemaps);
  const tokens = tokensByGroup(groups, profile, kept);
  let next = 0;
  let delays = 0;
  // Lists that are equal are one array, so that a list is read once however many records have it.
  let ofGroup: readonly string[] | undefined;
  let ofDelay: readonly string[] = [];
  let delayTokens: readonly string[] | undefined;
  for (const record of records) {
    // Records and groups are both in the order of the file.
    for (; next < groups.length && (groups[next] as GroupHead).line < record.line; next++) {
      ofGroup = delayTokens = undefined;
    }
    const kind = sitemaps.has(record) ? 'sitemap' : kindOfKey(record.key);
    if (kind === undefined) continue;
    const counting = tokens[next - 1];
    let productTokens: readonly string[] | undefined;
    if (kind === 'crawl-delay') {
      const own = (crawlDelays[delays++] as CrawlDelay).productTokens;
      if (own !== delayTokens) ofDelay = own.filter((token) => counting?.has(token));
      delayTokens = own;
      if (counting !== undefined) productTokens = ofDelay;
    } else if (isOfGroup(kind) && counting !== undefined) {
      ofGroup ??= [...counting];
      productTokens = ofGroup;
    }
    if (productTokens?.length === 0) continue;
    found.push({ kind, line: record.line, productTokens, value: record.value });
  }
  return found;
}

/** The product tokens of each group that count. */
function tokensByGroup(
  groups: readonly GroupHead[],
  profile: Profile,
  kept: ReadonlySet<string> | undefined,
): ReadonlySet<string>[] {
  let hadStar = false;
  return groups.map(({ productTokens }) => {
    const counting = new Set(
      productTokens.filter((token) => {
        if (token !== '*') return kept === undefined || kept.has(token);
        return !(hadStar && profile === 'draft-koster-rep-00');
      }),
    );
    if (counting.has('*')) hadStar = true;
    return counting;
  });
}

/**
 * The seconds of a crawl-delay: digits with at most one full stop. `undefined` for any other value,
 * and for a number too large for a double.
 */
export function crawlDelaySeconds(value: string): number | undefined {
  let digits = 0;
  let fullStops = 0;
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    if (isDigit(unit)) digits++;
    else if (unit === DOT) fullStops++;
    else return undefined;
  }
  if (digits === 0 || fullStops > 1) return undefined;
  const seconds = Number(value);
  return Number.isFinite(seconds) ? seconds : undefined;
}

/** What the other records of a robots.txt say to an agent. */
interface AgentRecords {
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
 * counts if it is for one of them; one before any group is for nobody, but for the refusals of a
 * `Content-Signal`.
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
    const refused = refusalsForAll(record);
    if (refused.length > 0) preferences.push(`${name}: ${refused.join(', ')}`);
    if (kind !== 'license' && !isFor(record)) continue;
    if (name !== undefined) preferences.push(`${name}: ${value}`);
    if (kind !== 'crawl-delay') continue;
    const seconds = crawlDelaySeconds(value);
    if (seconds === undefined) asWritten ??= value;
    else if (longest === undefined || seconds > longest) longest = seconds;
  }
  return { crawlDelay: longest ?? asWritten, preferences };
}

/**
 * The members of a `Content-Signal` before any group that refuse a use, as written. It is unclear
 * for whom such a line is meant: what it refuses is refused to every crawler, and what it grants is
 * granted to none.
 */
export function refusalsForAll({ kind, productTokens, value, isTruncated }: KeptRecord): string[] {
  if (kind !== 'content-signal' || productTokens !== undefined || isTruncated === true) return [];
  const members = value.split(',').map((member) => member.trim());
  return members.filter((member) => {
    const equals = member.indexOf('=');
    return (
      equals > 0 &&
      member
        .slice(equals + 1)
        .trim()
        .toLowerCase() === 'no'
    );
  });
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
