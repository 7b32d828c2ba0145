/** A rule as an automaton holds it. */
export interface DecodedRule {
  /** `octets << 1 | allow`. */
  readonly rank: number;
  /** Counted as in the automaton. */
  readonly line: number;
  readonly text: string;
}

interface Edge {
  readonly octet: number;
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
   * For each of three octets the entries for its low and its high half; `undefined` where every
   * rule is to be tried.
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
 * A reader of automata as src/compile/format.ts describes them, octet by octet and without the
 * constants of that file: slow, plain, and no relative of the writer or of the kernel. It checks
 * what the format promises as it goes.
 */
export class DecodedAutomaton {
  readonly #octets: Uint8Array;
  readonly #view: DataView;
  readonly #lineOctets: number;
  readonly #sizeOctets: number;
  readonly offsetOctets: number;
  readonly #root: number;
  readonly #nodesEnd: number;
  readonly ruleCount: number;
  /** Octets of the texts that are kept. */
  readonly textOctets: number;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
    this.#view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
    const widths = this.#u8(0);
    check(widths < 64, 'widths');
    this.#lineOctets = 2 ** (widths & 3);
    this.#sizeOctets = 2 ** ((widths >> 2) & 3);
    this.offsetOctets = (widths & 16) === 0 ? 2 : 4;
    check(this.#offset(1) === octets.length, 'octets');
    this.ruleCount = this.#offset(1 + this.offsetOctets);
    const keepsTexts = (widths & 32) !== 0;
    this.#root = 1 + (keepsTexts ? 3 : 2) * this.offsetOctets;
    this.#nodesEnd = keepsTexts ? this.#offset(1 + 2 * this.offsetOctets) : octets.length;
    this.textOctets = octets.length - this.#nodesEnd;
    check(this.textOctets > 0 === keepsTexts, 'texts');
  }

  /** All rules by rising rank, falling line. */
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
      for (const { octet, target } of node.edges) visit(target, [...prefix, octet]);
    };
    visit(this.#root, []);
    check(rules.length === this.ruleCount, 'number of rules');
    return rules.sort((a, b) => a.rank - b.rank || b.line - a.line);
  }

  /**
   * The rank and the line of the rule that decides about the text, `undefined` if none matches.
   * What follows a text in memory may be anything: `beyond` says what is there, where masks look
   * further than the text.
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
      const edge = node.edges.find(({ octet }) => octet === text[at]);
      if (edge === undefined) return best;
      at++;
      place = edge.target;
    }
  }

  /** All nodes, as they follow one another, with the number of rules of each of their blocks. */
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

  /** The node at `start`, whose label begins behind `depth` octets. */
  #node(start: number, depth: number): Node {
    const flags = this.#u8(start);
    const label = this.#octets.subarray(start + 2, start + 2 + this.#u8(start + 1));
    let at = start + 2 + label.length;
    const hasEdges = (flags & 4) !== 0;
    const octets: number[] = [];
    const distances: number[] = [0];
    if (hasEdges) {
      const count = this.#u8(at++);
      check(count > 0, 'number of edges');
      for (let edge = 0; edge < count; edge++) octets.push(this.#u8(at++));
      const width = 2 ** ((flags >> 4) & 3);
      for (let edge = 1; edge < count; edge++, at += width) distances.push(this.#number(at, width));
    }
    for (let edge = 1; edge < octets.length; edge++) {
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
      const line = this.#number(at, this.#lineOctets);
      at += this.#lineOctets;
      let surplus = (form & 2) !== 0 ? 1 : 0;
      if ((form & 8) !== 0) {
        surplus = this.#number(at, 4);
        check(surplus > 1, 'surplus');
        at += 4;
      }
      let keptText: number | undefined;
      if ((form & 4) !== 0) {
        keptText = this.#offset(at);
        at += this.offsetOctets;
      }
      const rank = 2 * (depth + label.length + surplus) + (form & 1);
      prefixRule = { rank, line, keptText };
    }
    const blocks: Block[] = [];
    if ((flags & 8) !== 0) {
      let all = -1;
      if (hasEdges) {
        all = this.#offset(at);
        at += this.offsetOctets;
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
      check(!hasEdges || at - from === all, 'octets of the blocks');
    }
    const edges = octets.map((octet, edge) => ({
      octet,
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
    let octets = -1;
    if ((head & 32) !== 0) {
      masks = this.#octets.subarray(at, at + 96);
      buckets = this.#octets.subarray(at + 96, at + 96 + count);
      at += 96 + count;
      if ((head & 64) !== 0) {
        octets = this.#offset(at);
        at += this.offsetOctets;
      }
    }
    const from = at;
    const places: number[] = [];
    if (masks !== undefined) {
      const width = head < 128 ? 1 : this.offsetOctets;
      for (let index = 0; index < count; index++)
        places.push(this.#number(at + index * width, width));
      check(head < 128 || (places[count - 1] as number) > 255, 'wide places of a block');
      at += count * width;
    }
    const first = at;
    const rules: BlockRule[] = [];
    for (let index = 0; index < count; index++) {
      const rank = this.#number(at, this.#sizeOctets);
      const form = at + 2 * this.#sizeOctets;
      const end = form + this.#number(at + this.#sizeOctets, this.#sizeOctets);
      const bucket = buckets?.[index] ?? 255;
      check(masks === undefined || places[index] === at - first, 'place of a rule');
      const rule = this.#blockRule(rank, form, end, bucket);
      check(bucket !== 0, 'bucket');
      check((bucket === 255) === (buckets === undefined || rule.segments.length === 0), 'bucket');
      rules.push(rule);
      at = end;
    }
    check(octets < 0 || at - from === octets, 'octets of a block');
    return { block: { masks, rules }, end: at };
  }

  #blockRule(rank: number, formAt: number, end: number, bucket: number): BlockRule {
    const form = this.#u8(formAt);
    check((form & 128) !== 0 && (form & 9) === 0, 'form of a rule in a block');
    let at = formAt + 1;
    const line = this.#number(at, this.#lineOctets);
    at += this.#lineOctets;
    let keptText: number | undefined;
    if ((form & 4) !== 0) {
      keptText = this.#offset(at);
      at += this.offsetOctets;
    }
    const segment = (): Uint8Array => {
      const octets = (form & 64) !== 0 ? end - at : this.#number(at, this.#sizeOctets);
      if ((form & 64) === 0) at += this.#sizeOctets;
      check(octets > 0, 'octets of a segment');
      at += octets;
      return this.#octets.subarray(at - octets, at);
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
    check(end <= this.#octets.length, 'end of a text');
    return new TextDecoder().decode(this.#octets.slice(start, end));
  }

  #offset(at: number): number {
    return this.#number(at, this.offsetOctets);
  }

  #number(at: number, octets: number): number {
    check(octets === 1 || octets === 2 || octets === 4, 'width');
    if (octets === 1) return this.#u8(at);
    return octets === 2 ? this.#view.getUint16(at, true) : this.#view.getUint32(at, true);
  }

  #u8(at: number): number {
    return this.#view.getUint8(at);
  }
}

function spelt(octets: Iterable<number>): string {
  return String.fromCharCode(...octets);
}

function bucketsFound(masks: Uint8Array, text: Uint8Array, from: number, beyond: number): number {
  let found = 0;
  for (let at = from; at < text.length; at++) {
    let fits = 255;
    for (let place = 0; place < 3; place++) {
      const octet = text[at + place] ?? beyond;
      fits &= masks[32 * place + (octet & 15)] as number;
      fits &= masks[32 * place + 16 + (octet >> 4)] as number;
    }
    found |= fits;
  }
  return found;
}

/**
 * All segments in their first form; or those before some `*` in the first, then a `?`, and the
 * others in the second.
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

/** Stands for any run of octets. */
const ANY_RUN = -1;

function reaches(
  reading: readonly number[],
  text: Uint8Array,
  from: number,
  anchored: boolean,
): boolean {
  let places = new Set([from]);
  for (const octet of reading) {
    const next = new Set<number>();
    if (octet === ANY_RUN) {
      for (let at = Math.min(...places); at <= text.length; at++) next.add(at);
    } else {
      for (const at of places) if (text[at] === octet) next.add(at + 1);
    }
    if (next.size === 0) return false;
    places = next;
  }
  return !anchored || places.has(text.length);
}

function holds(text: Uint8Array, at: number, octets: Uint8Array): boolean {
  return octets.every((octet, index) => text[at + index] === octet);
}

function check(holdsTrue: boolean, what: string): void {
  if (!holdsTrue) throw new Error(`the automaton breaks its format: ${what}`);
}
