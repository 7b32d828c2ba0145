import type { TableView } from '../../inspect/table-view.js';
import { mostFrequent } from './most-frequent.js';

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
  const frequent = mostFrequent(
    {
      length: rules.length,
      countOf: (index) => ruleAt(index).count,
      nameOf: (index) => view.nameAt(view.placeOfAuthority(ruleAt(index).authority)),
    },
    top,
  );
  return frequent.map(({ index }) => ruleAt(index));
}
