import { shardOf } from '../table/shard-of.js';
import type { AutomatonView } from './automaton-view.js';
import type {
  AuthorityRecords,
  MergedGroup,
  TableAuthority,
  TableGroup,
  TableHost,
  TableRule,
} from './table-content.js';
import { SHARD_SPAN, TableView } from './table-view.js';

/** A shard that a view reads. */
export interface ViewedShard {
  readonly view: TableView;
  /** Slots of the shards before this one. */
  readonly firstSlot: number;
}

/**
 * Reads a table in shards as one table. An offset in shard `s` is `s * SHARD_SPAN` greater than in
 * the shard's own table; 0 stays "none".
 */
export class ShardedView extends TableView {
  override readonly parts: readonly TableView[];
  readonly #shards: readonly ViewedShard[];

  /** @param name the table's name in messages */
  constructor(shards: readonly ViewedShard[], name: string) {
    const [first] = shards;
    if (first === undefined) throw new Error('a table in shards has at least one');
    super(first.view.reader.bytes, name);
    this.#shards = shards;
    this.parts = shards.map(({ view }) => view);
  }

  override *tokens(): Iterable<string> {
    const tokens = new Set<string>();
    for (const view of this.parts) for (const token of view.tokens()) tokens.add(token);
    yield* tokens;
  }

  override *hosts(): Iterable<TableHost> {
    for (const at of this.hostPlaces()) yield this.hostAt(at);
  }

  override *hostPlaces(): Iterable<number> {
    for (const [shard, view] of this.parts.entries()) {
      for (const at of view.hostPlaces()) yield at + shard * SHARD_SPAN;
    }
  }

  override placeOfSlot(slot: number): number {
    const shard = this.#shards.findLastIndex(({ firstSlot }) => firstSlot <= slot);
    const { view, firstSlot } = this.#shards[shard] as ViewedShard;
    const at = view.placeOfSlot(slot - firstSlot);
    return at === 0 ? 0 : at + shard * SHARD_SPAN;
  }

  override placeOfAuthority(authority: number): number {
    const { view, shard } = this.#of(authority);
    return view.placeOfAuthority(authority % SHARD_SPAN) + shard * SHARD_SPAN;
  }

  override nameAt(at: number): string {
    return this.#of(at).view.nameAt(at % SHARD_SPAN);
  }

  override find(host: string): TableHost | undefined {
    const shard = shardOf(host, this.#shards.length);
    const found = this.#shards[shard]?.view.find(host);
    return found && this.#moved(found, shard);
  }

  override hostAt(at: number): TableHost {
    const { view, shard } = this.#of(at);
    return this.#moved(view.hostAt(at % SHARD_SPAN), shard);
  }

  override groups(robots: number): MergedGroup[] {
    const { view, shard } = this.#of(robots);
    return view.groups(robots % SHARD_SPAN).map(({ productTokens, groups }) => ({
      productTokens,
      groups: groups.map((group) => movedGroup(group, shard * SHARD_SPAN)),
    }));
  }

  override rules({ productTokens, groups }: MergedGroup): TableRule[] {
    if (groups.length === 0) return [];
    const { view, shard } = this.#of(Math.max(...groups.map(({ automaton }) => automaton)));
    const own = groups.map((group) => movedGroup(group, -shard * SHARD_SPAN));
    return view.rules({ productTokens, groups: own });
  }

  override get hasRecords(): boolean {
    return this.parts.some((view) => view.hasRecords);
  }

  override recordsOf(authority: Pick<TableAuthority, 'at'>): AuthorityRecords {
    const { view } = this.#of(authority.at);
    return view.recordsOf({ at: authority.at % SHARD_SPAN });
  }

  override *automata(): Iterable<AutomatonView> {
    for (const view of this.parts) yield* view.automata();
  }

  #of(at: number): { readonly view: TableView; readonly shard: number } {
    const shard = Math.floor(at / SHARD_SPAN);
    return { view: (this.#shards[shard] as ViewedShard).view, shard };
  }

  /** A host with offsets of all shards. */
  #moved({ host, authorities }: TableHost, shard: number): TableHost {
    const distance = shard * SHARD_SPAN;
    return {
      host,
      authorities: authorities.map((authority) => ({
        schemes: authority.schemes,
        port: authority.port,
        accessResult: authority.accessResult,
        // Read when it is needed: see TableView.
        get source() {
          return authority.source;
        },
        robots: authority.robots + distance,
        at: authority.at + distance,
      })),
    };
  }
}

/** A group whose automaton is moved, unless it has none. */
export function movedGroup(group: TableGroup, distance: number): TableGroup {
  const { automaton, firstLine } = group;
  return automaton === 0 ? group : { automaton: automaton + distance, firstLine };
}
