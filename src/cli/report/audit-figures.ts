/** The rows of an audit, and the figures that are counted meanwhile. */

import { PairCache } from '../../base/maps.js';
import { isoSeconds, RECORD_FIGURES, type RecordFigure } from '../../inspect/host-report.js';
import { type AgentSummary, TableAudit } from '../../inspect/table-audit.js';
import { type Table, tableMemory } from '../../judge/table.js';
import type { Reach } from '../../patterns/reach.js';
import type { Agent } from '../../protocol/agent.js';
import { recordsFor } from '../../protocol/fields.js';
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

/** A host, and what it allows to each agent in the order of the agents. */
interface HostFigures {
  readonly host: string;
  readonly allowed: readonly Allowed[];
}

/** Every figure of an audit. docs/cli.md describes the JSON; `schema` names its version. */
export interface AuditFigures {
  readonly schema: 'robots-filter/audit/1';
  readonly source: string;
  readonly profile: string;
  /** The time of the audit: ISO 8601. */
  readonly created: string;
  /** Hosts, each authority counted on its own. */
  readonly hosts: number;
  readonly agents: readonly AgentFigures[];
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
}

/** Counts the hosts of an audit. Memory does not grow with their number. */
export class AuditTally {
  readonly agents: readonly AgentFigures[];
  readonly #access = { successful: 0, unavailable: 0, unreachable: 0, unknown: 0 };
  readonly #records: Record<RecordFigure, number> = Object.fromEntries(
    RECORD_FIGURES.map((kind) => [kind, 0]),
  ) as Record<RecordFigure, number>;
  /** Hosts by the number of agents that may fetch nothing: index is the number. */
  readonly #strict: HostFigures[][];
  #hosts = 0;

  constructor(agents: readonly string[]) {
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
      const { allowed, by } = findings[index] as AgentFinding;
      const figures = this.agents[index] as AgentFigures;
      figures[allowed]++;
      if (access === 'successful') figures.by[by]++;
      if (allowed === 'none') none++;
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
      access: this.#access,
      records: hasRecords ? this.#records : null,
      strictest: this.#strict.toReversed().flat().slice(0, STRICTEST),
    };
  }
}

/** The columns of an audit. */
export const AUDIT_COLUMNS: readonly Column[] = [
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

// ---- The audit of a host

const NO_RECORDS: AuthorityRecords = { list: 0, records: [], date: undefined };

/** Binary logarithm of the number of pairs of rules and records whose rows are kept. */
const KEPT_BITS = 12;

/** Maximum characters of the lists in the rows of a pair that is kept. */
const KEPT_CHARACTERS = 1 << 16;

/** Columns from `group` to `access`. */
const COLUMNS_AFTER_ALLOWED = AUDIT_COLUMNS.length - 4;

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
  readonly #only: Allowed | undefined;
  /** By the offsets of the robots record and of the list of records. */
  readonly #known = new PairCache<Shared>(KEPT_BITS);

  constructor(sink: RowSink, table: Table, agents: readonly Agent[], only: Allowed | undefined) {
    this.#sink = sink;
    this.#view = tableMemory(table).view;
    this.#names = agents.map(({ name }) => ({ cells: [name] }));
    this.#audit = new TableAudit(this.#view, agents, table.profile === 'google');
    this.#only = only;
    this.tally = new AuditTally(agents.map(({ name }) => name));
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
    const nothing = new Array<undefined>(COLUMNS_AFTER_ALLOWED).fill(undefined);
    const part: RowPart = { cells: ['unknown', ...nothing] };
    const findings = this.#names.map((): AgentFinding => ({ allowed: 'unknown', by: 'nobody' }));
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

  #sharedOf({ robots, accessResult }: TableAuthority, { records }: AuthorityRecords): Shared {
    const summaries = this.#audit.summaries(robots, accessResult);
    const sitemaps = boundedList(
      records.filter(({ kind }) => kind === 'sitemap').map(({ value }) => value),
    );
    let characters = 0;
    // Most agents share a summary.
    const known = new Map<AgentSummary, RowPart>();
    const partOf = (summary: AgentSummary): RowPart => {
      const { reach, tokens, rules, rootAllowed, rootLine } = summary;
      const { crawlDelay, preferences: all } = recordsFor(records, tokens);
      const preferences = boundedList(all);
      characters += textOf(sitemaps).length + textOf(preferences).length;
      const cells = [
        reach,
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
    const parts = summaries.map((summary) => {
      const part = known.get(summary) ?? partOf(summary);
      known.set(summary, part);
      return part;
    });
    const findings = summaries.map(
      (summary): AgentFinding => ({ allowed: summary.reach, by: deciderOf(summary) }),
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
