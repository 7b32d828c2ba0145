import { sortedPlaces } from '../../inspect/host-order.js';
import type { TableAuthority, TableHost } from '../../inspect/table-content.js';
import { type AgentChange, TableDiff } from '../../inspect/table-diff.js';
import type { TableView } from '../../inspect/table-view.js';
import type { Judgement } from '../../kernel/judge.js';
import { formatAuthority, type Scheme } from '../../protocol/authority.js';
import { tableMemory } from '../../table.js';
import { authorityLabel } from '../report/authority-label.js';
import type { DiffTally } from '../report/diff-figures.js';
import type { RowSink } from '../report/row-sink.js';
import type { Cell, Column } from '../report/rows.js';
import { causeOf, type DiffSides } from './diff-sides.js';

export const HOST_COLUMNS: readonly Column[] = [
  { name: 'host', width: 28 },
  { name: 'agent', width: 16 },
  { name: 'change', width: 7 },
  { name: 'old', width: 4, isVerdict: true },
  { name: 'new', width: 4, isVerdict: true },
  { name: 'path', width: 20 },
  { name: 'old_rule', width: 24 },
  { name: 'new_rule', width: 24 },
];

/** An authority in one of the tables, or in both. */
interface Sides {
  readonly scheme: Scheme;
  readonly port: number | undefined;
  readonly old: TableAuthority | undefined;
  readonly new: TableAuthority | undefined;
}

/** Writes the hosts that have come, gone or changed, sorted. */
export class HostDiff {
  readonly #sides: DiffSides;
  readonly #diff: TableDiff;
  readonly #sink: RowSink;
  readonly #tally: DiffTally;

  constructor(sides: DiffSides, sink: RowSink, tally: DiffTally) {
    const [old, next] = [tableMemory(sides.old).view, tableMemory(sides.new).view];
    this.#sides = sides;
    this.#diff = new TableDiff(old, next, sides.agents, sides.old.profile === 'google');
    this.#sink = sink;
    this.#tally = tally;
  }

  /** Merges the hosts of both tables, each in the order of the names. */
  write(): void {
    const old = new HostList(tableMemory(this.#sides.old).view);
    const next = new HostList(tableMemory(this.#sides.new).view);
    while (!this.#sink.isClosed) {
      const [before, after] = [old.name, next.name];
      if (before === undefined && after === undefined) return;
      this.#tally.compared++;
      if (after === undefined || (before !== undefined && before < after)) {
        this.#compare(old.take(), undefined);
      } else if (before === undefined || after < before) {
        this.#compare(undefined, next.take());
      } else {
        this.#compare(old.take(), next.take());
      }
    }
  }

  #compare(old: TableHost | undefined, next: TableHost | undefined): void {
    if (old !== undefined && next !== undefined && this.#isUnchanged(old, next)) return;
    const host = (old ?? next)?.host ?? '';
    for (const same of alike(sidesOf(old, next))) {
      const [{ old: before, new: after, port }] = same;
      const schemes = same.map(({ scheme }) => scheme);
      const label = authorityLabel({ host }, { schemes, port });
      if (before !== undefined && after !== undefined) {
        for (const change of this.#diff.changes(before, after)) {
          this.#addChanged(label, host, same[0], change);
        }
      } else if (after !== undefined) {
        this.#addOnly(label, after, 'new');
      } else if (before !== undefined) {
        this.#addOnly(label, before, 'old');
      }
    }
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

  #addOnly(label: string, authority: TableAuthority, side: 'old' | 'new'): void {
    const change = side === 'new' ? 'added' : 'removed';
    this.#diff.reaches(authority, side).forEach((reach, agent) => {
      this.#tally.add(agent, change);
      const extents = side === 'new' ? [undefined, reach] : [reach, undefined];
      this.#add(label, agent, [change, ...extents, undefined, undefined, undefined]);
    });
  }

  #addChanged(label: string, host: string, side: Sides, change: AgentChange): void {
    const { agent, old, new: next, paths } = change;
    const example = this.#example(host, side, agent, paths);
    if (example === undefined) {
      this.#tally.addUndecided(agent);
      return;
    }
    const kind = old === next ? 'rules' : 'extent';
    this.#tally.add(agent, kind === 'rules' ? 'rules' : [old, next]);
    const cells = [example.path, causeOf(example.old), causeOf(example.new)];
    this.#add(label, agent, [kind, old, next, ...cells]);
  }

  /** The first path on which the verdicts differ, asked of both tables. */
  #example(
    host: string,
    { scheme, port }: Sides,
    agent: number,
    paths: readonly string[],
  ): { readonly path: string; readonly old: Judgement; readonly new: Judgement } | undefined {
    const chain = this.#sides.agents[agent]?.chain ?? [];
    const root = formatAuthority({ scheme, host, port });
    for (const path of paths) {
      const old = this.#sides.old.verdict(root + path, chain);
      const next = this.#sides.new.verdict(root + path, chain);
      if (old.verdict !== next.verdict) return { path, old, new: next };
    }
    return undefined;
  }

  #add(label: string, agent: number, cells: readonly Cell[]): void {
    this.#sink.add([label, this.#sides.agents[agent]?.name, ...cells]);
  }
}

/** The hosts of a table in the order of their names. */
class HostList {
  readonly #view: TableView;
  readonly #places: Float64Array;
  #next = 0;
  /** The name of the next host; `undefined` after the last one. */
  name: string | undefined;

  constructor(view: TableView) {
    this.#view = view;
    this.#places = sortedPlaces(view);
    this.#readName();
  }

  /** Returns the next host, and moves on to its successor. */
  take(): TableHost {
    const host = this.#view.hostAt(this.#places[this.#next++] as number);
    this.#readName();
    return host;
  }

  #readName(): void {
    const at = this.#places[this.#next];
    this.name = at === undefined ? undefined : this.#view.nameAt(at);
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
