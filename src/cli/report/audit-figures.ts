/** The rows of an audit, and the figures that are counted meanwhile. */

import { PairCache } from '../../base/maps.js';
import { isoSeconds, RECORD_FIGURES, type RecordFigure } from '../../inspect/host-report.js';
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
import type { Agent } from '../../protocol/agent.js';
import { recordsFor } from '../../protocol/fields.js';
import type { Use } from '../../protocol/uses.js';
import type { AccessResult } from '../../protocol/verdict.js';
import type { AuthorityRecords, TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { boundedList, type Column, type RowPart, type RowSink, textOf } from './rows.js';

/** How much is allowed, or that the host is not known. */
type Allowed = Reach | 'unknown';

/** Whose group decides: the agent's own, that of `*`, or none. */
type Decider = 'own' | 'any' | 'nobody';

/** The counts of hosts for one agent. */
type AgentFigures = Record<Allowed, number> & {
  readonly agent: string;
  /** Hosts by whose group decides. */
  readonly by: Record<Decider, number>;
};

/** The counts of hosts by what they say about a use to an agent, where it may fetch anything. */
interface UseFigures {
  readonly agent: string;
  readonly use: string;
  readonly answers: Record<UseExtent, number>;
  /** Of these, the hosts where a signal gives the answer of some path. */
  readonly signals: Record<Signal, Record<Exclude<UseExtent, 'unstated'>, number>>;
}

/** A host, and what it allows to each agent in the order of the agents. */
interface HostFigures {
  readonly host: string;
  readonly allowed: readonly Allowed[];
}

/** Every figure of an audit. docs/formats.md describes the JSON; `schema` names its version. */
export interface AuditFigures {
  readonly schema: 'robots-filter/audit/1';
  readonly source: string;
  readonly profile: string;
  /** The time of the audit: ISO 8601. */
  readonly created: string;
  /** Hosts, each authority counted on its own. */
  readonly hosts: number;
  readonly agents: readonly AgentFigures[];
  /** Those of the first agent first; absent if no use was asked about. */
  readonly uses?: readonly UseFigures[];
  readonly access: Readonly<Record<AccessResult | 'unknown', number>>;
  /** Hosts with records of a kind; `null` if the table keeps no records. */
  readonly records: Readonly<Record<RecordFigure, number>> | null;
  /** The hosts that allow nothing to most agents. */
  readonly strictest: readonly HostFigures[];
}

/** Hosts in `strictest`. */
const STRICTEST = 100;

/** What the audit found at a host for one agent. */
interface AgentFinding {
  readonly allowed: Allowed;
  readonly by: Decider;
  /** What it says about each use. */
  readonly said: readonly UseSummary[];
}

/** Counts the hosts of an audit. Memory does not grow with their number. */
export class AuditTally {
  readonly agents: readonly AgentFigures[];
  /** Those of the first agent first. */
  readonly uses: readonly UseFigures[];
  readonly #access = { successful: 0, unavailable: 0, unreachable: 0, unknown: 0 };
  readonly #records: Record<RecordFigure, number> = Object.fromEntries(
    RECORD_FIGURES.map((kind) => [kind, 0]),
  ) as Record<RecordFigure, number>;
  /** Hosts by the number of agents that may fetch nothing: index is the number. */
  readonly #strict: HostFigures[][];
  #hosts = 0;

  constructor(agents: readonly string[], uses: readonly Use[]) {
    this.uses = agents.flatMap((agent) => uses.map(({ name }) => useFiguresOf(agent, name)));
    this.agents = agents.map((agent) => ({
      agent,
      all: 0,
      part: 0,
      none: 0,
      unknown: 0,
      by: { own: 0, any: 0, nobody: 0 },
    }));
    this.#strict = Array.from({ length: agents.length + 1 }, () => []);
  }

  /**
   * Counts a host.
   *
   * @param access `undefined` for a host that is not known
   * @param kinds the kinds of records that its robots.txt has
   */
  add(
    host: string,
    findings: readonly AgentFinding[],
    access: AccessResult | 'unknown' | undefined,
    kinds: ReadonlySet<string>,
  ): void {
    this.#hosts++;
    this.#access[access ?? 'unknown']++;
    let none = 0;
    for (let index = 0; index < findings.length; index++) {
      const { allowed, by, said } = findings[index] as AgentFinding;
      const figures = this.agents[index] as AgentFigures;
      figures[allowed]++;
      if (access === 'successful') figures.by[by]++;
      if (allowed === 'none') none++;
      said.forEach((summary, use) => {
        countUse(this.uses[index * said.length + use] as UseFigures, summary);
      });
    }
    for (const kind of kinds) {
      if (kind in this.#records) this.#records[kind as RecordFigure]++;
    }
    const alike = this.#strict[none];
    if (none > 0 && alike !== undefined && alike.length < STRICTEST) {
      alike.push({ host, allowed: findings.map(({ allowed }) => allowed) });
    }
  }

  /** The figures of the hosts that were counted. */
  figures(
    about: Pick<AuditFigures, 'source' | 'profile' | 'created'>,
    hasRecords: boolean,
  ): AuditFigures {
    return {
      schema: 'robots-filter/audit/1',
      ...about,
      hosts: this.#hosts,
      agents: this.agents,
      ...(this.uses.length === 0 ? {} : { uses: this.uses }),
      access: this.#access,
      records: hasRecords ? this.#records : null,
      strictest: this.#strict.toReversed().flat().slice(0, STRICTEST),
    };
  }
}

function useFiguresOf(agent: string, use: string): UseFigures {
  const signals = SIGNALS.map((signal) => [signal, { granted: 0, refused: 0, part: 0 }]);
  return {
    agent,
    use,
    answers: { granted: 0, refused: 0, part: 0, unstated: 0 },
    signals: Object.fromEntries(signals) as UseFigures['signals'],
  };
}

function countUse({ answers, signals }: UseFigures, { extent, signals: found }: UseSummary): void {
  if (extent === undefined) return;
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

/** The columns of an audit: after `allowed` those of the uses. */
export function auditColumns(uses: readonly Use[]): Column[] {
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
  return [...AUDIT_COLUMNS.slice(0, at), ...ofUses, ...AUDIT_COLUMNS.slice(at)];
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

/** Audits hosts, passes on their rows and counts them. */
export class HostAudit {
  readonly tally: AuditTally;
  readonly #sink: RowSink;
  readonly #view: TableView;
  readonly #names: readonly RowPart[];
  readonly #audit: TableAudit;
  readonly #useAudit: UseAudit;
  readonly #uses: readonly Use[];
  readonly #only: Allowed | undefined;
  /** By the offsets of the robots record and of the list of records. */
  readonly #known = new PairCache<Shared>(KEPT_BITS);

  constructor(
    sink: RowSink,
    table: Table,
    asked: { readonly agents: readonly Agent[]; readonly uses: readonly Use[] },
    only: Allowed | undefined,
  ) {
    const { agents, uses } = asked;
    this.#sink = sink;
    this.#view = tableMemory(table).view;
    this.#names = agents.map(({ name }) => ({ cells: [name] }));
    const isGoogle = table.profile === 'google';
    this.#audit = new TableAudit(this.#view, agents, isGoogle);
    this.#useAudit = new UseAudit(this.#view, this.#audit, uses, isGoogle);
    this.#uses = uses;
    this.#only = only;
    const names = agents.map(({ name }) => name);
    this.tally = new AuditTally(names, uses);
  }

  add(label: string, authority: TableAuthority): void {
    const kept = this.#view.hasRecords ? this.#view.recordsOf(authority) : NO_RECORDS;
    const { robots, accessResult } = authority;
    const shared = this.#known.of(
      robots,
      kept.list,
      () => this.#sharedOf(authority, kept),
      ({ characters }) => characters <= KEPT_CHARACTERS,
    );
    this.tally.add(label, shared.findings, accessResult, shared.kinds);
    const date = kept.date === undefined ? undefined : isoSeconds(kept.date);
    this.#addRows(label, shared.rows, date);
  }

  /** Adds a host that is not in the table. */
  addUnknown(label: string): void {
    const columns = COLUMNS_IN_BETWEEN + 2 * this.#uses.length;
    const nothing = new Array<undefined>(columns - 1).fill(undefined);
    const part: RowPart = { cells: ['unknown', ...nothing] };
    const said = this.#uses.map(() => NOTHING_SAID);
    const finding: AgentFinding = { allowed: 'unknown', by: 'nobody', said };
    const findings = this.#names.map(() => finding);
    this.tally.add(label, findings, undefined, new Set());
    this.#addRows(
      label,
      this.#wanted(findings, () => part),
      undefined,
    );
  }

  #addRows(label: string, rows: readonly SharedParts[], date: string | undefined): void {
    const host: RowPart = { cells: [label] };
    const end: RowPart = { cells: [date] };
    for (const [agent, cells] of rows) this.#sink.add(host, agent, cells, end);
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
    const findings = summaries.map(
      (summary, agent): AgentFinding => ({
        allowed: summary.reach,
        by: deciderOf(summary),
        said: said[agent] ?? [],
      }),
    );
    return {
      findings,
      kinds: new Set(records.map(({ kind }) => kind)),
      rows: this.#wanted(findings, (agent) => parts[agent] as RowPart),
      characters,
    };
  }
}

function deciderOf({ tokens }: AgentSummary): AgentFinding['by'] {
  if (tokens.length === 0) return 'nobody';
  return tokens[0] === '*' ? 'any' : 'own';
}
