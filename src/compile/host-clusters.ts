import type { CompiledRobots } from './compiled-robots.js';
import { AUTOMATON_WIDE } from './format.js';
import type { HostRecords } from './host-records.js';
import { Places } from './places.js';
import { RobotsRecords } from './robots-records.js';
import type { TokenNumbers } from './token-numbers.js';

/** Is told up to which octet a table, but for its header, is as it will stay: again and again, from its start to its end. */
export type OnLaidOut = (table: Uint8Array, end: number) => void;

/** The section of the hosts: each robots record with the hosts that have it and its automata. */
export class HostClusters {
  /** Octets of all of them. */
  readonly octets: number;
  readonly #hosts: HostRecords;
  readonly #compiled: CompiledRobots;
  readonly #records: RobotsRecords;
  /** Places within the section: of hosts, of robots records and of automata, by number. */
  readonly #hostStarts: Float64Array;
  readonly #robots: Places;
  readonly #automata: Places;
  readonly #byRobots: HostsByRobots;

  constructor(hosts: HostRecords, compiled: CompiledRobots, tokens: TokenNumbers) {
    this.#hosts = hosts;
    this.#compiled = compiled;
    this.#records = new RobotsRecords(tokens);
    this.#hostStarts = new Float64Array(hosts.count);
    this.#robots = new Places(compiled.records.count);
    this.#automata = new Places(compiled.automata.count);
    this.#byRobots = byRobots(hosts);
    const { sorted, first } = this.#byRobots;
    let octets = 0;
    const placeAutomaton = (automaton: number): void => {
      if (this.#automata.place(automaton, octets)) octets += compiled.automata.length(automaton);
    };
    for (let place = 0; place < hosts.robots.length; place++) {
      for (let index = first[place] as number; index < (first[place + 1] as number); index++) {
        const host = sorted[index] as number;
        this.#hostStarts[host] = octets;
        octets += hosts.octets(host);
      }
      const item = hosts.robots[place] as number;
      this.#records.load(compiled.record(item));
      this.#robots.place(item, octets);
      octets += this.#records.octets;
      this.#records.eachAutomaton(placeAutomaton);
    }
    this.octets = octets;
  }

  get automatonCount(): number {
    return this.#automata.count;
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
   * @param onLaidOut is told how far it is written
   */
  write(
    table: Uint8Array,
    out: DataView,
    start: number,
    sources: number,
    onLaidOut: OnLaidOut,
  ): number {
    const robotsStart = (item: number): number => start + this.#robots.start(item);
    const automatonStart = (item: number): number => start + this.#automata.start(item);
    const { automata } = this.#compiled;
    const { sorted, first } = this.#byRobots;
    let rules = 0;
    let next = 0;
    const writeAutomaton = (automaton: number): void => {
      if (next === this.#automata.count || this.#automata.item(next) !== automaton) return;
      next++;
      const at = automatonStart(automaton);
      automata.copy(automaton, out, at);
      const isWide = ((table[at] as number) & AUTOMATON_WIDE) !== 0;
      rules += isWide ? out.getUint32(at + 5, true) : out.getUint16(at + 3, true);
    };
    for (let place = 0; place < this.#robots.count; place++) {
      for (let index = first[place] as number; index < (first[place + 1] as number); index++) {
        const host = sorted[index] as number;
        this.#hosts.write(host, out, table, start + this.hostStart(host), robotsStart, sources);
      }
      const item = this.#robots.item(place);
      onLaidOut(table, robotsStart(item));
      this.#records.load(this.#compiled.record(item));
      this.#records.write(out, robotsStart(item), automatonStart);
      this.#records.eachAutomaton(writeAutomaton);
    }
    return rules;
  }
}

/** The hosts by the place of their first authority's robots record, and for each such place where they start. */
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
