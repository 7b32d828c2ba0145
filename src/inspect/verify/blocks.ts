import {
  BLOCK_FOLLOWED,
  BLOCK_MASK_BYTES,
  BLOCK_MASKS,
  BLOCK_RULES,
  BLOCK_WIDE,
  RULE_ALLOW,
  RULE_END,
  RULE_IN_BLOCK,
  RULE_LONGER,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
  TEXT_LIMIT,
} from '../../table/format.js';
import { MAX_DERIVED_BYTES } from '../automaton-view.js';
import { MAX_LINE, MAX_PATTERN_BYTES } from './limits.js';
import { Masks } from './masks.js';
import { arePlain } from './plain-bytes.js';
import type { TableBytes } from './table-bytes.js';
import type { TextCheck } from './texts.js';

const PREFIX_FORM_BITS = RULE_ALLOW | RULE_LONGER;
const NO_BUCKETS = 0;

/** Checks blocks of wildcard rules: see verify-table.ts. */
export class BlockCheck {
  /** Number of blocks of all nodes, and of rules of the last node. */
  count = 0;
  rulesOfNode = 0;
  readonly #table: TableBytes;
  readonly #texts: TextCheck;
  readonly #masks: Masks;

  // The current automaton.
  #lineBytes = 1;
  #sizeBytes = 1;
  #offsetBytes = 2;
  #nodesEnd = 0;

  // The current node: its depth, whether its path is plain, and its last rule.
  #depth = 0;
  #isPathPlain = true;
  #lastRank = 0;
  #lastLine = 0;

  // The current rule: the length of its segments in their first form, with a `*` for each; and
  // whether all are plain.
  #segmentBytes = 0;
  #areSegmentsPlain = true;

  constructor(table: TableBytes, texts: TextCheck) {
    this.#table = table;
    this.#texts = texts;
    this.#masks = new Masks(table);
  }

  /** Begins an automaton, with the widths of its fields and the end of its nodes. */
  enter(lineBytes: number, sizeBytes: number, offsetBytes: number, nodesEnd: number): void {
    this.#lineBytes = lineBytes;
    this.#sizeBytes = sizeBytes;
    this.#offsetBytes = offsetBytes;
    this.#nodesEnd = nodesEnd;
  }

  /** Checks the blocks at `start` of a node at a depth; returns where the blocks end. */
  check(start: number, depth: number, isPathPlain: boolean): number {
    const table = this.#table;
    this.#depth = depth;
    this.#isPathPlain = isPathPlain;
    this.#lastRank = 2 * MAX_PATTERN_BYTES + 2;
    this.#lastLine = 0;
    this.rulesOfNode = 0;
    for (let block = start; ; ) {
      this.#need(block, 1);
      const head = table.u8(block);
      const count = (head & BLOCK_RULES) + 1;
      const isFollowed = (head & BLOCK_FOLLOWED) !== 0;
      const hasMasks = (head & BLOCK_MASKS) !== 0;
      if (!hasMasks && (head & (BLOCK_FOLLOWED | BLOCK_WIDE)) !== 0) {
        throw this.#fault(block, `a block without masks begins with ${head}`);
      }
      const end = hasMasks
        ? this.#checkMasked(block + 1, count, head)
        : this.#checkRules(block + 1, count, undefined);
      this.count++;
      this.rulesOfNode += count;
      if (!isFollowed) return end;
      block = end;
    }
  }

  /** Checks a block with masks from its second byte; returns where the block ends. */
  #checkMasked(start: number, count: number, head: number): number {
    const table = this.#table;
    const offsetBytes = this.#offsetBytes;
    const isFollowed = (head & BLOCK_FOLLOWED) !== 0;
    const placeBytes = (head & BLOCK_WIDE) !== 0 ? offsetBytes : 1;
    const buckets = start + BLOCK_MASK_BYTES;
    const next = buckets + count;
    const places = next + (isFollowed ? offsetBytes : 0);
    const rules = places + count * placeBytes;
    this.#need(start, rules - start);
    this.#masks.enter(start);
    const end = this.#checkRules(rules, count, { buckets, places, placeBytes });
    if (isFollowed && places + table.number(next, offsetBytes) !== end) {
      throw this.#fault(next, `the next block is at ${end}`);
    }
    return end;
  }

  #checkRules(
    start: number,
    count: number,
    masked: { buckets: number; places: number; placeBytes: number } | undefined,
  ): number {
    const table = this.#table;
    let rule = start;
    for (let index = 0; index < count; index++) {
      if (masked === undefined) {
        rule = this.#checkRule(rule, undefined);
        continue;
      }
      const place = masked.places + index * masked.placeBytes;
      if (table.number(place, masked.placeBytes) !== rule - start) {
        throw this.#fault(place, `the rule is at ${rule}`);
      }
      rule = this.#checkRule(rule, masked.buckets + index);
    }
    return rule;
  }

  /** Checks a rule, whose bucket is at `bucketAt`, if any; returns where the rule ends. */
  #checkRule(start: number, bucketAt: number | undefined): number {
    const table = this.#table;
    const sizeBytes = this.#sizeBytes;
    const formAt = start + 2 * sizeBytes;
    const lineAt = formAt + 1;
    const textAt = lineAt + this.#lineBytes;
    this.#need(start, textAt - start);
    const rank = table.number(start, sizeBytes);
    const form = table.u8(formAt);
    const line = table.number(lineAt, this.#lineBytes);
    const hasText = (form & RULE_TEXT) !== 0;
    const segments = textAt + (hasText ? this.#offsetBytes : 0);
    const end = formAt + table.number(start + sizeBytes, sizeBytes);
    if ((form & RULE_IN_BLOCK) === 0 || (form & PREFIX_FORM_BITS) !== 0) {
      throw this.#fault(formAt, `a rule of a block of form ${form}`);
    }
    if (end < segments || end > this.#nodesEnd) {
      throw this.#fault(start + sizeBytes, 'the rule does not end where it can');
    }
    if (rank > 2 * MAX_PATTERN_BYTES + 1) throw this.#fault(start, 'the rank is too great');
    if (line > MAX_LINE) throw this.#fault(lineAt, 'the line of the rule is too great');
    if (rank > this.#lastRank || (rank === this.#lastRank && line < this.#lastLine)) {
      throw this.#fault(start, 'the rules of the node are not in the order of their ranks');
    }
    this.#lastRank = rank;
    this.#lastLine = line;

    const buckets = bucketAt === undefined ? NO_BUCKETS : table.u8(bucketAt);
    const passes = this.#checkSegments(form, segments, end, buckets);
    if (bucketAt !== undefined && !passes) {
      throw this.#fault(bucketAt, 'the masks exclude a path that the rule matches');
    }
    const hasEnd = (form & RULE_END) !== 0;
    const least = this.#depth + this.#segmentBytes + (hasEnd ? 1 : 0);
    const bytes = rank >>> 1;
    if (hasText) {
      if (!this.#texts.has(table.number(textAt, this.#offsetBytes))) {
        throw this.#fault(textAt, 'no text of the automaton starts there');
      }
      if (bytes < least) throw this.#fault(start, "the rank is less than the pattern's");
      return end;
    }
    const derived = least + ((form & RULE_STAR) !== 0 ? 1 : 0);
    if (bytes !== derived) throw this.#fault(start, "the rank differs from the pattern's");
    if (
      !this.#isPathPlain ||
      !this.#areSegmentsPlain ||
      derived > TEXT_LIMIT ||
      end - segments > MAX_DERIVED_BYTES
    ) {
      throw this.#fault(formAt, 'the rule has no text, and none can be derived');
    }
    return end;
  }

  /** Checks the segments of a rule; returns whether a mask of its buckets passes their matches. */
  #checkSegments(form: number, start: number, end: number, buckets: number): boolean {
    const sizeBytes = this.#sizeBytes;
    const isSingle = (form & RULE_SINGLE) !== 0;
    const hasTwoForms = (form & RULE_TWO_FORMS) !== 0;
    this.#segmentBytes = 0;
    this.#areSegmentsPlain = true;
    if (start === end) {
      if (isSingle || hasTwoForms || (form & RULE_END) === 0) {
        throw this.#fault(start, 'a rule of a block without segments or $');
      }
      // `$` matches only at the end, where the masks are not consulted.
      return true;
    }
    if (isSingle) {
      if (hasTwoForms) throw this.#fault(start, 'a single segment of two forms');
      this.#addSegment(start, end);
      return this.#masks.pass(buckets, start, end);
    }
    let passes = false;
    for (let at = start; at < end; ) {
      const segment = this.#segmentAt(at, end);
      const first = at + sizeBytes;
      this.#addSegment(first, segment);
      let isFound = this.#masks.pass(buckets, first, segment);
      at = segment;
      if (hasTwoForms) {
        const second = this.#segmentAt(at, end);
        isFound &&= this.#masks.pass(buckets, at + sizeBytes, second);
        at = second;
      }
      passes ||= isFound;
    }
    return passes;
  }

  /** The end of the segment whose length, at least 1, is at `at`. */
  #segmentAt(at: number, end: number): number {
    const text = at + this.#sizeBytes;
    // In bounds: the rule ends in the table, and TAIL_BYTES follow.
    const bytes = this.#table.number(at, this.#sizeBytes);
    if (bytes === 0 || text + bytes > end) {
      throw this.#fault(at, `a segment of ${bytes} bytes, in a rule that ends at ${end}`);
    }
    return text + bytes;
  }

  #addSegment(start: number, end: number): void {
    this.#segmentBytes += 1 + end - start;
    if (!arePlain(this.#table.bytes, start, end)) this.#areSegmentsPlain = false;
  }

  #need(at: number, bytes: number): void {
    if (at + bytes > this.#nodesEnd) {
      throw this.#fault(at, 'the nodes of the automaton end within a block');
    }
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}
