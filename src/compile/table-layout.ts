import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../errors.js';
import { PROFILES, type Profile } from '../protocol/profile.js';
import type { AuthoritySet, HostEntry } from './authority-set.js';
import { checksum } from './checksum.js';
import { type CompiledRobots, RobotsRecord } from './compiled-robots.js';
import {
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  AUTOMATON_WIDE,
  ENTRY_AUTHORITY,
  ENTRY_FORM,
  ENTRY_OCTETS,
  ENTRY_SCHEMES,
  FLAG_REDUCED,
  GROUP_LINE,
  GROUP_OCTETS,
  HEADER_AUTHORITIES,
  HEADER_AUTOMATA,
  HEADER_CHECKSUM,
  HEADER_COMPILED_OCTETS,
  HEADER_FLAGS,
  HEADER_HOST_KEY,
  HEADER_HOSTS,
  HEADER_LENGTH,
  HEADER_LONGEST_PROBE,
  HEADER_OCTETS,
  HEADER_PROFILE,
  HEADER_ROBOTS,
  HEADER_RULES,
  HEADER_SECTIONS,
  HEADER_SLOTS,
  HEADER_TOKENS,
  HEADER_VERSION,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_NUMBERED,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  MAGIC_HIGH,
  MAGIC_LOW,
  ROBOTS_WIDE,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SECTION_AUTOMATA,
  SECTION_END,
  SECTION_HOSTS,
  SECTION_ROBOTS,
  SECTION_SLOTS,
  SECTION_SOURCES,
  SECTION_TOKENS,
  SLOT_OCTETS,
  TAIL_OCTETS,
  VERSION,
} from './format.js';
import { type HostSlots, placeHosts } from './host-slots.js';
import type { OctetStore } from './octet-store.js';
import { Section } from './section.js';
import { SourceForms } from './source-forms.js';

/** What a table is made of. */
export interface TableContent {
  readonly profile: Profile;
  readonly compiled: CompiledRobots;
  readonly authorities: AuthoritySet;
  /** Names of the files, escaped. */
  readonly sources: OctetStore;
  /** The product tokens that it is reduced to, besides `*`; `undefined` where it is not. */
  readonly kept: ReadonlySet<string> | undefined;
}

/** Provides the memory of a table: so many octets, all zero. */
export type Allocate = (octets: number) => Uint8Array;

/** Offsets are 32-bit numbers. */
const MAX_TABLE_OCTETS = 0xffff_ffff;
const MAX_HOST_AUTHORITIES = 0xffff;
const TOKEN_ENTRY_OCTETS = 8;
/** What a robots record with numbers of two octets can say and be. */
const MAX_NARROW = 0xffff;

/**
 * Lays out a table, its hosts sorted and everything else in the order in which they need it: the same content, in
 * whatever order it was added, makes the same octets.
 *
 * @throws RobotsFilterError `limit` if the table were longer than 4 GiB, or a host had more than 65,535 authorities.
 */
export function layOutTable(content: TableContent, allocate: Allocate): Uint8Array {
  const hosts = arrangeHosts(content);
  const tokens = arrangeTokens(content, hosts.records);
  const robots = arrangeRobots(content, hosts.records, tokens);
  const automata = arrangeAutomata(content, robots, tokens);
  const slots = placeHosts(hosts.count, (host) =>
    content.authorities.host(hosts.sorted[hosts.first[host] as number] as number),
  );

  const sectionOctets = [
    tokens.octets,
    slots.hosts.length * SLOT_OCTETS,
    hosts.octets,
    robots.octets,
    automata.octets,
    hosts.sources.octets,
  ];
  const starts = [HEADER_OCTETS];
  for (const octets of sectionOctets) {
    starts.push(Math.ceil(((starts.at(-1) as number) + octets) / 8) * 8);
  }
  const length = (starts[SECTION_END] as number) + TAIL_OCTETS;
  if (length > MAX_TABLE_OCTETS) {
    throw new RobotsFilterError(
      'limit',
      `the table would have ${length} octets, and a table can have ${MAX_TABLE_OCTETS}; compile fewer hosts into it, or only the product tokens that you ask for`,
    );
  }

  const table = allocate(length);
  const out = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const writer: Writer = { content, table, out, starts };
  writeTokens(writer, tokens);
  writeSlots(writer, slots, hosts);
  writeHosts(writer, hosts, robots);
  writeRobots(writer, robots, tokens, automata);
  const rules = writeAutomata(writer, automata);
  writeSources(writer, hosts);

  out.setUint32(0, MAGIC_LOW, true);
  out.setUint32(4, MAGIC_HIGH, true);
  out.setUint32(HEADER_VERSION, VERSION, true);
  out.setUint32(HEADER_PROFILE, PROFILES.indexOf(content.profile), true);
  out.setUint32(HEADER_LENGTH, length, true);
  out.setUint32(HEADER_FLAGS, content.kept === undefined ? 0 : FLAG_REDUCED, true);
  out.setUint32(HEADER_HOSTS, hosts.count, true);
  out.setUint32(HEADER_AUTHORITIES, hosts.entryCount, true);
  out.setUint32(HEADER_ROBOTS, robots.items.length, true);
  out.setUint32(HEADER_AUTOMATA, automata.items.length, true);
  out.setUint32(HEADER_RULES, rules, true);
  out.setUint32(HEADER_TOKENS, tokens.texts.length, true);
  out.setUint32(HEADER_SLOTS, slots.hosts.length, true);
  out.setUint32(HEADER_LONGEST_PROBE, slots.longestProbe, true);
  starts.forEach((start, section) => {
    out.setUint32(HEADER_SECTIONS + 4 * section, start, true);
  });
  out.setUint32(HEADER_COMPILED_OCTETS, hosts.bodyOctets % 2 ** 32, true);
  table.set(slots.key, HEADER_HOST_KEY);
  out.setUint32(HEADER_CHECKSUM, checksum(table), true);
  return table;
}

interface HostArrangement {
  readonly count: number;
  readonly entryCount: number;
  /** All authorities by host, and for each host where its start there; behind the last their number. */
  readonly sorted: Int32Array;
  readonly first: Int32Array;
  /** For each host its offset in the section. */
  readonly starts: Float64Array;
  readonly octets: number;
  readonly bodyOctets: number;
  /** The records that the hosts need, in their order. */
  readonly records: readonly number[];
  readonly sourceForms: SourceForms;
  readonly sources: Section;
}

function arrangeHosts({ authorities, sources }: TableContent): HostArrangement {
  const sorted = authorities.sorted();
  const first = firstOfHosts(authorities, sorted);
  const count = first.length - 1;
  const starts = new Float64Array(count);
  const records = new Set<number>();
  const sourceForms = new SourceForms(authorities.count);
  const sourceSection = new Section(authorities.count);
  let octets = 0;
  let entryCount = 0;
  let bodyOctets = 0;
  for (let host = 0; host < count; host++) {
    const low = first[host] as number;
    const high = first[host + 1] as number;
    const entries = authorities.entriesOf(sorted, low, high);
    const name = authorities.host(sorted[low] as number);
    if (entries.length > MAX_HOST_AUTHORITIES) {
      throw new RobotsFilterError(
        'limit',
        `the host ${Buffer.from(name).toString('latin1')} has ${entries.length} authorities, and a table can have ${MAX_HOST_AUTHORITIES} of a host; leave some of its ports out`,
      );
    }
    for (const { authority } of entries) {
      records.add(authorities.robots(authority));
      sourceForms.add(authority, sources.get(authorities.source(authority)), name);
      const source = sourceForms.form(authority);
      sourceSection.place(source, sourceForms.forms.length(source));
    }
    for (let index = low; index < high; index++) {
      bodyOctets += authorities.bodyOctets(sorted[index] as number);
    }
    starts[host] = octets;
    octets += hostOctets(name, entries, sourceForms);
    entryCount += entries.length;
  }
  return {
    count,
    entryCount,
    sorted,
    first,
    starts,
    octets,
    bodyOctets,
    records: [...records],
    sourceForms,
    sources: sourceSection,
  };
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

interface TokenArrangement {
  /** The product tokens by their numbers in the table. */
  readonly texts: readonly Buffer[];
  /** For the number of a token in CompiledRobots its number in the table. */
  readonly numbers: Uint32Array;
  readonly octets: number;
}

/** `*` and the empty token come first; then those that a file names or that the table is reduced to, sorted. */
function arrangeTokens(
  { compiled, kept }: TableContent,
  records: readonly number[],
): TokenArrangement {
  const used = new Set(kept);
  for (const item of records) {
    const record = new RobotsRecord(compiled.records.get(item));
    for (let index = 0; index < record.tokenCount; index++) {
      used.add(compiled.tokens[record.token(index)] as string);
    }
  }
  used.delete('*');
  used.delete('');
  const others = [...used].map((token) => Buffer.from(token)).sort(Buffer.compare);
  const texts = [Buffer.from('*'), Buffer.from(''), ...others];
  const numberOf = new Map(texts.map((text, number) => [text.toString(), number]));
  const numbers = Uint32Array.from(compiled.tokens, (token) => numberOf.get(token) ?? 0);
  const textOctets = texts.reduce((sum, text) => sum + text.length, 0);
  return { texts, numbers, octets: texts.length * TOKEN_ENTRY_OCTETS + textOctets };
}

/** The places of a record's tokens, so that their numbers in the table rise. */
function tokenPlaces(record: RobotsRecord, { numbers }: TokenArrangement): number[] {
  const places = Array.from({ length: record.tokenCount }, (_, place) => place);
  const numberAt = (place: number): number => numbers[record.token(place)] as number;
  return places.sort((a, b) => numberAt(a) - numberAt(b));
}

function arrangeRobots(
  { compiled }: TableContent,
  records: readonly number[],
  tokens: TokenArrangement,
): Section {
  const robots = new Section(compiled.records.count);
  for (const item of records) {
    const record = new RobotsRecord(compiled.records.get(item));
    robots.place(item, robotsOctets(record, isWide(record, tokens) ? 4 : 2));
  }
  return robots;
}

/** Octets of a robots record whose numbers have so many. */
function robotsOctets(record: RobotsRecord, width: number): number {
  return 1 + width + 2 * width * record.tokenCount + GROUP_OCTETS * record.allGroups;
}

function isWide(record: RobotsRecord, { texts }: TokenArrangement): boolean {
  return texts.length > MAX_NARROW || robotsOctets(record, 2) > MAX_NARROW;
}

function arrangeAutomata(
  { compiled }: TableContent,
  robots: Section,
  tokens: TokenArrangement,
): Section {
  const automata = new Section(compiled.automata.count);
  for (const item of robots.items) {
    const record = new RobotsRecord(compiled.records.get(item));
    for (const place of tokenPlaces(record, tokens)) {
      const list = record.list(place);
      const groups = record.groupCount(list);
      for (let group = 0; group < groups; group++) {
        const automaton = record.automaton(list, group) - 1;
        if (automaton >= 0) automata.place(automaton, compiled.automata.length(automaton));
      }
    }
  }
  return automata;
}

interface Writer {
  readonly content: TableContent;
  readonly table: Uint8Array;
  readonly out: DataView;
  /** Starts of the sections. */
  readonly starts: readonly number[];
}

function writeTokens({ table, out, starts }: Writer, { texts }: TokenArrangement): void {
  let entry = starts[SECTION_TOKENS] as number;
  let at = entry + texts.length * TOKEN_ENTRY_OCTETS;
  for (const text of texts) {
    out.setUint32(entry, at, true);
    out.setUint32(entry + 4, text.length, true);
    table.set(text, at);
    entry += TOKEN_ENTRY_OCTETS;
    at += text.length;
  }
}

function writeSlots({ out, starts }: Writer, slots: HostSlots, hosts: HostArrangement): void {
  const hostSection = starts[SECTION_HOSTS] as number;
  let at = starts[SECTION_SLOTS] as number;
  for (let slot = 0; slot < slots.hosts.length; slot++) {
    const host = slots.hosts[slot] as number;
    if (host !== 0) {
      out.setUint32(at, slots.hashes[slot] as number, true);
      out.setUint32(at + 4, hostSection + (hosts.starts[host - 1] as number), true);
    }
    at += SLOT_OCTETS;
  }
}

function writeHosts(
  { content, table, out, starts }: Writer,
  hosts: HostArrangement,
  robots: Section,
): void {
  const { authorities } = content;
  const { sourceForms, sources } = hosts;
  const writeAuthority = (at: number, authority: number): void => {
    const record = robots.start(authorities.robots(authority));
    const source = sources.start(sourceForms.form(authority));
    out.setUint32(at, (starts[SECTION_ROBOTS] as number) + record, true);
    out.setUint32(at + AUTHORITY_SOURCE, (starts[SECTION_SOURCES] as number) + source, true);
  };
  for (let host = 0; host < hosts.count; host++) {
    const low = hosts.first[host] as number;
    const name = authorities.host(hosts.sorted[low] as number);
    const entries = authorities.entriesOf(hosts.sorted, low, hosts.first[host + 1] as number);
    const record = (starts[SECTION_HOSTS] as number) + (hosts.starts[host] as number);
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
      continue;
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
}

function writeRobots(
  { content, table, out, starts }: Writer,
  robots: Section,
  tokens: TokenArrangement,
  automata: Section,
): void {
  const automatonSection = starts[SECTION_AUTOMATA] as number;
  for (const item of robots.items) {
    const record = new RobotsRecord(content.compiled.records.get(item));
    const { tokenCount } = record;
    const wide = isWide(record, tokens);
    const width = wide ? 4 : 2;
    const writeWord = (at: number, word: number): void =>
      wide ? out.setUint32(at, word, true) : out.setUint16(at, word, true);
    const start = (starts[SECTION_ROBOTS] as number) + robots.start(item);
    table[start] = record.access | (wide ? ROBOTS_WIDE : 0);
    writeWord(start + 1, tokenCount);
    const numbers = start + 1 + width;
    let next = numbers + 2 * width * tokenCount;
    const listStarts = new Map<number, number>();
    tokenPlaces(record, tokens).forEach((place, index) => {
      const list = record.list(place);
      let at = listStarts.get(list);
      if (at === undefined) {
        at = next;
        listStarts.set(list, at);
        const groups = record.groupCount(list);
        for (let group = 0; group < groups; group++) {
          const automaton = record.automaton(list, group) - 1;
          if (automaton >= 0) {
            out.setUint32(next, automatonSection + automata.start(automaton), true);
          }
          const more = group + 1 < groups ? 1 : 0;
          out.setUint32(next + GROUP_LINE, 2 * record.firstLine(list, group) + more, true);
          next += GROUP_OCTETS;
        }
      }
      writeWord(numbers + width * index, tokens.numbers[record.token(place)] as number);
      writeWord(numbers + width * (tokenCount + index), at - start);
    });
  }
}

/** Writes the automata; returns the number of rules. */
function writeAutomata({ content, table, out, starts }: Writer, automata: Section): number {
  let rules = 0;
  for (const item of automata.items) {
    const at = (starts[SECTION_AUTOMATA] as number) + automata.start(item);
    table.set(content.compiled.automata.get(item), at);
    const isWide = ((table[at] as number) & AUTOMATON_WIDE) !== 0;
    rules += isWide ? out.getUint32(at + 5, true) : out.getUint16(at + 3, true);
  }
  return rules;
}

function writeSources({ table, starts }: Writer, { sourceForms, sources }: HostArrangement): void {
  for (const item of sources.items) {
    table.set(
      sourceForms.forms.get(item),
      (starts[SECTION_SOURCES] as number) + sources.start(item),
    );
  }
}
