/** The rows of an audit, and the figures that are counted meanwhile. */

import { PairCache } from '../../base/maps.js';
import { DistinctRobots } from '../../inspect/distinct-robots.js';
import {
  isoSeconds,
  type LabelledPart,
  RECORD_FIGURES,
  type RecordFigure,
} from '../../inspect/host-report.js';
import type { JoinKeys } from '../../inspect/join-keys.js';
import { type AgentSummary, TableAudit } from '../../inspect/table-audit.js';
import { UseAudit } from '../../inspect/use-audit.js';
import { type Table, tableMemory } from '../../judge/table.js';
import type { Reach } from '../../patterns/reach.js';
import {
  NOTHING_SAID,
  SIGNALS,
  type Signal,
  type UseExtent,
  type UseSummary,
} from '../../patterns/use-answers.js';
import { usedColumn } from '../../pipeline/output/rows.js';
import { type Agent, parseAgent } from '../../protocol/agent.js';
import { type Authority, parseAuthority } from '../../protocol/authority.js';
import { recordsFor } from '../../protocol/fields.js';
import type { Use } from '../../protocol/uses.js';
import type { AccessResult } from '../../protocol/verdict.js';
import type { AuthorityRecords, TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import {
  type AgentInfo,
  type CaptureDates,
  DateRange,
  FileLines,
  jointly,
  type Largest,
  largestOf,
  REACHES,
  type ReportAbout,
  zeros,
} from './figures.js';
import { boundedList, type Cell, type Column, type RowPart, type RowSink, textOf } from './rows.js';

/** How much is allowed, or that the host is not known. */
type Allowed = Reach | 'unknown';

/** Whose group decides: the agent's own, that of `*`, or none. */
type Decider = 'own' | 'any' | 'nobody';

/**
 * What became of a host for an agent: its robots.txt was read and allows nothing, a part or
 * everything; or none was read.
 */
const OUTCOMES = ['none', 'part', 'all', 'unavailable', 'unreachable', 'unknown'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** A number of hosts, and of the distinct robots.txt files that they have. */
interface Weighed {
  hosts: number;
  files: number;
}

/** The counts for one agent. */
export interface AgentFigures extends AgentInfo {
  /** The sum is the number of all hosts. */
  readonly hosts: Record<Outcome, number>;
  /** Distinct robots.txt files by how much they allow. */
  readonly files: Record<Reach, number>;
  /** Of `part`: those that do not even allow the home page. */
  readonly partWithoutHome: Weighed;
  /** Those that allow this agent nothing, and `*` something. */
  readonly shutOutAlone: Weighed;
  /** Hosts whose robots.txt was read, by whose group decides; the agent's own comes first. */
  readonly by: Record<Decider, number>;
  /** Of the hosts with each extent, those that share the file which most of them share. */
  readonly largest: Readonly<Record<Reach, Largest | null>>;
}

/** The counts of what hosts say about a use to an agent, where it may fetch anything. */
interface UseFigures {
  readonly agent: string;
  readonly use: string;
  readonly answers: Record<UseExtent, number>;
  /** Distinct robots.txt files by answer; a host without a file has no part in these. */
  readonly files: Record<UseExtent, number>;
  /** Of the hosts in `answers`, those where a signal gives the answer of some path. */
  readonly signals: Record<Signal, Record<Exclude<UseExtent, 'unstated'>, number>>;
}

/** A robots.txt, and the hosts that have it and no other. */
export interface FileFigures {
  /** The first of these hosts. */
  readonly of: string;
  readonly hosts: number;
  /** What it allows to each agent. */
  readonly allowed: readonly Reach[];
  /** Its groups for the agents and `*`, as lines; the last one may say how many are left out. */
  readonly lines: readonly string[];
}

/** Every figure of an audit. docs/formats.md describes the JSON; `schema` names its version. */
export interface AuditFigures extends ReportAbout {
  readonly schema: 'robots-filter/audit/2';
  readonly hosts: number;
  /** Distinct robots.txt files that were read. */
  readonly files: number;
  readonly agents: readonly AgentFigures[];
  /** Those of the first agent first; absent if no use was asked about. */
  readonly uses?: readonly UseFigures[];
  /** Hosts by the result of asking for their robots.txt; of several schemes and ports the best. */
  readonly access: Readonly<Record<AccessResult | 'unknown', number>>;
  readonly captured: CaptureDates | null;
  /** Hosts with records of a kind; `null` if the table keeps no records. */
  readonly records: Readonly<Record<RecordFigure, number>> | null;
  /** The files that most hosts share. */
  readonly shared: readonly FileFigures[];
  /** The files that make the greatest difference between the agents. */
  readonly apart: readonly FileFigures[];
}

/** Files in `shared` and in `apart`. */
const MOST_FILES = 10;

/** What the audit found at a host for one agent. */
interface AgentFinding {
  readonly allowed: Allowed;
  readonly by: Decider;
  readonly rootAllowed: boolean;
  /** What it says about each use. */
  readonly said: readonly UseSummary[];
}

/** What was found at one scheme and port of a host. */
export interface HostPart {
  readonly access: AccessResult | 'unknown';
  /** For each agent, and last for `*`. */
  readonly findings: readonly AgentFinding[];
  readonly kinds: ReadonlySet<string>;
  /** The number of the distinct robots.txt, and its authority, if one was read. */
  readonly file: number | undefined;
  readonly authority: TableAuthority | undefined;
  /** In seconds since 1970. */
  readonly date: number | undefined;
}

/** A distinct robots.txt. */
interface CountedFile {
  /** Hosts that have it and no other. */
  hosts: number;
  readonly of: string;
  readonly authority: TableAuthority;
  /** For each agent the index in REACHES, as one text: a million files have few bytes each. */
  readonly reaches: string;
}

/** Counts the hosts of an audit. Memory grows with the distinct robots.txt files alone. */
export class AuditTally {
  readonly agents: readonly AgentFigures[];
  /** Those of the first agent first. */
  readonly uses: readonly UseFigures[];
  readonly #access = { successful: 0, unavailable: 0, unreachable: 0, unknown: 0 };
  readonly #records = zeros(RECORD_FIGURES);
  readonly #dates = new DateRange();
  readonly #files: CountedFile[] = [];
  #hosts = 0;

  constructor(agents: readonly AgentInfo[], uses: readonly Use[]) {
    this.uses = agents.flatMap(({ agent }) => uses.map(({ name }) => useFiguresOf(agent, name)));
    this.agents = agents.map((agent) => ({
      ...agent,
      hosts: zeros(OUTCOMES),
      files: zeros(REACHES),
      partWithoutHome: { hosts: 0, files: 0 },
      shutOutAlone: { hosts: 0, files: 0 },
      by: { own: 0, any: 0, nobody: 0 },
      largest: { none: null, part: null, all: null },
    }));
  }

  /** Counts a host, by all its schemes and ports. There is one at least. */
  add(host: string, parts: readonly HostPart[]): void {
    this.#hosts++;
    const access = ACCESS.find((each) => parts.some((part) => part.access === each)) ?? 'unknown';
    this.#access[access]++;
    for (const { date, authority } of parts) if (authority) this.#dates.add(date);
    const kinds = new Set(parts.flatMap((part) => [...part.kinds]));
    for (const kind of RECORD_FIGURES) if (kinds.has(kind)) this.#records[kind]++;
    this.#addFiles(host, parts);
    const [only] = parts;
    if (only !== undefined && parts.length === 1) this.#count(access, only.findings, 'hosts');
    else this.#count(access, combined(parts), 'hosts');
  }

  #addFiles(host: string, parts: readonly HostPart[]): void {
    let first: number | undefined;
    let isOne = true;
    for (const { file, authority, findings } of parts) {
      if (file === undefined || authority === undefined) {
        isOne = false;
        continue;
      }
      isOne &&= first === undefined || first === file;
      first ??= file;
      if (this.#files[file] !== undefined) continue;
      const reaches = this.agents.map((_, agent) =>
        String(REACHES.indexOf(findings[agent]?.allowed as Reach)),
      );
      this.#files[file] = { hosts: 0, of: host, authority, reaches: reaches.join('') };
      this.#count('successful', findings, 'files');
    }
    const counted = first === undefined ? undefined : this.#files[first];
    if (isOne && counted !== undefined) counted.hosts++;
  }

  /** Counts a host, or a file. */
  #count(
    access: AccessResult | 'unknown',
    findings: readonly AgentFinding[],
    what: 'hosts' | 'files',
  ): void {
    const isOpenToAny = findings[this.agents.length]?.allowed !== 'none';
    this.agents.forEach((figures, agent) => {
      const { allowed, by, rootAllowed, said } = findings[agent] as AgentFinding;
      const isRead = access === 'successful';
      if (what === 'files') figures.files[allowed as Reach]++;
      else figures.hosts[isRead ? (allowed as Reach) : access]++;
      if (isRead && allowed === 'part' && !rootAllowed) figures.partWithoutHome[what]++;
      if (isRead && allowed === 'none' && isOpenToAny) figures.shutOutAlone[what]++;
      if (isRead && what === 'hosts') figures.by[by]++;
      said.forEach((summary, use) => {
        countUse(this.uses[agent * said.length + use] as UseFigures, summary, what);
      });
    });
  }

  /** The figures of the hosts that were counted. */
  figures(about: ReportAbout, view: TableView, asked: readonly Agent[]): AuditFigures {
    const files = this.#files.filter((file) => file !== undefined);
    const lines = new FileLines(view, asked);
    const described = (found: readonly CountedFile[]): FileFigures[] =>
      found.map(({ of, hosts, authority, reaches }) => ({
        of,
        hosts,
        allowed: Array.from(reaches, reachOf),
        lines: lines.of(authority),
      }));
    return {
      schema: 'robots-filter/audit/2',
      ...about,
      hosts: this.#hosts,
      files: files.length,
      agents: this.agents.map((figures, agent) => ({
        ...figures,
        largest: largestOf(REACHES, files, ({ reaches }) => reachOf(reaches.charAt(agent))),
      })),
      ...(this.uses.length === 0 ? {} : { uses: this.uses }),
      access: this.#access,
      captured: view.hasRecords ? this.#dates.figures : null,
      records: view.hasRecords ? this.#records : null,
      shared: described(greatest(files, ({ hosts }) => (hosts > 1 ? hosts : 0))),
      apart: described(greatest(files, differenceIn)),
    };
  }
}

/** The results of asking for a robots.txt, the best first. */
const ACCESS = ['successful', 'unavailable', 'unreachable', 'unknown'] as const;

/** Whose group decides, if not the same one at all schemes and ports. */
const DECIDERS: readonly Decider[] = ['own', 'any', 'nobody'];

/** What a host with several schemes and ports says to each agent. */
function combined(parts: readonly HostPart[]): AgentFinding[] {
  const known = parts.filter(({ access }) => access !== 'unknown');
  const [first] = known.length === 0 ? parts : known;
  return (first?.findings ?? []).map((_, agent): AgentFinding => {
    const own = known.map(({ findings }) => findings[agent] as AgentFinding);
    const said = (own[0] ?? first?.findings[agent])?.said ?? [];
    return {
      allowed: jointly(own.map(({ allowed }) => allowed)) ?? 'unknown',
      by: DECIDERS.find((decider) => own.some(({ by }) => by === decider)) ?? 'nobody',
      rootAllowed: own.some(({ rootAllowed }) => rootAllowed),
      said: said.map((_, use) => combinedUse(own.flatMap((each) => each.said[use] ?? []))),
    };
  });
}

function combinedUse(said: readonly UseSummary[]): UseSummary {
  const stated = said.filter(({ extent }) => extent !== undefined);
  const extent = jointly(stated.map((each) => each.extent));
  const found = new Set(stated.flatMap(({ signals }) => signals));
  return { extent, signals: SIGNALS.filter((signal) => found.has(signal)) };
}

const reachOf = (digit: string): Reach => REACHES[Number(digit)] as Reach;

/** The pairs of agents to which a file allows a different extent. */
function differenceIn({ reaches }: CountedFile): number {
  const counts = [0, 0, 0];
  for (const digit of reaches) counts[Number(digit)] = (counts[Number(digit)] ?? 0) + 1;
  const [none = 0, part = 0, all = 0] = counts;
  return none * part + none * all + part * all;
}

/** The files with the greatest scores; among equals those of more hosts, then by host. */
function greatest(
  files: readonly CountedFile[],
  scoreOf: (file: CountedFile) => number,
): CountedFile[] {
  const scored = files.flatMap((file) => {
    const score = scoreOf(file);
    return score > 0 ? [{ file, score }] : [];
  });
  return scored
    .sort(
      (a, b) =>
        b.score - a.score || b.file.hosts - a.file.hosts || (a.file.of < b.file.of ? -1 : 1),
    )
    .slice(0, MOST_FILES)
    .map(({ file }) => file);
}

function useFiguresOf(agent: string, use: string): UseFigures {
  const signals = SIGNALS.map((signal) => [signal, { granted: 0, refused: 0, part: 0 }]);
  return {
    agent,
    use,
    answers: zeros(EXTENTS_OF_USE),
    files: zeros(EXTENTS_OF_USE),
    signals: Object.fromEntries(signals) as UseFigures['signals'],
  };
}

const EXTENTS_OF_USE: readonly UseExtent[] = ['granted', 'refused', 'part', 'unstated'];

function countUse(
  { answers, files, signals }: UseFigures,
  { extent, signals: found }: UseSummary,
  what: 'hosts' | 'files',
): void {
  if (extent === undefined) return;
  if (what === 'files') {
    files[extent]++;
    return;
  }
  answers[extent]++;
  if (extent === 'unstated') return;
  for (const signal of found) signals[signal][extent]++;
}

/** The columns of an audit without uses. */
const AUDIT_COLUMNS: readonly Column[] = [
  { name: 'host', width: 28, isRequired: true },
  { name: 'agent', width: 16, isRequired: true },
  { name: 'allowed', width: 7, isVerdict: true, isRequired: true },
  { name: 'group', width: 16 },
  { name: 'rules', width: 5, isNumber: true },
  { name: 'root', width: 5, isVerdict: true },
  { name: 'root_line', width: 9, isNumber: true },
  { name: 'crawl_delay', width: 11 },
  { name: 'sitemaps', width: 24, widest: 24 },
  { name: 'preferences', width: 24, widest: 40 },
  { name: 'access', width: 12 },
  { name: 'date', width: 20 },
];

/** The columns of the keys of `joinKeys`, which follow all others. */
const KEY_COLUMNS: readonly Column[] = [
  { name: 'surt_host_name', width: 28 },
  { name: 'registered_domain', width: 28 },
];

/** The columns of an audit: after `allowed` those of the uses. */
export function auditColumns(uses: readonly Use[], hasKeys: boolean): Column[] {
  const at = 1 + AUDIT_COLUMNS.findIndex(({ name }) => name === 'allowed');
  const ofUses = uses.flatMap(({ name }): Column[] => {
    const question = uses.length > 1 ? name : '';
    const answer = usedColumn(undefined, '', question);
    const signal = usedColumn(undefined, '_signal', question);
    return [
      { name: answer, width: Math.max(8, answer.length), isVerdict: true },
      { name: signal, width: Math.max(14, signal.length) },
    ];
  });
  const keys = hasKeys ? KEY_COLUMNS : [];
  return [...AUDIT_COLUMNS.slice(0, at), ...ofUses, ...AUDIT_COLUMNS.slice(at), ...keys];
}

// ---- The audit of a host

const NO_RECORDS: AuthorityRecords = { list: 0, records: [], date: undefined };

/** Binary logarithm of the number of pairs of rules and records whose rows are kept. */
const KEPT_BITS = 12;

/** Maximum characters of the lists in the rows of a pair that is kept. */
const KEPT_CHARACTERS = 1 << 16;

/** Columns between the agent and the date. */
const COLUMNS_IN_BETWEEN = AUDIT_COLUMNS.length - 3;

/** The parts of a row between its host and its date. */
type SharedParts = readonly [agent: RowPart, allowedToAccess: RowPart];

/** What hosts with the same rules and records have in common. */
interface Shared {
  readonly findings: readonly AgentFinding[];
  readonly kinds: ReadonlySet<string>;
  readonly rows: readonly SharedParts[];
  /** Characters of the lists in all distinct rows. */
  readonly characters: number;
}

/** Which rows an audit has, and with which columns. */
export interface RowChoice {
  /** Only rows with this value of `allowed`. */
  readonly only: Allowed | undefined;
  /** What the columns of keys hold; `undefined` without them. */
  readonly keysOf: ((authority: Authority) => JoinKeys) | undefined;
}

/** Audits hosts, passes on their rows and counts them. */
export class HostAudit {
  readonly tally: AuditTally;
  /** `undefined` if no rows are wanted. */
  readonly #sink: RowSink | undefined;
  readonly #view: TableView;
  readonly #names: readonly RowPart[];
  readonly #audit: TableAudit;
  readonly #useAudit: UseAudit;
  readonly #uses: readonly Use[];
  readonly #only: Allowed | undefined;
  /** `undefined` if rows have no keys. */
  readonly #keysOf: RowChoice['keysOf'];
  /** `undefined` if no report is wanted. */
  readonly #distinct: DistinctRobots | undefined;
  /** By the offsets of the robots record and of the list of records. */
  readonly #known = new PairCache<Shared>(KEPT_BITS);

  constructor(
    sink: RowSink | undefined,
    table: Table,
    asked: { readonly agents: readonly Agent[]; readonly uses: readonly Use[] },
    { only, keysOf }: RowChoice,
    described?: readonly AgentInfo[],
  ) {
    const { agents, uses } = asked;
    this.#sink = sink;
    this.#view = tableMemory(table).view;
    this.#names = agents.map(({ name }) => ({ cells: [name] }));
    const isGoogle = table.profile === 'google';
    const all = [...agents, parseAgent('*', table.profile)];
    const isReported = described !== undefined;
    this.#audit = new TableAudit(this.#view, isReported ? all : agents, isGoogle);
    this.#useAudit = new UseAudit(this.#view, this.#audit, uses, isGoogle);
    this.#uses = uses;
    this.#only = only;
    this.#keysOf = keysOf;
    this.#distinct = isReported ? new DistinctRobots(this.#view) : undefined;
    this.tally = new AuditTally(described ?? agents.map(({ name }) => ({ agent: name })), uses);
  }

  /** Audits a host, with all its schemes and ports that are reported. */
  add(host: string, parts: readonly LabelledPart[]): void {
    this.tally.add(
      host,
      parts.map(([label, authority]) =>
        authority === undefined ? this.#unknownPart(label) : this.#part(label, host, authority),
      ),
    );
  }

  #part(label: string, host: string, authority: TableAuthority): HostPart {
    const kept = this.#view.hasRecords ? this.#view.recordsOf(authority) : NO_RECORDS;
    const { robots, accessResult, schemes, port } = authority;
    const { findings, kinds, rows } = this.#known.of(
      robots,
      kept.list,
      () => this.#sharedOf(authority, kept),
      ({ characters }) => characters <= KEPT_CHARACTERS,
    );
    const { date } = kept;
    const time = date === undefined ? undefined : isoSeconds(date);
    this.#addRows(label, rows, time, { scheme: schemes[0], host, port });
    const file = this.#distinct?.numberOf(authority);
    return { access: accessResult, findings, kinds, file, authority, date };
  }

  /** A scheme and port of which the table knows nothing. */
  #unknownPart(label: string): HostPart {
    const columns = COLUMNS_IN_BETWEEN + 2 * this.#uses.length;
    const nothing = new Array<undefined>(columns - 1).fill(undefined);
    const part: RowPart = { cells: ['unknown', ...nothing] };
    const said = this.#uses.map(() => NOTHING_SAID);
    const finding: AgentFinding = { allowed: 'unknown', by: 'nobody', rootAllowed: false, said };
    const findings = [...this.#names.map(() => finding), finding];
    const rows = this.#sink === undefined ? [] : this.#wanted(findings, () => part);
    this.#addRows(label, rows, undefined, parseAuthority(label));
    const [file, authority, date] = [undefined, undefined, undefined];
    return { access: 'unknown', findings, kinds: new Set(), file, authority, date };
  }

  #addRows(
    label: string,
    rows: readonly SharedParts[],
    date: string | undefined,
    authority: Authority | undefined,
  ): void {
    const host: RowPart = { cells: [label] };
    const end: RowPart = { cells: [date, ...this.#keys(authority)] };
    for (const [agent, cells] of rows) this.#sink?.add(host, agent, cells, end);
  }

  #keys(authority: Authority | undefined): readonly Cell[] {
    if (this.#keysOf === undefined) return [];
    return authority === undefined ? [undefined, undefined] : this.#keysOf(authority);
  }

  /** The rows that `only` does not leave out. */
  #wanted(findings: readonly AgentFinding[], partOf: (agent: number) => RowPart): SharedParts[] {
    return this.#names.flatMap((name, agent): SharedParts[] => {
      const isWanted = this.#only === undefined || findings[agent]?.allowed === this.#only;
      return isWanted ? [[name, partOf(agent)]] : [];
    });
  }

  #sharedOf(authority: TableAuthority, { records }: AuthorityRecords): Shared {
    const { robots, accessResult } = authority;
    const summaries = this.#audit.summaries(robots, accessResult);
    const said = this.#useAudit.summaries(authority, summaries);
    const findings = summaries.map(
      (summary, agent): AgentFinding => ({
        allowed: summary.reach,
        by: deciderOf(summary),
        rootAllowed: summary.rootAllowed,
        said: said[agent] ?? [],
      }),
    );
    const kinds = new Set(records.map(({ kind }) => kind));
    if (this.#sink === undefined) return { findings, kinds, rows: [], characters: 0 };
    const sitemaps = boundedList(
      records.filter(({ kind }) => kind === 'sitemap').map(({ value }) => value),
    );
    let characters = 0;
    // Most agents share a summary.
    const known = new Map<AgentSummary, RowPart>();
    const partOf = (summary: AgentSummary, uses: readonly UseSummary[]): RowPart => {
      const { reach, tokens, rules, rootAllowed, rootLine } = summary;
      const { crawlDelay, preferences: all } = recordsFor(records, tokens);
      const preferences = boundedList(all);
      characters += textOf(sitemaps).length + textOf(preferences).length;
      const cells = [
        reach,
        ...uses.flatMap(({ extent, signals }) => [
          extent,
          signals.length === 0 ? undefined : signals.join(' '),
        ]),
        tokens.length === 0 ? undefined : tokens.join(' '),
        rules,
        rootAllowed ? 'allow' : 'deny',
        rootLine,
        crawlDelay,
        sitemaps,
        preferences,
        accessResult,
      ];
      return { cells };
    };
    const parts = summaries.map((summary, agent) => {
      const part = known.get(summary) ?? partOf(summary, said[agent] ?? []);
      known.set(summary, part);
      return part;
    });
    return {
      findings,
      kinds,
      rows: this.#wanted(findings, (agent) => parts[agent] as RowPart),
      characters,
    };
  }
}

function deciderOf({ tokens }: AgentSummary): AgentFinding['by'] {
  if (tokens.length === 0) return 'nobody';
  return tokens[0] === '*' ? 'any' : 'own';
}
