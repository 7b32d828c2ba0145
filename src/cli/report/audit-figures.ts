/** The rows of an audit, where they go, and the figures that are counted meanwhile. */

import { PairCache } from '../../base/maps.js';
import { isoSeconds, RECORD_FIGURES, type RecordFigure } from '../../inspect/host-report.js';
import { type AgentSummary, TableAudit } from '../../inspect/table-audit.js';
import { type Table, tableMemory } from '../../judge/table.js';
import type { AddedColumn } from '../../parquet/chunk-writer.js';
import { RowsWriter } from '../../parquet/rows-writer.js';
import type { Reach } from '../../patterns/reach.js';
import type { Agent } from '../../protocol/agent.js';
import { recordsFor } from '../../protocol/fields.js';
import type { AccessResult } from '../../protocol/verdict.js';
import type { AuthorityRecords, TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { writeOutput } from '../console.js';
import {
  boundedList,
  type Cell,
  type Column,
  HeldRows,
  type RowFormat,
  Rows,
  TextBatches,
  textOf,
  withAgents,
} from './rows.js';

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
    access: AccessResult | undefined,
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

/** The columns of an audit: the host, those of AuditRow, and the date. */
const AUDIT_COLUMNS: readonly Column[] = [
  { name: 'host', width: 28 },
  { name: 'agent', width: 16 },
  { name: 'allowed', width: 7, isVerdict: true },
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

/** Columns of whole numbers, and columns that always have a value. */
const INTEGERS = ['rules', 'root_line'];
const REQUIRED = ['host', 'agent', 'allowed'];

const DATE_COLUMN = AUDIT_COLUMNS.length - 1;

/** A row of an audit, without its host and date: hosts with the same files share it. */
interface AuditRow {
  readonly agent: string;
  readonly allowed: Allowed;
  /** The values of the columns from `allowed` to `access`. Agents may share them. */
  readonly cells: readonly Cell[];
}

/** Receives the rows of an audit, host by host. */
export interface AuditSink<Prepared> {
  /** Whether nobody reads what is added. */
  readonly isClosed: boolean;
  /** Prepares what the rows of many hosts share, once for all of them. */
  prepare(rows: readonly AuditRow[]): Prepared;
  /** Adds the rows of a host. Returns true if `flush` must be called before the next one. */
  add(host: string, rows: Prepared, date: string | undefined): boolean;
  flush(): Promise<void>;
  end(): Promise<void>;
}

/** Writes rows as text. */
export class AuditText implements AuditSink<readonly string[]> {
  readonly #rows: Rows;
  readonly #out = new TextBatches();
  /** The agents' names as they stand in rows. */
  readonly #names = new Map<string, string>();

  /** @param agents the names of the agents */
  constructor(format: RowFormat, agents: readonly string[], isForSpreadsheet = false) {
    this.#rows = new Rows(format, withAgents(AUDIT_COLUMNS, agents), isForSpreadsheet);
    this.#out.add(this.#rows.header);
  }

  get isClosed(): boolean {
    return this.#out.isClosed;
  }

  /** Which columns do not fit the window. */
  get omission(): string | undefined {
    return this.#rows.omission;
  }

  prepare(rows: readonly AuditRow[]): readonly string[] {
    const texts = new Map<readonly Cell[], string>();
    return rows.map(({ agent, cells }) => {
      const text = texts.get(cells) ?? this.#rows.part(2, cells);
      texts.set(cells, text);
      return this.#nameOf(agent) + text;
    });
  }

  add(host: string, rows: readonly string[], date: string | undefined): boolean {
    if (rows.length === 0) return false;
    const start = this.#rows.part(0, [host]);
    const end = this.#rows.part(DATE_COLUMN, [date]);
    this.#out.add(start + rows.join(end + start) + end);
    return false;
  }

  async flush(): Promise<void> {
    this.#out.flush();
  }

  async end(): Promise<void> {
    this.#out.flush();
  }

  #nameOf(agent: string): string {
    let name = this.#names.get(agent);
    if (name === undefined) {
      name = this.#rows.part(1, [agent]);
      this.#names.set(agent, name);
    }
    return name;
  }
}

type ParquetRow = readonly (string | number | undefined)[];

/** Writes rows as Parquet to standard output. Lists are texts, as in CSV. */
export class AuditParquet implements AuditSink<readonly ParquetRow[]> {
  isClosed = false;
  readonly #writer = new RowsWriter(
    {
      write: async (bytes) => {
        if (!this.isClosed) this.isClosed = !writeOutput(bytes);
      },
    },
    AUDIT_COLUMNS.map(
      ({ name }): AddedColumn => ({
        name,
        type: INTEGERS.includes(name) ? 'integer' : 'text',
        nullable: !REQUIRED.includes(name),
      }),
    ),
  );

  prepare(rows: readonly AuditRow[]): readonly ParquetRow[] {
    const values = new Map<readonly Cell[], ParquetRow>();
    return rows.map(({ agent, cells }) => {
      const own = values.get(cells) ?? cells.map(parquetValue);
      values.set(cells, own);
      return [agent, ...own];
    });
  }

  add(host: string, rows: readonly ParquetRow[], date: string | undefined): boolean {
    for (const row of rows) this.#writer.add([host, ...row, date]);
    return this.#writer.isFull;
  }

  flush(): Promise<void> {
    return this.#writer.writeGroup();
  }

  end(): Promise<void> {
    return this.#writer.finish();
  }
}

function parquetValue(value: Cell, index: number): string | number | undefined {
  if (value === undefined) return undefined;
  const isInteger = INTEGERS.includes(AUDIT_COLUMNS[index + 2]?.name ?? '');
  return isInteger ? Number(value) : textOf(value);
}

/** Keeps the first rows for a page. */
export class AuditPageRows implements AuditSink<readonly AuditRow[]> {
  readonly isClosed = false;
  readonly held = new HeldRows(AUDIT_COLUMNS);

  prepare(rows: readonly AuditRow[]): readonly AuditRow[] {
    return rows;
  }

  add(host: string, rows: readonly AuditRow[], date: string | undefined): boolean {
    for (const { agent, cells } of rows) this.held.add([host, agent, ...cells, date]);
    return false;
  }

  async flush(): Promise<void> {}

  async end(): Promise<void> {}
}

// ---- The audit of a host

const NO_RECORDS: AuthorityRecords = { list: 0, records: [], date: undefined };

/** Binary logarithm of the number of pairs of rules and records whose rows are kept. */
const KEPT_BITS = 12;

/** Maximum characters of the lists in the rows of a pair that is kept. */
const KEPT_CHARACTERS = 1 << 16;

/** Columns of an AuditRow after `allowed`. */
const COLUMNS_AFTER_ALLOWED = AUDIT_COLUMNS.length - 4;

/** What hosts with the same rules and records have in common. */
interface Shared<Prepared> {
  readonly findings: readonly AgentFinding[];
  readonly kinds: ReadonlySet<string>;
  readonly rows: Prepared;
  /** Characters of the lists in all distinct rows. */
  readonly characters: number;
}

/** Audits hosts, passes on their rows and counts them. */
export class HostAudit<Prepared> {
  readonly tally: AuditTally;
  readonly #sink: AuditSink<Prepared>;
  readonly #view: TableView;
  readonly #agents: readonly Agent[];
  readonly #audit: TableAudit;
  readonly #only: Allowed | undefined;
  /** By the offsets of the robots record and of the list of records. */
  readonly #known = new PairCache<Shared<Prepared>>(KEPT_BITS);

  constructor(
    sink: AuditSink<Prepared>,
    table: Table,
    agents: readonly Agent[],
    only: Allowed | undefined,
  ) {
    this.#sink = sink;
    this.#view = tableMemory(table).view;
    this.#agents = agents;
    this.#audit = new TableAudit(this.#view, agents, table.profile === 'google');
    this.#only = only;
    this.tally = new AuditTally(agents.map(({ name }) => name));
  }

  /** Adds a host; returns true if the sink must be flushed. */
  add(label: string, authority: TableAuthority): boolean {
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
    return this.#sink.add(label, shared.rows, date);
  }

  /** Adds a host that is not in the table. */
  addUnknown(label: string): boolean {
    const nothing = new Array<undefined>(COLUMNS_AFTER_ALLOWED).fill(undefined);
    const cells = ['unknown', ...nothing];
    const rows = this.#agents.map(
      ({ name }): AuditRow => ({ agent: name, allowed: 'unknown', cells }),
    );
    const findings = rows.map(({ allowed }): AgentFinding => ({ allowed, by: 'nobody' }));
    this.tally.add(label, findings, undefined, new Set());
    return this.#sink.add(label, this.#prepared(rows), undefined);
  }

  #prepared(rows: readonly AuditRow[]): Prepared {
    const only = this.#only;
    const chosen = only === undefined ? rows : rows.filter(({ allowed }) => allowed === only);
    return this.#sink.prepare(chosen);
  }

  #sharedOf(
    { robots, accessResult }: TableAuthority,
    { records }: AuthorityRecords,
  ): Shared<Prepared> {
    const summaries = this.#audit.summaries(robots, accessResult);
    const sitemaps = boundedList(
      records.filter(({ kind }) => kind === 'sitemap').map(({ value }) => value),
    );
    let characters = 0;
    // Most agents share a summary.
    const known = new Map<AgentSummary, readonly Cell[]>();
    const cellsOf = (summary: AgentSummary): readonly Cell[] => {
      const { reach, tokens, rules, rootAllowed, rootLine } = summary;
      const { crawlDelay, preferences: all } = recordsFor(records, tokens);
      const preferences = boundedList(all);
      characters += textOf(sitemaps).length + textOf(preferences).length;
      return [
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
    };
    const rows = this.#agents.map(({ name }, index): AuditRow => {
      const summary = summaries[index] as AgentSummary;
      const cells = known.get(summary) ?? cellsOf(summary);
      known.set(summary, cells);
      return { agent: name, allowed: summary.reach, cells };
    });
    return {
      findings: summaries.map((summary) => ({ allowed: summary.reach, by: deciderOf(summary) })),
      kinds: new Set(records.map(({ kind }) => kind)),
      rows: this.#prepared(rows),
      characters,
    };
  }
}

function deciderOf({ tokens }: AgentSummary): AgentFinding['by'] {
  if (tokens.length === 0) return 'nobody';
  return tokens[0] === '*' ? 'any' : 'own';
}
