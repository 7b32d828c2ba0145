import type { TableView } from '../../inspect/table-view.js';
import { HOST_VERDICTS } from '../../kernel/layout.js';
import type { Filter } from '../../pipeline/filter.js';
import type { Agent } from '../../protocol/agent.js';
import { REASONS, VERDICTS } from '../../protocol/verdict.js';
import { type Cell, type RowFormat, Rows } from './rows.js';
import { countsOf } from './statistics.js';
import { TextBatches } from './text-batches.js';

/** What the records of a run are counted by. */
export const COUNT_KEYS = ['host', 'agent', 'reason'] as const;

export type CountKey = (typeof COUNT_KEYS)[number];

const KEY_WIDTH = 32;
const COUNT_WIDTH = 13;

/** What a run has counted. */
export interface CountedRun {
  readonly filter: Filter;
  readonly view: TableView;
  readonly agents: readonly Agent[];
}

/** How counts are written. */
export interface CountsLayout {
  readonly by: CountKey;
  /** Number of keys for each agent; all if undefined. */
  readonly top: number | undefined;
  readonly format: RowFormat;
}

/** A row before it is written: its agent, its key, and its figures; the first one is the total. */
interface CountedRow {
  readonly agent: string;
  readonly key: string | undefined;
  readonly figures: readonly number[];
}

/** Writes the counts of a run to standard output: the most frequent first, for each agent. */
export function writeCounts(run: CountedRun, { by, top, format }: CountsLayout): void {
  const figures = by === 'reason' ? ['records'] : ['records', ...VERDICTS];
  const columns = [
    { name: 'agent', width: KEY_WIDTH / 2 },
    ...(by === 'agent' ? [] : [{ name: by, width: KEY_WIDTH }]),
    ...figures.map((name) => ({ name, width: COUNT_WIDTH })),
  ];
  const rows = new Rows(format, columns);
  const out = new TextBatches();
  out.add(rows.header);
  for (const { agent, key, figures } of rowsOf(run, by, top)) {
    const cells: Cell[] = by === 'agent' ? [agent, ...figures] : [agent, key, ...figures];
    out.add(rows.part(0, cells));
  }
  out.flush();
}

function rowsOf(run: CountedRun, by: CountKey, top: number | undefined): CountedRow[] {
  const { outcomes, records } = run.filter.tally();
  if (by === 'host') return hostRows(run, top);
  return run.agents.flatMap(({ name: agent }, index): CountedRow[] => {
    const { verdicts, reasons } = countsOf(outcomes[index] ?? []);
    if (by === 'agent') {
      const figures = [records, ...VERDICTS.map((verdict) => verdicts[verdict])];
      return [{ agent, key: undefined, figures }];
    }
    const rows = REASONS.filter((reason) => reasons[reason] > 0).map((reason) => ({
      agent,
      key: reason,
      figures: [reasons[reason]],
    }));
    return rows.sort(byTotal).slice(0, top);
  });
}

/**
 * The rows of hosts with a robots.txt. One more row without a host has all other records: those of
 * unknown hosts, and those without a URL.
 */
function hostRows({ filter, view, agents }: CountedRun, top: number | undefined): CountedRow[] {
  const { outcomes, records } = filter.tally();
  const hosts = [...filter.hostCounts()];
  return agents.flatMap(({ name: agent }, index): CountedRow[] => {
    const first = index * HOST_VERDICTS;
    const { verdicts } = countsOf(outcomes[index] ?? []);
    const left = VERDICTS.map((verdict) => verdicts[verdict]);
    const totals = hosts.map(({ counts }) => {
      let total = 0;
      for (let verdict = 0; verdict < HOST_VERDICTS; verdict++) {
        const count = counts[first + verdict] as number;
        left[verdict] = (left[verdict] as number) - count;
        total += count;
      }
      return total;
    });
    // Only hosts that may be among the first ones are named.
    const least = top === undefined ? 0 : leastOf(totals, top);
    const rows: CountedRow[] = [];
    hosts.forEach(({ slot, counts }, place) => {
      const total = totals[place] as number;
      if (total < least) return;
      const key = view.nameAt(view.placeOfSlot(slot));
      rows.push({ agent, key, figures: [total, ...counts.slice(first, first + HOST_VERDICTS)] });
    });
    const shown = rows.sort(byTotal).slice(0, top);
    const others = records - totals.reduce((sum, total) => sum + total, 0);
    return others === 0 ? shown : [...shown, { agent, key: undefined, figures: [others, ...left] }];
  });
}

/** The least of the `top` greatest totals. */
function leastOf(totals: readonly number[], top: number): number {
  const sorted = Float64Array.from(totals).sort();
  return sorted[Math.max(sorted.length - top, 0)] ?? 0;
}

/** The most records first, then by name. */
function byTotal(a: CountedRow, b: CountedRow): number {
  return (
    (b.figures[0] as number) - (a.figures[0] as number) || ((a.key ?? '') < (b.key ?? '') ? -1 : 1)
  );
}
