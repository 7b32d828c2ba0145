/** A rule as stored in an automaton. */
export interface DecodedRule {
  /** `bytes << 1 | allow`. */
  readonly rank: number;
  /** Relative to the automaton's first line. */
  readonly line: number;
  readonly text: string;
}

interface Edge {
  readonly byte: number;
  readonly target: number;
}

interface Node {
  readonly at: number;
  readonly label: Uint8Array;
  readonly edges: readonly Edge[];
  readonly blocks: readonly Block[];
  readonly prefixRule: { rank: number; line: number; keptText: number | undefined } | undefined;
  readonly prefixStar: boolean;
  readonly end: number;
}

interface Block {
  /**
   * For each of three bytes the entries for its low and its high half; `undefined` if every rule
   * must be tried.
   */
  readonly masks: Uint8Array | undefined;
  readonly rules: readonly BlockRule[];
}

interface BlockRule {
  readonly rank: number;
  readonly line: number;
  readonly bucket: number;
  readonly form: number;
  readonly segments: readonly { first: Uint8Array; second: Uint8Array }[];
  readonly keptText: number | undefined;
}

/**
 * A reader of automata as src/table/format.ts describes them, byte by byte and without the
 * constants of that file: slow, plain, and independent of the writer and of the kernel. The reader
 * checks the promises of the format on the way.
 */
export class DecodedAutomaton {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #lineBytes: number;
  readonly #sizeBytes: number;
  readonly offsetBytes: number;
  readonly #root: number;
  readonly #nodesEnd: number;
  readonly ruleCount: number;
  /** Bytes of the kept texts. */
  readonly textBytes: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const widths = this.#u8(0);
    check(widths < 64, 'widths');
    this.#lineBytes = 2 ** (widths & 3);
    this.#sizeBytes = 2 ** ((widths >> 2) & 3);
    this.offsetBytes = (widths & 16) === 0 ? 2 : 4;
    check(this.#offset(1) === bytes.length, 'bytes');
    this.ruleCount = this.#offset(1 + this.offsetBytes);
    const keepsTexts = (widths & 32) !== 0;
    this.#root = 1 + (keepsTexts ? 3 : 2) * this.offsetBytes;
    this.#nodesEnd = keepsTexts ? this.#offset(1 + 2 * this.offsetBytes) : bytes.length;
    this.textBytes = bytes.length - this.#nodesEnd;
    check(this.textBytes > 0 === keepsTexts, 'texts');
  }

  /** All rules by ascending rank and descending line. */
  rules(): DecodedRule[] {
    const rules: DecodedRule[] = [];
    const visit = (at: number, way: readonly number[]): void => {
      const node = this.#node(at, way.length);
      const prefix = [...way, ...node.label];
      const { prefixRule } = node;
      if (prefixRule !== undefined) {
        const { rank, line, keptText } = prefixRule;
        const text = spelt(prefix) + (node.prefixStar ? '*' : '');
        rules.push({ rank, line, text: this.#text(keptText) ?? text });
      }
      for (const { rank, line, form, segments, keptText } of node.blocks.flatMap((b) => b.rules)) {
        let text = spelt(prefix);
        for (const { first } of segments) text += `*${spelt(first)}`;
        text += ((form & 16) !== 0 ? '$' : '') + ((form & 2) !== 0 ? '*' : '');
        rules.push({ rank, line, text: this.#text(keptText) ?? text });
      }
      for (const { byte, target } of node.edges) visit(target, [...prefix, byte]);
    };
    visit(this.#root, []);
    check(rules.length === this.ruleCount, 'number of rules');
    return rules.sort((a, b) => a.rank - b.rank || b.line - a.line);
  }

  /**
   * The rank and the line of the rule that decides about the text, `undefined` if none matches. The
   * memory after a text may hold anything: `beyond` is the contents there, since masks look past
   * the end of the text.
   */
  match(text: Uint8Array, beyond = 0): { rank: number; line: number } | undefined {
    let best: { rank: number; line: number } | undefined;
    const consider = (rule: { rank: number; line: number }): void => {
      check(rule.rank > 1, 'rank');
      const wins =
        best === undefined ||
        rule.rank > best.rank ||
        (rule.rank === best.rank && rule.line < best.line);
      if (wins) best = { rank: rule.rank, line: rule.line };
    };
    let at = 0;
    let place = this.#root;
    for (;;) {
      const node = this.#node(place, at);
      if (!holds(text, at, node.label)) return best;
      at += node.label.length;
      if (node.prefixRule !== undefined) consider(node.prefixRule);
      for (const { masks, rules } of node.blocks) {
        const found = masks === undefined ? 255 : bucketsFound(masks, text, at, beyond);
        for (const rule of rules) {
          const isTried = (rule.bucket & found) !== 0 || at === text.length;
          if (isTried && matches(rule, text, at)) consider(rule);
        }
      }
      const edge = node.edges.find(({ byte }) => byte === text[at]);
      if (edge === undefined) return best;
      at++;
      place = edge.target;
    }
  }

  /** All nodes in their order, with the number of rules of each of their blocks. */
  nodes(): { label: number; edges: number; blocks: number[] }[] {
    const nodes = [];
    const targets = new Set([this.#root]);
    let at = this.#root;
    while (at < this.#nodesEnd) {
      check(targets.has(at), 'an edge leads to each node');
      const node = this.#node(at, 0);
      for (const { target } of node.edges) targets.add(target);
      const blocks = node.blocks.map(({ rules }) => rules.length);
      nodes.push({ label: node.label.length, edges: node.edges.length, blocks });
      at = node.end;
    }
    check(at === this.#nodesEnd, 'end of the nodes');
    check(targets.size === nodes.length, 'targets of the edges');
    return nodes;
  }

  /** The node at `start`, whose label begins at a depth of `depth` bytes. */
  #node(start: number, depth: number): Node {
    const flags = this.#u8(start);
    const label = this.#bytes.subarray(start + 2, start + 2 + this.#u8(start + 1));
    let at = start + 2 + label.length;
    const hasEdges = (flags & 4) !== 0;
    const bytes: number[] = [];
    const distances: number[] = [0];
    if (hasEdges) {
      const count = this.#u8(at++);
      check(count > 0, 'number of edges');
      for (let edge = 0; edge < count; edge++) bytes.push(this.#u8(at++));
      const width = 2 ** ((flags >> 4) & 3);
      for (let edge = 1; edge < count; edge++, at += width) distances.push(this.#number(at, width));
    }
    for (let edge = 1; edge < bytes.length; edge++) {
      check((distances[edge] as number) > (distances[edge - 1] as number), 'order of the nodes');
    }

    const kind = flags & 3;
    let form = kind === 2 ? 1 : 0;
    let prefixRule: Node['prefixRule'];
    if (kind !== 0) {
      if (kind === 3) {
        form = this.#u8(at++);
        check((form & 14) !== 0, 'form of a prefix rule');
      }
      const line = this.#number(at, this.#lineBytes);
      at += this.#lineBytes;
      let surplus = (form & 2) !== 0 ? 1 : 0;
      if ((form & 8) !== 0) {
        surplus = this.#number(at, 4);
        check(surplus > 1, 'surplus');
        at += 4;
      }
      let keptText: number | undefined;
      if ((form & 4) !== 0) {
        keptText = this.#offset(at);
        at += this.offsetBytes;
      }
      const rank = 2 * (depth + label.length + surplus) + (form & 1);
      prefixRule = { rank, line, keptText };
    }
    const blocks: Block[] = [];
    if ((flags & 8) !== 0) {
      let all = -1;
      if (hasEdges) {
        all = this.#offset(at);
        at += this.offsetBytes;
      }
      const from = at;
      let previous = { rank: Number.POSITIVE_INFINITY, line: -1 };
      for (let followed = true; followed; ) {
        followed = (this.#u8(at) & 64) !== 0;
        const { block, end } = this.#block(at);
        for (const rule of block.rules) {
          const isNext =
            rule.rank < previous.rank || (rule.rank === previous.rank && rule.line > previous.line);
          check(isNext, 'order of the rules');
          previous = rule;
        }
        blocks.push(block);
        at = end;
      }
      check(!hasEdges || at - from === all, 'bytes of the blocks');
    }
    const edges = bytes.map((byte, edge) => ({
      byte,
      target: at + (distances[edge] as number),
    }));
    const prefixStar = (form & 2) !== 0;
    return { at: start, label, edges, blocks, prefixRule, prefixStar, end: at };
  }

  #block(start: number): { block: Block; end: number } {
    const head = this.#u8(start);
    check(head < 128 || (head & 32) !== 0, 'flags of a block');
    const count = (head & 31) + 1;
    let at = start + 1;
    let masks: Uint8Array | undefined;
    let buckets: Uint8Array | undefined;
    let bytes = -1;
    if ((head & 32) !== 0) {
      masks = this.#bytes.subarray(at, at + 96);
      buckets = this.#bytes.subarray(at + 96, at + 96 + count);
      at += 96 + count;
      if ((head & 64) !== 0) {
        bytes = this.#offset(at);
        at += this.offsetBytes;
      }
    }
    const from = at;
    const places: number[] = [];
    if (masks !== undefined) {
      const width = head < 128 ? 1 : this.offsetBytes;
      for (let index = 0; index < count; index++)
        places.push(this.#number(at + index * width, width));
      check(head < 128 || (places[count - 1] as number) > 255, 'wide places of a block');
      at += count * width;
    }
    const first = at;
    const rules: BlockRule[] = [];
    for (let index = 0; index < count; index++) {
      const rank = this.#number(at, this.#sizeBytes);
      const form = at + 2 * this.#sizeBytes;
      const end = form + this.#number(at + this.#sizeBytes, this.#sizeBytes);
      const bucket = buckets?.[index] ?? 255;
      check(masks === undefined || places[index] === at - first, 'place of a rule');
      const rule = this.#blockRule(rank, form, end, bucket);
      check(bucket !== 0, 'bucket');
      check((bucket === 255) === (buckets === undefined || rule.segments.length === 0), 'bucket');
      rules.push(rule);
      at = end;
    }
    check(bytes < 0 || at - from === bytes, 'bytes of a block');
    return { block: { masks, rules }, end: at };
  }

  #blockRule(rank: number, formAt: number, end: number, bucket: number): BlockRule {
    const form = this.#u8(formAt);
    check((form & 128) !== 0 && (form & 9) === 0, 'form of a rule in a block');
    let at = formAt + 1;
    const line = this.#number(at, this.#lineBytes);
    at += this.#lineBytes;
    let keptText: number | undefined;
    if ((form & 4) !== 0) {
      keptText = this.#offset(at);
      at += this.offsetBytes;
    }
    const segment = (): Uint8Array => {
      const bytes = (form & 64) !== 0 ? end - at : this.#number(at, this.#sizeBytes);
      if ((form & 64) === 0) at += this.#sizeBytes;
      check(bytes > 0, 'bytes of a segment');
      at += bytes;
      return this.#bytes.subarray(at - bytes, at);
    };
    const segments: { first: Uint8Array; second: Uint8Array }[] = [];
    while (at < end) {
      const first = segment();
      segments.push({ first, second: (form & 32) !== 0 ? segment() : first });
    }
    check(at === end, 'end of the rule');
    check(segments.length > 0 || (form & 16) !== 0, 'number of segments');
    return { rank, line, bucket, form, segments, keptText };
  }

  #text(kept: number | undefined): string | undefined {
    if (kept === undefined) return undefined;
    const start = this.#nodesEnd + kept + 2;
    const end = start + this.#number(start - 2, 2);
    check(end <= this.#bytes.length, 'end of a text');
    return new TextDecoder().decode(this.#bytes.slice(start, end));
  }

  #offset(at: number): number {
    return this.#number(at, this.offsetBytes);
  }

  #number(at: number, bytes: number): number {
    check(bytes === 1 || bytes === 2 || bytes === 4, 'width');
    if (bytes === 1) return this.#u8(at);
    return bytes === 2 ? this.#view.getUint16(at, true) : this.#view.getUint32(at, true);
  }

  #u8(at: number): number {
    return this.#view.getUint8(at);
  }
}

function spelt(bytes: Iterable<number>): string {
  return String.fromCharCode(...bytes);
}

function bucketsFound(masks: Uint8Array, text: Uint8Array, from: number, beyond: number): number {
  let found = 0;
  for (let at = from; at < text.length; at++) {
    let fits = 255;
    for (let place = 0; place < 3; place++) {
      const byte = text[at + place] ?? beyond;
      fits &= masks[32 * place + (byte & 15)] as number;
      fits &= masks[32 * place + 16 + (byte >> 4)] as number;
    }
    found |= fits;
  }
  return found;
}

/**
 * All segments in their first form; or the segments before some `*` in the first form, then a `?`,
 * and the others in the second form.
 */
function matches(rule: BlockRule, text: Uint8Array, from: number): boolean {
  const { segments } = rule;
  const first = segments.map(({ first }) => [ANY_RUN, ...first]);
  const second = segments.map(({ second }) => [ANY_RUN, ...second]);
  const readings = [first];
  if ((rule.form & 32) !== 0) {
    segments.forEach((_segment, star) => {
      readings.push([...first.slice(0, star), [ANY_RUN, 0x3f], ...second.slice(star)]);
    });
  }
  const anchored = (rule.form & 16) !== 0;
  return readings.some((reading) => reaches(reading.flat(), text, from, anchored));
}

/** Stands for any run of bytes. */
const ANY_RUN = -1;

function reaches(
  reading: readonly number[],
  text: Uint8Array,
  from: number,
  anchored: boolean,
): boolean {
  let places = new Set([from]);
  for (const byte of reading) {
    const next = new Set<number>();
    if (byte === ANY_RUN) {
      for (let at = Math.min(...places); at <= text.length; at++) next.add(at);
    } else {
      for (const at of places) if (text[at] === byte) next.add(at + 1);
    }
    if (next.size === 0) return false;
    places = next;
  }
  return !anchored || places.has(text.length);
}

function holds(text: Uint8Array, at: number, bytes: Uint8Array): boolean {
  return bytes.every((byte, index) => text[at + index] === byte);
}

function check(holdsTrue: boolean, what: string): void {
  if (!holdsTrue) throw new Error(`the automaton breaks its format: ${what}`);
}
