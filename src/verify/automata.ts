/** Proves that an automaton of a table leads the kernel nowhere outside the table. */

import { MAX_LINE, MAX_PATTERN_BYTES } from '../table/check.js';
import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  BLOCK_FOLLOWED,
  BLOCK_MASK_BYTES,
  BLOCK_MASKS,
  BLOCK_RULES,
  BLOCK_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
  NODE_RULE,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_END,
  RULE_IN_BLOCK,
  RULE_LONGER,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
  SURPLUS_BYTES,
  TEXT_LIMIT,
} from '../table/format.js';
import { MAX_DERIVED_BYTES } from '../view/automaton-view.js';
import { arePlain, type TableBytes, TextCheck } from './placement.js';

const MAX_WIDTH = 2;
const WIDTHS_BITS = 0x3f;
const NODE_BITS = 0x3f;
const PREFIX_FORM_BITS = RULE_ALLOW | RULE_STAR | RULE_TEXT | RULE_LONGER;

/** Checks automata: see verify-table.ts. */
export class AutomatonCheck {
  count = 0;
  nodes = 0;
  rules = 0;
  readonly #table: TableBytes;
  readonly #sectionEnd: number;
  readonly #texts: TextCheck;
  readonly #blocks: BlockCheck;
  readonly #open = new OpenNodes();
  /** For each byte the number of the last node with an edge for it. */
  readonly #nodeOfEdge = new Float64Array(256);

  // The current automaton.
  #nodesEnd = 0;
  #lineBytes = 1;
  #offsetBytes = 2;

  constructor(table: TableBytes, sectionEnd: number) {
    this.#table = table;
    this.#sectionEnd = sectionEnd;
    this.#texts = new TextCheck(table);
    this.#blocks = new BlockCheck(table, this.#texts);
  }

  get blocks(): number {
    return this.#blocks.count;
  }

  get texts(): number {
    return this.#texts.count;
  }

  /** Checks the automaton at `at`; returns where it ends. */
  check(at: number): number {
    const table = this.#table;
    const widths = table.u8(at);
    const lineWidth = widths & AUTOMATON_LINE_WIDTH;
    const sizeWidth = (widths >> AUTOMATON_SIZE_WIDTH_SHIFT) & 3;
    if (lineWidth > MAX_WIDTH || sizeWidth > MAX_WIDTH || (widths & ~WIDTHS_BITS) !== 0) {
      throw this.#fault(at, `an automaton of widths ${widths}`);
    }
    const offsetBytes = (widths & AUTOMATON_WIDE) !== 0 ? 4 : 2;
    const hasTexts = (widths & AUTOMATON_TEXTS) !== 0;
    // In bounds wherever the automaton starts: TAIL_BYTES follow the section.
    const bytes = table.number(at + 1, offsetBytes);
    const rules = table.number(at + 1 + offsetBytes, offsetBytes);
    const root = at + 1 + (hasTexts ? 3 : 2) * offsetBytes;
    const end = at + bytes;
    const nodesEnd = hasTexts ? at + table.number(at + 1 + 2 * offsetBytes, offsetBytes) : end;
    if (end > this.#sectionEnd) throw this.#fault(at + 1, 'the automaton ends beyond its section');
    if (root > nodesEnd || nodesEnd > end) {
      throw this.#fault(at + 1, 'the automaton ends before it begins');
    }
    this.#nodesEnd = nodesEnd;
    this.#lineBytes = 1 << lineWidth;
    this.#offsetBytes = offsetBytes;
    this.#texts.check(nodesEnd, end);
    this.#blocks.enter(this.#lineBytes, 1 << sizeWidth, offsetBytes, nodesEnd);
    const before = this.rules;
    this.#checkNodes(root);
    if (this.rules - before !== rules) {
      throw this.#fault(
        at + 1 + offsetBytes,
        `the automaton states ${rules} rules, and has ${this.rules - before}`,
      );
    }
    this.count++;
    return end;
  }

  /** Checks the nodes in their order: each node is followed by the subtrees of its edges. */
  #checkNodes(root: number): void {
    const open = this.#open;
    open.count = 0;
    let at = this.#checkNode(root, 0, true);
    while (open.count > 0) {
      const place = open.count - 1;
      const edge = open.next[place] as number;
      const edges = open.edges[place] as number;
      const edgesStart = open.edgesStart[place] as number;
      const byte = edgesStart + edge;
      if (edge > 0) {
        const distanceBytes = open.distanceBytes[place] as number;
        const distanceAt = edgesStart + edges + (edge - 1) * distanceBytes;
        const distance = this.#table.number(distanceAt, distanceBytes);
        if ((open.firstTarget[place] as number) + distance !== at) {
          throw this.#fault(distanceAt, `the edge does not lead to the node at ${at}`);
        }
      }
      const depth = (open.depth[place] as number) + 1;
      const isPlain = open.plain[place] === 1 && arePlain(this.#table.bytes, byte, byte + 1);
      if (edge + 1 === edges) open.count--;
      else open.next[place] = edge + 1;
      at = this.#checkNode(at, depth, isPlain);
    }
    if (at !== this.#nodesEnd) {
      throw this.#fault(at, `no edge leads here; the nodes should end at ${this.#nodesEnd}`);
    }
  }

  /** Checks a node at a depth in bytes; returns where the node ends. */
  #checkNode(node: number, depthBefore: number, isPlainBefore: boolean): number {
    const table = this.#table;
    this.nodes++;
    this.#need(node, NODE_FIXED_BYTES);
    const flags = table.u8(node);
    const distanceWidth = flags >> NODE_DISTANCE_WIDTH_SHIFT;
    if ((flags & ~NODE_BITS) !== 0 || distanceWidth > MAX_WIDTH) {
      throw this.#fault(node, `a node of flags ${flags}`);
    }
    const label = table.u8(node + 1);
    let at = node + NODE_FIXED_BYTES;
    this.#need(at, label);
    const depth = depthBefore + label;
    const isPlain = isPlainBefore && arePlain(table.bytes, at, at + label);
    at += label;
    if (depth > MAX_PATTERN_BYTES) throw this.#fault(node, 'the node is too deep');

    const hasEdges = (flags & NODE_EDGES) !== 0;
    const edgesStart = at + 1;
    let edges = 0;
    if (hasEdges) {
      this.#need(at, 1);
      edges = table.u8(at);
      if (edges === 0) throw this.#fault(at, 'a node of no edges');
      at = edgesStart + edges + ((edges - 1) << distanceWidth);
      this.#need(edgesStart, at - edgesStart);
      this.#checkEdges(edgesStart, edges);
    }
    at = this.#checkPrefixRule(flags & NODE_RULE, at, depth, isPlain);
    if ((flags & NODE_BLOCKS) !== 0) {
      const offset = at;
      if (hasEdges) {
        this.#need(at, this.#offsetBytes);
        at += this.#offsetBytes;
      }
      const end = this.#blocks.check(at, depth, isPlain);
      this.rules += this.#blocks.rulesOfNode;
      if (hasEdges && table.number(offset, this.#offsetBytes) !== end - at) {
        throw this.#fault(offset, `the blocks of the node do not end at ${end}`);
      }
      at = end;
    }
    if (hasEdges) this.#open.push(edgesStart, edges, 1 << distanceWidth, at, depth, isPlain);
    return at;
  }

  #checkEdges(start: number, count: number): void {
    for (let at = start; at < start + count; at++) {
      const byte = this.#table.u8(at);
      if (this.#nodeOfEdge[byte] === this.nodes) {
        throw this.#fault(at, `a second edge of ${byte}`);
      }
      this.#nodeOfEdge[byte] = this.nodes;
    }
  }

  /** Checks the prefix rule of a node, if the node has one; returns where the rule ends. */
  #checkPrefixRule(kind: number, start: number, depth: number, isPlain: boolean): number {
    if (kind === 0) return start;
    const table = this.#table;
    let at = start;
    let form = 0;
    if (kind === NODE_RULE_OTHER) {
      this.#need(at, 1);
      form = table.u8(at++);
    }
    const isLonger = (form & RULE_LONGER) !== 0;
    const hasText = (form & RULE_TEXT) !== 0;
    if ((form & ~PREFIX_FORM_BITS) !== 0 || (isLonger && (!hasText || (form & RULE_STAR) !== 0))) {
      throw this.#fault(start, `a prefix rule of form ${form}`);
    }
    const lineAt = at;
    this.#need(lineAt, this.#lineBytes);
    if (table.number(lineAt, this.#lineBytes) > MAX_LINE) {
      throw this.#fault(lineAt, 'the line of the rule is too great');
    }
    at += this.#lineBytes;
    let bytes = depth + ((form & RULE_STAR) !== 0 ? 1 : 0);
    if (isLonger) {
      this.#need(at, SURPLUS_BYTES);
      bytes += table.u32(at);
      if (bytes > MAX_PATTERN_BYTES) throw this.#fault(at, 'the rule is too long');
      at += SURPLUS_BYTES;
    }
    if (bytes === 0) throw this.#fault(start, 'a rule without a pattern');
    if (hasText) {
      this.#need(at, this.#offsetBytes);
      if (!this.#texts.has(table.number(at, this.#offsetBytes))) {
        throw this.#fault(at, 'no text of the automaton starts there');
      }
      at += this.#offsetBytes;
    } else if (!isPlain || bytes > TEXT_LIMIT) {
      throw this.#fault(start, 'the rule has no text, and none can be derived');
    }
    this.rules++;
    return at;
  }

  #need(at: number, bytes: number): void {
    if (at + bytes > this.#nodesEnd) {
      throw this.#fault(at, 'the nodes of the automaton end within a node');
    }
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}

const BLOCK_PREFIX_FORM_BITS = RULE_ALLOW | RULE_LONGER;
const NO_BUCKETS = 0;

/** Checks blocks of wildcard rules: see verify-table.ts. */
class BlockCheck {
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
    if ((form & RULE_IN_BLOCK) === 0 || (form & BLOCK_PREFIX_FORM_BITS) !== 0) {
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

/** Entries of a mask for one half of a byte. */
const HALVES = 16;
const ALL_BUCKETS = 255;

/** The masks of a block, as `bucketsFound` in kernel/assembly/match.ts reads them. */
class Masks {
  readonly #bytes: Uint8Array;
  #start = 0;
  /** Buckets that pass any byte as the second, and as the third, of a window. */
  #anySecond = 0;
  #anyThird = 0;

  constructor(table: TableBytes) {
    this.#bytes = table.bytes;
  }

  /** Begins the masks at `start`; returns where they end. */
  enter(start: number): number {
    this.#start = start;
    this.#anySecond = this.#bucketsOfAny(1);
    this.#anyThird = this.#bucketsOfAny(2);
    return start + BLOCK_MASK_BYTES;
  }

  /**
   * Whether one of the buckets passes a window of every text that holds the bytes from `from` to
   * `to`, at least one. A window of fewer than three bytes reaches into unknown bytes.
   */
  pass(buckets: number, from: number, to: number): boolean {
    if (buckets === 0) return false;
    const bytes = this.#bytes;
    for (let at = from; at === from || at + 3 <= to; at++) {
      let found = buckets & this.#bucketsAt(0, bytes[at] as number);
      found &= at + 1 < to ? this.#bucketsAt(1, bytes[at + 1] as number) : this.#anySecond;
      found &= at + 2 < to ? this.#bucketsAt(2, bytes[at + 2] as number) : this.#anyThird;
      if (found !== 0) return true;
    }
    return false;
  }

  #bucketsAt(place: number, byte: number): number {
    const entries = this.#start + 2 * HALVES * place;
    const low = this.#bytes[entries + (byte & 15)] as number;
    return low & (this.#bytes[entries + HALVES + (byte >> 4)] as number);
  }

  #bucketsOfAny(place: number): number {
    let buckets = ALL_BUCKETS;
    const entries = this.#start + 2 * HALVES * place;
    for (let at = entries; at < entries + 2 * HALVES; at++) buckets &= this.#bytes[at] as number;
    return buckets;
  }
}
const INITIAL_ROOM = 64;

/**
 * The nodes on the path to the current one with edges that have not been followed. Arrays instead
 * of objects bound the memory: a trie may be as deep as its automaton is long.
 */
class OpenNodes {
  count = 0;
  /** Start and number of the edges' bytes, and the index of the next edge. */
  edgesStart = new Uint32Array(INITIAL_ROOM);
  edges = new Uint8Array(INITIAL_ROOM);
  next = new Uint8Array(INITIAL_ROOM);
  /** Length of a distance. */
  distanceBytes = new Uint8Array(INITIAL_ROOM);
  /** The target of the first edge. */
  firstTarget = new Uint32Array(INITIAL_ROOM);
  /** Length of the path to the node, its label included; 1 if all of the path is plain, else 0. */
  depth = new Uint32Array(INITIAL_ROOM);
  plain = new Uint8Array(INITIAL_ROOM);

  push(
    edgesStart: number,
    edges: number,
    distanceBytes: number,
    firstTarget: number,
    depth: number,
    isPlain: boolean,
  ): void {
    const place = this.count++;
    if (place === this.edges.length) this.#grow();
    this.edgesStart[place] = edgesStart;
    this.edges[place] = edges;
    this.next[place] = 0;
    this.distanceBytes[place] = distanceBytes;
    this.firstTarget[place] = firstTarget;
    this.depth[place] = depth;
    this.plain[place] = isPlain ? 1 : 0;
  }

  #grow(): void {
    this.edgesStart = longer(this.edgesStart);
    this.edges = longer(this.edges);
    this.next = longer(this.next);
    this.distanceBytes = longer(this.distanceBytes);
    this.firstTarget = longer(this.firstTarget);
    this.depth = longer(this.depth);
    this.plain = longer(this.plain);
  }
}

function longer<T extends Uint8Array | Uint32Array>(array: T): T {
  // Both classes have this constructor.
  const grown = new (array.constructor as new (length: number) => T)(2 * array.length);
  grown.set(array);
  return grown;
}
