/**
 * Tells which robots.txt files of a table are the same, so that a file which many hosts share can
 * count once.
 */

import { createHash } from 'node:crypto';
import { automatonAt } from '../view/automaton-view.js';
import { SHARD_SPAN } from '../view/shard-view.js';
import type { TableAuthority } from '../view/table-content.js';
import type { TableView } from '../view/table-view.js';

/**
 * Numbers the distinct robots.txt files of a table, from 0. Two are the same if their groups have
 * the same rules for the same product tokens. Comments, sitemaps, the order of groups and whether
 * tokens share a group make no difference. In a table that was compiled for some agents, only the
 * groups of these are compared.
 */
export class DistinctRobots {
  readonly #view: TableView;
  /** By the offset of a robots record. */
  readonly #byRecord = new Map<number, number>();
  readonly #byContent = new Map<string, number>();
  /** Digests of automata, by offset: in several shards equal ones have other offsets. */
  readonly #digests: Map<number, string> | undefined;

  constructor(view: TableView) {
    this.#view = view;
    this.#digests = view.shards.length > 1 ? new Map() : undefined;
  }

  /** How many there are so far. */
  get count(): number {
    return this.#byContent.size;
  }

  /** The number of the robots.txt of an authority; `undefined` if none was read. */
  numberOf({ robots, accessResult }: TableAuthority): number | undefined {
    if (accessResult !== 'successful') return undefined;
    let number = this.#byRecord.get(robots);
    if (number === undefined) {
      const content = this.#contentOf(robots);
      number = this.#byContent.get(content) ?? this.#byContent.size;
      this.#byContent.set(content, number);
      this.#byRecord.set(robots, number);
    }
    return number;
  }

  /** A digest of what the groups of a robots record allow to whom. */
  #contentOf(robots: number): string {
    const shard = this.#view.shardAt(robots);
    // A token for itself: whether tokens share a group or repeat its rules makes no difference.
    const groups = shard.groupsAndSignals(robots).flatMap(({ productTokens, groups: own }) => {
      // A group without rules adds nothing to the others of its token.
      const automata = own.flatMap(({ automaton }) => automaton || []);
      const rules = automata.map((automaton) => this.#nameOf(automaton)).sort();
      return productTokens.map((token) => `${token} ${rules.join()}`);
    });
    return createHash('sha1').update(groups.sort().join('\n')).digest('base64');
  }

  #nameOf(automaton: number): string | number {
    if (this.#digests === undefined) return automaton;
    let digest = this.#digests.get(automaton);
    if (digest === undefined) {
      const shard = this.#view.shardAt(automaton);
      const start = automaton % SHARD_SPAN;
      const end = start + automatonAt(shard, automaton).bytes;
      digest = createHash('sha1').update(shard.reader.bytes.subarray(start, end)).digest('hex');
      this.#digests.set(automaton, digest);
    }
    return digest;
  }
}
