/** The command `diff`: what changed for agents between two tables or caches. */

import { authorityLabel } from '../../inspect/host-report.js';
import {
  type AgentChange,
  alike,
  pairedHosts,
  type Sides,
  sidesOf,
  TableDiff,
  type UseChange,
} from '../../inspect/table-diff.js';
import { Robots } from '../../judge/robots.js';
import { Table, tableMemory } from '../../judge/table.js';
import type { Judgement, UseJudgement } from '../../kernel/session.js';
import type { Agent } from '../../protocol/agent.js';
import { formatAuthority } from '../../protocol/authority.js';
import type { NamedTokens } from '../../protocol/unnamed-agents.js';
import type { Use } from '../../protocol/uses.js';
import type { TableAuthority, TableHost } from '../../view/table-content.js';
import { TableView } from '../../view/table-view.js';
import { describeAgents, neededTokens, noteUnnamedAgents, parseAgents } from '../agents.js';
import { DIFFERENT, Diagnostics, SUCCESS, shellWords, usageError } from '../console.js';
import {
  checkSpreadsheet,
  type RobotsOptions,
  type RowOptions,
  type UseOptions,
  usesOf,
} from '../options.js';
import {
  type ComparedPart,
  type DiffFigures,
  type Effect,
  effectOf,
  HostTally,
  seenAlike,
  UrlTally,
} from '../report/diff-figures.js';
import { type AgentInfo, reportAbout, sourceName } from '../report/figures.js';
import {
  type Cell,
  type Column,
  openRows,
  type RowFormat,
  type RowSink,
  withAgents,
} from '../report/rows.js';
import {
  kindOfArgument,
  noteEmptyList,
  type PathKind,
  readRobotsFile,
  urlsOf,
} from './arguments.js';
import { compileWithRecords, singleWithRecords } from './compile-caches.js';
import { noteUnstatedUses } from './filter-table.js';
import { refuseSecondStandardInput } from './inputs.js';
import { checkReportFile, filesToKeep, writeReport } from './outputs.js';
import {
  checkChoices,
  checkProfile,
  noteTimeToCome,
  refuseEmptyTable,
  refuseReadingOptions,
} from './robots-source.js';

export interface DiffOptions extends RobotsOptions, RowOptions, UseOptions {
  readonly urls?: string;
  readonly format?: RowFormat;
  readonly report?: string;
  readonly exitCode?: boolean;
  /** The times of the two sides, in milliseconds since 1970. */
  readonly from?: number;
  readonly to?: number;
}

/** One of the two sides. */
interface Side {
  readonly table: Table;
  /** The product tokens that its robots.txt files name. */
  readonly named: NamedTokens;
  /** Present if the side is a single robots.txt: it judges the URLs of every host. */
  readonly robots?: Robots;
}

const NO_TIME =
  'diff asks a table with histories for two times. Use --from DATE for the old side and --to DATE for the new one';

/**
 * `robots-filter diff`: prints what has changed between two sets of robots.txt files, by effect.
 *
 * @param newPath undefined if both sides are one table, at two times
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function diff(
  oldPath: string,
  newPath: string | undefined,
  options: DiffOptions,
): Promise<number> {
  if (newPath === undefined) return diffOfTimes(oldPath, options);
  return diffOfPaths(oldPath, newPath, options);
}

/** @throws RobotsFilterError `usage` if the two sides are one at one time */
function diffOfTimes(path: string, options: DiffOptions): Promise<number> {
  const { from, to } = options;
  if (from === undefined) {
    throw usageError(
      `diff compares two sides. Add --from DATE for two times of a table with histories, or type: robots-filter diff ${shellWords([path])} NEW`,
    );
  }
  if (to !== undefined && to <= from) {
    throw usageError(
      '--to is not after --from. Exchange the two, or leave --to out for the newest',
    );
  }
  return diffOfPaths(path, path, options);
}

async function diffOfPaths(
  oldPath: string,
  newPath: string,
  options: DiffOptions,
): Promise<number> {
  checkSpreadsheet(options);
  if (options.report !== undefined) {
    const sources = [
      { option: 'the old side', path: oldPath },
      { option: 'the new side', path: newPath },
    ];
    checkReportFile(options.report, [...sources, ...filesToKeep(options)], [options.urls]);
  }
  const uses = usesOf(options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const [oldKind, newKind] = [await kindOfArgument(oldPath), await kindOfArgument(newPath)];
  refuseSecondStandardInput([
    oldPath,
    newPath,
    ...(options.urls === undefined ? [] : [options.urls]),
  ]);
  // Beside a table, the options are for the files of the other side.
  if (oldKind === newKind && oldKind !== 'cache') refuseReadingOptions(options, oldKind, NO_TIME);
  const sides = [[oldPath, oldKind] as const, [newPath, newKind] as const];
  const caches = sides.flatMap(([path, kind]) => (kind === 'cache' ? [path] : []));
  if (caches.length > 0) await checkChoices(caches, options, 'Leave --as-of out');
  const oldSide = await openSide(oldPath, oldKind, options, diagnostics);
  // A signal has ended the wait for a pipe: the other side would wait for one more.
  if (typeof oldSide === 'number') return oldSide;
  const isOne = oldPath === newPath && oldKind === 'table';
  const newSide = isOne ? oldSide : await openSide(newPath, newKind, options, diagnostics);
  if (typeof newSide === 'number') return newSide;
  checkKinds([oldPath, oldSide], [newPath, newSide]);
  noteTimeToCome(options.from, diagnostics, '--from');
  noteTimeToCome(options.to, diagnostics, '--to');
  const [old, next] = [asOf(oldSide.table, options.from), asOf(newSide.table, options.to)];
  if (old.profile !== next.profile) {
    throw usageError(
      `${oldPath} was compiled with --profile ${old.profile} and ${newPath} with --profile ${next.profile}. Compile both with one profile`,
    );
  }
  const agents = parseAgents(options.agent, old.profile);
  for (const table of [old, next]) {
    const { view } = tableMemory(table);
    for (const agent of agents) view.checkAgent(agent);
    view.checkUses(uses);
  }
  const named = namedBy([oldSide, newSide]);
  await noteUnnamedAgents(agents, named, options, diagnostics);
  noteUnstated(uses, [oldPath, old], [newPath, next], named, diagnostics);
  const { urls, report, format = report === undefined ? 'table' : undefined } = options;
  const names = agents.map(({ name }) => name);
  const asked = { agents, uses };
  const own = urls === undefined ? HOST_COLUMNS : URL_COLUMNS;
  const columns = withAgents(uses.length === 0 ? own : withUse(own), names);
  const sink =
    format === undefined
      ? NO_ROWS
      : await openRows(format, columns, { ...options, headerNeedsRow: true });
  const described = report === undefined ? undefined : await describeAgents(agents, options);
  let found: Found;
  if (urls === undefined) {
    const hosts = new HostDiff({ old, new: next, ...asked }, sink, described);
    hosts.write();
    const { tally, differences } = hosts;
    found = { tally, differences, figures: () => hosts.figures() };
  } else {
    const sides = { old: oldSide.robots ?? old, new: newSide.robots ?? next, ...asked };
    const tally = new UrlTally(described ?? names.map((agent) => ({ agent })));
    const differences = await diffUrls(urls, sides, sink, tally, report !== undefined);
    if (tally.read === 0) noteEmptyList(urls, 'URL', diagnostics);
    found = { tally, differences, figures: () => tally.figures() };
  }
  await sink.end();
  const { tally, differences } = found;
  if (report !== undefined) {
    const { source: _, ...about } = reportAbout([], old.profile);
    const figures: DiffFigures = {
      schema: 'robots-filter/diff/2',
      old: nameAt(oldPath, options.from),
      new: nameAt(newPath, options.to),
      ...about,
      what: urls === undefined ? 'host' : 'URL',
      ...found.figures(),
      ...(uses.length === 0 ? {} : { uses: tally.uses }),
    };
    await writeReport(report, figures);
  }
  if (sink.isClosed) return SUCCESS;
  for (const line of tally.totals()) diagnostics.note(line);
  if (sink.omission !== undefined) diagnostics.note(sink.omission);
  return options.exitCode === true && differences > 0 ? DIFFERENT : SUCCESS;
}

/** What a diff has found of hosts, or of URLs. */
interface Found {
  readonly tally: HostTally | UrlTally;
  /** How many rows there are. */
  readonly differences: number;
  figures(): ReturnType<HostTally['figures'] | UrlTally['figures']>;
}

/** Says in one line of which uses neither side speaks. */
function noteUnstated(
  uses: readonly Use[],
  [oldPath, old]: readonly [path: string, table: Table],
  [newPath, next]: readonly [path: string, table: Table],
  named: NamedTokens,
  diagnostics: Diagnostics,
): void {
  const shards = [old, next].flatMap((table) => tableMemory(table).view.shards);
  const place = oldPath === newPath ? oldPath : `${oldPath} and ${newPath}`;
  noteUnstatedUses(uses, new TableView(shards, place), place, diagnostics, named);
}

/** The name of a side in the report. */
function nameAt(path: string, time: number | undefined): string {
  const name = sourceName(path);
  return time === undefined ? name : `${name} at ${new Date(time).toISOString()}`;
}

/** @throws RobotsFilterError `usage` for a time of a table without histories */
function asOf(table: Table, time: number | undefined): Table {
  return time === undefined ? table : table.at(time);
}

/** Opens or compiles one of the two sides; a number is the exit code after a signal. */
async function openSide(
  path: string,
  kind: PathKind,
  options: DiffOptions,
  diagnostics: Diagnostics,
): Promise<Side | number> {
  const { profile = 'rfc9309', maxRobotsBytes } = options;
  const uses = usesOf(options);
  const signals = uses.length > 0;
  switch (kind) {
    case 'table': {
      const table = await Table.open(path);
      checkProfile(table.profile, path, options.profile);
      refuseEmptyTable(path, table.hosts, options, diagnostics);
      return { table, named: tableMemory(table).view };
    }
    case 'cache': {
      const tokens = neededTokens(parseAgents(options.agent, profile), uses);
      return compileWithRecords([path], { ...options, signals }, tokens, diagnostics);
    }
    case 'robots.txt': {
      const parseOptions = {
        profile,
        ...(maxRobotsBytes === undefined ? {} : { maxBytes: maxRobotsBytes }),
      };
      const body = await readRobotsFile(path, 'diff', diagnostics);
      const table = singleWithRecords(path, body, { ...options, signals });
      const named = tableMemory(table).view;
      return { table, named, robots: Robots.parse(body, parseOptions) };
    }
  }
}

/** The product tokens that either side names: an agent may be new, or gone. */
function namedBy(sides: readonly Side[]): NamedTokens {
  return {
    hasToken: (token) => sides.some(({ named }) => named.hasToken(token)),
    *tokens() {
      for (const { named } of sides) yield* named.tokens();
    },
  };
}

/** Refuses a single robots.txt beside files by host: it belongs to none of their hosts. */
function checkKinds(...sides: readonly (readonly [path: string, side: Side])[]): void {
  const [single] = sides.find(([, { robots }]) => robots !== undefined) ?? [];
  const [several] = sides.find(([, { robots }]) => robots === undefined) ?? [];
  if (single === undefined || several === undefined) return;
  throw usageError(
    `${single} is one robots.txt, which names no host, and ${several} holds files by host. Name two robots.txt files, or two directories, files of records or tables`,
  );
}

const HOST_COLUMNS: readonly Column[] = [
  { name: 'host', width: 28 },
  { name: 'agent', width: 16 },
  { name: 'change', width: 7 },
  { name: 'old', width: 4, isVerdict: true },
  { name: 'new', width: 4, isVerdict: true },
  { name: 'path', width: 20 },
  { name: 'old_rule', width: 24 },
  { name: 'new_rule', width: 24 },
];

/** Columns with that of the use, before the old and the new answer. */
function withUse(columns: readonly Column[]): Column[] {
  const at = columns.findIndex(({ name }) => name === 'old');
  return [
    ...columns.slice(0, at),
    { name: 'use', width: 6 },
    ...columns.slice(at).map((column) => (column.isVerdict ? { ...column, width: 8 } : column)),
  ];
}

/** Writes the hosts that have come, gone or changed, sorted, and counts them. */
export class HostDiff {
  readonly tally: HostTally;
  /** How many rows there are. */
  differences = 0;
  readonly #sides: DiffSides;
  readonly #views: readonly [old: TableView, next: TableView];
  readonly #diff: TableDiff;
  readonly #sink: Differences;
  readonly #isReported: boolean;

  /** @param described the agents, if a report is wanted */
  constructor(sides: DiffSides, sink: Differences, described?: readonly AgentInfo[]) {
    const { agents, uses } = sides;
    this.#sides = sides;
    this.#views = [tableMemory(sides.old).view, tableMemory(sides.new).view];
    this.#sink = sink;
    this.#isReported = described !== undefined;
    const isGoogle = sides.old.profile === 'google';
    this.#diff = new TableDiff(...this.#views, agents, isGoogle, uses, this.#isReported);
    const named = described ?? agents.map(({ name }) => ({ agent: name }));
    const views = this.#isReported ? this.#views : undefined;
    this.tally = new HostTally(named, this.#diff, uses, views);
  }

  figures(): ReturnType<HostTally['figures']> {
    return this.tally.figures((part, host) => seenAlike(this.#seen(part, host)));
  }

  /** What each agent sees of a change. */
  *#seen({ old, new: next, effects }: ComparedPart, host: string) {
    const changes = old && next && this.#diff.changes(old, next);
    for (const [agent, effect] of effects.entries()) {
      if (effect === undefined) continue;
      const { paths = [] } = changes?.find((change) => change.agent === agent) ?? {};
      const [scheme = 'https'] = (next ?? old)?.schemes ?? [];
      const side = { scheme, port: (next ?? old)?.port, old, new: next };
      const example = this.#example(host, side, agent, paths, undefined);
      yield {
        agent: this.#nameOf(agent),
        effect,
        path: example?.path ?? null,
        oldRule: example === undefined ? null : causeOf(example.old),
        newRule: example === undefined ? null : causeOf(example.new),
      };
    }
  }

  /** Merges the hosts of both tables, each in the order of the names. */
  write(): void {
    for (const [before, after] of pairedHosts(...this.#views)) {
      // A report needs all hosts.
      if (this.#sink.isClosed && !this.#isReported) return;
      // A table with histories has hosts of which nothing is known at either time.
      if (before === undefined && after === undefined) continue;
      this.tally.compared++;
      this.#compare(before, after);
    }
  }

  #compare(old: TableHost | undefined, next: TableHost | undefined): void {
    if (old !== undefined && next !== undefined && this.#isUnchanged(old, next)) return;
    const host = (old ?? next)?.host ?? '';
    const isOnBoth = old !== undefined && next !== undefined;
    const parts = alike(sidesOf(old, next)).map((same): ComparedPart => {
      const [{ old: before, new: after, port }] = same;
      const schemes = same.map(({ scheme }) => scheme);
      const label = authorityLabel({ host }, { schemes, port });
      if (before !== undefined && after !== undefined) {
        return this.#addChanges(label, host, { ...same[0], old: before, new: after });
      }
      return this.#addOnly(label, same[0], isOnBoth);
    });
    this.tally.add(host, parts);
  }

  /** Whether a host has the same authorities on both sides, and no change. Most hosts have. */
  #isUnchanged(old: TableHost, next: TableHost): boolean {
    if (old.authorities.length !== next.authorities.length) return false;
    return next.authorities.every((authority, index) => {
      const before = old.authorities[index] as TableAuthority;
      if (before.port !== authority.port || before.schemes !== authority.schemes) return false;
      return (
        this.#diff.changes(before, authority).length === 0 &&
        this.#diff.useChanges(before, authority).length === 0
      );
    });
  }

  /**
   * Adds the rows of a scheme and port that is on one side only.
   *
   * @param isOnBoth whether the host is on both sides, with other schemes or ports
   */
  #addOnly(label: string, { old, new: next }: Sides, isOnBoth: boolean): ComparedPart {
    const side = next === undefined ? 'old' : 'new';
    const authority = (next ?? old) as TableAuthority;
    const change = side === 'new' ? 'added' : 'removed';
    const { uses } = this.#sides;
    const said = uses.length === 0 ? undefined : this.#diff.useExtents(authority, side);
    const noCause = [undefined, undefined, undefined];
    const changedUses = this.#sides.agents.map(() => new Set<Use>());
    this.#diff.reaches(authority, side).forEach((reach, agent) => {
      const extents = side === 'new' ? [undefined, reach] : [reach, undefined];
      this.#add(label, agent, [change, ...this.#useCell(), ...extents, ...noCause]);
      for (const [index, use] of uses.entries()) {
        const extent = said?.[agent]?.[index];
        // Most hosts say nothing about a use.
        if (extent === undefined || extent === 'unstated') continue;
        const answers = side === 'new' ? [undefined, extent] : [extent, undefined];
        this.#add(label, agent, [change, use.name, ...answers, ...noCause]);
        changedUses[agent]?.add(use);
      }
    });
    const effects = changedUses.map(() => (isOnBoth ? 'other' : change));
    return { old, new: next, effects, uses: changedUses, undecided: new Set() };
  }

  /** Adds the rows of a scheme and port that is on both sides. */
  #addChanges(label: string, host: string, sides: BothSides): ComparedPart {
    const undecided = new Set<number>();
    const effects: (Effect | undefined)[] = this.#sides.agents.map(() => undefined);
    for (const change of this.#diff.changes(sides.old, sides.new)) {
      if (!this.#addChanged(label, host, sides, change)) undecided.add(change.agent);
      else effects[change.agent] = effectOf(change.old, change.new, change.direction);
    }
    const uses = effects.map(() => new Set<Use>());
    for (const change of this.#diff.useChanges(sides.old, sides.new)) {
      if (!this.#addChanged(label, host, sides, change)) undecided.add(change.agent);
      else uses[change.agent]?.add(change.use);
    }
    return { old: sides.old, new: sides.new, effects, uses, undecided };
  }

  /** Adds a row; returns false if no path differs for sure. */
  #addChanged(label: string, host: string, side: Sides, change: AgentChange | UseChange): boolean {
    const { agent, old, new: next, paths } = change;
    const use = 'use' in change ? change.use : undefined;
    const example = this.#example(host, side, agent, paths, use);
    if (example === undefined) return false;
    const extent = old === next ? 'rules' : 'extent';
    const start = use === undefined ? [extent, ...this.#useCell()] : ['use', use.name];
    const causes = [causeOf(example.old), causeOf(example.new)];
    this.#add(label, agent, [...start, old, next, example.path, ...causes]);
    return true;
  }

  /** The empty cell of the use in a row about something else. */
  #useCell(): Cell[] {
    return this.#sides.uses.length === 0 ? [] : [undefined];
  }

  #nameOf(agent: number): string {
    return this.#sides.agents[agent]?.name ?? '';
  }

  /** The first path on which the verdicts, or the answers about a use, of both tables differ. */
  #example(
    host: string,
    { scheme, port }: Sides,
    agent: number,
    paths: readonly string[],
    use: Use | undefined,
  ) {
    const root = formatAuthority({ scheme, host, port });
    const name = this.#nameOf(agent);
    const ask = (table: Table, url: string): Judgement | UseJudgement =>
      use === undefined ? table.verdict(url, name) : answerAbout(use, table, url, name);
    for (const path of paths) {
      const old = ask(this.#sides.old, root + path);
      const next = ask(this.#sides.new, root + path);
      if (wordOf(old) !== wordOf(next)) return { path, old, new: next };
    }
    return undefined;
  }

  #add(label: string, agent: number, cells: readonly Cell[]): void {
    this.differences++;
    this.#sink.add({ cells: [label, this.#nameOf(agent), ...cells] });
  }
}

/** What two tables have of the same authority. */
type BothSides = Sides & { readonly old: TableAuthority; readonly new: TableAuthority };

function answerAbout(
  { name, policyToken }: Use,
  side: Table | Robots,
  url: string,
  agent: string,
): UseJudgement {
  return side.use(url, agent, name, { policyToken });
}

/** The verdict, or the answer about a use. */
function wordOf(judgement: Judgement | UseJudgement): string | undefined {
  return 'verdict' in judgement ? judgement.verdict : judgement.answer;
}

const URL_COLUMNS: readonly Column[] = [
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
 *
 * @returns how many rows there are
 */
async function diffUrls(
  path: string,
  sides: DiffSides<Table | Robots>,
  sink: Differences,
  tally: UrlTally,
  isReported: boolean,
): Promise<number> {
  let differences = 0;
  for await (const url of urlsOf(path)) {
    const seen: Parameters<UrlTally['add']>[1][number][] = [];
    sides.agents.forEach(({ name }, agent) => {
      const [old, next] = [sides.old.verdict(url, name), sides.new.verdict(url, name)];
      const add = (one: Judgement | UseJudgement, other: typeof one, use: Cell): void => {
        const ofUse = sides.uses.length === 0 ? [] : [use];
        const answers = [wordOf(one), wordOf(other), causeOf(one), causeOf(other)];
        differences++;
        sink.add({ cells: [url, name, ...ofUse, ...answers] });
      };
      if (agent === 0) tally.compare(old.verdict, next.verdict);
      if (old.verdict !== next.verdict) {
        add(old, next, undefined);
        const rules = { oldRule: causeOf(old), newRule: causeOf(next) };
        seen.push({ agent, old: old.verdict, next: next.verdict, ...rules });
        return;
      }
      if (old.verdict !== 'allow') return;
      for (const use of sides.uses) {
        const before = answerAbout(use, sides.old, url, name);
        const after = answerAbout(use, sides.new, url, name);
        if (before.answer === after.answer) continue;
        tally.countUse(agent, use.name, before.answer, after.answer);
        add(before, after, use.name);
      }
    });
    tally.add(url, seen);
    if (sink.isClosed && !isReported) break;
  }
  return differences;
}

/** In place of rows that nobody wants. */
const NO_ROWS = { isClosed: false, omission: undefined, add() {}, async end() {} };

/** Where the rows go. No format of `diff` needs `write`, which is for Parquet. */
type Differences = Pick<RowSink, 'isClosed' | 'add'>;

/** The two sides of a diff, and the agents and uses that are asked about. */
interface DiffSides<Side = Table> {
  readonly old: Side;
  readonly new: Side;
  readonly agents: readonly Agent[];
  readonly uses: readonly Use[];
}

/** The rule or the signal that decided, with its line, or the reason. */
function causeOf(judgement: Judgement | UseJudgement): string {
  const rule = 'verdict' in judgement ? judgement.rule : judgement.signal;
  return rule === undefined ? judgement.reason : `${rule.text} (line ${rule.line})`;
}
