import type { TableBytes } from './table-bytes.js';

/** The kinds of parts in the hosts section. */
export const HOST = 1;
export const ROBOTS = 2;
export const AUTOMATON = 3;

export type Kind = typeof HOST | typeof ROBOTS | typeof AUTOMATON;

const NAMES: Readonly<Record<Kind, string>> = {
  [HOST]: 'host',
  [ROBOTS]: 'robots record',
  [AUTOMATON]: 'automaton',
};

/** Bytes for each word of the map, as a shift: two bits for each byte. */
const BYTES_OF_WORD_SHIFT = 4;

/**
 * A map of the parts that start in the hosts section, filled as references are met. The first
 * reference to a part precedes the part, so one pass visits all parts. Parts must not overlap.
 */
export class Placement {
  readonly start: number;
  readonly end: number;
  readonly #table: TableBytes;
  readonly #words: Uint32Array;
  /** Start of the current part. */
  #at = -1;

  constructor(table: TableBytes, start: number, end: number) {
    this.#table = table;
    this.start = start;
    this.end = end;
    this.#words = new Uint32Array(Math.ceil((end - start) / (1 << BYTES_OF_WORD_SHIFT)));
  }

  /** Marks a host record; returns whether it is new. */
  addHost(at: number): boolean {
    if (this.#kindAt(at) !== 0) return false;
    this.#mark(at, HOST);
    return true;
  }

  has(at: number): boolean {
    return at >= this.start && at < this.end;
  }

  /** Marks the part at `to`, to which the number at `from` in the current part refers. */
  refer(from: number, to: number, kind: Kind): void {
    if (!this.has(to)) {
      throw this.#fault(from, `refers to the ${NAMES[kind]} at ${to}, outside the section`);
    }
    const there = this.#kindAt(to);
    if (there === kind) return;
    if (there !== 0 || to <= this.#at) {
      throw this.#fault(from, `refers to the ${NAMES[kind]} at ${to}, where none starts`);
    }
    this.#mark(to, kind);
  }

  /** Visits all parts in order; `check` returns the end of a part. */
  visit(check: (kind: Kind, at: number) => number): void {
    let end = this.start;
    for (let at = this.#next(end); at < this.end; at = this.#next(at + 1)) {
      const kind = this.#kindAt(at) as Kind;
      if (at < end) {
        throw this.#fault(
          at,
          `the ${NAMES[kind]} starts within another part, which ends at ${end}`,
        );
      }
      this.#table.zeros('hosts', end, at);
      this.#at = at;
      end = check(kind, at);
    }
    this.#table.zeros('hosts', end, this.end);
  }

  #kindAt(at: number): number {
    const offset = at - this.start;
    const word = this.#words[offset >>> BYTES_OF_WORD_SHIFT] as number;
    return (word >>> ((offset & 15) << 1)) & 3;
  }

  #mark(at: number, kind: Kind): void {
    const offset = at - this.start;
    const index = offset >>> BYTES_OF_WORD_SHIFT;
    this.#words[index] = (this.#words[index] as number) | (kind << ((offset & 15) << 1));
  }

  /** The next start of a part from `at` on; the end of the section if there is none. */
  #next(at: number): number {
    const words = this.#words;
    const offset = at - this.start;
    let index = offset >>> BYTES_OF_WORD_SHIFT;
    if (index >= words.length) return this.end;
    let bits = (words[index] as number) & (-1 << ((offset & 15) << 1));
    while (bits === 0) {
      if (++index === words.length) return this.end;
      bits = words[index] as number;
    }
    const lowest = 31 - Math.clz32(bits & -bits);
    return this.start + index * (1 << BYTES_OF_WORD_SHIFT) + (lowest >> 1);
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}
