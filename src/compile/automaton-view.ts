import {
  AUTOMATON_ROOT,
  AUTOMATON_RULE_COUNT,
  AUTOMATON_RULES,
  AUTOMATON_WIDTH,
  BLOCK_MASK_OCTETS,
  BLOCK_MASKS,
  NODE_END_RULE,
  NODE_FIXED_OCTETS,
  NODE_PREFIX_RULE,
  NODE_WILDCARDS,
} from './format.js';
import type { TableReader } from './table-reader.js';

/** A rule as a table keeps it. */
export interface TableRule {
  readonly allow: boolean;
  /** The pattern as written, cut to TEXT_LIMIT octets, escaped as in a JSON string: fit for a terminal. */
  readonly text: string;
  /** Canonical length of the pattern: its specificity. */
  readonly octets: number;
  /** Number of its line in the file, from 1. */
  readonly line: number;
}

/** What an automaton is made of. */
export interface AutomatonCounts {
  readonly octets: number;
  readonly rules: number;
  readonly nodes: number;
  readonly wildcardNodes: number;
  readonly wildcardRules: number;
  readonly blocks: number;
}

/** Octets of a wildcard rule of which not even the segments are there. */
const MIN_WILDCARD_REFS = 3;

/** Reads an automaton from one end to the other, as its nodes lie: linear whatever its offsets say. */
export class AutomatonView {
  readonly #reader: TableReader;
  readonly #start: number;
  readonly #rules: number;
  readonly #ruleCount: number;
  readonly #width: 2 | 4;

  constructor(reader: TableReader, start: number) {
    this.#reader = reader;
    this.#start = start;
    const width = reader.u32(start + AUTOMATON_WIDTH);
    if (width !== 2 && width !== 4) {
      throw reader.damaged(`the automaton at ${start} has offsets of ${width} octets`);
    }
    this.#width = width;
    this.#rules = start + reader.u32(start + AUTOMATON_RULES);
    this.#ruleCount = reader.u32(start + AUTOMATON_RULE_COUNT);
    // Rules have two fields each, so there are not more than octets.
    reader.octets(this.#rules, 0);
    if (this.#ruleCount > 0) this.#ref(this.#rules + (2 * this.#ruleCount - 1) * width);
  }

  /** The rules by rising precedence, with the numbers of their lines from the list at `lines`. */
  rules(lines: number): TableRule[] {
    const reader = this.#reader;
    const allows = new Uint8Array(this.#ruleCount);
    this.#walk((rank) => {
      const order = rank >> 1;
      if (order === 0 || order > this.#ruleCount) {
        throw reader.damaged(`the automaton at ${this.#start} has no rule ${order}`);
      }
      allows[order - 1] = rank & 1;
    });
    const lineWidth = reader.u32(lines) === 2 ? 2 : 4;
    const texts = this.#rules + 2 * this.#ruleCount * this.#width;
    const rules: TableRule[] = [];
    let from = 0;
    for (let index = 0; index < this.#ruleCount; index++) {
      const field = this.#rules + 2 * index * this.#width;
      const end = this.#ref(field);
      if (end < from) throw reader.damaged(`the texts of the automaton at ${this.#start} overlap`);
      const line = lines + 4 + index * lineWidth;
      rules.push({
        allow: allows[index] === 1,
        text: reader.escapedText(texts + from, end - from),
        octets: this.#ref(field + this.#width),
        line: lineWidth === 2 ? reader.u16(line) : reader.u32(line),
      });
      from = end;
    }
    return rules;
  }

  counts(): AutomatonCounts {
    const counts = { nodes: 0, wildcardNodes: 0, wildcardRules: 0, blocks: 0 };
    this.#walk(
      () => undefined,
      (blocks, wildcardRules) => {
        counts.nodes++;
        counts.blocks += blocks;
        counts.wildcardRules += wildcardRules;
        if (blocks > 0) counts.wildcardNodes++;
      },
    );
    return { octets: this.#reader.u32(this.#start), rules: this.#ruleCount, ...counts };
  }

  /** Calls back for the rank of each rule, and at the end of each node with its blocks and their rules. */
  #walk(
    visitRank: (rank: number) => void,
    visitNode: (blocks: number, wildcardRules: number) => void = () => undefined,
  ): void {
    const reader = this.#reader;
    const width = this.#width;
    let at = this.#start + AUTOMATON_ROOT;
    while (at < this.#rules) {
      const flags = reader.u8(at);
      const edges = reader.u8(at + 2);
      at += NODE_FIXED_OCTETS + reader.u8(at + 1) + edges + edges * width;
      for (const flag of [NODE_PREFIX_RULE, NODE_END_RULE]) {
        if ((flags & flag) === 0) continue;
        visitRank(this.#ref(at));
        at += width;
      }
      let blocks = 0;
      let wildcardRules = 0;
      if ((flags & NODE_WILDCARDS) !== 0) {
        blocks = this.#ref(at);
        at += width;
        for (let block = 0; block < blocks; block++) {
          const count = reader.u8(at);
          const masked = (reader.u8(at + 1) & BLOCK_MASKS) !== 0;
          wildcardRules += count;
          at += 2 + 2 * width + (masked ? BLOCK_MASK_OCTETS : 0);
          for (let rule = 0; rule < count; rule++) {
            visitRank(this.#ref(at));
            const octets = this.#ref(at + width);
            if (octets < MIN_WILDCARD_REFS * width + 2) {
              throw reader.damaged(`the wildcard rule at ${at} has ${octets} octets`);
            }
            at += octets;
          }
        }
      }
      visitNode(blocks, wildcardRules);
    }
    if (at !== this.#rules) {
      throw reader.damaged(`the nodes of the automaton at ${this.#start} do not end at its rules`);
    }
  }

  #ref(at: number): number {
    return this.#width === 2 ? this.#reader.u16(at) : this.#reader.u32(at);
  }
}
