import type { Profile } from './profile.js';
import type { CrawlDelay, Group, RobotsFile } from './robots-file.js';

/**
 * The kinds of other records (RFC 9309 section 2.2.4) that a table keeps. Their numbers in a table
 * count from 1.
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
] as const;

export type RecordKind = (typeof RECORD_KINDS)[number];

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

/**
 * The records of a file that a table keeps, in the order of the file.
 *
 * In draft-koster-rep-00 only the first group of `*` counts, so later groups do not name `*`.
 *
 * @param kept the product tokens, besides `*`, whose groups count; `undefined` for all
 */
export function keptRecords(
  file: Pick<RobotsFile, 'records' | 'sitemaps' | 'crawlDelays'> & {
    readonly groups: readonly GroupHead[];
  },
  profile: Profile,
  kept?: ReadonlySet<string>,
): KeptRecord[] {
  const { groups, records, crawlDelays } = file;
  if (records.length === 0) return [];
  const sitemaps = new Set(file.sitemaps);
  const tokens = tokensByGroup(groups, profile, kept);
  const found: KeptRecord[] = [];
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
    const kind = sitemaps.has(record) ? 'sitemap' : kindOf(record.key);
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

function kindOf(key: string): RecordKind | undefined {
  return RECORD_KINDS.find((kind) => kind === key);
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
