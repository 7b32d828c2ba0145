import { Buffer } from 'node:buffer';
import type { CompiledRobots } from './compiled-robots.js';
import { TOUCHED_AT_ONCE } from './octet-store.js';
import { OnePiece, type TablePieces, type TableWindow } from './table-window.js';

const ENTRY_OCTETS = 8;

/**
 * The product tokens of a table: `*` and the empty token come first; then those that a file names
 * or that the table is reduced to, sorted.
 */
export class TokenNumbers {
  /** Octets of their section. */
  readonly octets: number;
  /** Their texts, by their numbers in the table. */
  readonly #texts: readonly Buffer[];
  /** For the number of a token in CompiledRobots its number in the table. */
  readonly #numbers: Uint32Array;

  /**
   * @param robots the records that the table has, by their numbers in `compiled`
   * @param kept the product tokens that it is reduced to, if it is
   */
  constructor(
    compiled: CompiledRobots,
    robots: Uint32Array,
    kept: ReadonlySet<string> | undefined,
  ) {
    const named = new Uint8Array(compiled.tokens.length);
    for (let place = 0; place < robots.length; place++) {
      if (place % TOUCHED_AT_ONCE === 0) {
        compiled.records.touch(robots, place, Math.min(place + TOUCHED_AT_ONCE, robots.length));
      }
      const record = compiled.record(robots[place] as number);
      for (let index = 0; index < record.tokenCount; index++) named[record.token(index)] = 1;
    }
    const used = new Set(kept);
    compiled.tokens.forEach((token, number) => {
      if (named[number] === 1) used.add(token);
    });
    used.delete('*');
    used.delete('');
    const others = [...used].map((token) => Buffer.from(token)).sort(Buffer.compare);
    this.#texts = [Buffer.from('*'), Buffer.from(''), ...others];
    const numberOf = new Map(this.#texts.map((text, number) => [text.toString(), number]));
    this.#numbers = Uint32Array.from(compiled.tokens, (token) => numberOf.get(token) ?? 0);
    const textOctets = this.#texts.reduce((sum, text) => sum + text.length, 0);
    this.octets = this.count * ENTRY_OCTETS + textOctets;
  }

  get count(): number {
    return this.#texts.length;
  }

  /** The number in the table of a token, of which `compiled` has this one. */
  number(token: number): number {
    return this.#numbers[token] as number;
  }

  /** Their section. */
  pieces(): TablePieces {
    return new OnePiece(this.octets, (window) => this.#write(window));
  }

  #write({ start, end, octets, view }: TableWindow): void {
    let entry = end;
    let at = end + this.count * ENTRY_OCTETS;
    for (const text of this.#texts) {
      view.setUint32(entry, start + at, true);
      view.setUint32(entry + 4, text.length, true);
      octets.set(text, at);
      entry += ENTRY_OCTETS;
      at += text.length;
    }
  }
}
