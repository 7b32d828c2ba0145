import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../errors.js';
import type { AuthoritySet, HostEntry } from './authority-set.js';
import {
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  ENTRY_AUTHORITY,
  ENTRY_FORM,
  ENTRY_OCTETS,
  ENTRY_SCHEMES,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_NUMBERED,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SOURCE_WITH_NUMBER,
} from './format.js';
import type { HostNames } from './host-names.js';
import { type OctetStore, TOUCHED_AT_ONCE } from './octet-store.js';
import { Places } from './places.js';
import type { TablePieces, TableWindow } from './table-window.js';

const MAX_HOST_AUTHORITIES = 0xffff;
const NOT_NEEDED = -1;
/** In place of the source of a host's only authority. */
const SEVERAL = -1;

/** The hosts of a table, sorted and numbered from 0, and what their records say. */
export class HostRecords {
  readonly names: HostNames;
  /** Authorities of all of them, as a table has them. */
  readonly authorityCount: number;
  /** Octets of the robots.txt files of all authorities that were given. */
  readonly bodyOctets: number;
  /** The numbers of what the robots.txt files say, in the order in which the hosts need them. */
  readonly robots: Uint32Array;
  /** For each host the place in `robots` of what its first authority's file says. */
  readonly firstRobots: Uint32Array;
  /** Octets of all sources. */
  readonly sourceOctets: number;

  readonly #authorities: AuthoritySet;
  readonly #sources: OctetStore;
  /**
   * All authorities by host, and for each host where its start there; behind the last their number.
   */
  readonly #sorted: Int32Array;
  readonly #first: Uint32Array;
  /**
   * For each host the source of its only authority, if that counts for http and https at their
   * default ports, else SEVERAL; and the number of that source. To ask the authorities, which are
   * in another order, costs a cache miss each time.
   */
  readonly #onlySource: Int32Array;
  readonly #onlySourceNumber: Uint32Array;
  /** Where the forms of sources lie in their section. */
  readonly #sourcePlaces: Places;

  /**
   * @param sources the forms of the authorities' sources
   * @param recordCount how many records there are of what robots.txt files say
   * @throws RobotsFilterError `limit` if a host has more than 65,535 authorities.
   */
  constructor(authorities: AuthoritySet, sources: OctetStore, recordCount: number) {
    const sorted = authorities.sorted();
    const names = authorities.roomForHosts();
    const first = new Uint32Array(sorted.length + 1);
    const onlySource = new Int32Array(sorted.length).fill(SEVERAL);
    const onlySourceNumber = new Uint32Array(sorted.length);
    const firstRobots = new Uint32Array(sorted.length);
    const placeOf = new Int32Array(recordCount).fill(NOT_NEEDED);
    const robots = new Uint32Array(recordCount);
    let robotsCount = 0;
    const sourcePlaces = new Places(sources.count);
    let authorityCount = 0;
    let bodyOctets = 0;
    let sourceOctets = 0;
    const need = (authority: number): void => {
      const record = authorities.robots(authority);
      if (placeOf[record] === NOT_NEEDED) {
        placeOf[record] = robotsCount;
        robots[robotsCount++] = record;
      }
      const source = authorities.source(authority);
      if (sourcePlaces.place(source, sourceOctets)) sourceOctets += sources.length(source);
      authorityCount++;
    };
    let touched = 0;
    for (let low = 0, high = 0; low < sorted.length; low = high) {
      if (low >= touched) {
        touched = Math.min(low + TOUCHED_AT_ONCE, sorted.length);
        authorities.touch(sorted, low, touched);
      }
      const authority = sorted[low] as number;
      const host = names.count;
      authorities.addHost(authority, names);
      for (high = low; high < sorted.length; high++) {
        const next = sorted[high] as number;
        if (high > low && !authorities.hasLastHost(next, names)) break;
        bodyOctets += authorities.bodyOctets(next);
      }
      first[host] = low;
      let firstAuthority = authority;
      let isOnly = high - low === 1 && authorities.isPlain(authority);
      if (isOnly) {
        need(authority);
      } else {
        const entries = authorities.entriesOf(sorted, low, high);
        if (entries.length > MAX_HOST_AUTHORITIES) {
          throw new RobotsFilterError(
            'limit',
            `the host ${Buffer.from(names.get(host)).toString('latin1')} has ${entries.length} authorities, and a table can have ${MAX_HOST_AUTHORITIES} of a host; leave some of its ports out`,
          );
        }
        firstAuthority = (entries[0] as HostEntry).authority;
        isOnly = isPlain(entries);
        for (const entry of entries) need(entry.authority);
      }
      if (isOnly) {
        onlySource[host] = authorities.source(firstAuthority);
        onlySourceNumber[host] = authorities.sourceNumber(firstAuthority);
      }
      firstRobots[host] = placeOf[authorities.robots(firstAuthority)] as number;
    }
    first[names.count] = sorted.length;
    this.names = names;
    this.authorityCount = authorityCount;
    this.bodyOctets = bodyOctets;
    this.robots = robots.subarray(0, robotsCount);
    this.firstRobots = firstRobots.subarray(0, names.count);
    this.sourceOctets = sourceOctets;
    this.#authorities = authorities;
    this.#sources = sources;
    this.#sorted = sorted;
    this.#first = first;
    this.#onlySource = onlySource;
    this.#onlySourceNumber = onlySourceNumber;
    this.#sourcePlaces = sourcePlaces;
  }

  get count(): number {
    return this.names.count;
  }

  /** Octets of the record of a host. */
  octets(host: number): number {
    const length = this.names.length(host);
    const source = this.#onlySource[host] as number;
    if (source !== SEVERAL) return this.#nameStart(source) + length;
    return HOST_SEVERAL_NAME + length + ENTRY_OCTETS * this.#entries(host).length;
  }

  /**
   * Writes the record of a host.
   *
   * @param at where in the window
   * @param record where in the table that is
   * @param robotsStart where the record lies of what a robots.txt says, by its number
   * @param sources start of the section
   */
  write(
    host: number,
    { octets, view: out }: TableWindow,
    at: number,
    record: number,
    robotsStart: (robots: number) => number,
    sources: number,
  ): void {
    const authorities = this.#authorities;
    const writeAuthority = (place: number, robots: number, source: number): void => {
      out.setUint32(place, robotsStart(robots), true);
      out.setUint32(place + AUTHORITY_SOURCE, sources + this.#sourcePlaces.start(source), true);
    };
    const length = this.names.length(host);
    const only = this.#onlySource[host] as number;
    octets[at] = length;
    if (only !== SEVERAL) {
      const nameStart = this.#nameStart(only);
      const place = at + HOST_AUTHORITY;
      octets[at + HOST_FORM] = nameStart === HOST_PLAIN_NAME ? HOST_PLAIN : HOST_NUMBERED;
      writeAuthority(place, this.robots[this.firstRobots[host] as number] as number, only);
      if (nameStart === HOST_NUMBERED_NAME) {
        out.setUint32(place + AUTHORITY_NUMBER, this.#onlySourceNumber[host] as number, true);
      }
      this.names.write(host, octets, at + nameStart);
      return;
    }
    const entries = this.#entries(host);
    octets[at + HOST_FORM] = HOST_SEVERAL;
    out.setUint16(at + HOST_AUTHORITY, entries.length, true);
    this.names.write(host, octets, at + HOST_SEVERAL_NAME);
    let entry = at + HOST_SEVERAL_NAME + length;
    for (const { port, schemes, authority } of entries) {
      out.setUint16(entry, port, true);
      octets[entry + ENTRY_SCHEMES] = schemes;
      octets[entry + ENTRY_FORM] = HOST_SEVERAL;
      const place = entry + ENTRY_AUTHORITY;
      writeAuthority(place, authorities.robots(authority), authorities.source(authority));
      out.setUint32(place + AUTHORITY_NUMBER, authorities.sourceNumber(authority), true);
      out.setUint32(place + AUTHORITY_HOST, record, true);
      entry += ENTRY_OCTETS;
    }
  }

  /** The section of the sources. */
  sources(): TablePieces {
    return new SourcePieces(this.#sources, this.#sourcePlaces);
  }

  /**
   * Where the host begins in its record, by the source of its only authority: the format's forms 0
   * and 1.
   */
  #nameStart(source: number): number {
    const kind = this.#sources.memory(source)[this.#sources.offset(source)];
    return kind === SOURCE_WITH_NUMBER ? HOST_NUMBERED_NAME : HOST_PLAIN_NAME;
  }

  #entries(host: number): readonly HostEntry[] {
    const low = this.#first[host] as number;
    return this.#authorities.entriesOf(this.#sorted, low, this.#first[host + 1] as number);
  }
}

/** The section of the sources: each is a piece. */
class SourcePieces implements TablePieces {
  readonly #sources: OctetStore;
  readonly #places: Places;
  #next = 0;

  constructor(sources: OctetStore, places: Places) {
    this.#sources = sources;
    this.#places = places;
  }

  get nextOctets(): number {
    if (this.#next === this.#places.count) return 0;
    return this.#sources.length(this.#places.item(this.#next));
  }

  write(window: TableWindow): void {
    const source = this.#sources.get(this.#places.item(this.#next++));
    window.octets.set(source, window.end);
    window.end += source.length;
  }
}

/** Whether all entries of a host are one for http and https at their default ports. */
function isPlain(entries: readonly HostEntry[]): boolean {
  const [only, another] = entries;
  if (only === undefined || another !== undefined) return false;
  return only.port === 0 && only.schemes === (SCHEME_HTTP | SCHEME_HTTPS);
}
