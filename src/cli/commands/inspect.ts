/** The command `inspect`: what a table holds. */

import { existsSync } from 'node:fs';
import { printable, printableJson } from '../../base/control-characters.js';
import type { RobotsFilterError } from '../../base/errors.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import {
  type AskedAgent,
  authorityJson,
  authorityLines,
  authorityNames,
  historyLines,
  type VersionReport,
  versionJson,
} from '../../inspect/host-report.js';
import { type AgentSummary, TableAudit } from '../../inspect/table-audit.js';
import { openForHosts, type Table, tableIn, tableMemory } from '../../judge/table.js';
import {
  hasHistories,
  secondsOfTime,
  type TableMemory,
  tableAt,
} from '../../judge/table-memory.js';
import { type Authority, formatAuthority } from '../../protocol/authority.js';
import { SECTION_NAMES } from '../../table/check.js';
import type { VerifiedTable } from '../../verify/verify-table.js';
import { answersFor, type TableAuthority, type TableHost } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { parseAgents } from '../agents.js';
import { Diagnostics, SUCCESS, shellWords, usageError } from '../console.js';
import type { RobotsOptions } from '../options.js';
import { TextBatches } from '../report/rows.js';
import { formatBytes, formatCount, formatNumber, formatPercent } from '../text.js';
import { askedAuthority, isCacheName, type PathKind, readRobotsFile } from './arguments.js';
import { compileWithRecords, SINGLE_HOST, singleWithRecords } from './compile-caches.js';
import {
  agentWords,
  checkChoices,
  checkProfile,
  givenOf,
  noteTimeToCome,
  purposeOf,
  refuseReadingOptions,
} from './robots-source.js';

export interface InspectOptions extends RobotsOptions {
  readonly verify?: boolean;
  readonly json?: boolean;
  readonly history?: boolean;
}

/**
 * Number of product tokens in every table: `*`, and the empty one, which only the google profile
 * uses.
 */
const FIXED_TOKENS = 2;
/** Maximum number of product tokens of a reduced table that are named. */
const NAMED_TOKENS = 20;

/**
 * `robots-filter inspect`: prints the totals of a table, or the groups and rules of one host.
 *
 * @param name a host, `HOST:PORT` or a URL
 * @returns the exit code
 * @throws RobotsFilterError `table` if the table cannot be opened or is not sound, `usage` for a
 *   name that is not a host or not in the table
 */
export async function inspect(
  path: string,
  name: string | undefined,
  options: InspectOptions = {},
): Promise<number> {
  checkOrder(path, name, options);
  const kind = await kindOf(path);
  const asked = name === undefined ? undefined : parseName(name);
  if (kind === 'robots.txt') return inspectSingle(path, asked, options);
  if (asked === undefined) refuseWithoutHost(path, kind, options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const opened = await openInspected(path, kind, asked, options, diagnostics);
  if (typeof opened === 'number') return opened;
  const table = opened;
  const verified = options.verify === true ? await table.verify() : undefined;
  if (asked !== undefined) {
    const memory = tableMemory(table);
    if (options.history === true) {
      const view = memory.view.withUnknown();
      printHistory(table, view, findHost(path, view, asked), options);
      return SUCCESS;
    }
    const time = kind === 'cache' ? undefined : options.asOf;
    noteTimeToCome(time, diagnostics);
    const answering =
      time === undefined ? table : tableIn(tableAt(memory, secondsOfTime(time)), path);
    printHost(answering, findHost(path, tableMemory(answering).view, asked), options);
    return SUCCESS;
  }
  const asJson = options.json === true;
  print(
    asJson ? [printableJson(totalsJson(path, table, verified))] : totals(path, table, verified),
  );
  return SUCCESS;
}

/** @throws RobotsFilterError `usage` for a host before its table */
function checkOrder(path: string, name: string | undefined, options: InspectOptions): void {
  if (name === undefined || existsSync(path) || !existsSync(name)) return;
  throw usageError(
    `the table comes first, then the host. Type: ${shellWords(['robots-filter', 'inspect', name, path, ...agentWords(options)])}`,
  );
}

/** What is inspected. A named pipe may hold a table; any other file is opened as one, and fails. */
async function kindOf(path: string): Promise<PathKind> {
  if (path === STANDARD_INPUT) return 'robots.txt';
  const purpose = purposeOf(path);
  if (purpose !== undefined) return purpose === 'directory' ? 'cache' : purpose;
  return isCacheName(path) && existsSync(path) ? 'cache' : 'table';
}

/** Prints the groups and rules of one robots.txt, which has no host. */
async function inspectSingle(
  path: string,
  asked: Authority | undefined,
  options: InspectOptions,
): Promise<number> {
  refuseReadingOptions(options, 'robots.txt');
  const [idle] = givenOf([
    ['a host', asked],
    ['--history', options.history],
    ['--verify', options.verify],
  ]);
  const name = inputName(path);
  if (idle !== undefined) {
    throw usageError(
      `${printable(name)} is one robots.txt, which names no host, and so ${idle} has no effect. Leave it out`,
    );
  }
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const body = await readRobotsFile(path, 'inspect', diagnostics);
  const table = singleWithRecords(path, body, options);
  const { view } = tableMemory(table);
  const host = view.find(SINGLE_HOST);
  const [authority] = host?.authorities ?? [];
  if (host === undefined || authority === undefined) throw new Error('no robots.txt was compiled');
  const said = askedOf(table, options)(authority);
  if (options.json === true) {
    const object = authorityJson(view, host, authority, said);
    print([printableJson({ ...object, host: null, schemes: [] })]);
  } else {
    // The first line names schemes and a host.
    const [, ...lines] = authorityLines(view, host, authority, said);
    print([name, ...lines]);
  }
  return SUCCESS;
}

/** Opens the table, or compiles the files; a number is the exit code after a signal. */
async function openInspected(
  path: string,
  kind: PathKind,
  asked: Authority | undefined,
  options: InspectOptions,
  diagnostics: Diagnostics,
): Promise<Table | number> {
  if (kind === 'cache') {
    if (options.verify === true) {
      throw usageError(
        `--verify checks a table that was compiled, and ${printable(path)} is compiled for this run. Leave --verify out`,
      );
    }
    await checkChoices([path], options, 'Leave --as-of out');
    const compiled = await compileWithRecords([path], options, undefined, diagnostics);
    return typeof compiled === 'number' ? compiled : compiled.table;
  }
  const { asOf: _time, ...others } = options;
  refuseReadingOptions(others, 'table');
  const isPart = asked !== undefined && options.verify !== true;
  const table = await openForHosts(
    path,
    isPart ? [asked.host, neighbourOf(asked.host)] : undefined,
  );
  checkProfile(table.profile, path, options.profile);
  if (asked !== undefined) checkHistory(path, tableMemory(table), options);
  return table;
}

/** @throws RobotsFilterError `usage` for a time or a history of a table without histories */
function checkHistory(
  path: string,
  { header }: TableMemory,
  { history, asOf }: InspectOptions,
): void {
  const option = history === true ? '--history' : asOf === undefined ? undefined : '--as-of';
  if (option === undefined || hasHistories({ header })) return;
  throw usageError(
    `${path} has no histories for ${option}. Compile it with --history, or leave ${option} out`,
  );
}

/** @throws RobotsFilterError `usage` for an option that is about a host */
function refuseWithoutHost(path: string, kind: PathKind, options: InspectOptions): void {
  const { history, asOf, agent } = options;
  // Of captures, --as-of chooses those that are compiled.
  const isTimed = asOf !== undefined && kind !== 'cache';
  const option = history === true ? '--history' : isTimed ? '--as-of DATE' : undefined;
  if (option !== undefined) {
    throw usageError(
      `${option} shows one host. Type: robots-filter inspect ${path} HOST ${option}`,
    );
  }
  if (agent === undefined) return;
  throw usageError(
    `--agent shows what one host says to an agent. Type: robots-filter inspect ${path} HOST --agent ${agent.join()}, or robots-filter audit ${path} --agent ${agent.join()} for all hosts`,
  );
}

/** Number of counts in a row: more would not fit 80 columns. */
const COUNTS_IN_ROW = 3;

/** The rows with the counts of `--verify`. */
function countsInWords(verified: VerifiedTable): [string, string][] {
  const counts: [number, string, string][] = [
    [verified.hosts, 'host', 'hosts'],
    [verified.authorities, 'authority', 'authorities'],
    [verified.robots, 'robots record', 'robots records'],
    [verified.groups, 'group', 'groups'],
    [verified.automata, 'automaton', 'automata'],
    [verified.nodes, 'state', 'states'],
    [verified.blocks, 'block', 'blocks'],
    [verified.rules, 'rule', 'rules'],
    [verified.texts, 'text', 'texts'],
  ];
  if (verified.recordLists > 0) {
    counts.push([verified.records, 'other record', 'other records']);
  }
  const words = counts.map(([count, one, more]) => formatCount(count, one, more));
  const rows: [string, string][] = [];
  for (let at = 0; at < words.length; at += COUNTS_IN_ROW) {
    const isLast = at + COUNTS_IN_ROW >= words.length;
    const row = words.slice(at, at + COUNTS_IN_ROW).join(', ');
    rows.push([at === 0 ? 'verified' : '', isLast ? row : `${row},`]);
  }
  return rows;
}

/** Prints lines until the reader goes away. */
function print(lines: Iterable<string>): void {
  const out = new TextBatches();
  for (const line of lines) {
    if (out.isClosed) return;
    out.add(`${printable(line)}\n`);
  }
  out.flush();
}

function* totals(
  path: string,
  table: Table,
  verified: VerifiedTable | undefined,
): Iterable<string> {
  const { header, view } = tableMemory(table);
  const signals = view.signalTokens().size;
  const rows: [string, string][] = [
    ['table', `${path}, version ${header.version}`],
    ['profile', header.profile],
    ['agents', describeAgents(view, header.tokens - signals)],
    [
      'hosts',
      `${formatNumber(header.hosts)}, with ${formatNumber(header.authorities)} authorities`,
    ],
    [
      'robots.txt',
      `${formatNumber(header.robots)} distinct, from ${formatBytes(header.compiledBytes)} of files`,
    ],
    ['automata', formatNumber(header.automata)],
    [view.hasSignals ? 'rules, signals' : 'rules', formatNumber(header.rules)],
    ['product tokens', `* and ${formatNumber(header.tokens - signals - FIXED_TOKENS)} more`],
    ...(view.hasSignals ? [['signals', signalsInWords(view)] as [string, string]] : []),
    [
      'bytes',
      `${formatNumber(header.length)}${header.hosts === 0 ? '' : `, ${formatNumber(header.length / header.hosts)} a host`}`,
    ],
  ];
  const width = formatNumber(header.length).length;
  for (const section of SECTION_NAMES) {
    const { start, end } = header.sections[section];
    const bytes = formatNumber(end - start).padStart(width);
    rows.push([
      `  ${section}`,
      `${bytes}  ${formatPercent(end - start, header.length).padStart(7)}`,
    ]);
  }
  const probe = `${formatNumber(header.longestProbe)} of ${formatNumber(header.buckets)} buckets`;
  rows.push(['longest probe', probe]);
  if (verified !== undefined) rows.push(...countsInWords(verified));
  const nameWidth = Math.max(...rows.map(([row]) => row.length));
  for (const [row, value] of rows) yield `${row.padEnd(nameWidth)}  ${value}`;
}

/** Keys of signals that are named. */
const NAMED_KEYS = 8;

function signalsInWords(view: TableView): string {
  const keys = view.signalKeys(NAMED_KEYS);
  return keys.length === 0 ? 'none' : `about ${keys.join(', ')}`;
}

function describeAgents(view: TableView, count: number): string {
  if (!view.isReduced) return 'all';
  const tokens: string[] = [];
  for (const token of view.tokens()) {
    if (token === '') continue;
    if (tokens.length === NAMED_TOKENS) break;
    tokens.push(token);
  }
  // The empty token is counted, but not named.
  const further = count - 1 - tokens.length;
  return `only ${tokens.join(', ')}${further > 0 ? ` and ${formatNumber(further)} more` : ''}`;
}

interface AskedHost {
  readonly host: TableHost;
  /** The authorities that were asked for. */
  readonly authorities: readonly TableAuthority[];
}

/** @throws RobotsFilterError `usage` for a name that is not a host */
function parseName(name: string): Authority {
  const asked = askedAuthority(name);
  if (asked !== undefined) return asked;
  throw usageError(
    `${JSON.stringify(name)} is not a host. Use a host (example.com), HOST:PORT, or an http, https or ftp URL`,
  );
}

/** @throws RobotsFilterError `usage` for a host that is not in the table */
function findHost(path: string, view: TableView, asked: Authority): AskedHost {
  const host = view.find(asked.host);
  if (host === undefined) throw absent(path, asked, view.find(neighbourOf(asked.host))?.host);
  const authorities = host.authorities.filter((authority) => answersFor(authority, asked));
  if (authorities.length > 0) return { host, authorities };
  if (view.isOfThePast || host.authorities.length === 0) {
    const when = view.isOfThePast ? 'up to that time' : 'any more';
    throw usageError(
      `${path} has no robots.txt for ${formatAuthority(asked)} ${when}. --history lists all: robots-filter inspect ${path} ${formatAuthority(asked)} --history`,
    );
  }
  const others = host.authorities.map((each) => authorityNames(host, each)).join(', ');
  throw absent(path, asked, others);
}

/** Prints the versions of each authority of a host, or one JSON object for each. */
function printHistory(
  table: Table,
  view: TableView,
  { host, authorities }: AskedHost,
  { agent, json = false }: InspectOptions,
): void {
  const agents = agent === undefined ? [] : parseAgents(agent, table.profile);
  for (const each of agents) view.checkAgent(each);
  const audit = new TableAudit(view, agents, table.profile === 'google');
  const lines = authorities.flatMap((authority): string[] => {
    const versions = view.timesOf(authority).flatMap((since): VersionReport[] => {
      const then = view.at(since).hostAt(view.placeOfAuthority(authority.at));
      const version = then.authorities.find(({ at }) => at === authority.at);
      if (version === undefined) return [];
      if (version.accessResult === 'unknown') return [{ since, authority: version, asked: [] }];
      const summaries = audit.summaries(version.robots, version.accessResult);
      const asked = agents.map(({ name }, index) => ({
        name,
        summary: summaries[index] as AgentSummary,
      }));
      return [{ since, authority: version, asked }];
    });
    return json
      ? versions.map((each, index) => printableJson(versionJson(host, each, versions[index + 1])))
      : [...historyLines(host, authority, versions)];
  });
  print(lines);
}

/** Prints the authorities of a host, or one JSON object for each. */
function printHost(table: Table, { host, authorities }: AskedHost, options: InspectOptions): void {
  const { view } = tableMemory(table);
  const saidBy = askedOf(table, options);
  if (options.json === true) {
    const objects = authorities.map((each) => authorityJson(view, host, each, saidBy(each)));
    print(objects.map((each) => printableJson(each)));
    return;
  }
  function* lines(): Iterable<string> {
    for (const [index, authority] of authorities.entries()) {
      if (index > 0) yield '';
      yield* authorityLines(view, host, authority, saidBy(authority));
    }
  }
  print(lines());
}

/** What an authority says to the agents of `--agent`. */
function askedOf(
  table: Table,
  { agent }: InspectOptions,
): (authority: TableAuthority) => AskedAgent[] {
  const { view } = tableMemory(table);
  const agents = agent === undefined ? [] : parseAgents(agent, table.profile);
  for (const each of agents) view.checkAgent(each);
  const audit = new TableAudit(view, agents, table.profile === 'google');
  return ({ robots, accessResult }) => {
    const summaries = audit.summaries(robots, accessResult);
    return agents.map(({ name }, index) => ({ name, summary: summaries[index] as AgentSummary }));
  };
}

/** The totals of a table as members of a JSON object. */
function totalsJson(
  path: string,
  table: Table,
  verified: VerifiedTable | undefined,
): Readonly<Record<string, unknown>> {
  const { header, view } = tableMemory(table);
  const { sections, ...counts } = header;
  const bytes = Object.entries(sections).map(([name, { start, end }]) => [name, end - start]);
  const tokens = view.isReduced ? [...view.tokens()].filter((token) => token !== '') : null;
  return {
    table: path,
    ...counts,
    agents: tokens,
    sections: Object.fromEntries(bytes),
    verified: verified ?? null,
  };
}

function absent(path: string, asked: Authority, instead: string | undefined): RobotsFilterError {
  const rest = instead === undefined ? '' : `. It has ${instead}`;
  return usageError(`${path} has no robots.txt for ${formatAuthority(asked)}${rest}`);
}

/** The same host with or without `www.`. */
function neighbourOf(host: string): string {
  return host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`;
}
