import { Buffer } from 'node:buffer';
import { ASTERISK, DOLLAR } from '../ascii.js';
import {
  RULE_END,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
  TEXT_LENGTH_BYTES,
  TEXT_LIMIT,
} from '../table/format.js';
import { AutomatonWalk, type FoundRule, type SegmentBounds, walkedPath } from './automaton-walk.js';
import type { TablePattern, TableRule } from './table-content.js';
import type { TableReader } from './table-reader.js';

/** Counts of the parts of an automaton. */
export interface AutomatonCounts {
  readonly bytes: number;
  readonly rules: number;
  readonly nodes: number;
  /** Number of nodes with wildcard rules, and number of those rules. */
  readonly wildcardNodes: number;
  readonly wildcardRules: number;
  readonly blocks: number;
}

/** Maximum bytes of the segments of a rule with a derived text: two u32 for each byte. */
export const MAX_DERIVED_BYTES = 8 * TEXT_LIMIT + 16;

const STAR = Uint8Array.of(ASTERISK);
const END = Uint8Array.of(DOLLAR);

const NO_SEGMENTS: readonly Uint8Array[] = [];

/** Reads an automaton from beginning to end, in the order of its nodes. Takes linear time. */
export class AutomatonView {
  readonly #reader: TableReader;
  readonly #start: number;
  readonly #walk: AutomatonWalk;

  constructor(reader: TableReader, start: number) {
    this.#reader = reader;
    this.#start = start;
    this.#walk = new AutomatonWalk(reader, start);
  }

  /** Length of the automaton. */
  get bytes(): number {
    return this.#walk.bytes;
  }

  get ruleCount(): number {
    return this.#walk.ruleCount;
  }

  /** Returns the rules by line, then by ascending specificity. Lines count from `firstLine`. */
  rules(firstLine: number): TableRule[] {
    const rules: (TableRule & { readonly rank: number })[] = [];
    this.#walk.each((found, depth) => {
      for (const rule of found) {
        rules.push({
          rank: rule.rank,
          allow: (rule.rank & 1) !== 0,
          text: this.#text(rule, depth),
          bytes: rule.rank >>> 1,
          line: firstLine + rule.line,
        });
      }
    });
    if (rules.length !== this.ruleCount) {
      throw this.#reader.damaged(
        `the automaton at ${this.#start} has ${rules.length} rules of ${this.ruleCount}`,
      );
    }
    return rules
      .sort((a, b) => a.line - b.line || a.rank - b.rank)
      .map(({ allow, text, bytes, line }) => ({ allow, text, bytes, line }));
  }

  /** The canonical patterns of the rules, in no defined order. Lines count from 0. */
  patterns(): TablePattern[] {
    const patterns: TablePattern[] = [];
    this.#walk.each((rules, depth) => {
      if (rules.length === 0) return;
      const prefix = walkedPath().slice(0, depth);
      for (const { rank, line, form, segments } of rules) {
        const isEnd = (form & RULE_END) !== 0;
        const all = segments === undefined ? NO_SEGMENTS : this.#forms(form, segments);
        const hasTwo = (form & RULE_TWO_FORMS) !== 0;
        const first = hasTwo ? all.filter((_, index) => index % 2 === 0) : all;
        const second = hasTwo ? all.filter((_, index) => index % 2 === 1) : undefined;
        patterns.push({ rank, line, prefix, first, second, isEnd });
      }
    });
    return patterns;
  }

  counts(): AutomatonCounts {
    const counts = { nodes: 0, wildcardNodes: 0, wildcardRules: 0, blocks: 0 };
    this.#walk.each((rules, _, blocks) => {
      const wildcards = rules.filter(
        ({ segments }) => segments !== undefined && segments.start < segments.end,
      );
      counts.nodes++;
      counts.blocks += blocks;
      counts.wildcardRules += wildcards.length;
      if (wildcards.length > 0) counts.wildcardNodes++;
    });
    return { bytes: this.bytes, rules: this.ruleCount, ...counts };
  }

  /** The text of a rule of the current node, whose path has `depth` bytes. */
  #text({ form, keptText, segments }: FoundRule, depth: number): string {
    const reader = this.#reader;
    if ((form & RULE_TEXT) !== 0) {
      const text = this.#walk.nodesEnd + this.#walk.offset(keptText);
      return reader.escapedText(text + TEXT_LENGTH_BYTES, reader.u16(text));
    }
    if (depth > TEXT_LIMIT) throw this.#noText();
    const parts: Uint8Array[] = [walkedPath().subarray(0, depth)];
    if (segments !== undefined) {
      if (segments.end - segments.start > MAX_DERIVED_BYTES) throw this.#noText();
      const forms = (form & RULE_TWO_FORMS) !== 0 ? 2 : 1;
      let index = 0;
      for (const segment of this.#forms(form, segments)) {
        if (index++ % forms === 0) parts.push(STAR, segment);
      }
    }
    if ((form & RULE_END) !== 0) parts.push(END);
    if ((form & RULE_STAR) !== 0) parts.push(STAR);
    return reader.displayed(Buffer.concat(parts));
  }

  /** The segments of a rule; with RULE_TWO_FORMS each is followed by its second form. */
  #forms(form: number, { start, end }: SegmentBounds): readonly Uint8Array[] {
    if ((form & RULE_SINGLE) !== 0) return [this.#reader.copy(start, end - start)];
    const { sizeBytes } = this.#walk;
    const forms: Uint8Array[] = [];
    for (let at = start; at < end; ) {
      const bytes = this.#walk.number(at, sizeBytes);
      at += sizeBytes;
      if (bytes > end - at) throw this.#noText();
      forms.push(this.#reader.copy(at, bytes));
      at += bytes;
    }
    return forms;
  }

  #noText(): Error {
    return this.#reader.damaged(`a rule of the automaton at ${this.#start} has no text`);
  }
}
