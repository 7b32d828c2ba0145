import { DecidedRules } from '../../inspect/host-order.js';
import { authorityLabel, plainText, ruleText } from '../../inspect/host-report.js';
import { REASON_BITS, REASON_MASK } from '../../kernel/layout.js';
import type { RuleCount } from '../../pipeline/counts.js';
import type { Filter } from '../../pipeline/filter.js';
import type { Agent } from '../../protocol/agent.js';
import type { Use, UseAnswer } from '../../protocol/uses.js';
import { REASONS, VERDICTS, WITHOUT_ROBOTS } from '../../protocol/verdict.js';
import type { TableView } from '../../view/table-view.js';
import type { Diagnostics } from '../console.js';
import { formatNumber } from '../text.js';
import { busiestHosts, isoOf, rankedRules } from './filter-figures.js';
import { type Cell, type Column, type RowFormat, type RowPart, TextRows } from './rows.js';
import { countsOf, useCountsOf } from './statistics.js';

/** What the records of a run are counted by. */
export const COUNT_KEYS = ['host', 'agent', 'rule', 'reason'] as const;

export type CountKey = (typeof COUNT_KEYS)[number];

const KEY_WIDTH = 32;
const COUNT_WIDTH = 13;

const AGENT: Column = { name: 'agent', width: KEY_WIDTH / 2 };
const FIGURES: readonly Column[] = ['records', ...VERDICTS].map((name) => ({
  name,
  width: COUNT_WIDTH,
  isNumber: true,
}));
const RECORDS: Column = { name: 'records', width: COUNT_WIDTH, isNumber: true };

const COLUMNS: Readonly<Record<CountKey, readonly Column[]>> = {
  host: [AGENT, { name: 'host', width: KEY_WIDTH }, ...FIGURES],
  agent: [AGENT, ...FIGURES],
  rule: [
    AGENT,
    { name: 'host', width: KEY_WIDTH },
    { name: 'line', width: 6, isNumber: true },
    { name: 'rule', width: KEY_WIDTH },
    RECORDS,
    { name: 'source', width: KEY_WIDTH },
  ],
  reason: [AGENT, { name: 'reason', width: KEY_WIDTH }, RECORDS],
};
/** From when on the robots.txt of a rule is in force, in runs that ask for times. */
const VERSION: Column = { name: 'version', width: 20 };

/** What a run has counted. */
export interface CountedRun {
  readonly filter: Filter;
  readonly view: TableView;
  readonly agents: readonly Agent[];
  /** Uses about which was asked for each agent. */
  readonly uses: readonly Use[];
  readonly diagnostics: Diagnostics;
  /** Whether records name their agents. */
  readonly isNamed: boolean;
  /** Whether the rules are those of many robots.txt files of an authority, or of a time. */
  readonly byTime: boolean;
}

/** How counts are written. */
export interface CountsLayout {
  readonly by: CountKey;
  /** Number of keys for each agent; all if undefined. */
  readonly top: number | undefined;
  readonly format: RowFormat;
  /** Whether no text of CSV may be read as a formula. */
  readonly spreadsheet: boolean;
}

/** The rows by each key. */
const ROWS: Readonly<
  Record<CountKey, (run: CountedRun, top: number | undefined) => Iterable<readonly RowPart[]>>
> = { host: hostRows, agent: agentRows, rule: ruleRows, reason: reasonRows };

/** Writes the counts of a run to standard output: the most frequent first, for each agent. */
export async function writeCounts(run: CountedRun, layout: CountsLayout): Promise<void> {
  const columns = COLUMNS[layout.by];
  const isDated = run.byTime && layout.by === 'rule';
  const added = [...(isDated ? [VERSION] : []), ...useColumns(run.uses, layout.by)];
  const rows = new TextRows(layout.format, [...columns, ...added], layout);
  for (const parts of ROWS[layout.by](run, layout.top)) {
    if (rows.isClosed) return;
    rows.add(...parts);
  }
  await rows.end();
  if (rows.omission !== undefined) run.diagnostics.note(rows.omission);
}

const ANSWERS: readonly UseAnswer[] = ['granted', 'refused', 'unstated'];

/**
 * The columns of uses: for each three counts, `granted` or with several uses `train_granted`; among
 * reasons the use that a reason is about, empty for verdicts.
 */
function useColumns(uses: readonly Use[], by: CountKey): Column[] {
  if (uses.length === 0) return [];
  if (by === 'reason') return [{ name: 'use', width: COUNT_WIDTH }];
  return uses.flatMap(({ name }) =>
    ANSWERS.map((answer) => {
      const column = uses.length > 1 ? `${name}_${answer}` : answer;
      return { name: column, width: COUNT_WIDTH, isNumber: true };
    }),
  );
}

/** The places of an agent's uses in the tally. */
function placesOfUses({ agents, uses }: CountedRun, agent: number): number[] {
  return uses.map((_, use) => agents.length + agent * uses.length + use);
}

/**
 * The rows of the agents that records name. One more row without an agent has the invalid records,
 * and those of agents that were too many to be counted by name.
 */
function namedRows({ filter }: CountedRun, top: number | undefined): RowPart[][] {
  const { outcomes, records } = filter.tally();
  const { agents } = filter.namedAgents();
  const { verdicts } = countsOf(outcomes[0] ?? []);
  const left = VERDICTS.map((verdict) => verdicts[verdict]);
  let others = records;
  const rows = agents.map(({ name, verdicts: own }): RowPart[] => {
    const sum = own.reduce((total, count) => total + count, 0);
    own.forEach((count, index) => {
      left[index] = (left[index] ?? 0) - count;
    });
    others -= sum;
    return [{ cells: [name, sum, ...own] }];
  });
  const rest: RowPart[][] = others > 0 ? [[{ cells: [undefined, others, ...left] }]] : [];
  return [...rows.slice(0, top), ...rest];
}

function agentRows(run: CountedRun, top: number | undefined): RowPart[][] {
  const { filter, agents } = run;
  if (run.isNamed) return namedRows(run, top);
  const { outcomes, records } = filter.tally();
  return agents.map(({ name }, index) => {
    const { verdicts } = countsOf(outcomes[index] ?? []);
    const answers = placesOfUses(run, index).flatMap((place) => {
      const counts = useCountsOf(outcomes[place] ?? []).answers;
      return ANSWERS.map((answer) => counts[answer]);
    });
    const own = VERDICTS.map((verdict) => verdicts[verdict]);
    return [{ cells: [name, records, ...own, ...answers] }];
  });
}

function reasonRows(run: CountedRun, top: number | undefined): RowPart[][] {
  const { filter, agents, uses } = run;
  const { outcomes } = filter.tally();
  const hasUses = uses.length > 0;
  return agents.flatMap(({ name }, index) => {
    const { reasons } = countsOf(outcomes[index] ?? []);
    const ranked = (counts: Readonly<Record<string, number>>, use: Cell): RowPart[][] =>
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
        .slice(0, top)
        .map(([reason, count]) => [{ cells: [name, reason, count, ...(hasUses ? [use] : [])] }]);
    const ofUses = placesOfUses(run, index).flatMap((place, use) =>
      ranked(useCountsOf(outcomes[place] ?? []).reasons, uses[use]?.name),
    );
    return [...ranked(reasons, undefined), ...ofUses];
  });
}

/**
 * The rows of hosts with a robots.txt. One more row without a host has all other records: those of
 * unknown hosts, and those without a URL.
 */
function* hostRows(run: CountedRun, top: number | undefined): Iterable<readonly RowPart[]> {
  const { filter, view, agents } = run;
  const { outcomes } = filter.tally();
  const counts = filter.hostCounts();
  const hosts = busiestHosts(counts, view, top);
  const notOfHosts: RowPart = { cells: [0, 0] };
  for (const [index, { name: agent }] of agents.entries()) {
    const start: RowPart = { cells: [agent] };
    const places = placesOfUses(run, index);
    for (const { slot, host, urls } of hosts) {
      const allowed = counts.allowed(slot, index);
      const cells = [host, urls, allowed, counts.denied(slot, index)];
      const answers = places.flatMap((place) => {
        const [granted, refused] = [counts.allowed(slot, place), counts.denied(slot, place)];
        return [granted, refused, allowed - granted - refused];
      });
      yield [start, { cells }, notOfHosts, ...(answers.length > 0 ? [{ cells: answers }] : [])];
    }
    const { verdicts } = countsOf((outcomes[index] ?? []).map(withoutHosts));
    const left = VERDICTS.map((verdict) => verdicts[verdict]);
    const others = left.reduce((sum, count) => sum + count);
    // Without a robots.txt nothing is granted or refused.
    const unstated = places.flatMap(() => [0, 0, verdicts.allow]);
    if (others > 0) yield [start, { cells: [undefined, others, ...left, ...unstated] }];
  }
}

/** The count of an outcome, or 0 if its records have a host with a robots.txt. */
function withoutHosts(count: number, outcome: number): number {
  const verdict = VERDICTS[outcome >> REASON_BITS];
  const reason = REASONS[outcome & REASON_MASK];
  const isOther = verdict === 'unknown' || verdict === 'invalid';
  return isOther || (reason !== undefined && WITHOUT_ROBOTS.includes(reason)) ? count : 0;
}

/**
 * The rows of rules that decided. One more row without a host has all other records: no rule
 * decided about them.
 */
function* ruleRows(
  { filter, view, agents, diagnostics, byTime }: CountedRun,
  top: number | undefined,
): Iterable<readonly RowPart[]> {
  const { outcomes, records } = filter.tally();
  const wanted = top === undefined ? undefined : ({ top, by: 'agent', denying: false } as const);
  const { rules, missed } = filter.ruleCounts(wanted);
  const placed = new DecidedRules(view, byTime ? rules : undefined);
  const ofAgents = agents.map((): RuleCount[] => []);
  for (const rule of rules) ofAgents[rule.agent]?.push(rule);
  for (const [index, { name: agent }] of agents.entries()) {
    const own = ofAgents[index] ?? [];
    const ranked = rankedRules(own, view, placed, top);
    // The rules of a version are found together, because its groups are read once.
    const cells = new Map<RuleCount, Cell[]>();
    for (const rule of ranked.toSorted(byPlace)) {
      const { host, authority, since, rule: written } = placed.find(rule);
      const label = authorityLabel(host, authority);
      const source = plainText(authority.source);
      const found = [agent, label, rule.line, ruleText(written), rule.count, source];
      cells.set(rule, byTime ? [...found, isoOf(since)] : found);
    }
    for (const rule of ranked) yield [{ cells: cells.get(rule) ?? [] }];
    const others = records - countsOf(outcomes[index] ?? []).reasons.rule;
    if (others > 0) {
      const rest = [agent, undefined, undefined, undefined, others, undefined];
      yield [{ cells: byTime ? [...rest, undefined] : rest }];
    }
  }
  if (missed > 0) {
    diagnostics.note(
      `warning: there were too many rules to count each one: any count may be up to ${formatNumber(missed)} too low. For exact counts, filter fewer hosts or agents at a time`,
    );
  }
}

function byPlace(a: RuleCount, b: RuleCount): number {
  return a.version - b.version || a.line - b.line;
}
