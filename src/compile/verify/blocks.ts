import { MAX_DERIVED_OCTETS } from '../automaton-view.js';
import {
  BLOCK_FOLLOWED,
  BLOCK_MASK_OCTETS,
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
} from '../format.js';
import { MAX_LINE, MAX_PATTERN_OCTETS } from './limits.js';
import { Masks } from './masks.js';
import { arePlain } from './plain-octets.js';
import type { TableOctets } from './table-octets.js';
import type { TextCheck } from './texts.js';

const PREFIX_FORM_BITS = RULE_ALLOW | RULE_LONGER;
const NO_BUCKETS = 0;

/** Checks the blocks of wildcard rules of one node after another: see verify-table.ts. */
export class BlockCheck {
  /** Blocks of all nodes, and rules of the node that was checked last. */
  count = 0;
  rulesOfNode = 0;
  readonly #table: TableOctets;
  readonly #texts: TextCheck;
  readonly #masks: Masks;

  // Of the automaton at hand.
  #lineOctets = 1;
  #sizeOctets = 1;
  #offsetOctets = 2;
  #nodesEnd = 0;

  // Of the node at hand: what leads to it, and its last rule.
  #depth = 0;
  #isWayPlain = true;
  #lastRank = 0;
  #lastLine = 0;

  // Of the rule at hand: octets of its segments in their first form and a `*` for each, and whether
  // they can be shown.
  #segmentOctets = 0;
  #areSegmentsPlain = true;

  constructor(table: TableOctets, texts: TextCheck) {
    this.#table = table;
    this.#texts = texts;
    this.#masks = new Masks(table);
  }

  /** Begins an automaton whose fields have these widths and whose nodes end there. */
  enter(lineOctets: number, sizeOctets: number, offsetOctets: number, nodesEnd: number): void {
    this.#lineOctets = lineOctets;
    this.#sizeOctets = sizeOctets;
    this.#offsetOctets = offsetOctets;
    this.#nodesEnd = nodesEnd;
  }

  /**
   * Checks the blocks at `start` of a node to which so many octets lead; returns where they end.
   */
  check(start: number, depth: number, isWayPlain: boolean): number {
    const table = this.#table;
    this.#depth = depth;
    this.#isWayPlain = isWayPlain;
    this.#lastRank = 2 * MAX_PATTERN_OCTETS + 2;
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

  /** Checks what follows the first octet of a block with masks; returns where it ends. */
  #checkMasked(start: number, count: number, head: number): number {
    const table = this.#table;
    const offsetOctets = this.#offsetOctets;
    const isFollowed = (head & BLOCK_FOLLOWED) !== 0;
    const placeOctets = (head & BLOCK_WIDE) !== 0 ? offsetOctets : 1;
    const buckets = start + BLOCK_MASK_OCTETS;
    const next = buckets + count;
    const places = next + (isFollowed ? offsetOctets : 0);
    const rules = places + count * placeOctets;
    this.#need(start, rules - start);
    this.#masks.enter(start);
    const end = this.#checkRules(rules, count, { buckets, places, placeOctets });
    if (isFollowed && places + table.number(next, offsetOctets) !== end) {
      throw this.#fault(next, `the next block is at ${end}`);
    }
    return end;
  }

  #checkRules(
    start: number,
    count: number,
    masked: { buckets: number; places: number; placeOctets: number } | undefined,
  ): number {
    const table = this.#table;
    let rule = start;
    for (let index = 0; index < count; index++) {
      if (masked === undefined) {
        rule = this.#checkRule(rule, undefined);
        continue;
      }
      const place = masked.places + index * masked.placeOctets;
      if (table.number(place, masked.placeOctets) !== rule - start) {
        throw this.#fault(place, `the rule is at ${rule}`);
      }
      rule = this.#checkRule(rule, masked.buckets + index);
    }
    return rule;
  }

  /** Checks a rule; its bucket is at `bucketAt`, if it has one. Returns where it ends. */
  #checkRule(start: number, bucketAt: number | undefined): number {
    const table = this.#table;
    const sizeOctets = this.#sizeOctets;
    const formAt = start + 2 * sizeOctets;
    const lineAt = formAt + 1;
    const textAt = lineAt + this.#lineOctets;
    this.#need(start, textAt - start);
    const rank = table.number(start, sizeOctets);
    const form = table.u8(formAt);
    const line = table.number(lineAt, this.#lineOctets);
    const hasText = (form & RULE_TEXT) !== 0;
    const segments = textAt + (hasText ? this.#offsetOctets : 0);
    const end = formAt + table.number(start + sizeOctets, sizeOctets);
    if ((form & RULE_IN_BLOCK) === 0 || (form & PREFIX_FORM_BITS) !== 0) {
      throw this.#fault(formAt, `a rule of a block of form ${form}`);
    }
    if (end < segments || end > this.#nodesEnd) {
      throw this.#fault(start + sizeOctets, 'the rule does not end where it can');
    }
    if (rank > 2 * MAX_PATTERN_OCTETS + 1) throw this.#fault(start, 'the rank is too great');
    if (line > MAX_LINE) throw this.#fault(lineAt, 'the line of the rule is too great');
    if (rank > this.#lastRank || (rank === this.#lastRank && line < this.#lastLine)) {
      throw this.#fault(start, 'the rules of the node are not in the order of their ranks');
    }
    this.#lastRank = rank;
    this.#lastLine = line;

    const buckets = bucketAt === undefined ? NO_BUCKETS : table.u8(bucketAt);
    const passes = this.#checkSegments(form, segments, end, buckets);
    if (bucketAt !== undefined && !passes) {
      throw this.#fault(bucketAt, 'the masks rule out what the rule matches');
    }
    const hasEnd = (form & RULE_END) !== 0;
    const least = this.#depth + this.#segmentOctets + (hasEnd ? 1 : 0);
    const octets = rank >>> 1;
    if (hasText) {
      if (!this.#texts.has(table.number(textAt, this.#offsetOctets))) {
        throw this.#fault(textAt, 'no text of the automaton starts there');
      }
      if (octets < least) throw this.#fault(start, 'the rank is less than that of the pattern');
      return end;
    }
    const derived = least + ((form & RULE_STAR) !== 0 ? 1 : 0);
    if (octets !== derived) throw this.#fault(start, 'the rank is not that of the pattern');
    if (
      !this.#isWayPlain ||
      !this.#areSegmentsPlain ||
      derived > TEXT_LIMIT ||
      end - segments > MAX_DERIVED_OCTETS
    ) {
      throw this.#fault(formAt, 'the rule has no text, and none can be derived');
    }
    return end;
  }

  /**
   * Checks the segments of a rule; returns whether the masks let pass what they match, for some of
   * the buckets.
   */
  #checkSegments(form: number, start: number, end: number, buckets: number): boolean {
    const sizeOctets = this.#sizeOctets;
    const isSingle = (form & RULE_SINGLE) !== 0;
    const hasTwoForms = (form & RULE_TWO_FORMS) !== 0;
    this.#segmentOctets = 0;
    this.#areSegmentsPlain = true;
    if (start === end) {
      if (isSingle || hasTwoForms || (form & RULE_END) === 0) {
        throw this.#fault(start, 'a rule of a block without segments or $');
      }
      // It matches nothing but the end, where the masks are not asked.
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
      const first = at + sizeOctets;
      this.#addSegment(first, segment);
      let isFound = this.#masks.pass(buckets, first, segment);
      at = segment;
      if (hasTwoForms) {
        const second = this.#segmentAt(at, end);
        isFound &&= this.#masks.pass(buckets, at + sizeOctets, second);
        at = second;
      }
      passes ||= isFound;
    }
    return passes;
  }

  /** Where the segment ends whose number of octets is at `at`; it has at least one. */
  #segmentAt(at: number, end: number): number {
    const text = at + this.#sizeOctets;
    // A rule ends within the table, and some octets behind it can be read.
    const octets = this.#table.number(at, this.#sizeOctets);
    if (octets === 0 || text + octets > end) {
      throw this.#fault(at, `a segment of ${octets} bytes, in a rule that ends at ${end}`);
    }
    return text + octets;
  }

  #addSegment(start: number, end: number): void {
    this.#segmentOctets += 1 + end - start;
    if (!arePlain(this.#table.octets, start, end)) this.#areSegmentsPlain = false;
  }

  #need(at: number, octets: number): void {
    if (at + octets > this.#nodesEnd) {
      throw this.#fault(at, 'the nodes of the automaton end within a block');
    }
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}
