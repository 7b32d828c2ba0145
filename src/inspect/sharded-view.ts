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
 * the shard's own table; 0 stays "none". A shard that is not in memory has no hosts that could be
 * listed, and none that can be asked for.
 */
export class ShardedView extends TableView {
  override readonly parts: readonly TableView[];
  readonly #shards: readonly (ViewedShard | undefined)[];

  /** @param name the table's name in messages */
  constructor(shards: readonly (ViewedShard | undefined)[], name: string) {
    const first = shards.find((shard) => shard !== undefined);
    if (first === undefined) throw new Error('a table in shards has at least one');
    super(first.view.reader.bytes, name);
    this.#shards = shards;
    // No offset lies in a shard that is not in memory.
    this.parts = shards.map((shard) => (shard ?? first).view);
  }

  override *tokens(): Iterable<string> {
    const tokens = new Set<string>();
    for (const [, { view }] of this.#present())
      for (const token of view.tokens()) tokens.add(token);
    yield* tokens;
  }

  override hasToken(token: string): boolean {
    for (const [, { view }] of this.#present()) if (view.hasToken(token)) return true;
    return false;
  }

  override *hosts(): Iterable<TableHost> {
    for (const at of this.hostPlaces()) yield this.hostAt(at);
  }

  override *hostPlaces(): Iterable<number> {
    for (const [shard, { view }] of this.#present()) {
      for (const at of view.hostPlaces()) yield at + shard * SHARD_SPAN;
    }
  }

  override placeOfSlot(slot: number): number {
    const shard = this.#shards.findLastIndex(
      (each) => each !== undefined && each.firstSlot <= slot,
    );
    const { view, firstSlot } = this.#shard(shard);
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

  override get isWhole(): boolean {
    return !this.#shards.includes(undefined);
  }

  override canFind(host: string): boolean {
    return this.#shards[shardOf(host, this.#shards.length)] !== undefined;
  }

  override find(host: string): TableHost | undefined {
    const shard = shardOf(host, this.#shards.length);
    const found = this.#shard(shard).view.find(host);
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
    return [...this.#present()].some(([, { view }]) => view.hasRecords);
  }

  override recordsOf(authority: Pick<TableAuthority, 'at'>): AuthorityRecords {
    const { view } = this.#of(authority.at);
    return view.recordsOf({ at: authority.at % SHARD_SPAN });
  }

  override *automata(): Iterable<AutomatonView> {
    for (const [, { view }] of this.#present()) yield* view.automata();
  }

  #of(at: number): { readonly view: TableView; readonly shard: number } {
    const shard = Math.floor(at / SHARD_SPAN);
    return { view: this.#shard(shard).view, shard };
  }

  #shard(shard: number): ViewedShard {
    const viewed = this.#shards[shard];
    if (viewed === undefined) throw new Error(`shard ${shard} is asked for and not in memory`);
    return viewed;
  }

  /** The shards that are in memory, each with its number. */
  *#present(): Iterable<readonly [number, ViewedShard]> {
    for (const [shard, viewed] of this.#shards.entries()) {
      if (viewed !== undefined) yield [shard, viewed];
    }
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
