import { Buffer } from 'node:buffer';

/** A number, or some bytes, of a table: its name and its place. */
export interface Field {
  readonly name: string;
  readonly at: number;
  readonly bytes: number;
}

/**
 * All fields of a sound table as src/table/format.ts describes them, without the constants of that
 * file: independent of the code that verifies tables.
 */
export function fieldsOf(table: Uint8Array): Field[] {
  return new FieldReader(table).all();
}

class FieldReader {
  readonly #table: Buffer;
  readonly #fields: Field[] = [];
  readonly #seen = new Set<number>([0]);

  constructor(table: Uint8Array) {
    this.#table = Buffer.from(table.buffer, table.byteOffset, table.length);
  }

  all(): Field[] {
    const header = [32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84];
    for (const at of [8, 12, 16, 24, 28, ...header]) this.#number(`header ${at}`, at, 4);
    this.#number('header factor', 88 + 256, 1);
    this.#number('header key', 88, 4);
    const word = (at: number): number => this.#table.readUInt32LE(at);
    const [tokens, buckets, , sources, end] = [64, 68, 72, 76, 80].map(word) as [
      number,
      number,
      number,
      number,
      number,
    ];
    this.#tokens(tokens, word(52));
    this.#buckets(buckets, word(56));
    const records = word(28);
    this.#sources(sources, records === 0 ? end : records);
    if (records !== 0) this.#records(records);
    return this.#fields;
  }

  #records(start: number): void {
    const count = this.#number('entry count', start, 4);
    const bytes = this.#number('entry bytes', start + 4, 4);
    const lists = new Set<number>();
    for (let entry = start + 8; entry < start + 8 + bytes * count; entry += bytes) {
      this.#number('entry authority', entry, 4);
      lists.add(this.#number('entry list', entry + 4, 4));
      if (bytes === 12) this.#number('entry date', entry + 8, 4);
    }
    for (const list of lists) if (list !== 0) this.#recordList(list);
  }

  #recordList(list: number): void {
    let at = list;
    const number = (name: string): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = this.#number(name, at++, 1);
        value += (byte & 127) << shift;
        if (byte < 128) return value;
      }
    };
    const text = (name: string): void => {
      const bytes = number(`${name} bytes`);
      this.#text(name, at, bytes);
      at += bytes;
    };
    const bytes = number('list bytes');
    const end = at + bytes;
    for (let groups = number('list groups'); groups > 0; groups--) text('list group');
    while (at < end) {
      this.#number('list record kind', at++, 1);
      number('list record line');
      number('list record group');
      text('list record value');
    }
  }

  #number(name: string, at: number, bytes: number): number {
    this.#fields.push({ name, at, bytes });
    return this.#table.readUIntLE(at, bytes);
  }

  #text(name: string, at: number, bytes: number): void {
    for (let index = 0; index < bytes; index++) this.#number(name, at + index, 1);
  }

  #tokens(start: number, count: number): void {
    for (let number = 0; number < count; number++) {
      const at = this.#number('token start', start + 8 * number, 4);
      const bytes = this.#number('token bytes', start + 8 * number + 4, 4);
      this.#text('token', at, bytes);
    }
  }

  #buckets(start: number, count: number): void {
    for (let bucket = 0; bucket < count; bucket++) {
      const at = start + 64 * bucket;
      for (let slot = 0; slot < 10; slot++) {
        const record = this.#table.readUInt32LE(at + 4 * slot);
        const what = record === 0 ? 'free slot' : 'slot';
        this.#number(what, at + 4 * slot, 4);
        this.#number(`${what} tag`, at + 40 + 2 * slot, 2);
        if (record !== 0) this.#host(record);
      }
      this.#number('passed', at + 60, 4);
    }
  }

  #host(at: number): void {
    const bytes = this.#number('host bytes', at, 1);
    const form = this.#number('host form', at + 1, 1);
    if (form < 2) {
      this.#text('host', at + (form === 0 ? 10 : 14), bytes);
      this.#authority(at + 2);
      if (form === 1) this.#number('source number', at + 10, 4);
      return;
    }
    const count = this.#number('entries', at + 2, 2);
    this.#text('host', at + 4, bytes);
    for (let index = 0; index < count; index++) {
      const entry = at + 4 + bytes + (form === 3 ? 24 : 20) * index;
      this.#number('port', entry, 2);
      this.#number('schemes', entry + 2, 1);
      this.#number('entry form', entry + 3, 1);
      this.#authority(entry + 4);
      this.#number('source number', entry + 12, 4);
      this.#number('entry host', entry + 16, 4);
      if (form === 3) this.#history(this.#number('entry history', entry + 20, 4));
    }
  }

  #history(at: number): void {
    const count = this.#number('versions', at, 4);
    for (let version = at + 4; version < at + 4 + 20 * count; version += 20) {
      this.#number('version time', version, 4);
      this.#authority(version + 4);
      this.#number('version number', version + 12, 4);
      this.#number('version confirmed', version + 16, 4);
    }
  }

  #authority(at: number): void {
    const robots = this.#number('robots', at, 4);
    this.#number('source', at + 4, 4);
    if (!this.#seen.has(robots)) {
      this.#seen.add(robots);
      this.#robots(robots);
    }
  }

  #robots(at: number): void {
    const head = this.#number('record head', at, 1);
    const width = (head & 4) !== 0 ? 4 : 2;
    const w = width === 4 ? 'wide ' : '';
    const count = this.#number(`${w}record tokens`, at + 1, width);
    const numbers = at + 1 + width;
    const lists = new Set<number>();
    for (let index = 0; index < count; index++) {
      this.#number(`${w}record token`, numbers + width * index, width);
      const list = this.#number(`${w}record list`, numbers + width * (count + index), width);
      lists.add(at + list);
    }
    for (const list of lists) {
      for (let group = list, line = 1; (line & 1) !== 0; group += 8) {
        const automaton = this.#number('automaton', group, 4);
        line = this.#number('group line', group + 4, 4);
        if (this.#seen.has(automaton)) continue;
        this.#seen.add(automaton);
        this.#automaton(automaton);
      }
    }
  }

  #automaton(at: number): void {
    const widths = this.#number('widths', at, 1);
    const offset = (widths & 16) !== 0 ? 4 : 2;
    const line = 1 << (widths & 3);
    const size = 1 << ((widths >> 2) & 3);
    const end = at + this.#number('automaton bytes', at + 1, offset);
    this.#number('automaton rules', at + 1 + offset, offset);
    let root = at + 1 + 2 * offset;
    let nodesEnd = end;
    if ((widths & 32) !== 0) {
      nodesEnd = at + this.#number('nodes end', root, offset);
      root += offset;
    }
    for (let node = root; node < nodesEnd; ) node = this.#node(node, { offset, line, size });
    for (let text = nodesEnd; text < end; ) {
      const bytes = this.#number('text bytes', text, 2);
      this.#text('text', text + 2, bytes);
      text += 2 + bytes;
    }
  }

  /** Nodes lie one after another, so no edge must be followed. */
  #node(start: number, widths: { offset: number; line: number; size: number }): number {
    const flags = this.#number('flags', start, 1);
    const label = this.#number('label bytes', start + 1, 1);
    this.#text('label', start + 2, label);
    let at = start + 2 + label;
    if ((flags & 4) !== 0) {
      const edges = this.#number('edges', at, 1);
      this.#text('edge', at + 1, 1);
      this.#text('further edge', at + 2, edges - 1);
      at += 1 + edges;
      const bytes = 1 << ((flags >> 4) & 3);
      for (let edge = 1; edge < edges; edge++, at += bytes) this.#number('distance', at, bytes);
    }
    if ((flags & 3) !== 0) {
      const form = (flags & 3) === 3 ? this.#number('prefix form', at++, 1) : 0;
      this.#number('prefix line', at, widths.line);
      at += widths.line;
      if ((form & 8) !== 0) {
        this.#number('surplus', at, 4);
        at += 4;
      }
      if ((form & 4) !== 0) {
        this.#number('prefix text', at, widths.offset);
        at += widths.offset;
      }
    }
    if ((flags & 8) === 0) return at;
    if ((flags & 4) !== 0) {
      this.#number('block bytes', at, widths.offset);
      at += widths.offset;
    }
    for (let head = 64; (head & 64) !== 0; ) {
      head = this.#table.readUInt8(at);
      at = this.#block(at, widths);
    }
    return at;
  }

  #block(start: number, widths: { offset: number; line: number; size: number }): number {
    const head = this.#number('block head', start, 1);
    const count = (head & 31) + 1;
    let at = start + 1;
    if ((head & 32) !== 0) {
      this.#text('mask', at, 96);
      at += 96;
      this.#text('bucket', at, count);
      at += count;
      if ((head & 64) !== 0) {
        this.#number('next block', at, widths.offset);
        at += widths.offset;
      }
      const bytes = (head & 128) !== 0 ? widths.offset : 1;
      for (let index = 0; index < count; index++, at += bytes) this.#number('place', at, bytes);
    }
    for (let index = 0; index < count; index++) at = this.#blockRule(at, widths);
    return at;
  }

  #blockRule(start: number, widths: { offset: number; line: number; size: number }): number {
    const { size } = widths;
    this.#number('rank', start, size);
    const formAt = start + 2 * size;
    const end = formAt + this.#number('rule bytes', start + size, size);
    const form = this.#number('form', formAt, 1);
    this.#number('line', formAt + 1, widths.line);
    let at = formAt + 1 + widths.line;
    if ((form & 4) !== 0) {
      this.#number('rule text', at, widths.offset);
      at += widths.offset;
    }
    if ((form & 64) !== 0) {
      this.#text('segment', at, end - at);
      return end;
    }
    while (at < end) {
      const bytes = this.#number('segment bytes', at, size);
      this.#text('segment', at + size, bytes);
      at += size + bytes;
    }
    return end;
  }

  #sources(start: number, end: number): void {
    for (let at = start; at + 5 <= end && this.#table.readUIntLE(at, 5) !== 0; ) {
      this.#number('source kind', at, 1);
      const before = this.#number('source before', at + 1, 2);
      const after = this.#number('source after', at + 3, 2);
      this.#text('source text', at + 5, before + after);
      at += 5 + before + after;
    }
  }
}
