/** Reads a table for people and for proofs: hosts, authorities, groups, rules, fields. */

import { RobotsFilterError } from '../base/errors.js';
import { LATEST } from '../kernel/layout.js';
import { type Agent, lowerCaseAscii } from '../protocol/agent.js';
import { describeUnnamedPolicyTokens, type NamedTokens } from '../protocol/unnamed-agents.js';
import { ANY_KEY, signalPrefix, type Use, VOCABULARIES } from '../protocol/uses.js';
import { shardOf } from '../table/places.js';
import { SHARD_SPAN, type ShardView } from './shard-view.js';
import type { AuthorityRecords, MergedGroup, TableAuthority, TableHost } from './table-content.js';

/** Number of keys of signals that a warning names. */
const MOST_KEYS = 8;

/**
 * Reads a table: what spans its shards, and for an offset what its shard has there. A shard that is
 * not in memory has no hosts that could be listed, and none that can be asked for.
 */
export class TableView {
  /** Undefined for a shard that is not in memory. */
  readonly shards: readonly (ShardView | undefined)[];
  readonly #present: readonly ShardView[];
  readonly #first: ShardView;
  readonly #name: string;

  /** @param name the table's name in messages */
  constructor(shards: readonly (ShardView | undefined)[], name = 'the table') {
    this.shards = shards;
    this.#present = shards.filter((shard) => shard !== undefined);
    const [first] = this.#present;
    if (first === undefined) throw new Error('a table has at least one shard');
    this.#first = first;
    this.#name = name;
  }

  /** The table as it was at a time, in seconds since 1970: see ShardView. */
  at(time: number): TableView {
    return new TableView(
      this.shards.map((shard) => shard?.at(time)),
      this.#name,
    );
  }

  /**
   * The table with the authorities of whose robots.txt nothing is known at its time, though
   * something was known before.
   */
  withUnknown(): TableView {
    return new TableView(
      this.shards.map((shard) => shard?.withUnknown()),
      this.#name,
    );
  }

  /** Whether the table answers only for the product tokens that are listed in it. */
  get isReduced(): boolean {
    return this.#first.isReduced;
  }

  /**
   * Checks that the table can answer about uses.
   *
   * @throws RobotsFilterError `usage` for a table without signals, and for a policy token that a
   *   reduced table does not have
   */
  checkUses(uses: readonly Use[]): void {
    if (uses.length === 0) return;
    if (!this.#first.hasSignals) {
      throw new RobotsFilterError(
        'usage',
        `${this.#name} was compiled without what robots.txt files say about uses. Compile it again with --signals, in a program with { signals: true }`,
      );
    }
    for (const { policyToken } of uses) {
      if (policyToken !== undefined) this.checkAgent({ name: policyToken, chain: [policyToken] });
    }
  }

  /**
   * Whether any robots.txt in memory says something about a use, if only to other agents, or has a
   * group for its policy token.
   */
  #speaksOf({ keys, policyToken }: Use, named: NamedTokens): boolean {
    if (policyToken !== undefined && named.hasToken(lowerCaseAscii(policyToken))) return true;
    return keys.some((key) => {
      for (const _ of this.#signalTokens(signalPrefix(key))) return true;
      return false;
    });
  }

  /**
   * Names the uses of which no robots.txt in memory speaks, so that each answer about them is the
   * same, and the policy tokens for which none has a group.
   *
   * @param name what the table is made of, or its name
   * @param named the product tokens that the files name. A reduced table does not know them
   * @returns a line for each message
   */
  describeUnstated(
    uses: readonly Use[],
    name: string,
    named: NamedTokens | undefined = this.isReduced ? undefined : this,
  ): string[] {
    const place = `no robots.txt in ${this.isWhole ? '' : 'the shards in memory of '}${name}`;
    const unstated = uses.filter((use) => !this.#speaksOf(use, named ?? this));
    const texts: string[] = [];
    if (unstated.length > 0) {
      const keys = this.signalKeys(MOST_KEYS);
      const known =
        keys.length === 0
          ? 'They have no signals at all'
          : `Keys that they name: ${keys.join(', ')}`;
      const asked = unstated.map((use) => use.name).join(' and ');
      texts.push(`${place} says anything about ${asked}, so each answer is unstated. ${known}`);
    }
    const policy = named && describeUnnamedPolicyTokens(uses, named, `${place} has a group`);
    return policy === undefined ? texts : [...texts, policy];
  }

  /** Whether the table has what robots.txt files say about uses. */
  get hasSignals(): boolean {
    return this.#first.hasSignals;
  }

  /** The names of the signals of all shards in memory (protocol/uses.ts), each once. */
  signalTokens(): ReadonlySet<string> {
    return new Set(VOCABULARIES.flatMap((each) => [...this.#signalTokens(`${each}:`)]));
  }

  *#signalTokens(prefix: string): Iterable<string> {
    for (const view of this.#present) yield* view.signalTokens(prefix);
  }

  /** The first keys of signals that some robots.txt in memory names, sorted. */
  signalKeys(most: number): string[] {
    const keys = new Set<string>();
    for (const token of this.signalTokens()) keys.add(token.split(':')[1] ?? ANY_KEY);
    keys.delete(ANY_KEY);
    return [...keys].sort().slice(0, most);
  }

  /** The product tokens of all shards: each begins with `*` and the empty token. */
  *tokens(): Iterable<string> {
    const tokens = new Set<string>();
    for (const view of this.#present) for (const token of view.tokens()) tokens.add(token);
    yield* tokens;
  }

  /** Whether the table has a product token, given in lower case. */
  hasToken(token: string): boolean {
    return this.#present.some((view) => view.hasToken(token));
  }

  /** @throws RobotsFilterError `usage` if the table is reduced to other product tokens */
  checkAgent(agent: Agent): void {
    this.#first.checkAgent(agent, this.#name);
  }

  /** The offsets of all host records, in the order of the slots. */
  *hostPlaces(): Iterable<number> {
    for (const view of this.#present) yield* view.hostPlaces();
  }

  /** The offset of the host record in a slot, numbered from 0; 0 for a free slot. */
  placeOfSlot(slot: number): number {
    const view = this.#present.findLast(({ firstSlot }) => firstSlot <= slot);
    return (view ?? this.#first).placeOfSlot(slot);
  }

  /** The offset of the host record that an authority belongs to. */
  placeOfAuthority(authority: number): number {
    return this.shardAt(authority).placeOfAuthority(authority);
  }

  /** The name of the host whose record is at `at`. */
  nameAt(at: number): string {
    return this.shardAt(at).nameAt(at);
  }

  /** Whether all shards of the table are in memory. */
  get isWhole(): boolean {
    return this.#present.length === this.shards.length;
  }

  /** Whether `find` can be asked about a host: a shard may not be in memory. */
  canFind(host: string): boolean {
    return this.shards[shardOf(host, this.shards.length)] !== undefined;
  }

  /** Finds a host, given in canonical form. */
  find(host: string): TableHost | undefined {
    return this.#shard(shardOf(host, this.shards.length)).find(host);
  }

  /** The host whose record is at `at`. */
  hostAt(at: number): TableHost {
    return this.shardAt(at).hostAt(at);
  }

  /** The groups of a robots record, those of `*` first. */
  groups(robots: number): MergedGroup[] {
    return this.shardAt(robots).groups(robots);
  }

  /** As `ShardView.timesOf`. */
  timesOf(authority: Pick<TableAuthority, 'at'>): number[] {
    return this.shardAt(authority.at).timesOf(authority);
  }

  /** Whether the table is as it was at some time, and not the newest. */
  get isOfThePast(): boolean {
    return this.#first.time !== LATEST;
  }

  /** Whether the table keeps other records and dates. */
  get hasRecords(): boolean {
    return this.#present.some((view) => view.hasRecords);
  }

  /** The other records (RFC 9309 section 2.2.4) of the robots.txt of an authority, and its date. */
  recordsOf(authority: Pick<TableAuthority, 'at'>): AuthorityRecords {
    return this.shardAt(authority.at).recordsOf(authority);
  }

  /** The shard that an offset lies in. */
  shardAt(at: number): ShardView {
    return this.#shard(Math.floor(at / SHARD_SPAN));
  }

  #shard(shard: number): ShardView {
    const view = this.shards[shard];
    if (view === undefined) throw new Error(`shard ${shard} is asked for and not in memory`);
    return view;
  }
}
