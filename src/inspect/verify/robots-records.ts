import {
  ACCESS_UNREACHABLE,
  AUTOMATON_WIDE,
  GROUP_BYTES,
  GROUP_LINE,
  MAX_GROUP_RULES,
  ROBOTS_ACCESS,
  ROBOTS_WIDE,
} from '../../table/format.js';
import type { TableHeader } from '../../table/table-check.js';
import { AUTOMATON, type Placement } from './placement.js';
import type { TableBytes } from './table-bytes.js';

/** Maximum number of product tokens that 16 bits can number: 0xffff stands for no token. */
const MAX_NARROW_TOKENS = 0xffff;

/** Checks robots records: see verify-table.ts. */
export class RobotsCheck {
  count = 0;
  groups = 0;
  readonly #table: TableBytes;
  readonly #placement: Placement;
  readonly #tokens: number;
  /** For each group of the current record 1 if a list starts with it, else 0. */
  #listStarts = new Uint8Array(64);
  /** Number of groups of the current record. */
  #recordGroups = 0;

  constructor(table: TableBytes, { tokens }: TableHeader, placement: Placement) {
    this.#table = table;
    this.#placement = placement;
    this.#tokens = tokens;
  }

  /** Checks the robots record at `at`; returns where it ends. */
  check(at: number): number {
    const table = this.#table;
    const { end } = this.#placement;
    const head = table.u8(at);
    const access = head & ROBOTS_ACCESS;
    if (access > ACCESS_UNREACHABLE || (head & ~(ROBOTS_ACCESS | ROBOTS_WIDE)) !== 0) {
      throw this.#fault(at, `a robots record that begins with ${head}`);
    }
    const width = (head & ROBOTS_WIDE) !== 0 ? 4 : 2;
    if (width === 2 && this.#tokens > MAX_NARROW_TOKENS) {
      throw this.#fault(at, `${this.#tokens} product tokens have numbers of more than 16 bits`);
    }
    const numbers = at + 1 + width;
    const count = table.number(at + 1, width);
    const lists = numbers + width * count;
    const groups = lists + width * count;
    if (groups > end) {
      throw this.#fault(at + 1, `the record has ${count} product tokens, beyond its section`);
    }
    let last = -1;
    for (let index = 0; index < count; index++) {
      const number = numbers + width * index;
      const token = table.number(number, width);
      if (token <= last) throw this.#fault(number, 'the product tokens do not ascend');
      if (token >= this.#tokens) throw this.#fault(number, `there is no product token ${token}`);
      last = token;
      const place = lists + width * index;
      this.#checkList(place, at + table.number(place, width), groups);
    }
    this.#listStarts.fill(0, 0, this.#recordGroups);
    const recordEnd = groups + GROUP_BYTES * this.#recordGroups;
    this.groups += this.#recordGroups;
    this.#recordGroups = 0;
    this.count++;
    return recordEnd;
  }

  /**
   * Checks the list that the number at `place` refers to: the next list, or an earlier one.
   *
   * @param groups start of the first list
   */
  #checkList(place: number, list: number, groups: number): void {
    const next = groups + GROUP_BYTES * this.#recordGroups;
    if (list === next) {
      this.#addList(list);
      return;
    }
    const group = (list - groups) / GROUP_BYTES;
    // A fraction or a later group is not 1 either.
    if (list > next || this.#listStarts[group] !== 1) {
      throw this.#fault(place, `no list of groups starts at ${list}`);
    }
  }

  /** Checks a list that follows the earlier ones. */
  #addList(list: number): void {
    const table = this.#table;
    const first = this.#recordGroups;
    let isFollowed = true;
    let rules = 0;
    for (let at = list; isFollowed; at += GROUP_BYTES) {
      if (at + GROUP_BYTES > this.#placement.end) {
        throw this.#fault(list, 'the list of groups does not end in its section');
      }
      const automaton = table.u32(at);
      if (automaton !== 0) {
        this.#placement.refer(at, automaton, AUTOMATON);
        rules += this.#rulesOf(automaton);
      }
      if (rules > MAX_GROUP_RULES) {
        throw this.#fault(list, `a list of groups has more than ${MAX_GROUP_RULES} rules`);
      }
      isFollowed = (table.u8(at + GROUP_LINE) & 1) !== 0;
      this.#recordGroups++;
    }
    if (this.#recordGroups > this.#listStarts.length) {
      const longer = new Uint8Array(2 * this.#recordGroups);
      longer.set(this.#listStarts);
      this.#listStarts = longer;
    }
    this.#listStarts[first] = 1;
  }

  /** The number of rules that an automaton states; AutomatonCheck checks it. */
  #rulesOf(automaton: number): number {
    const isWide = (this.#table.u8(automaton) & AUTOMATON_WIDE) !== 0;
    return isWide ? this.#table.u32(automaton + 5) : this.#table.u16(automaton + 3);
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}
