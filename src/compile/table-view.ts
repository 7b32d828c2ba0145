import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../errors.js';
import type { Agent } from '../protocol/agent.js';
import type { Scheme } from '../protocol/authority.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import { AutomatonView, type TableRule } from './automaton-view.js';
import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  ACCESS_UNREACHABLE,
  AUTHORITY_OCTETS,
  FLAG_REDUCED,
  HEADER_FLAGS,
  HEADER_HOSTS,
  HEADER_LONGEST_PROBE,
  HEADER_SECTIONS,
  HEADER_SEED,
  HEADER_SLOTS,
  HEADER_TOKENS,
  HOST_FIXED_OCTETS,
  ROBOTS_FIXED_OCTETS,
  SCHEME_FTP,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SECTION_AUTOMATA,
  SECTION_HOSTS,
  SECTION_ROBOTS,
  SECTION_SLOTS,
  SECTION_TOKENS,
  SLOT_OCTETS,
  TOKEN_ANY,
} from './format.js';
import { hashHost, home } from './host-slots.js';
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
  /** Offset of what that file says; authorities whose files say the same share it. For `TableView.groups`. */
  readonly robots: number;
}

/** A host of a table. */
export interface TableHost {
  /** In canonical form; see `canonicalHost`. */
  readonly host: string;
  readonly authorities: readonly TableAuthority[];
}

/** What some product tokens obey alike: the groups of a robots.txt that name them, merged (RFC 9309 section 2.2.1). */
export interface TableGroup {
  /** In lower case, sorted, `*` first. */
  readonly productTokens: readonly string[];
  /** The groups that name them, in the order of the file. */
  readonly parts: readonly TableGroupPart[];
}

/** One group: offsets of its automaton, 0 if none of its rules can match, and of the list of its lines. */
export interface TableGroupPart {
  readonly automaton: number;
  readonly lines: number;
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
const GROUP_OCTETS = 8;

/**
 * Reads a table for people, and for what is asked once a run; URLs are judged by the kernel. The table must have passed
 * `checkTable`. A table that some other program made may still say anything: nothing is believed, so all methods may
 * throw RobotsFilterError `table`, and none takes more time than the table's length warrants.
 */
export class TableView {
  readonly #reader: TableReader;
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
   * Sees that the table can answer for an agent: a reduced table only does for the product tokens it was reduced to.
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

  /** All hosts, sorted. */
  *hosts(): Iterable<TableHost> {
    const end = this.#section(SECTION_HOSTS + 1);
    let left = this.#reader.u32(HEADER_HOSTS);
    for (let at = this.#section(SECTION_HOSTS); left > 0; left--) {
      const authorities = this.#authorities(at);
      const next = authorities + AUTHORITY_OCTETS * this.#reader.u16(at + 2);
      if (next > end) throw this.#reader.damaged(`the host at ${at} is longer than its section`);
      yield this.#host(at);
      at = next;
    }
  }

  /** What the table has of a host in canonical form. */
  find(host: string): TableHost | undefined {
    const reader = this.#reader;
    const octets = Buffer.from(host);
    const slots = reader.u32(HEADER_SLOTS);
    const hash = hashHost(octets, reader.u32(HEADER_SEED));
    const longestProbe = Math.min(reader.u32(HEADER_LONGEST_PROBE), slots);
    let slot = home(hash, slots);
    for (let probe = 0; probe < longestProbe; probe++) {
      const at = this.#section(SECTION_SLOTS) + slot * SLOT_OCTETS;
      const record = reader.u32(at + 4);
      if (record === 0) return undefined;
      if (reader.u32(at) === hash) {
        const name = reader.octets(record + HOST_FIXED_OCTETS, reader.u16(record));
        if (Buffer.compare(name, octets) === 0) return this.#host(record);
      }
      slot = slot + 1 === slots ? 0 : slot + 1;
    }
    return undefined;
  }

  /** The groups of what a file says, those of `*` first; `robots` is an authority's. */
  groups(robots: number): TableGroup[] {
    const reader = this.#reader;
    const count = reader.u32(robots + 4);
    const numbers = robots + ROBOTS_FIXED_OCTETS;
    const lists = numbers + 4 * count;
    if (count > 0) reader.u32(lists + 4 * count - 4); // all that is read below must be there
    const tokensOfList = new Map<number, string[]>();
    for (let index = 0; index < count; index++) {
      const list = reader.u32(lists + 4 * index);
      const token = textOf(this.#token(reader.u32(numbers + 4 * index)));
      const tokens = tokensOfList.get(list);
      if (tokens === undefined) tokensOfList.set(list, [token]);
      else tokens.push(token);
    }
    // No two lists overlap, so together they cannot be longer than the section.
    let left = this.#section(SECTION_ROBOTS + 1) - this.#section(SECTION_ROBOTS);
    return Array.from(tokensOfList, ([list, productTokens]) => {
      const length = reader.u32(list);
      left -= 4 + length * GROUP_OCTETS;
      if (left < 0) throw reader.damaged(`the list of groups at ${list} is too long`);
      const parts = Array.from({ length }, (_, index) => ({
        automaton: reader.u32(list + 4 + index * GROUP_OCTETS),
        lines: reader.u32(list + 8 + index * GROUP_OCTETS),
      }));
      return { productTokens, parts };
    });
  }

  /** The rules of a group in the order of the file, but for those of which another always takes precedence. */
  rules(group: TableGroup): TableRule[] {
    const rules: TableRule[] = [];
    for (const { automaton, lines } of group.parts) {
      if (automaton === 0) continue;
      for (const rule of new AutomatonView(this.#reader, automaton).rules(lines)) rules.push(rule);
    }
    return rules.sort((a, b) => a.line - b.line);
  }

  /** All automata, in their order. */
  *automata(): Iterable<AutomatonView> {
    const end = this.#section(SECTION_AUTOMATA + 1);
    let at = this.#section(SECTION_AUTOMATA);
    while (at < end) {
      const octets = this.#reader.u32(at);
      if (octets === 0) return; // padding
      yield new AutomatonView(this.#reader, at);
      at += octets + (-octets & 3);
    }
  }

  /** Offset of the authorities of the host at `at`, which follow its name. */
  #authorities(at: number): number {
    return at + HOST_FIXED_OCTETS + ((this.#reader.u16(at) + 3) & ~3);
  }

  #host(at: number): TableHost {
    const reader = this.#reader;
    const count = reader.u16(at + 2);
    const authorities: TableAuthority[] = [];
    for (let index = 0; index < count; index++) {
      authorities.push(this.#authority(this.#authorities(at) + index * AUTHORITY_OCTETS));
    }
    return { host: reader.text(at + HOST_FIXED_OCTETS, reader.u16(at)), authorities };
  }

  #authority(at: number): TableAuthority {
    const reader = this.#reader;
    const port = reader.u16(at);
    const schemes = reader.u8(at + 2);
    const robots = reader.u32(at + 4);
    const source = reader.u32(at + 8);
    const accessResult = ACCESS_RESULTS[reader.u32(robots)];
    if (accessResult === undefined) throw reader.damaged(`no access result at ${robots}`);
    return {
      schemes: SCHEMES.filter(([bit]) => (schemes & bit) !== 0).map(([, scheme]) => scheme),
      port: port === 0 ? undefined : port,
      accessResult,
      source: reader.escapedText(source + 4, reader.u32(source)),
      robots,
    };
  }

  #token(number: number): Uint8Array {
    const reader = this.#reader;
    if (number >= reader.u32(HEADER_TOKENS)) {
      throw reader.damaged(`it has no product token ${number}`);
    }
    const entry = this.#section(SECTION_TOKENS) + number * TOKEN_ENTRY_OCTETS;
    return reader.octets(reader.u32(entry), reader.u32(entry + 4));
  }

  /** Start of a section; one more than the last is the end. */
  #section(section: number): number {
    return this.#reader.u32(HEADER_SECTIONS + 4 * section);
  }
}

function textOf(octets: Uint8Array): string {
  return Buffer.from(octets).toString();
}
