import type { CompiledGrowth, CompiledRobots } from '../compiled-robots.js';
import { GROWTH_WORDS } from '../intern/byte-store.js';
import { StoreMerger } from '../intern/store-merger.js';
import { Uint32List } from '../intern/uint32-list.js';
import { RobotsRecord } from '../robots-record.js';

/** Adds the additions to another CompiledRobots, as it grows. */
export class RobotsMerger {
  /** The number here of each record of the other CompiledRobots. */
  readonly records = new Uint32List();
  readonly #into: CompiledRobots;
  readonly #automata: StoreMerger;
  readonly #recordLists: StoreMerger;
  readonly #tokens: StoreMerger;
  readonly #recordChunks: Uint32Array[] = [];

  constructor(into: CompiledRobots) {
    this.#into = into;
    this.#automata = new StoreMerger(into.automata);
    this.#recordLists = new StoreMerger(into.recordLists);
    this.#tokens = new StoreMerger(into.tokens);
  }

  /** The number here of each record list of the other CompiledRobots. */
  get recordLists(): Uint32List {
    return this.#recordLists.numbers;
  }

  /** Merges a growth. Growths must come in the order in which they were taken. */
  merge({ automata, records, recordLists, tokens }: CompiledGrowth): void {
    this.#automata.merge(automata);
    this.#recordLists.merge(recordLists);
    this.#tokens.merge(tokens);
    for (const { buffer, byteOffset, length } of records.chunks) {
      this.#recordChunks.push(new Uint32Array(buffer, byteOffset, length >> 2));
    }
    const numbers = { automata: this.#automata.numbers, tokens: this.#tokens.numbers };
    for (let at = 0; at < records.items.length; at += GROWTH_WORDS) {
      const chunk = records.items[at] as number;
      const start = records.items[at + 1] as number;
      const length = records.items[at + 2] as number;
      const words = this.#recordChunks[chunk] as Uint32Array;
      const record = new RobotsRecord(words, start >> 2, length >> 2);
      this.records.push(this.#into.addRenumbered(record, numbers));
    }
  }
}
