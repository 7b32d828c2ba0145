/** The command `audit`: what agents may fetch of each host, proven from the rules. */

import { printable } from '../../base/control-characters.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { labelledHosts } from '../../inspect/host-report.js';
import { openForHosts, type Table, tableMemory } from '../../judge/table.js';
import { hasHistories } from '../../judge/table-memory.js';
import type { Agent } from '../../protocol/agent.js';
import type { Authority } from '../../protocol/authority.js';
import type { Use } from '../../protocol/uses.js';
import {
  describeAgents,
  neededTokens,
  noteUnnamedAgents,
  noteUnnamedInTable,
  parseAgents,
} from '../agents.js';
import { Diagnostics, SUCCESS, shellWords, usageError } from '../console.js';
import {
  checkSpreadsheet,
  type RobotsOptions,
  type RowOptions,
  type UseOptions,
  usesOf,
} from '../options.js';
import { auditColumns, HostAudit, type RowChoice } from '../report/audit-figures.js';
import { type ReportAbout, reportAbout } from '../report/figures.js';
import {
  HISTORY_COLUMNS,
  HistoryAudit,
  historyFigures,
  isTooFine,
  isTooLong,
  type Period,
  type TimeCounts,
  URL_HISTORY_COLUMNS,
  UrlHistory,
} from '../report/history-figures.js';
import { openRows, type ReportFormat, withAgents } from '../report/rows.js';
import { formatCount, formatNumber } from '../text.js';
import {
  kindOfArgument,
  noteEmptyList,
  readHosts,
  readRobotsFile,
  urlsOf,
  withPaths,
} from './arguments.js';
import { compileWithRecords, openWithRecords, singleWithRecords } from './compile-caches.js';
import { noteUnstatedUses } from './filter-table.js';
import { checkReportFile, filesToKeep, refuseOnTerminal, writeReport } from './outputs.js';
import {
  agentWords,
  checkChoices,
  checkProfile,
  checkRobotsSource,
  givenOf,
  purposeOf,
  refuseEmptyTable,
  refuseReadingOptions,
  refuseSingleRobots,
} from './robots-source.js';

export interface AuditOptions extends RobotsOptions, RowOptions, UseOptions {
  readonly table?: string;
  readonly hosts?: string;
  readonly only?: 'all' | 'part' | 'none' | 'unknown';
  readonly report?: string;
  readonly format?: ReportFormat;
  readonly history?: boolean;
  readonly every?: Period;
  /** A file of URLs, which are counted in place of hosts. */
  readonly urls?: string;
}

const NO_TIME =
  'audit reads the newest robots.txt files of a table. To judge URLs by those of a time, type: robots-filter --table FILE --as-of DATE. To audit captures up to a time, name them with --robots-dir';

/**
 * `robots-filter audit`: prints for each host and agent how much of the host is allowed.
 *
 * @param paths the arguments, which name robots.txt files or a table
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function audit(paths: readonly string[], given: AuditOptions): Promise<number> {
  const [single] = await Promise.all(paths.map(singleOf));
  const options = single === undefined ? await withPaths('audit', paths, given) : given;
  const { robotsDir = paths, table: path, report } = options;
  const { format = report === undefined ? 'table' : undefined } = options;
  if (robotsDir.length === 0 && path === undefined) {
    throw usageError(
      'audit needs robots.txt files or a table. Type: robots-filter audit PATH -a GPTBot',
    );
  }
  checkSpreadsheet(options);
  checkHistory(options);
  const uses = usesOf(options);
  if (single === undefined) {
    refuseSingleRobots(robotsDir, ['audit', ...agentWords(options)]);
    checkRobotsSource([], options, NO_TIME);
    if (path === undefined) await checkChoices(robotsDir, options, 'Leave --as-of out');
  } else checkSingle(single, paths, options);
  if (format === 'parquet') refuseOnTerminal('Parquet', '> audit.parquet');
  if (report !== undefined) {
    checkReportFile(report, filesToKeep(options), [options.hosts, options.urls, single]);
    if (format === undefined && options.only !== undefined) {
      throw usageError(
        '--only selects rows, and --report alone writes none. Add --format table, or leave --only out',
      );
    }
  }
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const asked = options.hosts === undefined ? undefined : await readHosts(options.hosts);
  if (asked?.size === 0) noteEmptyList(options.hosts ?? '', 'host', diagnostics);
  const opened =
    single === undefined
      ? await openAudited(options, asked, uses, diagnostics)
      : await openSingle(single, options, uses, diagnostics);
  if (typeof opened === 'number') return opened;
  const { table, named } = opened;
  const agents = parseAgents(options.agent, table.profile);
  const sources = path === undefined ? robotsDir.map(inputName) : [path];
  const { view } = tableMemory(table);
  for (const agent of agents) view.checkAgent(agent);
  view.checkUses(uses);
  if (table.hosts > 0) noteUnstatedUses(uses, view, sources.join(', '), diagnostics, named);
  if (named === undefined) {
    await noteUnnamedInTable(tableMemory(table), agents, options, diagnostics);
  } else if (table.hosts > 0) {
    await noteUnnamedAgents(agents, named, options, diagnostics);
  }
  const about = reportAbout(sources, table.profile);
  const audited = { table, agents, asked, about, format, options, diagnostics };
  if (options.history === true) return auditHistory(audited);
  const names = agents.map(({ name }) => name);
  const keysOf = format === 'parquet' ? await keysFor(single) : undefined;
  const columns = withAgents(auditColumns(uses, keysOf !== undefined), names);
  const sink = format === undefined ? undefined : await openRows(format, columns, options);
  const described = report === undefined ? undefined : await describeAgents(agents, options);
  const hosts = new HostAudit(
    sink,
    table,
    { agents, uses },
    { only: options.only, keysOf },
    described,
  );
  const { tally } = hosts;
  for (const [host, parts] of labelledHosts(view, asked)) {
    // A report needs all hosts.
    if (sink?.isClosed === true && report === undefined) break;
    if (sink?.isFull === true) await sink.write();
    hosts.add(host, parts);
  }
  await sink?.end();
  if (report !== undefined) await writeReport(report, tally.figures(about, view, agents));
  if (sink?.isClosed === true) return SUCCESS;
  for (const line of totals(tally)) diagnostics.note(line);
  if (sink?.omission !== undefined) diagnostics.note(sink.omission);
  return SUCCESS;
}

/** What gives the keys of hosts. One robots.txt names no host: `robots.txt` would be one. */
async function keysFor(single: string | undefined): Promise<RowChoice['keysOf']> {
  if (single !== undefined) return () => [undefined, undefined];
  const { joinKeys } = await import('../../inspect/join-keys.js');
  return joinKeys;
}

/** The path of an argument that is one robots.txt, and no list of hosts or URLs. */
async function singleOf(path: string): Promise<string | undefined> {
  if ((await kindOfArgument(path)) !== 'robots.txt') return undefined;
  if (path === STANDARD_INPUT || purposeOf(path) === 'robots.txt') return path;
  // A compressed robots.txt shows no line, and the error says what to type.
  await readRobotsFile(path, 'audit', new Diagnostics(true));
  throw usageError(
    `${printable(path)} has no user-agent line, and so is no robots.txt. If it names hosts, type: robots-filter audit PATH --hosts ${shellWords([path])}`,
  );
}

/** @throws RobotsFilterError `usage` for what is about many hosts */
function checkSingle(single: string, paths: readonly string[], options: AuditOptions): void {
  const name = printable(inputName(single));
  if (paths.length > 1 || options.robotsDir !== undefined || options.table !== undefined) {
    throw usageError(
      `${name} is one robots.txt, which names no host, and stands beside other files. Audit it alone: ${shellWords(['robots-filter', 'audit', single, ...agentWords(options)])}`,
    );
  }
  refuseReadingOptions(options, 'robots.txt');
  const [idle] = givenOf([
    ['--hosts', options.hosts],
    ['--history', options.history],
  ]);
  if (idle === undefined) return;
  throw usageError(`${idle} is about many hosts, and ${name} is one robots.txt. Leave ${idle} out`);
}

/** Compiles one robots.txt, which has no host, into a table. */
async function openSingle(
  path: string,
  options: AuditOptions,
  uses: readonly Use[],
  diagnostics: Diagnostics,
) {
  const body = await readRobotsFile(path, 'audit', diagnostics);
  const table = singleWithRecords(path, body, { ...options, signals: uses.length > 0 });
  return { table, named: tableMemory(table).view };
}

/**
 * Opens the table, or compiles the caches into one.
 *
 * @param asked the hosts that are needed; `undefined` for all
 * @returns the table, and for caches the product tokens that they name; or the exit code after a
 *   signal
 */
async function openAudited(
  options: AuditOptions,
  asked: ReadonlyMap<string, Authority> | undefined,
  uses: readonly Use[],
  diagnostics: Diagnostics,
) {
  const { robotsDir = [], table: path, profile } = options;
  if (path === undefined) {
    const agents = parseAgents(options.agent, profile ?? 'rfc9309');
    // A report tells distinct robots.txt files from each other by all their groups.
    const countsFiles = options.report !== undefined && options.urls === undefined;
    const tokens = countsFiles ? undefined : neededTokens(agents, uses);
    const signals = uses.length > 0;
    return compileWithRecords(robotsDir, { ...options, signals }, tokens, diagnostics);
  }
  const hosts = asked && Array.from(asked.values(), ({ host }) => host);
  if (options.history === true) {
    const table = await openForHosts(path, hosts);
    refuseEmptyTable(path, tableMemory(table).hosts, options, diagnostics);
    if (!hasHistories(tableMemory(table))) {
      throw usageError(
        `${path} has no histories. Compile it with --history, or leave --history out`,
      );
    }
    checkProfile(table.profile, path, profile);
    return { table, named: undefined };
  }
  const table = await openWithRecords(path, options, diagnostics, hosts);
  checkProfile(table.profile, path, profile);
  return { table, named: undefined };
}

/** @throws RobotsFilterError `usage` for options without effect on the audit of a history */
function checkHistory(options: AuditOptions): void {
  const { history, every, urls, hosts, only, asOf, use } = options;
  if (history !== true) {
    if (every !== undefined) {
      throw usageError('--every has no effect without --history. Add it, or leave --every out');
    }
    if (urls === undefined) return;
    throw usageError(
      `--urls counts URLs through time: add --history. To count them by the newest robots.txt files, type: robots-filter --table FILE --stats-by agent ${shellWords([urls])}`,
    );
  }
  if (urls !== undefined && hosts !== undefined) {
    throw usageError('--hosts counts hosts, and --urls counts URLs. Leave one out');
  }
  if (use !== undefined) {
    throw usageError(
      '--use asks about the newest robots.txt files, and --history counts hosts at many times. Leave one out',
    );
  }
  const idle = [
    ['--only', only, 'shows hosts'],
    ['--as-of', asOf, 'asks for one time'],
  ] as const;
  for (const [option, value, what] of idle) {
    if (value === undefined) continue;
    throw usageError(`${option} ${what}, and --history counts hosts at many. Leave one out`);
  }
}

/** What is audited, and how it is shown. */
interface Audited {
  readonly table: Table;
  readonly agents: readonly Agent[];
  readonly asked: ReadonlyMap<string, Authority> | undefined;
  readonly about: ReportAbout;
  /** `undefined` if no rows are wanted. */
  readonly format: ReportFormat | undefined;
  readonly options: AuditOptions;
  readonly diagnostics: Diagnostics;
}

/** Prints for each agent and time how many hosts allow how much. */
async function auditHistory(audited: Audited): Promise<number> {
  const { agents, about, format, options } = audited;
  const { every = 'month', urls, report } = options;
  const counted = urls === undefined ? countHosts(audited) : await countUrls(audited, urls);
  const counts: TimeCounts<string> = counted.counts;
  if (isTooFine(counts, every)) {
    throw usageError(`--every ${every}d gives more than 100,000 times. Use more days`);
  }
  if (report !== undefined && isTooLong(counts, every, agents.length)) {
    throw usageError(
      `--report has no room for so many times of ${formatCount(agents.length, 'agent')}. Use more days with --every, or fewer agents`,
    );
  }
  if (format !== undefined) {
    const columns = urls === undefined ? HISTORY_COLUMNS : URL_HISTORY_COLUMNS;
    const names = agents.map(({ name }) => name);
    const sink = await openRows(format, withAgents(columns, names), options);
    for (const { time, agent, counts: ofKinds } of counts.figures(every)) {
      if (sink.isClosed) break;
      sink.add({ cells: [time, agent, ...Object.values(ofKinds)] });
      if (sink.isFull) await sink.write();
    }
    await sink.end();
  }
  if (report !== undefined) {
    const described = await describeAgents(agents, options);
    await writeReport(report, historyFigures(about, described, every, counted));
  }
  return SUCCESS;
}

/** Counts the hosts of a table through time. */
function countHosts({ table, agents, asked, diagnostics }: Audited): HistoryAudit {
  const view = tableMemory(table).view.withUnknown();
  const audit = new HistoryAudit(view, agents, table.profile === 'google');
  let missing = 0;
  for (const [, parts] of labelledHosts(view, asked)) {
    const authorities = parts.flatMap(([, authority]) => authority ?? []);
    if (authorities.length === 0) missing++;
    else audit.add(authorities);
  }
  if (missing > 0) {
    diagnostics.note(`warning: ${formatCount(missing, 'host')} of --hosts without a robots.txt`);
  }
  return audit;
}

/** Counts the URLs of a file through time. */
async function countUrls(
  { table, agents, diagnostics }: Audited,
  path: string,
): Promise<UrlHistory> {
  const history = new UrlHistory(table, agents);
  for await (const url of urlsOf(path)) history.add(url);
  history.count();
  if (history.urls === 0) noteEmptyList(path, 'URL', diagnostics);
  else if (history.counts.span === undefined) {
    diagnostics.note(
      `warning: ${inputName(path)} has no URL of a host with a robots.txt, so there is no time to count for`,
    );
  }
  return history;
}

/** One line for each agent: how many hosts allow how much; then one for each use. */
function totals({ agents, uses }: HostAudit['tally']): string[] {
  const ofAgents = agents.map(({ agent, hosts }) => {
    const { none, part, all, unavailable, unreachable, unknown } = hosts;
    const [everything, nothing] = [all + unavailable, none + unreachable];
    const rest = unknown === 0 ? '' : `, ${formatNumber(unknown)} unknown`;
    const counted = formatCount(everything + part + nothing + unknown, 'host');
    return `${agent}: ${counted}: ${formatNumber(everything)} all, ${formatNumber(part)} part, ${formatNumber(nothing)} none${rest}`;
  });
  const ofUses = uses.map(({ agent, use, answers }) => {
    const { granted, refused, part, unstated } = answers;
    return `${agent}, ${use}: ${formatNumber(granted)} granted, ${formatNumber(refused)} refused, ${formatNumber(part)} part, ${formatNumber(unstated)} unstated`;
  });
  return [...ofAgents, ...ofUses];
}
