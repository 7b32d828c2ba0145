import type { Rule } from './robots-file.js';

/** Words of a rule in `RulePlaces.words`: PLACE_… of kernel/compile-layout.ts. */
export const PLACE_WORDS = 3;

/**
 * The rules of a file as places in its text, without an object for each: a million files have tens
 * of millions of rules.
 */
export class RulePlaces {
  /** The memory that holds the text, and where the text begins. */
  readonly memory: ArrayBufferLike;
  readonly memoryOffset: number;
  /** For each rule: offsets of the start and the end of its pattern, `line << 1 | allow`. */
  readonly words: number[] = [];

  constructor({ buffer, byteOffset }: Uint8Array) {
    this.memory = buffer;
    this.memoryOffset = byteOffset;
  }

  get count(): number {
    return this.words.length / PLACE_WORDS;
  }

  add(allow: boolean, start: number, end: number, line: number): void {
    this.words.push(start, end, 2 * line + (allow ? 1 : 0));
  }

  start(rule: number): number {
    return this.words[PLACE_WORDS * rule] as number;
  }

  end(rule: number): number {
    return this.words[PLACE_WORDS * rule + 1] as number;
  }

  /** The rules from number `from` to `to`; their patterns are views of the text. */
  slice(from: number, to: number): Rule[] {
    return Array.from({ length: to - from }, (_, index) => this.#rule(from + index));
  }

  #rule(rule: number): Rule {
    const start = this.start(rule);
    const lineAndAllow = this.words[PLACE_WORDS * rule + 2] as number;
    return {
      allow: lineAndAllow % 2 === 1,
      pattern: new Uint8Array(this.memory, this.memoryOffset + start, this.end(rule) - start),
      line: Math.floor(lineAndAllow / 2),
    };
  }
}
