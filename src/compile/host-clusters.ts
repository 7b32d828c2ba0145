import { type CompiledRobots, RobotsRecord } from './compiled-robots.js';
import { AUTOMATON_WIDE } from './format.js';
import type { HostRecords } from './host-records.js';
import { Places } from './places.js';
import { automataOf, robotsOctets, writeRobots } from './robots-records.js';
import type { TokenNumbers } from './token-numbers.js';

/** The section of the hosts: each robots record with the hosts that have it and its automata. */
export class HostClusters {
  /** Octets of all of them. */
  readonly octets: number;
  readonly #hosts: HostRecords;
  readonly #compiled: CompiledRobots;
  readonly #tokens: TokenNumbers;
  /** Places within the section: of hosts, of robots records and of automata, by number. */
  readonly #hostStarts: Float64Array;
  readonly #robots: Places;
  readonly #automata: Places;

  constructor(hosts: HostRecords, compiled: CompiledRobots, tokens: TokenNumbers) {
    this.#hosts = hosts;
    this.#compiled = compiled;
    this.#tokens = tokens;
    this.#hostStarts = new Float64Array(hosts.count);
    this.#robots = new Places(compiled.records.count);
    this.#automata = new Places(compiled.automata.count);
    const { first, sorted } = byRobots(hosts);
    let octets = 0;
    for (let place = 0; place < hosts.robots.length; place++) {
      for (let index = first[place] as number; index < (first[place + 1] as number); index++) {
        const host = sorted[index] as number;
        this.#hostStarts[host] = octets;
        octets += hosts.octets[host] as number;
      }
      const item = hosts.robots[place] as number;
      const record = new RobotsRecord(compiled.records.get(item));
      this.#robots.place(item, octets);
      octets += robotsOctets(record, tokens);
      for (const automaton of automataOf(record, tokens)) {
        if (this.#automata.place(automaton, octets)) octets += compiled.automata.length(automaton);
      }
    }
    this.octets = octets;
  }

  get automatonCount(): number {
    return this.#automata.items.length;
  }

  /** Where the record of a host lies in the section. */
  hostStart(host: number): number {
    return this.#hostStarts[host] as number;
  }

  /**
   * Writes the section, and with it the robots records and the automata; returns the number of rules.
   *
   * @param start where it lies in the table
   * @param sources where that of the sources does
   */
  write(table: Uint8Array, out: DataView, start: number, sources: number): number {
    const robotsStart = (item: number): number => start + this.#robots.start(item);
    const automatonStart = (item: number): number => start + this.#automata.start(item);
    for (let host = 0; host < this.#hosts.count; host++) {
      this.#hosts.write(host, out, table, start + this.hostStart(host), robotsStart, sources);
    }
    const { records, automata } = this.#compiled;
    for (const item of this.#robots.items) {
      const record = new RobotsRecord(records.get(item));
      writeRobots(record, out, robotsStart(item), this.#tokens, automatonStart);
    }
    let rules = 0;
    for (const item of this.#automata.items) {
      const at = automatonStart(item);
      table.set(automata.get(item), at);
      const isWide = ((table[at] as number) & AUTOMATON_WIDE) !== 0;
      rules += isWide ? out.getUint32(at + 5, true) : out.getUint16(at + 3, true);
    }
    return rules;
  }
}

/** The hosts by the place of their first authority's robots record, and for each such place where they start. */
function byRobots({ count, robots, firstRobots }: HostRecords): {
  sorted: Uint32Array;
  first: Uint32Array;
} {
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
