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
} from './format.js';
import type { OctetStore } from './octet-store.js';
import { Places } from './places.js';
import { SourceForms } from './source-forms.js';

const MAX_HOST_AUTHORITIES = 0xffff;

/** The hosts of a table, sorted and numbered from 0, and what their records say. */
export class HostRecords {
  readonly count: number;
  /** Authorities of all of them, as a table has them. */
  readonly authorityCount: number;
  /** Octets of the robots.txt files of all authorities that were given. */
  readonly bodyOctets: number;
  /** The numbers of what the robots.txt files say, in the order in which the hosts need them. */
  readonly robots: readonly number[];
  /** For each host the place in `robots` of what its first authority's file says, and the octets of its record. */
  readonly firstRobots: Uint32Array;
  readonly octets: Uint32Array;
  /** Octets of all sources. */
  readonly sourceOctets: number;

  readonly #authorities: AuthoritySet;
  /** All authorities by host, and for each host where its start there; behind the last their number. */
  readonly #sorted: Int32Array;
  readonly #first: Int32Array;
  readonly #sourceForms: SourceForms;
  /** Where they lie in their section. */
  readonly #sources: Places;

  /** @throws RobotsFilterError `limit` if a host has more than 65,535 authorities. */
  constructor(authorities: AuthoritySet, sources: OctetStore) {
    this.#authorities = authorities;
    this.#sorted = authorities.sorted();
    this.#first = firstOfHosts(authorities, this.#sorted);
    this.count = this.#first.length - 1;
    this.firstRobots = new Uint32Array(this.count);
    this.octets = new Uint32Array(this.count);
    this.#sourceForms = new SourceForms(authorities.count);
    this.#sources = new Places(authorities.count);
    const places = new Map<number, number>();
    let authorityCount = 0;
    let bodyOctets = 0;
    let sourceOctets = 0;
    for (let host = 0; host < this.count; host++) {
      const entries = this.#entries(host);
      const name = this.name(host);
      if (entries.length > MAX_HOST_AUTHORITIES) {
        throw new RobotsFilterError(
          'limit',
          `the host ${Buffer.from(name).toString('latin1')} has ${entries.length} authorities, and a table can have ${MAX_HOST_AUTHORITIES} of a host; leave some of its ports out`,
        );
      }
      for (const [index, { authority }] of entries.entries()) {
        const robots = authorities.robots(authority);
        const place = places.get(robots) ?? places.size;
        places.set(robots, place);
        if (index === 0) this.firstRobots[host] = place;
        this.#sourceForms.add(authority, sources.get(authorities.source(authority)), name);
        const form = this.#sourceForms.form(authority);
        if (this.#sources.place(form, sourceOctets)) {
          sourceOctets += this.#sourceForms.forms.length(form);
        }
      }
      for (const authority of this.#given(host)) bodyOctets += authorities.bodyOctets(authority);
      this.octets[host] = hostOctets(name, entries, this.#sourceForms);
      authorityCount += entries.length;
    }
    this.authorityCount = authorityCount;
    this.bodyOctets = bodyOctets;
    this.sourceOctets = sourceOctets;
    this.robots = [...places.keys()];
  }

  /** A host in canonical form. */
  name(host: number): Uint8Array {
    return this.#authorities.host(this.#sorted[this.#first[host] as number] as number);
  }

  /**
   * Writes the record of a host.
   *
   * @param robotsStart where the record lies of what a robots.txt says, by its number
   * @param sources start of the section
   */
  write(
    host: number,
    out: DataView,
    table: Uint8Array,
    record: number,
    robotsStart: (robots: number) => number,
    sources: number,
  ): void {
    const sourceForms = this.#sourceForms;
    const writeAuthority = (at: number, authority: number): void => {
      out.setUint32(at, robotsStart(this.#authorities.robots(authority)), true);
      const source = sources + this.#sources.start(sourceForms.form(authority));
      out.setUint32(at + AUTHORITY_SOURCE, source, true);
    };
    const name = this.name(host);
    const entries = this.#entries(host);
    const form = hostForm(entries, sourceForms);
    table[record] = name.length;
    table[record + HOST_FORM] = form;
    if (form !== HOST_SEVERAL) {
      const { authority } = entries[0] as HostEntry;
      const at = record + HOST_AUTHORITY;
      writeAuthority(at, authority);
      if (form === HOST_NUMBERED) {
        out.setUint32(at + AUTHORITY_NUMBER, sourceForms.number(authority), true);
      }
      table.set(name, record + (form === HOST_PLAIN ? HOST_PLAIN_NAME : HOST_NUMBERED_NAME));
      return;
    }
    out.setUint16(record + HOST_AUTHORITY, entries.length, true);
    table.set(name, record + HOST_SEVERAL_NAME);
    let entry = record + HOST_SEVERAL_NAME + name.length;
    for (const { port, schemes, authority } of entries) {
      out.setUint16(entry, port, true);
      table[entry + ENTRY_SCHEMES] = schemes;
      table[entry + ENTRY_FORM] = HOST_SEVERAL;
      const at = entry + ENTRY_AUTHORITY;
      writeAuthority(at, authority);
      out.setUint32(at + AUTHORITY_NUMBER, sourceForms.number(authority), true);
      out.setUint32(at + AUTHORITY_HOST, record, true);
      entry += ENTRY_OCTETS;
    }
  }

  /** Writes the section of the sources. */
  writeSources(table: Uint8Array, start: number): void {
    for (const form of this.#sources.items) {
      table.set(this.#sourceForms.forms.get(form), start + this.#sources.start(form));
    }
  }

  #given(host: number): Int32Array {
    return this.#sorted.subarray(this.#first[host] as number, this.#first[host + 1] as number);
  }

  #entries(host: number): readonly HostEntry[] {
    const low = this.#first[host] as number;
    return this.#authorities.entriesOf(this.#sorted, low, this.#first[host + 1] as number);
  }
}

/** The form of a host's record. */
function hostForm(entries: readonly HostEntry[], sourceForms: SourceForms): number {
  const [only, another] = entries;
  if (only === undefined || another !== undefined) return HOST_SEVERAL;
  if (only.port !== 0 || only.schemes !== (SCHEME_HTTP | SCHEME_HTTPS)) return HOST_SEVERAL;
  return sourceForms.isNumbered(only.authority) ? HOST_NUMBERED : HOST_PLAIN;
}

function hostOctets(
  name: Uint8Array,
  entries: readonly HostEntry[],
  sourceForms: SourceForms,
): number {
  const form = hostForm(entries, sourceForms);
  if (form === HOST_SEVERAL) return HOST_SEVERAL_NAME + name.length + entries.length * ENTRY_OCTETS;
  return (form === HOST_PLAIN ? HOST_PLAIN_NAME : HOST_NUMBERED_NAME) + name.length;
}

function firstOfHosts(authorities: AuthoritySet, sorted: Int32Array): Int32Array {
  const first = new Int32Array(sorted.length + 1);
  let count = 0;
  let previous: Uint8Array | undefined;
  for (let index = 0; index < sorted.length; index++) {
    const host = authorities.host(sorted[index] as number);
    if (previous !== undefined && Buffer.compare(previous, host) === 0) continue;
    previous = host;
    first[count++] = index;
  }
  first[count] = sorted.length;
  return first.subarray(0, count + 1);
}
