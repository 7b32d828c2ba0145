import { GROUP_BYTES, GROUP_LINE, ROBOTS_WIDE } from '../table/format.js';
import type { TableGroup } from './table-content.js';
import type { TableReader } from './table-reader.js';

/** A product token of a robots record, and the start of its list of groups. */
export interface TokenList {
  readonly token: number;
  readonly list: number;
}

/** Finds the lists of groups in robots records. */
export class GroupLists {
  readonly #reader: TableReader;
  readonly #sectionBytes: number;

  /** @param sectionBytes length of the section of hosts, within which a list must end */
  constructor(reader: TableReader, sectionBytes: number) {
    this.#reader = reader;
    this.#sectionBytes = sectionBytes;
  }

  /** The product tokens of the robots record at `robots`, with their lists. */
  *tokens(robots: number): Iterable<TokenList> {
    const reader = this.#reader;
    const { width, count, numbers } = this.#head(robots);
    reader.copy(numbers + 2 * width * count, 0); // checks that all numbers lie within the table
    for (let index = 0; index < count; index++) {
      const token = this.#word(numbers + width * index, width);
      const list = robots + this.#word(numbers + width * (count + index), width);
      yield { token, list };
    }
  }

  /** Start of the list of a product token in a robots record; 0 if no group names the token. */
  find(robots: number, token: number): number {
    const { width, count, numbers } = this.#head(robots);
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.#word(numbers + width * middle, width);
      if (there === token) return robots + this.#word(numbers + width * (count + middle), width);
      if (there < token) low = middle + 1;
      else high = middle;
    }
    return 0;
  }

  /** The groups of the list at `list`, in the order of the file. */
  groups(list: number): TableGroup[] {
    const reader = this.#reader;
    const groups: TableGroup[] = [];
    let left = this.#sectionBytes;
    for (let at = list, followed = 1; followed !== 0; at += GROUP_BYTES) {
      left -= GROUP_BYTES;
      if (left < 0) throw reader.damaged(`the list of groups at ${list} is too long`);
      const line = reader.u32(at + GROUP_LINE);
      groups.push({ automaton: reader.u32(at), firstLine: line >>> 1 });
      followed = line & 1;
    }
    return groups;
  }

  #head(robots: number): { width: number; count: number; numbers: number } {
    const width = (this.#reader.u8(robots) & ROBOTS_WIDE) !== 0 ? 4 : 2;
    return { width, count: this.#word(robots + 1, width), numbers: robots + 1 + width };
  }

  #word(at: number, width: number): number {
    return width === 4 ? this.#reader.u32(at) : this.#reader.u16(at);
  }
}
