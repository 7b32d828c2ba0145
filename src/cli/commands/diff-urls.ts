import type { Robots } from '../../robots.js';
import type { Table } from '../../table.js';
import type { DiffTally } from '../report/diff-figures.js';
import type { RowSink } from '../report/row-sink.js';
import type { Column } from '../report/rows.js';
import { causeOf, type DiffSides } from './diff-sides.js';
import { urlsOf } from './url-lines.js';

export const URL_COLUMNS: readonly Column[] = [
  { name: 'url', width: 40 },
  { name: 'agent', width: 16 },
  { name: 'old', width: 7, isVerdict: true },
  { name: 'new', width: 7, isVerdict: true },
  { name: 'old_rule', width: 24 },
  { name: 'new_rule', width: 24 },
];

/**
 * Writes the URLs of a list whose verdicts differ, in the order of the list. A single robots.txt
 * judges every URL, whatever its host.
 */
export async function diffUrls(
  path: string,
  sides: DiffSides<Table | Robots>,
  sink: RowSink,
  tally: DiffTally,
): Promise<void> {
  for await (const url of urlsOf(path)) {
    tally.compared++;
    sides.agents.forEach(({ chain, name }, agent) => {
      const [old, next] = [sides.old.verdict(url, chain), sides.new.verdict(url, chain)];
      if (old.verdict === next.verdict) return;
      tally.add(agent, [old.verdict, next.verdict]);
      sink.add([url, name, old.verdict, next.verdict, causeOf(old), causeOf(next)]);
    });
    if (sink.isClosed) return;
  }
}
