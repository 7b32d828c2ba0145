/**
 * A reader of automata as src/compile/format.ts describes them, octet by octet and without the constants of that file: slow,
 * plain, and no relative of the writer or of the kernel. It checks what the format promises as it goes.
 */
export class DecodedAutomaton {
  readonly #octets: Uint8Array;
  readonly #view: DataView;
  readonly #start: number;
  readonly #width: number;
  readonly #rules: number;
  readonly ruleCount: number;

  constructor(octets: Uint8Array, start = 0) {
    this.#octets = octets;
    this.#view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
    this.#start = start;
    this.ruleCount = this.#view.getUint32(start + 4, true);
    this.#width = this.#view.getUint32(start + 8, true);
    this.#rules = start + this.#view.getUint32(start + 12, true);
    check(this.#width === 2 || this.#width === 4, 'width');
    check(start % 4 === 0, 'place');
  }

  get width(): number {
    return this.#width;
  }

  /** Canonical octets of the rule of this order, and its text. */
  rule(order: number): { octets: number; text: string } {
    const at = this.#rules + 2 * (order - 1) * this.#width;
    const texts = this.#rules + 2 * this.ruleCount * this.#width;
    const from = order === 1 ? 0 : this.#ref(at - 2 * this.#width);
    const end = this.#ref(at);
    check(end >= from, 'order of the texts');
    check(texts + end <= this.#start + this.#view.getUint32(this.#start, true), 'end of the texts');
    const text = new TextDecoder().decode(this.#octets.slice(texts + from, texts + end));
    return { octets: this.#ref(at + this.#width), text };
  }

  /**
   * The greatest rank among the rules that match the text, 0 if none does. What follows a text in memory may be
   * anything: `beyond` says what is there, where masks look further than the text.
   */
  rank(text: Uint8Array, beyond = 0): number {
    let best = 0;
    let at = 0;
    let node = this.#start + 16;
    for (;;) {
      const label = this.#octets.subarray(node + 3, node + 3 + this.#u8(node + 1));
      if (!holds(text, at, label)) return best;
      at += label.length;
      best = Math.max(best, this.#rankOfNode(node, text, at, beyond));
      const edge = this.#edge(node, text[at]);
      if (edge === undefined) return best;
      node = edge;
    }
  }

  /** All nodes, as they follow one another, with what hangs there. */
  nodes(): { label: number; edges: number; blocks: number[] }[] {
    const nodes = [];
    let at = this.#start + 16;
    while (at < this.#rules) {
      const edges = this.#u8(at + 2);
      const label = this.#u8(at + 1);
      let previous = -1;
      for (let index = 0; index < edges; index++) {
        const octet = this.#u8(at + 3 + label + index);
        check(octet > previous, 'order of the edges');
        previous = octet;
      }
      let field = this.#ranks(at);
      if ((this.#u8(at) & 1) !== 0) field += this.#width;
      if ((this.#u8(at) & 2) !== 0) field += this.#width;
      const blocks: number[] = [];
      if ((this.#u8(at) & 4) !== 0) {
        const count = this.#ref(field);
        field += this.#width;
        for (let block = 0; block < count; block++) {
          blocks.push(this.#u8(field));
          field += this.#ref(field + 2);
        }
      }
      nodes.push({ label, edges, blocks });
      at = field;
    }
    check(at === this.#rules, 'end of the nodes');
    return nodes;
  }

  #ranks(node: number): number {
    const edges = this.#u8(node + 2);
    return node + 3 + this.#u8(node + 1) + edges + edges * this.#width;
  }

  #edge(node: number, octet: number | undefined): number | undefined {
    if (octet === undefined) return undefined;
    const firsts = node + 3 + this.#u8(node + 1);
    const edges = this.#u8(node + 2);
    for (let index = 0; index < edges; index++) {
      if (this.#u8(firsts + index) !== octet) continue;
      const target = node + this.#ref(firsts + edges + index * this.#width);
      check(target > node, 'direction of the edges');
      check(this.#u8(target + 3) === octet, 'first octet of a label');
      return target;
    }
    return undefined;
  }

  #rankOfNode(node: number, text: Uint8Array, at: number, beyond: number): number {
    const flags = this.#u8(node);
    let field = this.#ranks(node);
    let best = 0;
    if ((flags & 1) !== 0) {
      best = this.#checkedRank(field);
      field += this.#width;
    }
    if ((flags & 2) !== 0) {
      if (at === text.length) best = Math.max(best, this.#checkedRank(field));
      field += this.#width;
    }
    if ((flags & 4) === 0) return best;
    let blocks = this.#ref(field);
    check(blocks > 0, 'number of blocks');
    field += this.#width;
    let previous = Number.POSITIVE_INFINITY;
    for (; blocks > 0; blocks--) {
      const highest = this.#ref(field + 2 + this.#width);
      check(highest < previous, 'order of the blocks');
      previous = highest;
      best = Math.max(best, this.#rankOfBlock(field, text, at, beyond));
      field += this.#ref(field + 2);
    }
    return best;
  }

  #rankOfBlock(block: number, text: Uint8Array, from: number, beyond: number): number {
    const count = this.#u8(block);
    check(count >= 1 && count <= 32, 'number of rules');
    let rule = block + 2 + 2 * this.#width;
    let found = 255;
    if ((this.#u8(block + 1) & 1) !== 0) {
      found = this.#bucketsFound(rule, text, from, beyond);
      rule += 96;
    }
    let best = 0;
    let previous = this.#ref(block + 2 + this.#width) + 1;
    for (let index = 0; index < count; index++) {
      const rank = this.#checkedRank(rule);
      check(rank < previous, 'order of the rules');
      previous = rank;
      const buckets = this.#u8(rule + 2 * this.#width);
      check(buckets !== 0, 'buckets');
      if ((buckets & found) !== 0 && this.#matches(rule, text, from)) best = Math.max(best, rank);
      rule += this.#ref(rule + this.#width);
    }
    check(rule === block + this.#ref(block + 2), 'end of the block');
    return best;
  }

  #bucketsFound(masks: number, text: Uint8Array, from: number, beyond: number): number {
    let found = 0;
    for (let at = from; at < text.length; at++) {
      let fits = 255;
      for (let place = 0; place < 3; place++) {
        const octet = text[at + place] ?? beyond;
        fits &= this.#u8(masks + 32 * place + (octet & 15));
        fits &= this.#u8(masks + 32 * place + 16 + (octet >> 4));
      }
      found |= fits;
    }
    return found;
  }

  #matches(rule: number, text: Uint8Array, from: number): boolean {
    const flags = this.#u8(rule + 2 * this.#width + 1);
    const segments = this.#ref(rule + 2 * this.#width + 2);
    check(segments >= 1, 'number of segments');
    const question = text.indexOf(0x3f);
    const query = question < 0 ? text.length : question;
    let field = rule + 3 * this.#width + 2;
    let places = new Set([from]);
    for (let index = 0; index < segments; index++) {
      const first = this.#segment(field);
      field += this.#width + first.length;
      let second = first;
      if ((flags & 2) !== 0) {
        second = this.#segment(field);
        field += this.#width + second.length;
      }
      const next = new Set<number>();
      const least = Math.min(...places);
      for (let at = least; at <= text.length; at++) {
        const form = at > query ? second : first;
        if (holds(text, at, form)) next.add(at + form.length);
      }
      if (index === segments - 1 && (flags & 1) !== 0) return next.has(text.length);
      if (next.size === 0) return false;
      places = next;
    }
    check(field === rule + this.#ref(rule + this.#width), 'end of the rule');
    return true;
  }

  #segment(field: number): Uint8Array {
    const octets = this.#ref(field);
    check(octets > 0, 'octets of a segment');
    return this.#octets.subarray(field + this.#width, field + this.#width + octets);
  }

  #checkedRank(at: number): number {
    const rank = this.#ref(at);
    check(rank >> 1 >= 1 && rank >> 1 <= this.ruleCount, 'rank');
    return rank;
  }

  #ref(at: number): number {
    return this.#width === 2 ? this.#view.getUint16(at, true) : this.#view.getUint32(at, true);
  }

  #u8(at: number): number {
    return this.#view.getUint8(at);
  }
}

function holds(text: Uint8Array, at: number, octets: Uint8Array): boolean {
  return octets.every((octet, index) => text[at + index] === octet);
}

function check(holdsTrue: boolean, what: string): void {
  if (!holdsTrue) throw new Error(`the automaton breaks its format: ${what}`);
}
