import { printableJson } from '../../base/control-characters.js';
import type { Tally } from '../../pipeline/counts.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../../protocol/verdict.js';
import { formatBytes, formatDuration, formatNumber, formatPercent } from './numbers.js';

/** The figures of a run of the filter. */
export interface RunStatistics {
  /**
   * Whether the run was completed: no signal came, and the reader of the output did not go away.
   */
  readonly complete: boolean;
  /** Whether the output was discarded: a file is replaced when it is complete, or not at all. */
  readonly isDiscarded: boolean;
  /** Names of the agents, in the order of the tally. */
  readonly agents: readonly string[];
  readonly tally: Tally;
  /** Bytes of input that were read, after decompression. */
  readonly inputBytes: number;
  readonly hosts: {
    readonly table: number;
    /** Hosts of the table with a robots.txt for some URL; undefined if they were not counted. */
    readonly seen: number | undefined;
  };
  readonly seconds: {
    /** Seconds until the first record could be judged. */
    readonly setup: number;
    /** Seconds from the first record to the end. */
    readonly filter: number;
    /** Seconds of CPU time of all threads, in user mode and in kernel mode. */
    readonly user: number;
    readonly system: number;
  };
  /** Peak memory of the process, in bytes. */
  readonly peakBytes: number;
}

interface AgentCounts {
  readonly verdicts: Record<Verdict, number>;
  readonly reasons: Record<Reason, number>;
}

/**
 * The counts of one agent by verdict and by reason.
 *
 * @param outcomes counts by `verdict << 4 | reason`
 */
export function countsOf(outcomes: readonly number[]): AgentCounts {
  const zeros = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, 0]));
  const verdicts = zeros(VERDICTS) as Record<Verdict, number>;
  const reasons = zeros(REASONS) as Record<Reason, number>;
  outcomes.forEach((count, outcome) => {
    const verdict = VERDICTS[outcome >> 4];
    const reason = REASONS[outcome & 15];
    if (verdict !== undefined) verdicts[verdict] += count;
    if (reason !== undefined) reasons[reason] += count;
  });
  return { verdicts, reasons };
}

/** The schema of the JSON of statistics. */
const SCHEMA = 'robots-filter/stats/1';

/**
 * Formats statistics as one JSON object.
 *
 * @param report the figures of the run's report, if there is one
 */
export function statisticsJson(statistics: RunStatistics, report?: object): string {
  return printableJson({
    schema: SCHEMA,
    ...statisticsFigures(statistics),
    ...(report === undefined ? {} : { report }),
  });
}

/** Statistics as the members of a JSON object; docs/formats.md describes them. */
export function statisticsFigures(statistics: RunStatistics): object {
  const { agents, tally, seconds, hosts } = statistics;
  return {
    complete: statistics.complete,
    records: tally.records,
    passed: tally.passed,
    bad: tally.bad,
    bytes: statistics.inputBytes,
    agents: agents.map((agent, index) => ({ agent, ...countsOf(tally.outcomes[index] ?? []) })),
    hosts,
    seconds: { wall: seconds.setup + seconds.filter, ...seconds },
    recordsPerSecond: Math.round(perSecond(tally.records, seconds.filter)),
    bytesPerSecond: Math.round(perSecond(statistics.inputBytes, seconds.filter)),
    peakBytes: statistics.peakBytes,
  };
}

/** Formats statistics as lines for people. */
export function statisticsText(statistics: RunStatistics): string {
  const { agents, tally, inputBytes, hosts, seconds } = statistics;
  const [records, passed] = [tally.records, tally.passed].map(formatNumber);
  // Other threads may have judged records after the one at which the output ends.
  const mostWritten = statistics.complete ? passed : `at most ${passed}`;
  const rows: [string, string][] = [
    ['records', `${records} read, ${statistics.isDiscarded ? 'none' : mostWritten} written`],
    ['input', `${formatBytes(inputBytes)}${statistics.complete ? '' : ', incomplete'}`],
  ];
  agents.forEach((agent, index) => {
    const { verdicts, reasons } = countsOf(tally.outcomes[index] ?? []);
    if (agents.length > 1) rows.push([agent, '']);
    rows.push(...countRows(VERDICTS, verdicts, tally.records, true));
    rows.push(['reasons', ''], ...countRows(REASONS, reasons, tally.records, false));
  });
  const rate = perSecond(tally.records, seconds.filter);
  const byteRate = perSecond(inputBytes, seconds.filter);
  rows.push(
    hosts.seen === undefined
      ? ['hosts', `${formatNumber(hosts.table)} in the table`]
      : ['hosts seen', `${formatNumber(hosts.seen)} of ${formatNumber(hosts.table)} in the table`],
    ['throughput', `${formatNumber(rate)} records/s, ${formatBytes(byteRate)}/s`],
    [
      'time',
      `${formatDuration(seconds.setup + seconds.filter)}: ${formatDuration(seconds.setup)} to start, ${formatDuration(seconds.filter)} to filter`,
    ],
    ['CPU time', `${formatDuration(seconds.user)} user, ${formatDuration(seconds.system)} system`],
    ['peak memory', formatBytes(statistics.peakBytes)],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}

/** @param all whether words that were not counted get a row too */
function countRows<Word extends string>(
  words: readonly Word[],
  counts: Readonly<Record<Word, number>>,
  total: number,
  all: boolean,
): [string, string][] {
  const width = formatNumber(total).length;
  return words
    .filter((word) => all || counts[word] > 0)
    .map((word) => [
      `  ${word}`,
      `${formatNumber(counts[word]).padStart(width)}  ${formatPercent(counts[word], total).padStart(7)}`,
    ]);
}

function perSecond(count: number, seconds: number): number {
  return seconds > 0 ? count / seconds : 0;
}

/**
 * Reports the number of records that neither `--allowed` nor `--denied` writes, as a sentence;
 * undefined if there are none.
 */
export function leftOut(tally: Tally): string | undefined {
  // Whether a host is known and a URL valid does not depend on the agent.
  const { verdicts } = countsOf(tally.outcomes[0] ?? []);
  const { unknown, invalid } = verdicts;
  const kinds = [
    ...(unknown > 0 ? [`${formatNumber(unknown)} unknown`] : []),
    ...(invalid > 0 ? [`${formatNumber(invalid)} invalid`] : []),
  ];
  if (kinds.length === 0) return undefined;
  const records = unknown + invalid === 1 ? 'record' : 'records';
  const remedy =
    unknown > 0 ? '. To decide the unknown ones, use --unknown allow or --unknown deny' : '';
  return `left out ${kinds.join(' and ')} ${records}${remedy}`;
}
