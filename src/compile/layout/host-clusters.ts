import { AUTOMATON_WIDE, CACHE_LINE_BYTES } from '../../table/format.js';
import { readNumber } from '../../table/width.js';
import type { CompiledRobots } from '../compiled-robots.js';
import type { ByteStore } from '../intern/byte-store.js';
import type { HostRecords } from './host-records.js';
import { OffsetMap } from './offset-map.js';
import { RobotsRecords } from './robots-records.js';
import type { TableChunk, TablePieces } from './table-chunk.js';
import type { TokenNumbers } from './token-numbers.js';

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
