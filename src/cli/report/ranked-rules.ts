import { mostCounted } from '../../inspect/host-order.js';
import type { TableView } from '../../inspect/table-view.js';

/** What is counted of a rule. */
export interface CountedRule {
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
