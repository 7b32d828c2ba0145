import { Buffer } from 'node:buffer';
import { TOKEN_ENTRY_BYTES } from '../../table/format.js';
import type { CompiledRobots } from '../compiled-robots.js';
import { OnePiece, type TableChunk, type TablePieces } from './table-chunk.js';

/**
 * The product tokens of a table: `*`, the empty token, then the others, sorted. The others are
 * those that a file names, or those that the table is reduced to.
 */
export class TokenNumbers {
  /** Length of the section. */
  readonly bytes: number;
  /** The tokens, by number in the table. */
  readonly #texts: readonly Buffer[];
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
    const named = new Uint8Array(compiled.tokens.length);
    for (const number of robots) {
      const record = compiled.record(number);
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
    const textBytes = this.#texts.reduce((sum, text) => sum + text.length, 0);
    this.bytes = this.count * TOKEN_ENTRY_BYTES + textBytes;
  }

  get count(): number {
    return this.#texts.length;
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
    for (const text of this.#texts) {
      view.setUint32(entry, start + at, true);
      view.setUint32(entry + 4, text.length, true);
      bytes.set(text, at);
      entry += TOKEN_ENTRY_BYTES;
      at += text.length;
    }
  }
}
