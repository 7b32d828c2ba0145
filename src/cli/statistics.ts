import { printableJson } from '../control-characters.js';
import type { Tally } from '../pipeline/tally.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../protocol/verdict.js';
import { grouped, lasted, share, sized } from './numbers.js';

/** What a run of the filter came to. */
export interface RunStatistics {
  /**
   * Whether all input was read; else the run was interrupted or nobody read the output any more.
   */
  readonly complete: boolean;
  /** The agents' names, in the order of the tally. */
  readonly agents: readonly string[];
  readonly tally: Tally;
  /** Octets of input that were read. */
  readonly inputOctets: number;
  readonly hosts: {
    /**
     * Hosts in the table, and those of them that URLs were of: `undefined` where they were not
     * counted.
     */
    readonly table: number;
    readonly seen: number | undefined;
  };
  readonly seconds: {
    /** Until the first record could be judged, and from then on. */
    readonly setup: number;
    readonly filter: number;
    /** Of all threads, in user and in kernel mode. */
    readonly user: number;
    readonly system: number;
  };
  /** Most memory that the process had at once. */
  readonly peakOctets: number;
}

interface AgentCounts {
  readonly verdicts: Record<Verdict, number>;
  readonly reasons: Record<Reason, number>;
}

/** An agent's outcomes, numbered `verdict << 4 | reason`, by verdict and by reason. */
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

/** A line for the machine: one JSON object. */
export function statisticsJson(statistics: RunStatistics): string {
  const { agents, tally, seconds, hosts } = statistics;
  return printableJson({
    complete: statistics.complete,
    records: tally.records,
    passed: tally.passed,
    bad: tally.bad,
    bytes: statistics.inputOctets,
    agents: agents.map((agent, index) => ({ agent, ...countsOf(tally.outcomes[index] ?? []) })),
    hosts,
    seconds: { wall: seconds.setup + seconds.filter, ...seconds },
    recordsPerSecond: Math.round(perSecond(tally.records, seconds.filter)),
    bytesPerSecond: Math.round(perSecond(statistics.inputOctets, seconds.filter)),
    peakBytes: statistics.peakOctets,
  });
}

/** Lines for the reader. */
export function statisticsText(statistics: RunStatistics): string {
  const { agents, tally, inputOctets, hosts, seconds } = statistics;
  const rows: [string, string][] = [
    ['records', `${grouped(tally.records)}, of which ${grouped(tally.passed)} came out`],
    ['input', `${sized(inputOctets)}${statistics.complete ? '' : ', not all that there was'}`],
  ];
  agents.forEach((agent, index) => {
    const { verdicts, reasons } = countsOf(tally.outcomes[index] ?? []);
    if (agents.length > 1) rows.push([agent, '']);
    rows.push(...countRows(VERDICTS, verdicts, tally.records, true));
    rows.push(['because of', ''], ...countRows(REASONS, reasons, tally.records, false));
  });
  const rate = perSecond(tally.records, seconds.filter);
  const octetRate = perSecond(inputOctets, seconds.filter);
  rows.push(
    hosts.seen === undefined
      ? ['hosts', `${grouped(hosts.table)} in the table`]
      : ['hosts seen', `${grouped(hosts.seen)} of ${grouped(hosts.table)} in the table`],
    ['throughput', `${grouped(rate)} records/s, ${sized(octetRate)}/s`],
    [
      'time',
      `${lasted(seconds.setup + seconds.filter)}: ${lasted(seconds.setup)} to start, ${lasted(seconds.filter)} to filter`,
    ],
    ['CPU time', `${lasted(seconds.user)} user, ${lasted(seconds.system)} system`],
    ['peak memory', sized(statistics.peakOctets)],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}

/** What there is none of is left out, unless all are to be named. */
function countRows<Word extends string>(
  words: readonly Word[],
  counts: Readonly<Record<Word, number>>,
  total: number,
  all: boolean,
): [string, string][] {
  const width = grouped(total).length;
  return words
    .filter((word) => all || counts[word] > 0)
    .map((word) => [
      `  ${word}`,
      `${grouped(counts[word]).padStart(width)}  ${share(counts[word], total).padStart(7)}`,
    ]);
}

function perSecond(count: number, seconds: number): number {
  return seconds > 0 ? count / seconds : 0;
}

/**
 * How many records `--allowed` and `--denied` leave out alike, for want of an answer; undefined if
 * there are none.
 */
export function leftOut(tally: Tally): string | undefined {
  // Whether a host is known and a URL valid does not depend on the agent.
  const { verdicts } = countsOf(tally.outcomes[0] ?? []);
  const kinds = (['unknown', 'invalid'] as const)
    .filter((verdict) => verdicts[verdict] > 0)
    .map((verdict) => `${grouped(verdicts[verdict])} ${verdict}`);
  if (kinds.length === 0) return undefined;
  const remedy =
    verdicts.unknown > 0 ? ' (--unknown allow or --unknown deny decides the unknown ones)' : '';
  return `left out, as neither allowed nor denied: ${kinds.join(' and ')}${remedy}`;
}
