import { readFile } from 'node:fs/promises';
import { TableBuilder } from '../../compile/table-builder.js';
import { pathOfWitness, type Reach } from '../../inspect/reach.js';
import type { TableAuthority, TableHost } from '../../inspect/table-content.js';
import { type AgentChange, TableDiff } from '../../inspect/table-diff.js';
import type { Judgement } from '../../kernel/judge.js';
import type { Agent } from '../../protocol/agent.js';
import { formatAuthority, type Scheme } from '../../protocol/authority.js';
import { Table, tableMemory } from '../../table.js';
import { DIFFERENT, SUCCESS } from '../exit-codes.js';
import { neededTokens, parseAgents } from '../options/agents.js';
import type { DiffOptions } from '../options/command-options.js';
import { authorityLabel } from '../report/authority-label.js';
import { Diagnostics } from '../report/diagnostics.js';
import { formatCount } from '../report/numbers.js';
import { type Cell, type Column, Rows } from '../report/rows.js';
import { TextBatches } from '../report/text-batches.js';
import { usageError } from '../usage-error.js';
import { kindOfPath, unreadable } from './path-kind.js';
import { checkProfile, compileWithRecords } from './table-with-records.js';
import { urlsOf } from './url-lines.js';

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

const URL_COLUMNS: readonly Column[] = [
  { name: 'url', width: 40 },
  { name: 'agent', width: 16 },
  { name: 'old', width: 7, isVerdict: true },
  { name: 'new', width: 7, isVerdict: true },
  { name: 'old_rule', width: 24 },
  { name: 'new_rule', width: 24 },
];

/** Texts in the place of "any text" in a witness, until the verdicts on the path differ. */
const ANY_TEXTS = ['', 'any', 'zq', '~', '-/'];

/** The host in the table of a single robots.txt. */
const SINGLE_HOST = 'robots.txt';

/**
 * `robots-filter diff`: prints what has changed between two sets of robots.txt files, by effect.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function diff(
  oldPath: string,
  newPath: string,
  options: DiffOptions,
): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const [old, next] = [
    await openSide(oldPath, options, diagnostics),
    await openSide(newPath, options, diagnostics),
  ];
  if (typeof old === 'number') return old;
  if (typeof next === 'number') return next;
  if (old.profile !== next.profile) {
    throw usageError(
      `${oldPath} was compiled with --profile ${old.profile} and ${newPath} with --profile ${next.profile}. Compile both with one profile`,
    );
  }
  const agents = parseAgents(options.agent, old.profile);
  for (const table of [old, next]) {
    for (const agent of agents) tableMemory(table).view.checkAgent(agent);
  }
  const report = new DiffReport(old, next, agents, options);
  if (options.urls === undefined) report.writeHosts();
  else await report.writeUrls(options.urls);
  if (!report.isClosed) for (const line of report.totals()) diagnostics.note(line);
  return options.exitCode === true && report.differences > 0 ? DIFFERENT : SUCCESS;
}

/** Opens or compiles one of the two sides; a number is the exit code after a signal. */
async function openSide(
  path: string,
  options: DiffOptions,
  diagnostics: Diagnostics,
): Promise<Table | number> {
  const { profile = 'rfc9309', maxRobotsBytes } = options;
  switch (await kindOfPath(path)) {
    case 'table': {
      const table = await Table.open(path);
      checkProfile(table, path, options.profile);
      return table;
    }
    case 'cache': {
      const tokens = neededTokens(parseAgents(options.agent, profile));
      return await compileWithRecords([path], options, tokens, diagnostics);
    }
    case 'robots.txt': {
      const builder = new TableBuilder({
        profile,
        ...(maxRobotsBytes === undefined ? {} : { maxBytes: maxRobotsBytes }),
      });
      const authority = { scheme: undefined, host: SINGLE_HOST, port: undefined };
      builder.add(authority, await contentOf(path), { source: path });
      return Table.from(builder.build(), path);
    }
  }
}

async function contentOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** An authority in one of the tables, or in both. */
interface Sides {
  readonly scheme: Scheme;
  readonly port: number | undefined;
  readonly old: TableAuthority | undefined;
  readonly new: TableAuthority | undefined;
}

class DiffReport {
  readonly #old: Table;
  readonly #new: Table;
  readonly #agents: readonly Agent[];
  readonly #diff: TableDiff;
  readonly #rows: Rows;
  readonly #out = new TextBatches();
  /** For each agent, how many hosts changed from one extent to another. */
  readonly #counts: Map<string, number>[];
  differences = 0;
  #compared = 0;

  constructor(old: Table, next: Table, agents: readonly Agent[], options: DiffOptions) {
    this.#old = old;
    this.#new = next;
    this.#agents = agents;
    const [one, other] = [tableMemory(old).view, tableMemory(next).view];
    this.#diff = new TableDiff(one, other, agents, old.profile === 'google');
    const columns = options.urls === undefined ? HOST_COLUMNS : URL_COLUMNS;
    this.#rows = new Rows(options.format ?? 'table', columns);
    this.#counts = agents.map(() => new Map());
  }

  /** Whether the reader of the rows has gone away. */
  get isClosed(): boolean {
    return this.#out.isClosed;
  }

  /** Writes the hosts that have come, gone or changed, sorted. */
  writeHosts(): void {
    const [old, next] = [tableMemory(this.#old).view, tableMemory(this.#new).view];
    const rows: { readonly host: string; readonly text: string }[] = [];
    const add = (host: string, sides: readonly Sides[]): void => {
      const text = this.#hostRows(host, sides);
      if (text !== '') rows.push({ host, text });
    };
    for (const host of next.hosts()) {
      const before = old.find(host.host);
      this.#compared++;
      if (before === undefined || !this.#isUnchanged(before, host)) {
        add(host.host, sidesOf(before, host));
      }
    }
    for (const host of old.hosts()) {
      if (next.find(host.host) !== undefined) continue;
      add(host.host, sidesOf(host, undefined));
      this.#compared++;
    }
    rows.sort((a, b) => (a.host < b.host ? -1 : 1));
    if (rows.length > 0) this.#out.add(this.#rows.header);
    for (const { text } of rows) {
      if (this.isClosed) return;
      this.#out.add(text);
    }
    this.#out.flush();
  }

  /** Writes the URLs of a list whose verdicts differ, in the order of the list. */
  async writeUrls(path: string): Promise<void> {
    for await (const url of urlsOf(path)) {
      this.#compared++;
      this.#agents.forEach(({ chain, name }, index) => {
        const [old, next] = [this.#old.verdict(url, chain), this.#new.verdict(url, chain)];
        if (old.verdict === next.verdict) return;
        if (this.differences === 0) this.#out.add(this.#rows.header);
        this.#count(index, `${old.verdict} \u2192 ${next.verdict}`);
        const cells = [url, name, old.verdict, next.verdict, causeOf(old), causeOf(next)];
        this.#out.add(this.#rows.part(0, cells));
      });
      if (this.isClosed) return;
    }
    this.#out.flush();
  }

  /** A line for each agent: how many hosts or URLs have changed, and how. */
  totals(): string[] {
    const isUrls = this.#rows.width === URL_COLUMNS.length;
    const compared = formatCount(this.#compared, isUrls ? 'URL' : 'host');
    return this.#agents.map(({ name }, index) => {
      const counts = [...(this.#counts[index] ?? [])].sort((a, b) => b[1] - a[1]);
      if (counts.length === 0) return `${name}: ${compared}, no difference`;
      return `${name}: ${compared}: ${counts.map(([what, count]) => `${formatCount(count, what, what)}`).join(', ')}`;
    });
  }

  /** Whether a host has the same authorities on both sides, and no change. Most hosts have. */
  #isUnchanged(old: TableHost, next: TableHost): boolean {
    if (old.authorities.length !== next.authorities.length) return false;
    return next.authorities.every((authority, index) => {
      const before = old.authorities[index] as TableAuthority;
      if (before.port !== authority.port || before.schemes !== authority.schemes) return false;
      return this.#diff.changes(before, authority).length === 0;
    });
  }

  #hostRows(host: string, sides: readonly Sides[]): string {
    let text = '';
    for (const same of alike(sides)) {
      const [{ old, new: next, port }] = same;
      const label = authorityLabel({ host } as TableHost, {
        schemes: same.map(({ scheme }) => scheme),
        port,
      });
      if (old !== undefined && next !== undefined) {
        for (const change of this.#diff.changes(old, next)) {
          text += this.#changedRow(label, host, same[0], change);
        }
      } else if (next !== undefined) {
        text += this.#onlyRows(label, 'added', this.#diff.reaches(next, 'new'));
      } else if (old !== undefined) {
        text += this.#onlyRows(label, 'removed', this.#diff.reaches(old, 'old'));
      }
    }
    return text;
  }

  #onlyRows(label: string, change: 'added' | 'removed', reaches: readonly Reach[]): string {
    return reaches
      .map((reach, index) => {
        this.#count(index, change);
        const extents = change === 'added' ? [undefined, reach] : [reach, undefined];
        return this.#row(label, index, [change, ...extents, undefined, undefined, undefined]);
      })
      .join('');
  }

  #changedRow(label: string, host: string, side: Sides, change: AgentChange): string {
    const { agent, old, new: next, witnesses } = change;
    const example = this.#example(host, side, agent, witnesses);
    const kind = old === next ? 'rules' : 'extent';
    // Rules that no URL tells apart have no effect.
    if (kind === 'rules' && example === undefined) return '';
    this.#count(agent, kind === 'rules' ? 'by other rules' : `${old} \u2192 ${next}`);
    const cells = [example?.path, example && causeOf(example.old), example && causeOf(example.new)];
    return this.#row(label, agent, [kind, old, next, ...cells]);
  }

  /** A path on which the verdicts differ, asked of both tables. */
  #example(
    host: string,
    { scheme, port }: Sides,
    agent: number,
    witnesses: readonly Buffer[],
  ): { readonly path: string; readonly old: Judgement; readonly new: Judgement } | undefined {
    const chain = this.#agents[agent]?.chain ?? [];
    const root = formatAuthority({ scheme, host, port });
    for (const witness of witnesses) {
      for (const text of ANY_TEXTS) {
        const path = pathOfWitness(witness, text);
        const [old, next] = [
          this.#old.verdict(root + path, chain),
          this.#new.verdict(root + path, chain),
        ];
        if (old.verdict !== next.verdict) return { path, old, new: next };
      }
    }
    return undefined;
  }

  #row(label: string, agent: number, cells: readonly Cell[]): string {
    return this.#rows.part(0, [label, this.#agents[agent]?.name, ...cells]);
  }

  #count(agent: number, what: string): void {
    this.differences++;
    const counts = this.#counts[agent];
    counts?.set(what, (counts.get(what) ?? 0) + 1);
  }
}

/** The authorities of a host, each scheme for itself, in both tables. */
function sidesOf(old: TableHost | undefined, next: TableHost | undefined): Sides[] {
  const sides = new Map<string, Sides>();
  for (const [host, side] of [
    [old, 'old'],
    [next, 'new'],
  ] as const) {
    for (const authority of host?.authorities ?? []) {
      const { port } = authority;
      for (const scheme of authority.schemes) {
        const key = `${scheme} ${port ?? ''}`;
        const known = sides.get(key) ?? { scheme, port, old: undefined, new: undefined };
        sides.set(key, { ...known, [side]: authority });
      }
    }
  }
  return [...sides.values()];
}

/** Schemes that have the same robots.txt in each table, at the same port. */
function alike(sides: readonly Sides[]): (readonly [Sides, ...Sides[]])[] {
  const groups: [Sides, ...Sides[]][] = [];
  for (const side of sides) {
    const group = groups.find(
      ([first]) => first.port === side.port && first.old === side.old && first.new === side.new,
    );
    if (group === undefined) groups.push([side]);
    else group.push(side);
  }
  return groups;
}

/** The rule that decided, with its line, or the reason. */
function causeOf({ rule, reason }: Judgement): string {
  return rule === undefined ? reason : `${rule.text} (line ${rule.line})`;
}
