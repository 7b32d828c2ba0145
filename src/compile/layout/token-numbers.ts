import { sortStrings } from '../../string-sort.js';
import { TOKEN_ENTRY_BYTES } from '../../table/format.js';
import type { CompiledRobots } from '../compiled-robots.js';
import type { ByteStore } from '../intern/byte-store.js';
import { OnePiece, type TableChunk, type TablePieces } from './table-chunk.js';

/**
 * The product tokens of a table: `*`, the empty token, then the others, sorted. The others are
 * those that a file names, or those that the table is reduced to.
 */
export class TokenNumbers {
  /** Length of the section. */
  readonly bytes: number;
  /** The product tokens that the table is reduced to and that no file names, in lower case. */
  readonly unnamed: ReadonlySet<string>;
  readonly #tokens: ByteStore;
  /** The table's tokens, as CompiledRobots numbers them. */
  readonly #order: Uint32Array;
  /** The number in the table of each token of CompiledRobots. */
  readonly #numbers: Uint32Array;

  /**
   * @param robots the records of `compiled` that the table has
   * @param kept the product tokens that the table is reduced to; `undefined` for all
   */
  constructor(
    compiled: CompiledRobots,
    robots: Uint32Array,
    kept: ReadonlySet<string> | undefined,
  ) {
    const { tokens } = compiled;
    const first = ['*', ''].map((token) => compiled.numberOf(token));
    // In the order of texts: sortStrings keeps that of tokens that differ in zeros at their end.
    const wanted = [...(kept ?? [])].sort();
    const numbers = wanted.map((token) => compiled.numberOf(token));
    const isUsed = new Uint8Array(tokens.count);
    for (let place = 0; place < robots.length; place++) {
      compiled.records.prefetch(robots, place);
      const record = compiled.record(robots[place] as number);
      for (let index = 0; index < record.tokenCount; index++) isUsed[record.token(index)] = 1;
    }
    this.unnamed = new Set(wanted.filter((_, index) => isUsed[numbers[index] as number] === 0));
    for (const token of numbers) isUsed[token] = 1;
    for (const token of first) isUsed[token] = 0;
    this.#tokens = tokens;
    this.#order = inOrder(tokens, first, isUsed);
    this.#numbers = new Uint32Array(tokens.count);
    let textBytes = 0;
    this.#order.forEach((token, number) => {
      this.#numbers[token] = number;
      textBytes += tokens.length(token);
    });
    this.bytes = this.count * TOKEN_ENTRY_BYTES + textBytes;
  }

  get count(): number {
    return this.#order.length;
  }

  /** The number in the table of a token of `compiled`. */
  number(token: number): number {
    return this.#numbers[token] as number;
  }

  /** The section. */
  pieces(): TablePieces {
    return new OnePiece(this.bytes, (chunk) => this.#write(chunk));
  }

  #write({ start, end, bytes, view }: TableChunk): void {
    let entry = end;
    let at = end + this.count * TOKEN_ENTRY_BYTES;
    for (const token of this.#order) {
      const text = this.#tokens.get(token);
      view.setUint32(entry, start + at, true);
      view.setUint32(entry + 4, text.length, true);
      bytes.set(text, at);
      entry += TOKEN_ENTRY_BYTES;
      at += text.length;
    }
  }
}

/** `first`, then the used tokens, sorted by their bytes. */
function inOrder(tokens: ByteStore, first: readonly number[], isUsed: Uint8Array): Uint32Array {
  const used = new Uint32Array(isUsed.reduce((sum, use) => sum + use, 0));
  let count = 0;
  let longest = 0;
  for (let token = 0; token < isUsed.length; token++) {
    if (isUsed[token] === 0) continue;
    used[count++] = token;
    longest = Math.max(longest, tokens.length(token));
  }
  const word = (index: number, offset: number): number =>
    tokens.word(used[index] as number, offset);
  const order = new Uint32Array(first.length + count);
  order.set(first);
  sortStrings({ count, word }, longest).forEach((index, place) => {
    order[first.length + place] = used[index] as number;
  });
  return order;
}
