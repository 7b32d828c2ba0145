import type { CompiledRobots } from './compiled-robots.js';
import { AUTOMATON_WIDE, CACHE_LINE_OCTETS } from './format.js';
import type { HostRecords } from './host-records.js';
import { type OctetStore, TOUCHED_AT_ONCE } from './octet-store.js';
import { Places } from './places.js';
import { RobotsRecords } from './robots-records.js';
import type { TablePieces, TableWindow } from './table-window.js';
import type { TokenNumbers } from './token-numbers.js';
import { readNumber } from './width.js';

/** Of a cluster: what a URL reads of it lies mostly among so many first octets. */
const ALIGNED_OCTETS = 512;

/**
 * The section of the hosts: each robots record with the hosts that have it and its automata, a
 * cluster.
 */
export class HostClusters {
  /** Octets of all of them. */
  readonly octets: number;
  /** Rules of all automata. */
  readonly rules: number;
  readonly #hosts: HostRecords;
  readonly #compiled: CompiledRobots;
  readonly #records: RobotsRecords;
  /**
   * Places within the section: of hosts, of robots records and of automata, by number; of clusters,
   * with the end of the last.
   */
  readonly #hostStarts: Float64Array;
  readonly #robots: Places;
  readonly #automata: Places;
  readonly #starts: Float64Array;
  readonly #byRobots: HostsByRobots;
  /** Automata that are written. */
  #written = 0;

  constructor(hosts: HostRecords, compiled: CompiledRobots, tokens: TokenNumbers) {
    this.#hosts = hosts;
    this.#compiled = compiled;
    this.#records = new RobotsRecords(tokens);
    this.#hostStarts = new Float64Array(hosts.count);
    this.#robots = new Places(compiled.records.count);
    this.#automata = new Places(compiled.automata.count);
    this.#starts = new Float64Array(hosts.robots.length + 1);
    this.#byRobots = byRobots(hosts);
    const { sorted, first } = this.#byRobots;
    let octets = 0;
    let rules = 0;
    let clusterOctets = 0;
    const countAutomaton = (automaton: number): void => {
      if (!this.#automata.has(automaton)) clusterOctets += compiled.automata.length(automaton);
    };
    const placeAutomaton = (automaton: number): void => {
      if (!this.#automata.place(automaton, octets)) return;
      octets += compiled.automata.length(automaton);
      rules += rulesOf(compiled.automata, automaton);
    };
    for (let place = 0; place < hosts.robots.length; place++) {
      if (place % TOUCHED_AT_ONCE === 0) this.#touch(place);
      const item = hosts.robots[place] as number;
      this.#records.load(compiled.record(item));
      clusterOctets = this.#records.octets;
      this.#records.eachAutomaton(countAutomaton);
      const low = first[place] as number;
      const high = first[place + 1] as number;
      for (let index = low; index < high && clusterOctets < ALIGNED_OCTETS; index++) {
        clusterOctets += hosts.octets(sorted[index] as number);
      }
      octets = alignedStart(octets, clusterOctets);
      this.#starts[place] = octets;
      for (let index = low; index < high; index++) {
        const host = sorted[index] as number;
        this.#hostStarts[host] = octets;
        octets += hosts.octets(host);
      }
      this.#robots.place(item, octets);
      octets += this.#records.octets;
      this.#records.eachAutomaton(placeAutomaton);
    }
    this.#starts[hosts.robots.length] = octets;
    this.octets = octets;
    this.rules = rules;
  }

  get automatonCount(): number {
    return this.#automata.count;
  }

  /** Where the record of a host lies in the section. */
  hostStart(host: number): number {
    return this.#hostStarts[host] as number;
  }

  /**
   * The section; each cluster is a piece. `section` and `sources` are where in the table it and
   * that of the sources start.
   */
  pieces(section: number, sources: number): TablePieces {
    const starts = this.#starts;
    const count = starts.length - 1;
    let cluster = 0;
    return {
      get nextOctets() {
        if (cluster === count) return 0;
        return (starts[cluster + 1] as number) - (starts[cluster] as number);
      },
      write: (window) => this.#write(cluster++, window, section, sources),
    };
  }

  /** Touches the robots records from a place on, and the automata that they name first. */
  #touch(from: number): void {
    const { records, automata } = this.#compiled;
    const { robots } = this.#hosts;
    const to = Math.min(from + TOUCHED_AT_ONCE, robots.length);
    records.touch(robots, from, to);
    const first = new Uint32Array(to - from);
    let count = 0;
    for (let place = from; place < to; place++) {
      const record = this.#compiled.record(robots[place] as number);
      if (record.tokenCount === 0) continue;
      const list = record.list(0);
      const automaton = record.groupCount(list) === 0 ? -1 : record.automaton(list, 0) - 1;
      if (automaton >= 0) first[count++] = automaton;
    }
    automata.touch(first, 0, count);
  }

  #write(cluster: number, window: TableWindow, section: number, sources: number): void {
    if (cluster % TOUCHED_AT_ONCE === 0) this.#touch(cluster);
    const start = this.#starts[cluster] as number;
    const end = this.#starts[cluster + 1] as number;
    // Where in the window the section would start.
    const base = window.end - start;
    this.#writeHosts(cluster, window, base, section, sources);
    const item = this.#robots.item(cluster);
    const automatonStart = (number: number): number => section + this.#automata.start(number);
    this.#records.load(this.#compiled.record(item));
    this.#records.write(window.view, base + this.#robots.start(item), automatonStart);
    this.#writeAutomata(end, window.view, base);
    window.end += end - start;
  }

  /*
   * Each loop is a method of its own: where something follows a loop, the engine's code for it,
   * made while it ran the first time, knows nothing of that, and is left there each time.
   */

  #writeHosts(
    cluster: number,
    window: TableWindow,
    base: number,
    section: number,
    sources: number,
  ): void {
    const { sorted, first } = this.#byRobots;
    const robotsStart = (item: number): number => section + this.#robots.start(item);
    const end = first[cluster + 1] as number;
    for (let index = first[cluster] as number; index < end; index++) {
      const host = sorted[index] as number;
      const record = this.hostStart(host);
      this.#hosts.write(host, window, base + record, section + record, robotsStart, sources);
    }
  }

  /** Writes the next automata that are placed before `end`, in their order. */
  #writeAutomata(end: number, view: DataView, base: number): void {
    const { automata } = this.#compiled;
    for (; this.#written < this.#automata.count; this.#written++) {
      const automaton = this.#automata.item(this.#written);
      const at = this.#automata.start(automaton);
      if (at >= end) break;
      automata.copy(automaton, view, base + at);
    }
  }
}

/**
 * Where a cluster of so many octets starts, at `end` or behind: where its first octets reach into
 * no more cache lines than they would from the start of one.
 */
function alignedStart(end: number, clusterOctets: number): number {
  const octets = Math.min(clusterOctets, ALIGNED_OCTETS);
  const inLine = end % CACHE_LINE_OCTETS;
  const lines = Math.ceil(octets / CACHE_LINE_OCTETS);
  return inLine + octets > lines * CACHE_LINE_OCTETS ? end + CACHE_LINE_OCTETS - inLine : end;
}

/** How many rules an automaton has. */
function rulesOf(automata: OctetStore, item: number): number {
  const octets = automata.memory(item);
  const at = automata.offset(item);
  const isWide = ((octets[at] as number) & AUTOMATON_WIDE) !== 0;
  return isWide ? readNumber(octets, at + 5, 2) : readNumber(octets, at + 3, 1);
}

/**
 * The hosts by the place of their first authority's robots record, and for each such place where
 * they start.
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
