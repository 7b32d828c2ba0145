/** What is said of a run of the filter: progress, statistics, and why it decided nothing. */

import { formatFieldPath } from '../../base/arguments.js';
import { printableJson } from '../../base/control-characters.js';
import { REASON_BITS, REASON_MASK } from '../../kernel/layout.js';
import type { RecordFormat } from '../../kernel/query-settings.js';
import type { NamedAgents, Tally } from '../../pipeline/counts.js';
import { isUrl } from '../../pipeline/input/columns.js';
import { placeOfUrls, type SampledInput, WHOLE_LINE } from '../../pipeline/input/url-places.js';
import {
  type Authority,
  authorityOfUrl,
  DEFAULT_PORTS,
  formatAuthority,
} from '../../protocol/authority.js';
import {
  ALL_REASONS,
  USE_WORDS,
  type UseAnswer,
  type UseQuestion,
  type UseReason,
} from '../../protocol/uses.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../../protocol/verdict.js';
import { answersFor, type TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { type Diagnostics, ProgressLine } from '../console.js';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatShare,
  formatTimeLeft,
} from '../text.js';

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
  /** What was asked about uses; the tally has their outcomes after those of the agents. */
  readonly uses: readonly AskedUse[];
  readonly tally: Tally;
  /** The agents that records name; undefined if all records are judged for the same agents. */
  readonly named: NamedAgents | undefined;
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

/** A question about a use. */
export type AskedUse = Pick<UseQuestion, 'agent' | 'use'>;

interface AgentCounts {
  readonly verdicts: Record<Verdict, number>;
  readonly reasons: Record<Reason, number>;
}

/**
 * The counts of one agent by verdict and by reason.
 *
 * @param outcomes counts by `verdict << REASON_BITS | reason`
 */
export function countsOf(outcomes: readonly number[]): AgentCounts {
  const zeros = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, 0]));
  const verdicts = zeros(VERDICTS) as Record<Verdict, number>;
  const reasons = zeros(REASONS) as Record<Reason, number>;
  outcomes.forEach((count, outcome) => {
    const verdict = VERDICTS[outcome >> REASON_BITS];
    const reason = REASONS[outcome & REASON_MASK];
    if (verdict !== undefined) verdicts[verdict] += count;
    if (reason !== undefined) reasons[reason] += count;
  });
  return { verdicts, reasons };
}

/** The counts of the answers about a use. */
interface UseCounts {
  readonly answers: Record<UseAnswer, number>;
  readonly reasons: Partial<Record<Reason | UseReason, number>>;
}

/**
 * The counts of the answers to one question about a use, by answer and by reason. Records that may
 * not be fetched have no answer, and are not counted.
 *
 * @param outcomes as `countsOf`
 */
export function useCountsOf(outcomes: readonly number[]): UseCounts {
  const answers = { granted: 0, refused: 0, unstated: 0 };
  const reasons: UseCounts['reasons'] = {};
  outcomes.forEach((count, outcome) => {
    const answer = USE_WORDS[outcome >> REASON_BITS];
    const reason = ALL_REASONS[outcome & REASON_MASK];
    if (answer === undefined || answer === '' || reason === undefined || count === 0) return;
    answers[answer] += count;
    reasons[reason] = (reasons[reason] ?? 0) + count;
  });
  return { answers, reasons };
}

/** The counts of all answers about uses, as members of JSON objects. */
export function useFigures(
  { outcomes }: Pick<Tally, 'outcomes'>,
  uses: readonly AskedUse[],
): (UseCounts & { readonly agent: string; readonly use: string })[] {
  const first = outcomes.length - uses.length;
  return uses.map(({ agent, use }, index) => ({
    agent: agent.name,
    use: use.name,
    ...useCountsOf(outcomes[first + index] ?? []),
  }));
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
  const { agents, uses, tally, named, seconds, hosts } = statistics;
  return {
    complete: statistics.complete,
    records: tally.records,
    passed: tally.passed,
    bad: tally.bad,
    bytes: statistics.inputBytes,
    agents: agents.map((agent, index) => ({ agent, ...countsOf(tally.outcomes[index] ?? []) })),
    ...(uses.length === 0 ? {} : { uses: useFigures(tally, uses) }),
    ...(named === undefined ? {} : { named: named.agents.map(namedFigures) }),
    hosts,
    seconds: { wall: seconds.setup + seconds.filter, ...seconds },
    recordsPerSecond: Math.round(perSecond(tally.records, seconds.filter)),
    bytesPerSecond: Math.round(perSecond(statistics.inputBytes, seconds.filter)),
    peakBytes: statistics.peakBytes,
  };
}

/** The verdicts on the records of an agent that they name, as members of a JSON object. */
function namedFigures({ name, verdicts }: NamedAgents['agents'][number]): object {
  return {
    agent: name,
    verdicts: Object.fromEntries(VERDICTS.map((verdict, index) => [verdict, verdicts[index] ?? 0])),
  };
}

/** Number of agents that records name which get a line. */
const MOST_NAMED = 10;

/** Formats statistics as lines for people. */
export function statisticsText(statistics: RunStatistics): string {
  const { agents, uses, tally, named, inputBytes, hosts, seconds } = statistics;
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
  for (const { agent, use, answers, reasons } of useFigures(tally, uses)) {
    rows.push([agents.length > 1 ? `${agent} ${use}` : `use ${use}`, '']);
    rows.push(...countRows(ANSWERS, answers, tally.records, true));
    const found = Object.keys(reasons) as (keyof typeof reasons)[];
    const counts = reasons as Record<keyof typeof reasons, number>;
    rows.push(['reasons', ''], ...countRows(found, counts, tally.records, false));
  }
  if (named !== undefined) {
    const counts = named.agents.map(({ name, verdicts }): [string, number] => {
      return [name, verdicts.reduce((sum, count) => sum + count, 0)];
    });
    const shown = counts.slice(0, MOST_NAMED);
    const count = formatNumber(counts.filter(([name]) => name !== '*').length);
    const isMore = named.others.some((each) => each > 0);
    rows.push(['agents named', isMore ? `more than ${count}` : count]);
    const names = shown.map(([name]) => name);
    rows.push(...countRows(names, Object.fromEntries(shown), tally.records, true));
  }
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

const ANSWERS: readonly UseAnswer[] = ['granted', 'refused', 'unstated'];

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

/** Number of agents whose verdicts the line holds; of more, it names two. */
const MOST_AGENTS = 3;

/** A run that has ended. */
interface EndedRun {
  readonly tally: Tally;
  /** Names of the agents, in the order of the tally; none if no verdicts were asked for. */
  readonly agents: readonly string[];
  readonly uses: readonly AskedUse[];
  readonly seconds: number;
  /** Whether another run could explain the verdicts. */
  readonly isUnexplained: boolean;
}

/** `2,180,064 URLs in 0.60 s: 59.7 % allow, 40.3 % deny; --explain says why`. */
export function closingLine({ tally, agents, uses, seconds, isUnexplained }: EndedRun): string {
  const { records } = tally;
  const start = `${formatCount(records, 'URL')} in ${formatDuration(seconds)}`;
  if (records === 0 || agents.length === 0) return start;
  const counted = agents.map((agent, index) => {
    const { verdicts } = countsOf(tally.outcomes[index] ?? []);
    return { agent, verdicts };
  });
  const all = counted.map(({ agent, verdicts }) => {
    const shares = sharesOf(verdicts, records);
    return counted.length === 1 ? shares : `${agent} ${shares}`;
  });
  const isOther = counted.some(({ verdicts }) => verdicts.allow < records);
  const hint = isUnexplained && isOther ? '; --explain says why' : '';
  for (const { agent, use, answers } of useFigures(tally, uses)) {
    const shares = ANSWERS.filter((answer) => answers[answer] > 0)
      .map((answer) => `${formatShare(answers[answer], records)} ${answer}`)
      .join(', ');
    const who = counted.length === 1 ? use : `${agent} ${use}`;
    if (shares !== '') all.push(`${who} ${shares}`);
  }
  if (all.length <= MOST_AGENTS) return `${start}: ${all.join('; ')}${hint}`;
  const sorted = counted.toSorted((a, b) => a.verdicts.allow - b.verdicts.allow);
  const ends = [sorted[0], sorted.at(-1)].map((end) =>
    end === undefined ? '' : `${formatShare(end.verdicts.allow, records)} allow (${end.agent})`,
  );
  return `${start}: ${agents.length} agents, from ${ends.join(' to ')}${hint}`;
}

function sharesOf(verdicts: Readonly<Record<Verdict, number>>, records: number): string {
  return VERDICTS.filter(
    (verdict) => verdicts[verdict] > 0 || verdict === 'allow' || verdict === 'deny',
  )
    .map((verdict) => `${formatShare(verdicts[verdict], records)} ${verdict}`)
    .join(', ');
}

/** The progress of a run of the filter. */
export interface FilterProgress {
  readonly records: number;
  /** Records that the first agent may fetch. */
  readonly allowed: number;
  /** Number of bytes of input that were read. */
  readonly bytes: number;
}

/** Milliseconds between two lines of a log. */
const LOG_INTERVAL = 2000;
/** Number of seconds over which rates are averaged. */
const RATE_SECONDS = 3;

/** Rates per second. */
interface Rates {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Shows the progress of a run until `end` is called.
 *
 * @param totalBytes bytes of all inputs; undefined if unknown
 */
export function showFilterProgress(
  diagnostics: Diagnostics,
  progress: () => FilterProgress,
  totalBytes: number | undefined,
): ProgressLine {
  const recent = new RecentProgress();
  const describe = (): string => {
    const now = progress();
    return describeFilterProgress(now, recent.rates(now), totalBytes);
  };
  return new ProgressLine(diagnostics, describe, LOG_INTERVAL);
}

/** Measures the rates of the last few seconds. */
class RecentProgress {
  readonly #samples = [{ time: performance.now(), records: 0, bytes: 0 }];

  /** Returns the rates, given the progress so far. */
  rates({ records, bytes }: FilterProgress): Rates {
    const samples = this.#samples;
    const now = performance.now();
    samples.push({ time: now, records, bytes });
    while (samples.length > 2 && now - (samples[1]?.time ?? now) > RATE_SECONDS * 1000) {
      samples.shift();
    }
    const [first] = samples;
    if (first === undefined || now <= first.time) return { records: 0, bytes: 0 };
    const seconds = (now - first.time) / 1000;
    return {
      records: (records - first.records) / seconds,
      bytes: (bytes - first.bytes) / seconds,
    };
  }
}

/** Formats `45.2 % of 1.10 GB, 3 s left, 1,200,000 records, 6,300,000/s, 73.4 % allowed`. */
export function describeFilterProgress(
  { records, allowed, bytes }: FilterProgress,
  rates: Rates,
  totalBytes: number | undefined,
): string {
  const parts = [
    `${formatNumber(records)} records`,
    `${formatNumber(rates.records)}/s`,
    `${formatPercent(allowed, records)} allowed`,
  ];
  if (totalBytes === undefined) return [formatBytes(bytes), ...parts].join(', ');
  const left = Math.max(0, totalBytes - bytes);
  const read = `${formatPercent(totalBytes - left, totalBytes)} of ${formatBytes(totalBytes)}`;
  const time = left > 0 && rates.bytes > 0 ? [formatTimeLeft(left / rates.bytes)] : [];
  return [read, ...time, ...parts].join(', ');
}

// ---- The likely cause if a run decided almost nothing

const WWW = 'www.';

/** The circumstances of a run, from which the likely cause follows. */
interface Circumstances {
  readonly view: TableView;
  /** Number of hosts in the table. */
  readonly hosts: number;
  /** `--table FILE` or `--robots-dir DIR`, as given. */
  readonly source: string;
  /** Path of the URL field, with dots. */
  readonly urlField: string;
  /** Path of the time field, with dots; undefined if all records have one time. */
  readonly timeField?: string | undefined;
  /** The format of the last input. */
  readonly format: RecordFormat | undefined;
  /** The first records of an input in which nothing was decided. */
  readonly sample: SampledInput | undefined;
}

/**
 * Describes the likely cause if a run decided almost nothing (`isUseless`). Records that
 * `--unknown` decided count as decided.
 */
export function describeUselessRun(tally: Tally, circumstances: Circumstances): string {
  const { verdicts, reasons } = countsOf(tally.outcomes[0] ?? []);
  const unanswered = verdicts.unknown + verdicts.invalid;
  const kind = verdicts.unknown >= verdicts.invalid ? 'unknown' : 'invalid';
  const isTooEarly = 2 * reasons['before-first-capture'] > verdicts.unknown;
  const cause = isTooEarly
    ? `The robots.txt files that ${circumstances.source} has for their hosts are of later times. ${circumstances.timeField === undefined ? 'Use a later --as-of, or leave it out for the newest' : `Are the times in "${circumstances.timeField}" right? Leave --time-field out for the newest`}`
    : 2 * reasons['no-recent-capture'] > verdicts.unknown
      ? `The robots.txt files that ${circumstances.source} has for their hosts were last found too long before the time. Use a greater --max-age, or leave it out`
      : kind === 'unknown'
        ? causeOfUnknown(circumstances)
        : causeOfInvalid(reasons, circumstances);
  const share =
    tally.records === 1
      ? 'the only record'
      : `${formatPercent(unanswered, tally.records)} of ${formatNumber(tally.records)} records`;
  return (
    `warning: ${share} got no answer ` +
    `(${formatNumber(verdicts.unknown)} unknown, ${formatNumber(verdicts.invalid)} invalid). ${cause}`
  );
}

function causeOfUnknown({ hosts, source, view, sample, urlField }: Circumstances): string {
  if (hosts === 0) return `There is no robots.txt in ${source}. Check the path`;
  // The sample may begin with the few records that got an answer.
  const authorities = authoritiesOf(sample, urlField).filter(
    (authority) => !authoritiesAt(view, authority.host).some((each) => answersFor(each, authority)),
  );
  const near = nearMiss(authorities, view);
  if (near !== undefined) return near;
  const [first] = authorities;
  const example = first === undefined ? '' : `, such as ${formatAuthority(first)}`;
  return (
    `${source} has no robots.txt for their hosts${example}. Check the path, ` +
    'or fetch what is missing with --fetch --robots-dir DIR'
  );
}

/** The distinct authorities of the sampled URLs, at the place where URLs were read. */
function authoritiesOf(sample: SampledInput | undefined, urlField: string): Authority[] {
  if (sample === undefined) return [];
  const { values } = sample;
  const urls = values.get(urlField) ?? values.get(placeOfUrls(sample) ?? WHOLE_LINE) ?? [];
  const found = new Map<string, Authority>();
  for (const url of urls) {
    const authority = authorityOfUrl(url);
    if (authority !== undefined) found.set(formatAuthority(authority), authority);
  }
  return [...found.values()];
}

/** What differs if the source has a robots.txt for nearly the same authority. */
function nearMiss(authorities: readonly Authority[], view: TableView): string | undefined {
  const fetching = 'fetch what is missing with --fetch --robots-dir DIR';
  for (const authority of authorities) {
    const asked = formatAuthority(authority);
    const there = authoritiesAt(view, authority.host);
    const [other] = there;
    if (other !== undefined) {
      const isOfScheme = there.some(({ schemes }) => schemes.some((s) => s === authority.scheme));
      const name = nameOf(authority.host, other);
      const remedy = isOfScheme
        ? `To have its own, ${fetching}`
        : `A file that is named by its host alone counts for http and https. Or ${fetching}`;
      const what = isOfScheme ? 'port' : 'scheme';
      return `The robots.txt of ${name} does not count for ${asked}, which has another ${what}. ${remedy}`;
    }
    const { host } = authority;
    const sibling = host.startsWith(WWW) ? host.slice(WWW.length) : WWW + host;
    const [sister] = authoritiesAt(view, sibling).filter((each) =>
      answersFor(each, { ...authority, host: sibling }),
    );
    if (sister !== undefined) {
      return `There is a robots.txt for ${sibling}, and it does not count for ${host}. Fetch what is missing with --fetch --robots-dir DIR`;
    }
  }
  return undefined;
}

function authoritiesAt(view: TableView, host: string): readonly TableAuthority[] {
  return view.canFind(host) ? (view.find(host)?.authorities ?? []) : [];
}

function nameOf(host: string, { schemes, port }: TableAuthority): string {
  const [scheme] = schemes;
  const name = formatAuthority({ scheme, host, port });
  return port === undefined && scheme !== undefined
    ? `${name} (port ${DEFAULT_PORTS[scheme]})`
    : name;
}

function causeOfInvalid(
  reasons: Readonly<Record<Reason, number>>,
  { urlField, timeField, format, sample }: Circumstances,
): string {
  if (sample?.document !== undefined) return `The input ${sample.document}`;
  // A record without a time has a fine URL.
  const hasUrls = reasons['no-time'] > reasons['no-url'] + reasons['invalid-url'];
  const isElsewhere = sample === undefined || hasUrls ? undefined : elsewhere(sample, urlField);
  if (isElsewhere !== undefined) return isElsewhere;
  if (format === 'log' && !hasUrls) {
    return 'Their lines are not those of the combined format of Apache httpd or nginx, or lack the host that must begin each line without --host NAME';
  }
  const causes = [
    [
      reasons['no-url'],
      format === 'cdx'
        ? 'They have no URL, or more or fewer fields than the header or the first line. If the header is wrong, leave it out and give the column: tail -n +2 FILE | robots-filter --input cdx --url-field N …'
        : `Their objects have no string "${urlField}". Use --url-field NAME`,
    ],
    [
      reasons['tab-in-line'],
      'Their lines are columns. Extract the URLs: cut -f1 FILE | robots-filter …',
    ],
    [
      reasons['return-in-line'],
      "Their lines end in CR. Convert them: tr '\\r' '\\n' < FILE | robots-filter …",
    ],
    [
      reasons['invalid-url'],
      format === 'text'
        ? adviceFor(sample?.values.get(WHOLE_LINE) ?? [])
        : `If the values of "${urlField}" are hosts, add a scheme: a URL begins with https:// or http://`,
    ],
    [
      reasons['no-object'] + reasons['no-json'],
      format === 'warc'
        ? 'The file is damaged, or holds no WARC records. Copy it again'
        : 'They are not JSON objects, one per line. Leave --input out, or use --input text or --input json',
    ],
    [
      reasons['no-time'],
      `They have no time in "${timeField}" that can be read. Use --time-field NAME; "robots-filter --help" names the forms`,
    ],
    [reasons['line-too-long'], 'They are too long. Use --max-line-bytes N'],
    [reasons['nested-too-deep'], 'They nest too deeply. Flatten them'],
  ] as const;
  return causes.reduce((most, cause) => (cause[0] > most[0] ? cause : most))[1];
}

/** What to do with lines that are no URLs. */
function adviceFor(lines: readonly string[]): string {
  const isMost = (has: (line: string) => boolean) => 2 * lines.filter(has).length > lines.length;
  if (isMost(hasUrlInside)) {
    return `Their lines hold URLs among other text. Cut the URLs out: grep -aoE "${URL_INSIDE}" FILE | robots-filter …`;
  }
  const start = isMost((line) => line.startsWith('//'))
    ? ['URLs without a scheme', 'https:']
    : isMost((line) => line.startsWith('/'))
      ? ['paths without a host', 'https://HOST']
      : undefined;
  if (start !== undefined) {
    return `They are ${start[0]}. Add what is missing: sed 's,^,${start[1]},' FILE | robots-filter …`;
  }
  return "If they are hosts, add a scheme: sed 's,^,https://,' FILE | robots-filter …";
}

/** What ends a URL in other text. */
const ENDS_OF_URL = ' \t<>"|';
const URL_INSIDE = '(https?|ftp)://[^[:space:]<>|\\"]+';

/** Whether a URL begins a line after such a character. */
function hasUrlInside(line: string): boolean {
  for (let at = 0; at < line.length; at++) {
    if (ENDS_OF_URL.includes(line[at] ?? '') && isUrl(line.slice(at + 1, at + 9))) return true;
  }
  return false;
}

/** Where the URLs are, if they are elsewhere than was looked. */
function elsewhere(sample: SampledInput, urlField: string): string | undefined {
  const { unit, otherFormat, lists } = sample;
  if (otherFormat !== undefined) {
    return `Their lines are ${LINES[otherFormat]}. Use --input ${otherFormat}, or leave --input out`;
  }
  if (unit === undefined) return undefined;
  const place = placeOfUrls(sample);
  if (place === urlField) return undefined;
  if (place !== undefined) {
    return `The ${unit} "${place}" holds URLs. Use --url-field ${shellWord(place)}`;
  }
  const [list] = lists;
  return list && `The member "${formatFieldPath(list)}" holds lists of URLs. ${eachOf(list)}`;
}

/** What the lines of an input are, by its format. */
const LINES: Readonly<Record<RecordFormat, string>> = {
  text: 'URLs or other text, and no objects',
  ndjson: 'JSON objects',
  json: 'parts of JSON',
  csv: 'rows',
  tsv: 'rows',
  cdx: 'those of an index in columns',
  cdxj: 'those of an index: key, time and JSON object',
  parquet: 'bytes of Parquet',
  warc: 'records of WARC',
  log: "those of a web server's log",
};

/** The command that makes a list of the URLs in a member of each object. */
function eachOf(path: readonly string[]): string {
  const isPlain = path.every((key) => shellWord(key) === key);
  const place = isPlain ? path.map((key) => `['${key}']`).join('') : "['NAME']";
  return `Cut them out: cat FILE | python3 -c "import json, sys; [print(url) for line in sys.stdin for url in json.loads(line)${place}]" | robots-filter …`;
}

const PLAIN = 'abcdefghijklmnopqrstuvwxyz0123456789_-.';

/** A name as a word of a shell. */
function shellWord(name: string): string {
  const isPlain = [...name.toLowerCase()].every((character) => PLAIN.includes(character));
  return isPlain ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
