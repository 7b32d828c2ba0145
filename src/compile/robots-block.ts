import { Buffer } from 'node:buffer';
import type { Agent } from '../protocol/agent.js';
import type { PlacedFile, PlacedGroup } from '../protocol/file-parser.js';
import { groupsByProductToken } from '../protocol/groups.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import type { Profile } from '../protocol/profile.js';
import type { RulePlaces } from '../protocol/rule-places.js';
import {
  ACCESS_UNREACHABLE,
  GROUP_BYTES,
  GROUP_LINE,
  ROBOTS_WIDE,
  TOKEN_ANY,
} from '../table/format.js';
import { AutomatonCompiler } from './automaton/automaton-compiler.js';

/**
 * Offset of a block in the table that the kernel takes it for. An offset of 0 would mean "none".
 */
export const BLOCK_OFFSET = 64;

/** Greatest length of a robots record, and number of product tokens, for numbers of two bytes. */
const MAX_NARROW = 0xffff;
const ANY_TOKEN = '*';
/** Most blocks share this array, so that looking up a missing token causes no cache miss. */
const NO_TOKENS: readonly string[] = [];
const INITIAL_BYTES = 1 << 14;

/** One robots.txt in the table's format: its robots record, then its automata. */
export interface RobotsBlock {
  readonly bytes: Uint8Array;
  /**
   * The product tokens that its groups name, in lower case and sorted, without `*`. The first has
   * the number 1.
   */
  readonly tokens: readonly string[];
}

/** The number of a product token in a block, -1 if no group names the token. */
export function blockTokenNumber(tokens: readonly string[], token: string): number {
  if (token === ANY_TOKEN) return TOKEN_ANY;
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = tokens[middle] as string;
    if (other === token) return middle + 1;
    if (other < token) low = middle + 1;
    else high = middle;
  }
  return -1;
}

/** Length of a robots record. */
function recordBytes(width: number, tokens: number, groups: number): number {
  return 1 + width + 2 * width * tokens + GROUP_BYTES * groups;
}

/** The product tokens, among those that groups name, whose groups an agent may obey. */
function namedTokens({ chain }: Agent, lists: ReadonlyMap<string, unknown>): string[] {
  const named = new Set(chain.map(lowerCaseAscii).filter((token) => lists.has(token)));
  // In the google profile an agent `*` names no group, but the groups of `*` are its fallback.
  if (lists.has(ANY_TOKEN) && named.size === 0) named.add(ANY_TOKEN);
  return [...named];
}

/** Compiles parsed robots.txt files into blocks. Its memory is reused for the next file. */
export class BlockCompiler {
  readonly #automata = new AutomatonCompiler();
  #out = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#out.buffer);
  #end = 0;

  /** Bytes that the compiler keeps for the next file. */
  get heldBytes(): number {
    return this.#out.length;
  }

  /**
   * Compiles a file. A file over its budget denies everything.
   *
   * @param agent the agent whose groups are compiled; `undefined` for all groups
   */
  compile(
    file: Pick<PlacedFile, 'groups' | 'rules' | 'overBudget'>,
    profile: Profile,
    agent?: Agent,
  ): RobotsBlock {
    if (file.overBudget)
      return { bytes: Uint8Array.of(ACCESS_UNREACHABLE, 0, 0), tokens: NO_TOKENS };
    const lists = groupsByProductToken(file.groups, profile);
    const named = agent === undefined ? [...lists.keys()] : namedTokens(agent, lists);
    const tokens = named.filter((token) => token !== ANY_TOKEN).sort();
    const all = tokens.length < named.length ? [ANY_TOKEN, ...tokens] : tokens;
    let groups = 0;
    for (const token of all) groups += lists.get(token)?.length ?? 0;
    const isWide = tokens.length >= MAX_NARROW || recordBytes(2, all.length, groups) > MAX_NARROW;
    const width = isWide ? 4 : 2;
    const bytes = recordBytes(width, all.length, groups);
    this.#end = 0;
    this.#reserve(bytes);
    this.#end = bytes;
    this.#out[0] = isWide ? ROBOTS_WIDE : 0;
    this.#word(isWide, 1, all.length);
    const compiled = new Map<PlacedGroup, readonly [number, number]>();
    const first = tokens.length === all.length ? 1 : TOKEN_ANY;
    let number = 1 + width;
    let list = number + 2 * width * all.length;
    all.forEach((token, index) => {
      this.#word(isWide, number, first + index);
      this.#word(isWide, number + width * all.length, list);
      number += width;
      list = this.#writeList(file.rules, lists.get(token) ?? [], profile, compiled, list);
    });
    // Small blocks share memory of Node's pool.
    const block = Buffer.allocUnsafe(this.#end);
    block.set(this.#out.subarray(0, this.#end));
    return { bytes: block, tokens: tokens.length === 0 ? NO_TOKENS : tokens };
  }

  /** Writes a list of groups at an offset; returns the offset after the list. */
  #writeList(
    rules: RulePlaces,
    groups: readonly PlacedGroup[],
    profile: Profile,
    compiled: Map<PlacedGroup, readonly [number, number]>,
    start: number,
  ): number {
    let at = start;
    groups.forEach((group, index) => {
      let pair = compiled.get(group);
      if (pair === undefined) {
        pair = this.#compileGroup(rules, group, profile);
        compiled.set(group, pair);
      }
      const [automaton, firstLine] = pair;
      this.#view.setUint32(at, automaton, true);
      const followed = index + 1 < groups.length ? 1 : 0;
      this.#view.setUint32(at + GROUP_LINE, 2 * firstLine + followed, true);
      at += GROUP_BYTES;
    });
    return at;
  }

  /**
   * Compiles a group; returns the offset of its automaton, and the line that the lines of its rules
   * are relative to. Both are 0 if no rule can match.
   */
  #compileGroup(
    rules: RulePlaces,
    { firstRule, rulesEnd }: PlacedGroup,
    profile: Profile,
  ): readonly [number, number] {
    const automaton = this.#automata.compile(rules, firstRule, rulesEnd, profile);
    if (automaton === undefined) return [0, 0];
    const start = this.#end;
    this.#reserve(automaton.length);
    this.#out.set(automaton, start);
    this.#end += automaton.length;
    return [BLOCK_OFFSET + start, this.#automata.firstLine];
  }

  /** Makes room after the end. */
  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#out.length) return;
    const grown = new Uint8Array(Math.max(this.#end + bytes, 2 * this.#out.length));
    grown.set(this.#out.subarray(0, this.#end));
    this.#out = grown;
    this.#view = new DataView(grown.buffer);
  }

  #word(isWide: boolean, at: number, word: number): void {
    if (isWide) this.#view.setUint32(at, word, true);
    else this.#view.setUint16(at, word, true);
  }
}
