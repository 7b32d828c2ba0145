import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../errors.js';
import { HostHash } from '../kernel/host-hash.js';
import type { Agent } from '../protocol/agent.js';
import type { Scheme } from '../protocol/authority.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import { AutomatonView, type TableRule } from './automaton-view.js';
import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  ACCESS_UNREACHABLE,
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  BUCKET_OCTETS,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  ENTRY_AUTHORITY,
  ENTRY_OCTETS,
  ENTRY_SCHEMES,
  FLAG_REDUCED,
  GROUP_LINE,
  GROUP_OCTETS,
  HEADER_BUCKETS,
  HEADER_FLAGS,
  HEADER_HOST_KEY,
  HEADER_LONGEST_PROBE,
  HEADER_SECTIONS,
  HEADER_TOKENS,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_KEY_OCTETS,
  HOST_NUMBERED,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  MAX_GROUP_RULES,
  MAX_HOST_OCTETS,
  ROBOTS_ACCESS,
  ROBOTS_WIDE,
  SCHEME_FTP,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SECTION_BUCKETS,
  SECTION_HOSTS,
  SECTION_TOKENS,
  SOURCE_FIXED_OCTETS,
  SOURCE_LIMIT,
  SOURCE_TEXT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
  TOKEN_ANY,
} from './format.js';
import { home, tagOf } from './home.js';
import { TableReader } from './table-reader.js';

/** How fetching a robots.txt ended (RFC 9309 section 2.3.1). */
export type AccessResult = 'successful' | 'unavailable' | 'unreachable';

/** What a table says of some schemes of a host at one port. */
export interface TableAuthority {
  /** In the order http, https, ftp. */
  readonly schemes: readonly Scheme[];
  /** `undefined` for the default port of each scheme. */
  readonly port: number | undefined;
  readonly accessResult: AccessResult;
  /** Where its robots.txt came from, escaped as in a JSON string: fit for a terminal. */
  readonly source: string;
  /**
   * Offset of what that file says; authorities whose files say the same share it. For
   * `TableView.groups`.
   */
  readonly robots: number;
}

/** A host of a table. */
export interface TableHost {
  /** In canonical form; see `canonicalHost`. */
  readonly host: string;
  readonly authorities: readonly TableAuthority[];
}

/**
 * What some product tokens obey alike: the groups of a robots.txt that name them, merged (RFC 9309
 * section 2.2.1).
 */
export interface TableGroup {
  /** In lower case, sorted, `*` first. */
  readonly productTokens: readonly string[];
  /** The groups that name them, in the order of the file. */
  readonly parts: readonly TableGroupPart[];
}

/**
 * One group: offset of its automaton, 0 if none of its rules can match, and the line from which
 * those of its rules count.
 */
export interface TableGroupPart {
  readonly automaton: number;
  readonly firstLine: number;
}

const ACCESS_RESULTS: Readonly<Record<number, AccessResult>> = {
  [ACCESS_SUCCESSFUL]: 'successful',
  [ACCESS_UNAVAILABLE]: 'unavailable',
  [ACCESS_UNREACHABLE]: 'unreachable',
};

const SCHEMES: readonly (readonly [number, Scheme])[] = [
  [SCHEME_HTTP, 'http'],
  [SCHEME_HTTPS, 'https'],
  [SCHEME_FTP, 'ftp'],
];

const TOKEN_ENTRY_OCTETS = 8;

const FIRST_SORTED_TOKEN = 2;
const ASSUMED_SCHEMES = SCHEME_HTTP | SCHEME_HTTPS;

/** Where the host begins in a record, by form. */
const NAME_STARTS: Readonly<Record<number, number>> = {
  [HOST_PLAIN]: HOST_PLAIN_NAME,
  [HOST_NUMBERED]: HOST_NUMBERED_NAME,
  [HOST_SEVERAL]: HOST_SEVERAL_NAME,
};

/**
 * Reads a table for people, and for what is asked once a run; URLs are judged by the kernel. The
 * table must have passed `checkTable`. A table that some other program made may still say anything:
 * nothing is believed, so all methods may throw RobotsFilterError `table`, and none takes more time
 * than the table's length warrants.
 */
export class TableView {
  readonly #reader: TableReader;
  #hash: HostHash | undefined;
  readonly #name: string;

  /** `name` is what messages call the table, such as its path. */
  constructor(bytes: Uint8Array, name = 'the table') {
    this.#reader = new TableReader(bytes, name);
    this.#name = name;
  }

  /** Whether the table knows only the product tokens that it names. */
  get isReduced(): boolean {
    return (this.#reader.u32(HEADER_FLAGS) & FLAG_REDUCED) !== 0;
  }

  /** The product tokens by their numbers: `*`, the empty one, and the others sorted. */
  *tokens(): Iterable<string> {
    const count = this.#reader.u32(HEADER_TOKENS);
    for (let number = 0; number < count; number++) yield textOf(this.#token(number));
  }

  /** The number of a product token in lower case; -1 if no robots.txt names it. */
  tokenNumber(token: string): number {
    const octets = Buffer.from(token);
    if (token === '*') return TOKEN_ANY;
    let low = FIRST_SORTED_TOKEN;
    let high = this.#reader.u32(HEADER_TOKENS);
    if (token === '') return low - 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const order = Buffer.compare(this.#token(middle), octets);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /**
   * Sees that the table can answer for an agent: a reduced table only does for the product tokens
   * it was reduced to.
   *
   * @throws RobotsFilterError `usage` if it cannot, with the remedy.
   */
  checkAgent(agent: Agent): void {
    if (!this.isReduced) return;
    for (const link of agent.chain) {
      if (this.tokenNumber(lowerCaseAscii(link)) >= 0) continue;
      throw new RobotsFilterError(
        'usage',
        `${this.#name} was compiled for some agents only, and ${JSON.stringify(link)} is none of them: compile it again with --agent ${link}, or without --agent`,
      );
    }
  }

  /** All hosts, in the order of their slots. */
  *hosts(): Iterable<TableHost> {
    const reader = this.#reader;
    const buckets = this.#section(SECTION_BUCKETS);
    const end = buckets + BUCKET_OCTETS * reader.u32(HEADER_BUCKETS);
    let left = this.#hostOctets;
    for (let bucket = buckets; bucket < end; bucket += BUCKET_OCTETS) {
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        const at = reader.u32(bucket + 4 * place);
        if (at === 0) break;
        left -= this.#entries(at) + ENTRY_OCTETS * this.#entryCount(at) - at;
        if (left < 0) throw reader.damaged('its hosts are longer than their section');
        yield this.#host(at);
      }
    }
  }

  /** What the table has of a host in canonical form. */
  find(host: string): TableHost | undefined {
    const reader = this.#reader;
    const octets = Buffer.from(host);
    if (octets.length > MAX_HOST_OCTETS) return undefined;
    const buckets = reader.u32(HEADER_BUCKETS);
    this.#hash ??= new HostHash(reader.octets(HEADER_HOST_KEY, HOST_KEY_OCTETS));
    const hash = this.#hash.of(octets);
    const tag = tagOf(hash);
    const longestProbe = Math.min(reader.u32(HEADER_LONGEST_PROBE), buckets);
    let bucket = home(hash, buckets);
    for (let probe = 0; probe < longestProbe; probe++) {
      const at = this.#section(SECTION_BUCKETS) + bucket * BUCKET_OCTETS;
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        if (reader.u16(at + BUCKET_TAGS + 2 * place) !== tag) continue;
        const record = reader.u32(at + 4 * place);
        const name = reader.octets(this.#nameStart(record), reader.u8(record));
        if (Buffer.compare(name, octets) === 0) return this.#host(record);
      }
      if (reader.u32(at + BUCKET_PASSED) === 0) return undefined;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    return undefined;
  }

  /** The groups of what a file says, those of `*` first; `robots` is an authority's. */
  groups(robots: number): TableGroup[] {
    const reader = this.#reader;
    const isWide = (reader.u8(robots) & ROBOTS_WIDE) !== 0;
    const width = isWide ? 4 : 2;
    const word = (at: number): number => (isWide ? reader.u32(at) : reader.u16(at));
    const count = word(robots + 1);
    const numbers = robots + 1 + width;
    const lists = numbers + width * count;
    reader.octets(numbers + 2 * width * count, 0); // all that is read below must be there
    const tokensOfList = new Map<number, string[]>();
    for (let index = 0; index < count; index++) {
      const list = robots + word(lists + width * index);
      const token = textOf(this.#token(word(numbers + width * index)));
      const tokens = tokensOfList.get(list);
      if (tokens === undefined) tokensOfList.set(list, [token]);
      else tokens.push(token);
    }
    let left = this.#hostOctets;
    return Array.from(tokensOfList, ([list, productTokens]) => {
      const parts: TableGroupPart[] = [];
      for (let at = list, followed = 1; followed !== 0; at += GROUP_OCTETS) {
        left -= GROUP_OCTETS;
        if (left < 0) throw reader.damaged(`the list of groups at ${list} is too long`);
        const line = reader.u32(at + GROUP_LINE);
        parts.push({ automaton: reader.u32(at), firstLine: line >>> 1 });
        followed = line & 1;
      }
      return { productTokens, parts };
    });
  }

  /**
   * The rules of a group in the order of the file, but for those of which another always takes
   * precedence.
   */
  rules(group: TableGroup): TableRule[] {
    const rules: TableRule[] = [];
    let left = MAX_GROUP_RULES;
    for (const { automaton, firstLine } of group.parts) {
      if (automaton === 0) continue;
      const view = new AutomatonView(this.#reader, automaton);
      left -= view.ruleCount;
      if (left < 0) throw this.#reader.damaged('a group has more rules than a file can hold');
      for (const rule of view.rules(firstLine)) rules.push(rule);
    }
    return rules.sort((a, b) => a.line - b.line);
  }

  /** All automata, in the order in which the hosts lead to them. */
  *automata(): Iterable<AutomatonView> {
    const seen = new Set([0]);
    let left = this.#hostOctets;
    for (const { authorities } of this.hosts()) {
      for (const { robots } of authorities) {
        if (seen.has(robots)) continue;
        seen.add(robots);
        for (const { parts } of this.groups(robots)) {
          left -= GROUP_OCTETS * parts.length;
          for (const { automaton: at } of parts) {
            if (seen.has(at)) continue;
            seen.add(at);
            const automaton = new AutomatonView(this.#reader, at);
            left -= automaton.octets;
            if (left < 0) throw this.#reader.damaged('its automata are longer than their section');
            yield automaton;
          }
        }
      }
    }
  }

  /** Where the host begins in the record at `at`. */
  #nameStart(at: number): number {
    const form = this.#reader.u8(at + HOST_FORM);
    const start = NAME_STARTS[form];
    if (start === undefined) throw this.#reader.damaged(`the host at ${at} is of form ${form}`);
    return at + start;
  }

  /** Offset of the entries of the host at `at`, if it has any: they follow its name. */
  #entries(at: number): number {
    return this.#nameStart(at) + this.#reader.u8(at);
  }

  #entryCount(at: number): number {
    const reader = this.#reader;
    return reader.u8(at + HOST_FORM) === HOST_SEVERAL ? reader.u16(at + HOST_AUTHORITY) : 0;
  }

  #host(at: number): TableHost {
    const reader = this.#reader;
    const name = this.#nameStart(at);
    const host = reader.text(name, reader.u8(at));
    if (reader.u8(at + HOST_FORM) !== HOST_SEVERAL) {
      return { host, authorities: [this.#authority(at + HOST_AUTHORITY, 0, ASSUMED_SCHEMES, at)] };
    }
    const count = this.#entryCount(at);
    const authorities: TableAuthority[] = [];
    for (let index = 0; index < count; index++) {
      const entry = this.#entries(at) + index * ENTRY_OCTETS;
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
    const reader = this.#reader;
    const robots = reader.u32(at);
    const accessResult = ACCESS_RESULTS[reader.u8(robots) & ROBOTS_ACCESS];
    if (accessResult === undefined) throw reader.damaged(`no access result at ${robots}`);
    return {
      schemes: SCHEMES.filter(([bit]) => (schemes & bit) !== 0).map(([, scheme]) => scheme),
      port: port === 0 ? undefined : port,
      accessResult,
      source: this.#source(at, host),
      robots,
    };
  }

  /** The source of the authority at `at`, of the host at `host`. */
  #source(at: number, host: number): string {
    const reader = this.#reader;
    const source = reader.u32(at + AUTHORITY_SOURCE);
    const kind = reader.u8(source);
    const before = reader.u16(source + 1);
    const behind = reader.u16(source + 3);
    if (before + behind > SOURCE_LIMIT) throw reader.damaged(`the source at ${source} is too long`);
    let own = '';
    if (kind === SOURCE_WITH_HOST) own = reader.text(this.#nameStart(host), reader.u8(host));
    else if (kind === SOURCE_WITH_NUMBER) own = String(reader.u32(at + AUTHORITY_NUMBER));
    else if (kind !== SOURCE_TEXT)
      throw reader.damaged(`the source at ${source} is of kind ${kind}`);
    const text = source + SOURCE_FIXED_OCTETS;
    return reader.escapedAgain(
      reader.text(text, before) + own + reader.text(text + before, behind),
    );
  }

  #token(number: number): Uint8Array {
    const reader = this.#reader;
    if (number >= reader.u32(HEADER_TOKENS)) {
      throw reader.damaged(`it has no product token ${number}`);
    }
    const entry = this.#section(SECTION_TOKENS) + number * TOKEN_ENTRY_OCTETS;
    return reader.octets(reader.u32(entry), reader.u32(entry + 4));
  }

  /**
   * Octets of the section of the hosts. No two things in it overlap, so together they cannot be
   * longer.
   */
  get #hostOctets(): number {
    return this.#section(SECTION_HOSTS + 1) - this.#section(SECTION_HOSTS);
  }

  /** Start of a section; one more than the last is the end. */
  #section(section: number): number {
    return this.#reader.u32(HEADER_SECTIONS + 4 * section);
  }
}

function textOf(octets: Uint8Array): string {
  return Buffer.from(octets).toString();
}
