/** The command `audit`: what agents may fetch of each host, proven from the rules. */

import { printable, printableJson } from '../../base/control-characters.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { replaceFile } from '../../files/replacement.js';
import { labelledHosts } from '../../inspect/host-report.js';
import { openForHosts, type Table, tableMemory } from '../../judge/table.js';
import { hasHistories } from '../../judge/table-memory.js';
import type { Agent } from '../../protocol/agent.js';
import type { Authority } from '../../protocol/authority.js';
import type { Use } from '../../protocol/uses.js';
import { neededTokens, noteUnnamedAgents, noteUnnamedInTable, parseAgents } from '../agents.js';
import { Diagnostics, SUCCESS, shellWords, usageError } from '../console.js';
import {
  checkSpreadsheet,
  type RobotsOptions,
  type RowOptions,
  type UseOptions,
  usesOf,
} from '../options.js';
import { type AuditFigures, auditColumns, HostAudit } from '../report/audit-figures.js';
import {
  HISTORY_COLUMNS,
  HistoryAudit,
  isTooFine,
  type Period,
  type TimeCounts,
  URL_HISTORY_COLUMNS,
  UrlHistory,
} from '../report/history-figures.js';
import { type HeldRows, openRows, type ReportFormat, withAgents } from '../report/rows.js';
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
import {
  type ReportForm,
  refuseParquetOnTerminal,
  refuseStandardOutputAsReport,
  reportForm,
} from './outputs.js';
import {
  agentWords,
  checkProfile,
  checkRobotsSource,
  checkTime,
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
  const { robotsDir = paths, table: path, format = 'table' } = options;
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
    if (path === undefined) await checkTime(robotsDir, options, 'Leave --as-of out');
  } else checkSingle(single, paths, options);
  if (format === 'parquet') refuseParquetOnTerminal('> audit.parquet');
  const form = options.report === undefined ? undefined : reportForm(options.report);
  if (options.report !== undefined) refuseStandardOutputAsReport(options.report);
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
  const source = path ?? robotsDir.map(inputName).join(', ');
  const { view } = tableMemory(table);
  for (const agent of agents) view.checkAgent(agent);
  view.checkUses(uses);
  if (table.hosts > 0) noteUnstatedUses(uses, view, source, diagnostics, named);
  if (named === undefined) {
    await noteUnnamedInTable(tableMemory(table), agents, options, diagnostics);
  } else if (table.hosts > 0) {
    await noteUnnamedAgents(agents, named, options, diagnostics);
  }
  if (options.history === true) return auditHistory(table, agents, asked, options, diagnostics);
  const about = {
    source,
    profile: table.profile,
    created: new Date().toISOString(),
  };
  const names = agents.map(({ name }) => name);
  const sink = await openRows(format, withAgents(auditColumns(uses), names), {
    spreadsheet: options.spreadsheet,
    page: (rows) => reportText(figures(), 'html', rows),
  });
  const hosts = new HostAudit(sink, table, { agents, uses }, options.only);
  const { tally } = hosts;
  const figures = (): AuditFigures => tally.figures(about, view.hasRecords);
  for (const [label, authorities] of labelledHosts(view, asked)) {
    // A report needs all hosts.
    if (sink.isClosed && options.report === undefined) break;
    if (authorities.length === 0) hosts.addUnknown(label);
    for (const [name, authority] of authorities) {
      if (sink.isFull) await sink.write();
      hosts.add(name, authority);
    }
    if (sink.isFull) await sink.write();
  }
  await sink.end();
  if (form !== undefined && options.report !== undefined) {
    await replaceFile(options.report, Buffer.from(await reportText(figures(), form)));
  }
  if (sink.isClosed) return SUCCESS;
  for (const line of totals(tally)) diagnostics.note(line);
  if (sink.omission !== undefined) diagnostics.note(sink.omission);
  return SUCCESS;
}

/** The path of an argument that is one robots.txt, and no list of hosts or URLs. */
async function singleOf(path: string): Promise<string | undefined> {
  if ((await kindOfArgument(path)) !== 'robots.txt') return undefined;
  if (path === STANDARD_INPUT || purposeOf(path) === 'robots.txt') return path;
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
    const tokens = neededTokens(parseAgents(options.agent, profile ?? 'rfc9309'), uses);
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
  const { history, every, urls, hosts, only, report, format, asOf, use } = options;
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
    ['--report', report, 'shows one time'],
    ['--format html', format === 'html' || undefined, 'shows one time'],
    ['--as-of', asOf, 'asks for one time'],
  ] as const;
  for (const [option, value, what] of idle) {
    if (value === undefined) continue;
    throw usageError(`${option} ${what}, and --history counts hosts at many. Leave one out`);
  }
}

/** Prints for each agent and time how many hosts allow how much. */
async function auditHistory(
  table: Table,
  agents: readonly Agent[],
  asked: ReadonlyMap<string, Authority> | undefined,
  options: AuditOptions,
  diagnostics: Diagnostics,
): Promise<number> {
  const { format = 'table', spreadsheet, every = 'month', urls } = options;
  const counts: TimeCounts<string> =
    urls === undefined
      ? countHosts(table, agents, asked, diagnostics)
      : await countUrls(table, agents, urls, diagnostics);
  if (isTooFine(counts, every)) {
    throw usageError(`--every ${every}d gives more than 100,000 times. Use more days`);
  }
  const names = agents.map(({ name }) => name);
  const columns = urls === undefined ? HISTORY_COLUMNS : URL_HISTORY_COLUMNS;
  const sink = await openRows(format, withAgents(columns, names), {
    spreadsheet,
    page: () => Promise.reject(new Error('a history has no page')),
  });
  for (const { time, agent, counts: ofKinds } of counts.figures(every)) {
    if (sink.isClosed) return SUCCESS;
    sink.add({ cells: [time, agent, ...Object.values(ofKinds)] });
    if (sink.isFull) await sink.write();
  }
  await sink.end();
  return SUCCESS;
}

/** Counts the hosts of a table through time. */
function countHosts(
  table: Table,
  agents: readonly Agent[],
  asked: ReadonlyMap<string, Authority> | undefined,
  diagnostics: Diagnostics,
): TimeCounts<string> {
  const view = tableMemory(table).view.withUnknown();
  const audit = new HistoryAudit(view, agents, table.profile === 'google');
  let missing = 0;
  for (const [, authorities] of labelledHosts(view, asked)) {
    if (authorities.length === 0) missing++;
    for (const [, authority] of authorities) audit.add(authority);
  }
  if (missing > 0) {
    diagnostics.note(`warning: ${formatCount(missing, 'host')} of --hosts without a robots.txt`);
  }
  return audit.counts;
}

/** Counts the URLs of a file through time. */
async function countUrls(
  table: Table,
  agents: readonly Agent[],
  path: string,
  diagnostics: Diagnostics,
): Promise<TimeCounts<string>> {
  const history = new UrlHistory(table, agents);
  for await (const url of urlsOf(path)) history.add(url);
  history.count();
  if (history.urls === 0) noteEmptyList(path, 'URL', diagnostics);
  else if (history.counts.span === undefined) {
    diagnostics.note(
      `warning: ${inputName(path)} has no URL of a host with a robots.txt, so there is no time to count for`,
    );
  }
  return history.counts;
}

/** One line for each agent: how many hosts allow how much; then one for each use. */
function totals({ agents, uses }: HostAudit['tally']): string[] {
  const ofAgents = agents.map(({ agent: name, all, part, none, unknown }) => {
    const rest = unknown === 0 ? '' : `, ${formatNumber(unknown)} unknown`;
    const hosts = formatCount(all + part + none + unknown, 'host');
    return `${name}: ${hosts}: ${formatNumber(all)} all, ${formatNumber(part)} part, ${formatNumber(none)} none${rest}`;
  });
  const ofUses = uses.map(({ agent, use, answers }) => {
    const { granted, refused, part, unstated } = answers;
    return `${agent}, ${use}: ${formatNumber(granted)} granted, ${formatNumber(refused)} refused, ${formatNumber(part)} part, ${formatNumber(unstated)} unstated`;
  });
  return [...ofAgents, ...ofUses];
}

async function reportText(
  figures: AuditFigures,
  form: ReportForm,
  rows?: HeldRows,
): Promise<string> {
  if (form === 'json') return `${printableJson(figures)}\n`;
  const { auditPage } = await import('../report/report-pages.js');
  return auditPage(figures, rows);
}
