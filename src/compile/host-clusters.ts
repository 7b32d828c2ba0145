/** Lays out the hosts of a table in clusters, with the robots records that they share. */

import { sortStrings } from '../base/string-sort.js';
import {
  AUTOMATON_WIDE,
  CACHE_LINE_BYTES,
  GROUP_BYTES,
  GROUP_LINE,
  ROBOTS_WIDE,
  TOKEN_ENTRY_BYTES,
} from '../table/format.js';
import type { ByteStore } from './byte-store.js';
import type { CompiledRobots, RobotsRecord } from './compiled-robots.js';
import {
  type HostRecords,
  OffsetMap,
  OnePiece,
  readNumber,
  type TableChunk,
  type TablePieces,
} from './host-records.js';

/**
 * Bytes at the start of a cluster that are aligned to cache lines, because most look-ups read them.
 */
const ALIGNED_BYTES = 512;

/** The hosts section: one cluster for each robots record, with its hosts and its automata. */
export class HostClusters {
  /** Length of the section. */
  readonly bytes: number;
  /** Number of rules of all automata. */
  readonly rules: number;
  readonly #hosts: HostRecords;
  readonly #compiled: CompiledRobots;
  readonly #records: RobotsRecords;
  /** Offsets in the section: of hosts, robots records, automata and clusters, and its end. */
  readonly #hostStarts: Uint32Array;
  readonly #robots: OffsetMap;
  readonly #automata: OffsetMap;
  readonly #starts: Float64Array;
  /** The automata, in the order of the section. */
  readonly #ownAutomata: Uint32Array;
  readonly #byRobots: HostsByRobots;
  /** Number of written automata. */
  #written = 0;

  constructor(hosts: HostRecords, compiled: CompiledRobots, tokens: TokenNumbers) {
    this.#hosts = hosts;
    this.#compiled = compiled;
    this.#records = new RobotsRecords(tokens);
    this.#hostStarts = new Uint32Array(hosts.count);
    this.#robots = new OffsetMap(compiled.records.count);
    this.#automata = new OffsetMap(compiled.automata.count);
    this.#starts = new Float64Array(hosts.robots.length + 1);
    this.#byRobots = byRobots(hosts);
    let bytes = 0;
    for (let place = 0; place < hosts.robots.length; place++) bytes = this.#place(place, bytes);
    this.#starts[hosts.robots.length] = bytes;
    this.bytes = bytes;
    this.#ownAutomata = this.#automata.items;
    this.rules = this.#countRules();
  }

  /** Places a cluster after `end`; returns its own end. */
  #place(cluster: number, end: number): number {
    const hosts = this.#hosts;
    const { automata, records } = this.#compiled;
    const { sorted, first } = this.#byRobots;
    records.prefetch(hosts.robots, cluster);
    const item = hosts.robots[cluster] as number;
    this.#records.load(this.#compiled.record(item));
    const own: number[] = [];
    let clusterBytes = this.#records.bytes;
    this.#records.eachAutomaton((automaton) => {
      if (this.#automata.has(automaton)) return;
      own.push(automaton);
      clusterBytes += automata.length(automaton);
    });
    const low = first[cluster] as number;
    const high = first[cluster + 1] as number;
    for (let index = low; index < high && clusterBytes < ALIGNED_BYTES; index++) {
      clusterBytes += hosts.bytes(sorted[index] as number);
    }
    let bytes = alignedStart(end, clusterBytes);
    this.#starts[cluster] = bytes;
    for (let index = low; index < high; index++) {
      const host = sorted[index] as number;
      this.#hostStarts[host] = bytes;
      bytes += hosts.bytes(host);
    }
    this.#robots.place(item, bytes);
    bytes += this.#records.bytes;
    for (const automaton of own) {
      if (this.#automata.place(automaton, bytes)) bytes += automata.length(automaton);
    }
    return bytes;
  }

  #countRules(): number {
    const { automata } = this.#compiled;
    let rules = 0;
    // In the order of memory.
    for (let automaton = 0; automaton < automata.count; automaton++) {
      if (this.#automata.has(automaton)) rules += rulesOf(automata, automaton);
    }
    return rules;
  }

  get automatonCount(): number {
    return this.#automata.count;
  }

  /** Calls `visit` for each host, in the order of the section. */
  eachHost(visit: (host: number) => void): void {
    for (const host of this.#byRobots.sorted) visit(host);
  }

  /** Offset of a host record in the section. */
  hostStart(host: number): number {
    return this.#hostStarts[host] as number;
  }

  /**
   * Returns the section; each cluster is a piece.
   *
   * @param section start of the section in the table
   * @param sources start of the sources section
   */
  pieces(section: number, sources: number): TablePieces {
    const starts = this.#starts;
    const count = starts.length - 1;
    let cluster = 0;
    return {
      get nextBytes() {
        if (cluster === count) return 0;
        return (starts[cluster + 1] as number) - (starts[cluster] as number);
      },
      write: (chunk) => this.#write(cluster++, chunk, section, sources),
    };
  }

  #write(cluster: number, chunk: TableChunk, section: number, sources: number): void {
    const start = this.#starts[cluster] as number;
    const end = this.#starts[cluster + 1] as number;
    // Offset in the chunk at which the section would start.
    const base = chunk.end - start;
    this.#writeHosts(cluster, chunk, base, section, sources);
    const item = this.#robots.item(cluster);
    const automatonStart = (number: number): number => section + this.#automata.start(number);
    this.#compiled.records.prefetch(this.#hosts.robots, cluster);
    this.#records.load(this.#compiled.record(item));
    const recordStart = base + this.#robots.start(item);
    this.#records.write(chunk.view, recordStart, automatonStart);
    const recordEnd = recordStart + this.#records.bytes;
    const written = this.#writeAutomata(end, chunk, base) ?? recordEnd;
    chunk.end += end - start;
    for (let at = written; at < chunk.end; at++) chunk.bytes[at] = 0;
  }

  /*
   * Each loop is a separate method. V8 optimises a method during its first loop without knowing the
   * rest, and would deoptimise there each time.
   */

  #writeHosts(
    cluster: number,
    chunk: TableChunk,
    base: number,
    section: number,
    sources: number,
  ): void {
    const { sorted, first } = this.#byRobots;
    const robotsStart = (item: number): number => section + this.#robots.start(item);
    const end = first[cluster + 1] as number;
    for (let index = first[cluster] as number; index < end; index++) {
      this.#hosts.prefetch(sorted, index);
      const host = sorted[index] as number;
      this.#hosts.write(host, chunk, base + this.hostStart(host), robotsStart, sources);
    }
  }

  /** Writes the next automata that start before `end`; returns the end of the last, if any. */
  #writeAutomata(end: number, chunk: TableChunk, base: number): number | undefined {
    const { automata } = this.#compiled;
    const items = this.#ownAutomata;
    let written: number | undefined;
    for (; this.#written < items.length; this.#written++) {
      automata.prefetch(items, this.#written);
      const automaton = items[this.#written] as number;
      const at = this.#automata.start(automaton);
      if (at >= end) break;
      automata.copy(automaton, chunk.bytes, base + at);
      written = base + at + automata.length(automaton);
    }
    return written;
  }
}

/**
 * Returns a start for a cluster at or after `end`, such that the cluster's first bytes span as few
 * cache lines as from the start of a line.
 */
function alignedStart(end: number, clusterBytes: number): number {
  const bytes = Math.min(clusterBytes, ALIGNED_BYTES);
  const inLine = end % CACHE_LINE_BYTES;
  const lines = Math.ceil(bytes / CACHE_LINE_BYTES);
  return inLine + bytes > lines * CACHE_LINE_BYTES ? end + CACHE_LINE_BYTES - inLine : end;
}

/** Number of rules of an automaton. */
function rulesOf(automata: ByteStore, item: number): number {
  const bytes = automata.memory(item);
  const at = automata.offset(item);
  const isWide = ((bytes[at] as number) & AUTOMATON_WIDE) !== 0;
  return isWide ? readNumber(bytes, at + 5, 2) : readNumber(bytes, at + 3, 1);
}

/**
 * The hosts sorted by the robots record of their first authority; the start of each record's hosts.
 */
interface HostsByRobots {
  readonly sorted: Uint32Array;
  readonly first: Uint32Array;
}

function byRobots({ count, robots, firstRobots }: HostRecords): HostsByRobots {
  const first = new Uint32Array(robots.length + 1);
  for (const place of firstRobots) first[place + 1] = (first[place + 1] as number) + 1;
  for (let place = 0; place < robots.length; place++) {
    first[place + 1] = (first[place + 1] as number) + (first[place] as number);
  }
  const next = first.slice();
  const sorted = new Uint32Array(count);
  for (let host = 0; host < count; host++) {
    const place = firstRobots[host] as number;
    const index = next[place] as number;
    sorted[index] = host;
    next[place] = index + 1;
  }
  return { sorted, first };
}

/**
 * Greatest length of a robots record, and greatest number of product tokens, for numbers of two
 * bytes.
 */
const MAX_NARROW = 0xffff;

/** Writes robots records of a table, one at a time. */
class RobotsRecords {
  /** Length of the current record. */
  bytes = 0;
  readonly #tokens: TokenNumbers;
  #record: RobotsRecord | undefined;
  /** Indices of the record's tokens, by ascending number in the table. */
  #indices: number[] = [];
  #isWide = false;
  /** Offset in the record of each written list of groups, by the number of the list; 0 if not. */
  #listStarts = new Uint32Array(0);

  constructor(tokens: TokenNumbers) {
    this.#tokens = tokens;
  }

  /** Begins a record. */
  load(record: RobotsRecord): void {
    const tokens = this.#tokens;
    const indices = this.#indices;
    indices.length = 0;
    let rises = true;
    let last = -1;
    for (let index = 0; index < record.tokenCount; index++) {
      indices.push(index);
      const number = tokens.number(record.token(index));
      if (number < last) rises = false;
      last = number;
    }
    if (!rises) {
      const numberAt = (index: number): number => tokens.number(record.token(index));
      indices.sort((a, b) => numberAt(a) - numberAt(b));
    }
    const narrow = bytesWith(2, record);
    this.#record = record;
    this.#isWide = tokens.count > MAX_NARROW || narrow > MAX_NARROW;
    this.bytes = this.#isWide ? bytesWith(4, record) : narrow;
  }

  /**
   * Calls `visit` for the automata of the record, in order; perhaps several times for one
   * automaton.
   */
  eachAutomaton(visit: (automaton: number) => void): void {
    const record = this.#record as RobotsRecord;
    let last = -1;
    for (const index of this.#indices) {
      const list = record.list(index);
      if (list === last) continue;
      last = list;
      const groups = record.groupCount(list);
      for (let group = 0; group < groups; group++) {
        const automaton = record.automaton(list, group) - 1;
        if (automaton >= 0) visit(automaton);
      }
    }
  }

  /**
   * Writes the record.
   *
   * @param start offset in the chunk
   * @param automatonStart offset in the table of an automaton
   */
  write(out: DataView, start: number, automatonStart: (automaton: number) => number): void {
    const record = this.#record as RobotsRecord;
    const { tokenCount } = record;
    const isWide = this.#isWide;
    const width = isWide ? 4 : 2;
    out.setUint8(start, record.access | (isWide ? ROBOTS_WIDE : 0));
    writeWord(out, isWide, start + 1, tokenCount);
    let number = start + 1 + width;
    let next = number + 2 * width * tokenCount;
    const listStarts = this.#emptyListStarts(record.wordCount);
    for (const index of this.#indices) {
      const list = record.list(index);
      if (listStarts[list] === 0) {
        listStarts[list] = next - start;
        next = writeGroups(record, list, out, next, automatonStart);
      }
      writeWord(out, isWide, number, this.#tokens.number(record.token(index)));
      writeWord(out, isWide, number + width * tokenCount, listStarts[list] as number);
      number += width;
    }
  }

  /** Numbers of lists are less than `words`. */
  #emptyListStarts(words: number): Uint32Array {
    if (this.#listStarts.length < words) this.#listStarts = new Uint32Array(2 * words);
    else this.#listStarts.fill(0, 0, words);
    return this.#listStarts;
  }
}

/** Length of a robots record with numbers of `width` bytes. */
function bytesWith(width: number, record: RobotsRecord): number {
  return 1 + width + 2 * width * record.tokenCount + GROUP_BYTES * record.allGroups;
}

function writeWord(out: DataView, isWide: boolean, at: number, word: number): void {
  if (isWide) out.setUint32(at, word, true);
  else out.setUint16(at, word, true);
}

/** Writes a list of groups; returns the offset after it. */
function writeGroups(
  record: RobotsRecord,
  list: number,
  out: DataView,
  at: number,
  automatonStart: (automaton: number) => number,
): number {
  const groups = record.groupCount(list);
  for (let group = 0; group < groups; group++) {
    const automaton = record.automaton(list, group) - 1;
    out.setUint32(at, automaton < 0 ? 0 : automatonStart(automaton), true);
    const more = group + 1 < groups ? 1 : 0;
    out.setUint32(at + GROUP_LINE, 2 * record.firstLine(list, group) + more, true);
    at += GROUP_BYTES;
  }
  return at;
}

/**
 * The product tokens of a table: `*`, the empty token, then the others, sorted. The others are
 * those that a file names, or those that the table is reduced to.
 */
export class TokenNumbers {
  /** Length of the section. */
  readonly bytes: number;
  /** The product tokens that the table is reduced to and that no file names, in lower case. */
  readonly unnamed: ReadonlySet<string>;
  readonly #tokens: ByteStore;
  /** The table's tokens, as CompiledRobots numbers them. */
  readonly #order: Uint32Array;
  /** The number in the table of each token of CompiledRobots. */
  readonly #numbers: Uint32Array;

  /**
   * @param robots the records of `compiled` that the table has
   * @param kept the product tokens that the table is reduced to; `undefined` for all
   */
  constructor(
    compiled: CompiledRobots,
    robots: Uint32Array,
    kept: ReadonlySet<string> | undefined,
  ) {
    const { tokens } = compiled;
    const first = ['*', ''].map((token) => compiled.numberOf(token));
    // In the order of texts: sortStrings keeps that of tokens that differ in zeros at their end.
    const wanted = [...(kept ?? [])].sort();
    const numbers = wanted.map((token) => compiled.numberOf(token));
    const isUsed = new Uint8Array(tokens.count);
    for (let place = 0; place < robots.length; place++) {
      compiled.records.prefetch(robots, place);
      const record = compiled.record(robots[place] as number);
      for (let index = 0; index < record.tokenCount; index++) isUsed[record.token(index)] = 1;
    }
    this.unnamed = new Set(wanted.filter((_, index) => isUsed[numbers[index] as number] === 0));
    for (const token of numbers) isUsed[token] = 1;
    for (const token of first) isUsed[token] = 0;
    this.#tokens = tokens;
    this.#order = inOrder(tokens, first, isUsed);
    this.#numbers = new Uint32Array(tokens.count);
    let textBytes = 0;
    this.#order.forEach((token, number) => {
      this.#numbers[token] = number;
      textBytes += tokens.length(token);
    });
    this.bytes = this.count * TOKEN_ENTRY_BYTES + textBytes;
  }

  get count(): number {
    return this.#order.length;
  }

  /** The number in the table of a token of `compiled`. */
  number(token: number): number {
    return this.#numbers[token] as number;
  }

  /** The section. */
  pieces(): TablePieces {
    return new OnePiece(this.bytes, (chunk) => this.#write(chunk));
  }

  #write({ start, end, bytes, view }: TableChunk): void {
    let entry = end;
    let at = end + this.count * TOKEN_ENTRY_BYTES;
    for (const token of this.#order) {
      const text = this.#tokens.get(token);
      view.setUint32(entry, start + at, true);
      view.setUint32(entry + 4, text.length, true);
      bytes.set(text, at);
      entry += TOKEN_ENTRY_BYTES;
      at += text.length;
    }
  }
}

/** `first`, then the used tokens, sorted by their bytes. */
function inOrder(tokens: ByteStore, first: readonly number[], isUsed: Uint8Array): Uint32Array {
  const used = new Uint32Array(isUsed.reduce((sum, use) => sum + use, 0));
  let count = 0;
  let longest = 0;
  for (let token = 0; token < isUsed.length; token++) {
    if (isUsed[token] === 0) continue;
    used[count++] = token;
    longest = Math.max(longest, tokens.length(token));
  }
  const word = (index: number, offset: number): number =>
    tokens.word(used[index] as number, offset);
  const order = new Uint32Array(first.length + count);
  order.set(first);
  sortStrings({ count, word }, longest).forEach((index, place) => {
    order[first.length + place] = used[index] as number;
  });
  return order;
}
