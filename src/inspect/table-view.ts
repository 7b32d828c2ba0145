import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../errors.js';
import { HostHash } from '../kernel/host-hash.js';
import type { Agent } from '../protocol/agent.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import { bucketOf, tagOf } from '../table/bucket-of.js';
import {
  AUTHORITY_HOST,
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  ENTRY_AUTHORITY,
  ENTRY_BYTES,
  ENTRY_SCHEMES,
  FLAG_REDUCED,
  GROUP_BYTES,
  HEADER_BUCKETS,
  HEADER_FLAGS,
  HEADER_HOST_KEY,
  HEADER_LONGEST_PROBE,
  HEADER_SECTIONS,
  HEADER_TOKENS,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_KEY_BYTES,
  HOST_SEVERAL,
  MAX_GROUP_RULES,
  MAX_HOST_BYTES,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SECTION_BUCKETS,
  SECTION_HOSTS,
  SECTION_TOKENS,
  TOKEN_ANY,
  TOKEN_ENTRY_BYTES,
} from '../table/format.js';
import { NAME_STARTS } from '../table/name-starts.js';
import { AuthorityEntry } from './authority-entry.js';
import { AutomatonView } from './automaton-view.js';
import { GroupLists } from './group-lists.js';
import { RecordIndex } from './record-index.js';
import type {
  AuthorityRecords,
  MergedGroup,
  TableAuthority,
  TableHost,
  TableRule,
} from './table-content.js';
import { TableReader } from './table-reader.js';

/** Offsets of a shard's table are below this number: see ShardedView. */
export const SHARD_SPAN = 2 ** 32;

const FIRST_SORTED_TOKEN = 2;
const ASSUMED_SCHEMES = SCHEME_HTTP | SCHEME_HTTPS;

/**
 * Reads a table for people, and for queries that are made once a run. The kernel judges URLs.
 *
 * The table must have passed `checkTable`. A table of another program may still hold anything, so
 * any method may throw RobotsFilterError `table`. No method takes more than linear time in the
 * length of the table.
 */
export class TableView {
  /** Reads the numbers of the table, for the other files of this room. */
  readonly reader: TableReader;
  /** The shards of the table; itself if it is in one piece. */
  readonly parts: readonly TableView[] = [this];
  #hash: HostHash | undefined;
  #recordIndex: RecordIndex | undefined;
  #groupLists: GroupLists | undefined;
  readonly #name: string;

  /** @param name the table's name in messages, such as its path */
  constructor(bytes: Uint8Array, name = 'the table') {
    this.reader = new TableReader(bytes, name);
    this.#name = name;
  }

  /** The shard that an offset lies in, and the offset there. */
  partAt(at: number): { readonly view: TableView; readonly start: number } {
    const view = this.parts[Math.floor(at / SHARD_SPAN)] as TableView;
    return { view, start: at % SHARD_SPAN };
  }

  /** Whether the table answers only for the product tokens that are listed in it. */
  get isReduced(): boolean {
    return (this.reader.u32(HEADER_FLAGS) & FLAG_REDUCED) !== 0;
  }

  /** The product tokens by number: `*`, the empty token, and the others sorted. */
  *tokens(): Iterable<string> {
    const count = this.reader.u32(HEADER_TOKENS);
    for (let number = 0; number < count; number++) yield textOf(this.#token(number));
  }

  /** Returns the number of a product token in lower case; -1 if no robots.txt names it. */
  tokenNumber(token: string): number {
    const bytes = Buffer.from(token);
    if (token === '*') return TOKEN_ANY;
    let low = FIRST_SORTED_TOKEN;
    let high = this.reader.u32(HEADER_TOKENS);
    if (token === '') return low - 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const order = Buffer.compare(this.#token(middle), bytes);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Whether the table has a product token, given in lower case. */
  hasToken(token: string): boolean {
    return this.tokenNumber(token) >= 0;
  }

  /**
   * Checks that the table can answer for an agent.
   *
   * @throws RobotsFilterError `usage` if the table is reduced to other product tokens
   */
  checkAgent(agent: Agent): void {
    if (!this.isReduced) return;
    for (const link of agent.chain) {
      if (this.tokenNumber(lowerCaseAscii(link)) >= 0) continue;
      throw new RobotsFilterError(
        'usage',
        `${this.#name} was compiled for some agents only, without ${JSON.stringify(link)}. Compile it again with --agent ${link}, or without --agent`,
      );
    }
  }

  /** All hosts, in the order of the slots. */
  *hosts(): Iterable<TableHost> {
    for (const at of this.hostPlaces()) yield this.hostAt(at);
  }

  /** The offsets of all host records, in the order of the slots. */
  *hostPlaces(): Iterable<number> {
    const { reader } = this;
    const buckets = this.#section(SECTION_BUCKETS);
    const end = buckets + BUCKET_BYTES * reader.u32(HEADER_BUCKETS);
    let left = this.#hostBytes;
    for (let bucket = buckets; bucket < end; bucket += BUCKET_BYTES) {
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        const at = reader.u32(bucket + 4 * place);
        if (at === 0) break;
        left -= this.#entries(at) + ENTRY_BYTES * this.#entryCount(at) - at;
        if (left < 0) throw reader.damaged('its hosts are longer than their section');
        yield at;
      }
    }
  }

  /** The offset of the host record in a slot, numbered from 0; 0 for a free slot. */
  placeOfSlot(slot: number): number {
    const bucket = Math.floor(slot / BUCKET_SLOTS);
    const at = this.#section(SECTION_BUCKETS) + BUCKET_BYTES * bucket;
    return this.reader.u32(at + 4 * (slot % BUCKET_SLOTS));
  }

  /** The offset of the host record that an authority belongs to. */
  placeOfAuthority(authority: number): number {
    const form = this.reader.u8(authority - (HOST_AUTHORITY - HOST_FORM));
    return form === HOST_SEVERAL
      ? this.reader.u32(authority + AUTHORITY_HOST)
      : authority - HOST_AUTHORITY;
  }

  /** The name of the host whose record is at `at`. */
  nameAt(at: number): string {
    return this.reader.asciiText(this.nameStart(at), this.reader.u8(at));
  }

  /** Whether all shards of the table are in memory. */
  get isWhole(): boolean {
    return true;
  }

  /** Whether `find` can be asked about a host: a shard may not be in memory. */
  canFind(_host: string): boolean {
    return true;
  }

  /** Finds a host, given in canonical form. */
  find(host: string): TableHost | undefined {
    const reader = this.reader;
    const bytes = Buffer.from(host);
    if (bytes.length > MAX_HOST_BYTES) return undefined;
    const buckets = reader.u32(HEADER_BUCKETS);
    this.#hash ??= new HostHash(reader.copy(HEADER_HOST_KEY, HOST_KEY_BYTES));
    const hash = this.#hash.of(bytes);
    const tag = tagOf(hash);
    const longestProbe = Math.min(reader.u32(HEADER_LONGEST_PROBE), buckets);
    let bucket = bucketOf(hash, buckets);
    for (let probe = 0; probe < longestProbe; probe++) {
      const at = this.#section(SECTION_BUCKETS) + bucket * BUCKET_BYTES;
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        if (reader.u16(at + BUCKET_TAGS + 2 * place) !== tag) continue;
        const record = reader.u32(at + 4 * place);
        const name = reader.copy(this.nameStart(record), reader.u8(record));
        if (Buffer.compare(name, bytes) === 0) return this.hostAt(record);
      }
      if (reader.u32(at + BUCKET_PASSED) === 0) return undefined;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    return undefined;
  }

  /** The groups of a robots record, those of `*` first. */
  groups(robots: number): MergedGroup[] {
    const lists = this.groupLists;
    const tokensOfList = new Map<number, string[]>();
    for (const { token, list } of lists.tokens(robots)) {
      const text = textOf(this.#token(token));
      const tokens = tokensOfList.get(list);
      if (tokens === undefined) tokensOfList.set(list, [text]);
      else tokens.push(text);
    }
    let left = this.#hostBytes;
    return Array.from(tokensOfList, ([list, productTokens]) => {
      const groups = lists.groups(list);
      left -= GROUP_BYTES * groups.length;
      if (left < 0) throw this.reader.damaged(`the list of groups at ${list} is too long`);
      return { productTokens, groups };
    });
  }

  /** The lists of groups in robots records, for those who need no texts. */
  get groupLists(): GroupLists {
    this.#groupLists ??= new GroupLists(this.reader, this.#hostBytes);
    return this.#groupLists;
  }

  /**
   * The rules of a group in the order of the file, without rules that other rules always override.
   */
  rules(group: MergedGroup): TableRule[] {
    const parts = group.groups
      .filter(({ automaton }) => automaton !== 0)
      .map(({ automaton, firstLine }) => ({
        view: new AutomatonView(this.reader, automaton),
        firstLine,
      }));
    if (parts.reduce((sum, { view }) => sum + view.ruleCount, 0) > MAX_GROUP_RULES) {
      throw this.reader.damaged('a group has more rules than a file can hold');
    }
    const rules: TableRule[] = [];
    for (const { view, firstLine } of parts) {
      for (const rule of view.rules(firstLine)) rules.push(rule);
    }
    return rules.sort((a, b) => a.line - b.line);
  }

  /** Whether the table keeps other records and dates. */
  get hasRecords(): boolean {
    return this.#records.isPresent;
  }

  /** The other records (RFC 9309 section 2.2.4) of the robots.txt of an authority, and its date. */
  recordsOf({ at }: Pick<TableAuthority, 'at'>): AuthorityRecords {
    return this.#records.of(at);
  }

  get #records(): RecordIndex {
    this.#recordIndex ??= new RecordIndex(this.reader);
    return this.#recordIndex;
  }

  /** Yields all automata, in the order in which the hosts refer to them. */
  *automata(): Iterable<AutomatonView> {
    const seen = new Set([0]);
    let left = this.#hostBytes;
    for (const { authorities } of this.hosts()) {
      for (const { robots } of authorities) {
        if (seen.has(robots)) continue;
        seen.add(robots);
        for (const { groups } of this.groups(robots)) {
          left -= GROUP_BYTES * groups.length;
          for (const { automaton: at } of groups) {
            if (seen.has(at)) continue;
            seen.add(at);
            const automaton = new AutomatonView(this.reader, at);
            left -= automaton.bytes;
            if (left < 0) throw this.reader.damaged('its automata are longer than their section');
            yield automaton;
          }
        }
      }
    }
  }

  /** Offset of the name in the host record at `at`. */
  nameStart(at: number): number {
    const form = this.reader.u8(at + HOST_FORM);
    const start = NAME_STARTS[form];
    if (start === undefined) throw this.reader.damaged(`the host at ${at} is of form ${form}`);
    return at + start;
  }

  /** Offset of the entries of the host record at `at`: they follow the name. */
  #entries(at: number): number {
    return this.nameStart(at) + this.reader.u8(at);
  }

  #entryCount(at: number): number {
    const reader = this.reader;
    return reader.u8(at + HOST_FORM) === HOST_SEVERAL ? reader.u16(at + HOST_AUTHORITY) : 0;
  }

  /** The host whose record is at `at`. */
  hostAt(at: number): TableHost {
    const reader = this.reader;
    const name = this.nameStart(at);
    const host = reader.asciiText(name, reader.u8(at));
    if (reader.u8(at + HOST_FORM) !== HOST_SEVERAL) {
      return { host, authorities: [this.#authority(at + HOST_AUTHORITY, 0, ASSUMED_SCHEMES, at)] };
    }
    const count = this.#entryCount(at);
    const authorities: TableAuthority[] = [];
    for (let index = 0; index < count; index++) {
      const entry = this.#entries(at) + index * ENTRY_BYTES;
      const authority = entry + ENTRY_AUTHORITY;
      if (reader.u32(authority + AUTHORITY_HOST) !== at) {
        throw reader.damaged(`the authority at ${entry} is not of the host at ${at}`);
      }
      const schemes = reader.u8(entry + ENTRY_SCHEMES);
      authorities.push(this.#authority(authority, reader.u16(entry), schemes, at));
    }
    return { host, authorities };
  }

  #authority(at: number, port: number, schemes: number, host: number): TableAuthority {
    return new AuthorityEntry(this.reader, {
      at,
      port: port === 0 ? undefined : port,
      schemes,
      nameStart: this.nameStart(host),
      nameLength: this.reader.u8(host),
    });
  }

  #token(number: number): Uint8Array {
    const reader = this.reader;
    if (number >= reader.u32(HEADER_TOKENS)) {
      throw reader.damaged(`it has no product token ${number}`);
    }
    const entry = this.#section(SECTION_TOKENS) + number * TOKEN_ENTRY_BYTES;
    return reader.copy(reader.u32(entry), reader.u32(entry + 4));
  }

  /** Length of the hosts section; its contents never overlap, so their sum is at most this. */
  get #hostBytes(): number {
    return this.#section(SECTION_HOSTS + 1) - this.#section(SECTION_HOSTS);
  }

  /** Start of a section; SECTION_END gives the end of the last. */
  #section(section: number): number {
    return this.reader.u32(HEADER_SECTIONS + 4 * section);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
