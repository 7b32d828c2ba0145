import { type AgentSummary, TableAudit } from '../../inspect/table-audit.js';
import type { AuthorityRecords, TableAuthority } from '../../inspect/table-content.js';
import type { TableView } from '../../inspect/table-view.js';
import type { Agent } from '../../protocol/agent.js';
import { recordsFor } from '../../protocol/records-for.js';
import { type Table, tableMemory } from '../../table.js';
import { SUCCESS } from '../exit-codes.js';
import { neededTokens, parseAgents } from '../options/agents.js';
import type { AuditOptions } from '../options/command-options.js';
import { type ReportForm, reportForm } from '../options/report-form.js';
import { type AgentFinding, type AuditFigures, AuditTally } from '../report/audit-figures.js';
import { authorityLabel } from '../report/authority-label.js';
import { Diagnostics } from '../report/diagnostics.js';
import { isoSeconds } from '../report/host-report.js';
import { formatCount, formatNumber } from '../report/numbers.js';
import { writeReport } from '../report/report-file.js';
import { type Column, Rows, safeJson } from '../report/rows.js';
import { TextBatches } from '../report/text-batches.js';
import { usageError } from '../usage-error.js';
import { type AskedHosts, readHosts } from './asked-hosts.js';
import { checkProfile, compileWithRecords, openWithRecords } from './table-with-records.js';

const COLUMNS: readonly Column[] = [
  { name: 'host', width: 28 },
  { name: 'agent', width: 16 },
  { name: 'allowed', width: 7, isVerdict: true },
  { name: 'group', width: 16 },
  { name: 'rules', width: 5 },
  { name: 'root', width: 5, isVerdict: true },
  { name: 'root_line', width: 9 },
  { name: 'crawl_delay', width: 11 },
  { name: 'sitemaps', width: 8 },
  { name: 'preferences', width: 11 },
  { name: 'access', width: 12 },
  { name: 'date', width: 20 },
];

/** Columns that stand before the summary of a robots.txt. */
const AGENT_COLUMNS = 3;

const NO_RECORDS: AuthorityRecords = { records: [], date: undefined };

/** Tails of rows that are kept for robots records that several hosts share. */
const KEPT_TAILS = 1 << 16;

/**
 * `robots-filter audit`: prints for each host and agent how much of the host is allowed.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function audit(options: AuditOptions): Promise<number> {
  const { robotsDir, table: path, profile } = options;
  if ((robotsDir === undefined) === (path === undefined)) {
    throw usageError(
      'audit needs robots.txt files or a table. Type: robots-filter audit --robots-dir DIR -a GPTBot, or robots-filter audit --table FILE -a GPTBot',
    );
  }
  const form = options.report === undefined ? undefined : reportForm(options.report);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  let table: Table;
  if (path === undefined) {
    const tokens = neededTokens(parseAgents(options.agent, profile ?? 'rfc9309'));
    const opened = await compileWithRecords(robotsDir ?? [], options, tokens, diagnostics);
    if (typeof opened === 'number') return opened;
    table = opened;
  } else {
    table = await openWithRecords(path, diagnostics);
    checkProfile(table, path, profile);
  }
  const agents = parseAgents(options.agent, table.profile);
  const { view } = tableMemory(table);
  for (const agent of agents) view.checkAgent(agent);
  const asked = options.hosts === undefined ? undefined : await readHosts(options.hosts);
  const report = new AuditReport(view, agents, table.profile === 'google', options);
  report.write(asked);
  if (form !== undefined && options.report !== undefined) {
    const figures = report.figures({
      source: path ?? (robotsDir ?? []).join(', '),
      profile: table.profile,
      created: new Date().toISOString(),
    });
    await writeReport(options.report, await reportText(figures, form));
  }
  if (!report.isClosed) for (const line of report.totals()) diagnostics.note(line);
  return SUCCESS;
}

/** Writes the rows of an audit, sorted by host. */
class AuditReport {
  readonly #view: TableView;
  readonly #agents: readonly Agent[];
  readonly #audit: TableAudit;
  readonly #rows: Rows;
  readonly #only: AuditOptions['only'];
  /** Whether a report is written, which needs all hosts. */
  readonly #reports: boolean;
  readonly #out = new TextBatches();
  readonly #tally: AuditTally;
  /** The agents' names as they stand in rows. */
  readonly #names: readonly string[];
  /** For robots records of authorities without records: the allowances, and the tails of rows. */
  readonly #tails = new Map<number, readonly Tail[]>();

  constructor(
    view: TableView,
    agents: readonly Agent[],
    google: boolean,
    { format = 'table', only, report }: AuditOptions,
  ) {
    this.#view = view;
    this.#agents = agents;
    this.#audit = new TableAudit(view, agents, google);
    this.#rows = new Rows(format, COLUMNS);
    this.#only = only;
    this.#reports = report !== undefined;
    this.#names = agents.map(({ name }) => this.#rows.part(1, [name]));
    this.#tally = new AuditTally(agents.map(({ name }) => name));
  }

  /** @param asked the hosts of the report; `undefined` for all hosts of the table */
  write(asked: AskedHosts | undefined): void {
    this.#out.add(this.#rows.header);
    if (asked === undefined) {
      for (const at of sortedHosts(this.#view)) {
        if (this.#isDone) return;
        const host = this.#view.hostAt(at);
        for (const authority of host.authorities) {
          this.#add(authorityLabel(host, authority), authority);
        }
      }
    } else {
      for (const { label, authorities } of asked.in(this.#view)) {
        if (this.#isDone) return;
        if (authorities.length === 0) this.#addUnknown(label);
        for (const [name, authority] of authorities) this.#add(name, authority);
      }
    }
    this.#out.flush();
  }

  get #isDone(): boolean {
    return this.isClosed && !this.#reports;
  }

  /** Whether the reader of the rows has gone away. */
  get isClosed(): boolean {
    return this.#out.isClosed;
  }

  /** One line for each agent: how many hosts allow how much. */
  totals(): string[] {
    return this.#tally.agents.map(({ agent: name, all, part, none, unknown }) => {
      const rest = unknown === 0 ? '' : `, ${formatNumber(unknown)} unknown`;
      const hosts = formatCount(all + part + none + unknown, 'host');
      return `${name}: ${hosts}: ${formatNumber(all)} all, ${formatNumber(part)} part, ${formatNumber(none)} none${rest}`;
    });
  }

  /** Every figure of the report. */
  figures(about: Pick<AuditFigures, 'source' | 'profile' | 'created'>): AuditFigures {
    return this.#tally.figures(about, this.#view.hasRecords);
  }

  #add(label: string, authority: TableAuthority): void {
    const kept = this.#view.hasRecords ? this.#view.recordsOf(authority) : NO_RECORDS;
    const isShared = kept.records.length === 0 && kept.date === undefined;
    let tails = isShared ? this.#tails.get(authority.robots) : undefined;
    if (tails === undefined) {
      tails = this.#tailsOf(authority, kept);
      if (this.#tails.size === KEPT_TAILS) this.#tails.clear();
      if (isShared) this.#tails.set(authority.robots, tails);
    }
    this.#addRows(label, tails);
    const kinds = kept.records.map(({ kind }) => kind);
    this.#tally.add(label, tails, authority.accessResult, kinds);
  }

  #addUnknown(label: string): void {
    const nothing = COLUMNS.slice(AGENT_COLUMNS).map(() => undefined);
    const text = this.#rows.part(2, ['unknown', ...nothing]);
    const tails = this.#agents.map((): Tail => ({ allowed: 'unknown', by: 'nobody', text }));
    this.#addRows(label, tails);
    this.#tally.add(label, tails, undefined, []);
  }

  #addRows(label: string, tails: readonly Tail[]): void {
    const start = this.#rows.part(0, [label]);
    let rows = '';
    for (let index = 0; index < tails.length; index++) {
      const { allowed, text } = tails[index] as Tail;
      if (this.#only !== undefined && this.#only !== allowed) continue;
      rows += start + this.#names[index] + text;
    }
    this.#out.add(rows);
  }

  #tailsOf(authority: TableAuthority, kept: AuthorityRecords): Tail[] {
    const { robots, accessResult } = authority;
    const summaries = this.#audit.summaries(robots, accessResult);
    const { records } = kept;
    const sitemaps = records.filter(({ kind }) => kind === 'sitemap').map(({ value }) => value);
    const date = kept.date === undefined ? undefined : isoSeconds(kept.date);
    const known = new Map<AgentSummary, Tail>();
    return summaries.map((summary) => {
      let tail = known.get(summary);
      if (tail !== undefined) return tail;
      const { crawlDelay, preferences } = recordsFor(records, summary.tokens);
      const text = this.#rows.part(2, [
        summary.reach,
        summary.tokens.length === 0 ? undefined : summary.tokens.join(' '),
        summary.rules,
        summary.rootAllowed ? 'allow' : 'deny',
        summary.rootLine,
        crawlDelay,
        sitemaps.length === 0 ? undefined : sitemaps,
        preferences.length === 0 ? undefined : preferences,
        accessResult,
        date,
      ]);
      tail = { allowed: summary.reach, by: deciderOf(summary), text };
      known.set(summary, tail);
      return tail;
    });
  }
}

/** A row without its host and agent. */
interface Tail extends AgentFinding {
  readonly text: string;
}

function deciderOf({ tokens }: AgentSummary): AgentFinding['by'] {
  if (tokens.length === 0) return 'nobody';
  return tokens[0] === '*' ? 'any' : 'own';
}

async function reportText(figures: AuditFigures, form: ReportForm): Promise<string> {
  if (form === 'json') return `${safeJson(figures)}\n`;
  const { auditPage } = await import('../report/html/audit-page.js');
  return auditPage(figures);
}

/** The offsets of all host records, sorted by host. */
function sortedHosts(view: TableView): number[] {
  const names: string[] = [];
  // A space is before any character of a host, so the offset after it does not change the order.
  for (const at of view.hostPlaces()) names.push(`${view.nameAt(at)} ${at}`);
  return names.sort().map((name) => Number(name.slice(name.lastIndexOf(' ') + 1)));
}
