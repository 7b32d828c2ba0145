import { mostCounted } from '../../inspect/host-order.js';
import type { HostCounts } from '../../pipeline/counts.js';
import { formatAuthority, type Scheme } from '../../protocol/authority.js';
import type { TableAuthority, TableHost, TableRule } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';

/** What is counted of a rule. */
interface CountedRule {
  /** Offset of the authority in the table. */
  readonly authority: number;
  readonly count: number;
}

/**
 * The rules with the greatest counts, greatest first. Equal counts are sorted by host, then by
 * line: offsets of hosts differ between a table and its shards.
 *
 * @param rules sorted by authority and line
 * @param top number of them; all if undefined
 */
export function rankedRules<Rule extends CountedRule>(
  rules: readonly Rule[],
  view: TableView,
  top: number | undefined,
): Rule[] {
  const ruleAt = (index: number): Rule => rules[index] as Rule;
  const counted = {
    counts: Float64Array.from(rules, ({ count }) => count),
    placeOf: (index: number) => view.placeOfAuthority(ruleAt(index).authority),
  };
  return Array.from(mostCounted(view, counted, top), ruleAt);
}

/** A host of the table with URLs. */
interface BusyHost {
  readonly slot: number;
  readonly host: string;
  readonly urls: number;
}

/** The hosts with most URLs, then by name; all if `top` is undefined. They can be read again. */
export function busiestHosts(
  { slots, urls }: HostCounts,
  view: TableView,
  top: number | undefined,
): Iterable<BusyHost> {
  const placeOf = (index: number): number => view.placeOfSlot(slots[index] as number);
  const most = mostCounted(view, { counts: urls, placeOf }, top);
  return {
    *[Symbol.iterator]() {
      for (const index of most) {
        const host = view.nameAt(placeOf(index));
        yield { slot: slots[index] as number, host, urls: urls[index] as number };
      }
    },
  };
}

/** `Disallow: /private`, with the pattern as written. */
export function ruleText({ allow, text }: TableRule): string {
  return `${allow ? 'Allow' : 'Disallow'}: ${plainText(text)}`;
}

/** A text that a table gives escaped as in a JSON string. */
export function plainText(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

/**
 * The name of an authority in reports: the host alone if it has http and https at their default
 * ports, HOST:PORT for both at another port, otherwise the URLs of its roots.
 */
export function authorityLabel(
  { host }: Pick<TableHost, 'host'>,
  { schemes, port }: Pick<TableAuthority, 'schemes' | 'port'>,
): string {
  if (schemes.length === 2 && schemes[0] === 'http' && schemes[1] === 'https') {
    return formatAuthority({ scheme: undefined, host, port });
  }
  return schemes.map((scheme: Scheme) => formatAuthority({ scheme, host, port })).join(' ');
}

/** Kinds of other records (RFC 9309 section 2.2.4) that reports count. */
export const RECORD_FIGURES = [
  'sitemap',
  'crawl-delay',
  'content-usage',
  'content-signal',
  'license',
] as const;

export type RecordFigure = (typeof RECORD_FIGURES)[number];
