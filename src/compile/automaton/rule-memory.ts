import {
  COMPILE_BYTES,
  COMPILE_END,
  COMPILE_ITEMS,
  COMPILE_LENGTH,
  COMPILE_RARITY,
  COMPILE_RULES,
  COMPILE_SHARES,
} from '../../kernel/compile-layout.js';
import { FIRST_ADDRESS, PrivateKernel } from '../../kernel/private-kernel.js';
import type { Profile } from '../../protocol/profile.js';
import { PLACE_WORDS, type RulePlaces } from '../../protocol/rule-places.js';
import { ESCAPE_GROWTH, writeDisplayText } from '../../table/display-text.js';
import { TEXT_LIMIT } from '../../table/format.js';
import { RARITY, sharesOfSets } from './byte-shares.js';

/** Address of the block for compiling: COMPILE_… of kernel/compile-layout.ts. */
export const BLOCK = FIRST_ADDRESS;
const TEXT = BLOCK + COMPILE_BYTES;

/** Bytes of a word, and its logarithm. */
const WORD = 4;
const WORD_SHIFT = 2;

/** A memory that a group has made longer is not kept for the next group. */
const HELD_BYTES = 16 * 1024 * 1024;

let held: RuleMemory | undefined;

/**
 * The memory for the next group, until the next call. All compilers of a thread share one, because
 * each memory of WebAssembly takes 10 GB of addresses.
 */
export function ruleMemory(): RuleMemory {
  if (held === undefined || held.bytes.length > HELD_BYTES) held = new RuleMemory();
  return held;
}

/**
 * The memory in which the kernel compiles rules, a group at a time. The layout is that of
 * kernel/compile-layout.ts.
 */
export class RuleMemory {
  readonly #own = new PrivateKernel();
  readonly #kernel = this.#own.kernel;
  #bytes = this.#own.bytes(TEXT);
  #words = new Uint32Array(this.#bytes.buffer);

  constructor() {
    this.#bytes.set(RARITY, BLOCK + COMPILE_RARITY);
    const shares = sharesOfSets();
    new Float64Array(this.#bytes.buffer, BLOCK + COMPILE_SHARES, shares.length).set(shares);
  }

  /** The whole memory; after a call of the kernel perhaps another, longer array. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The word at an address. */
  word(address: number): number {
    return this.#words[address >>> WORD_SHIFT] as number;
  }

  /** The number of loaded rules that remain: the others match nothing, or could never decide. */
  get rules(): number {
    return this.word(BLOCK + COMPILE_RULES);
  }

  /** The address of a rule that remains, ITEM_… of kernel/compile-layout.ts. */
  item(index: number): number {
    return this.word(this.word(BLOCK + COMPILE_ITEMS) + WORD * index);
  }

  /**
   * Loads the rules from number `from` to `to`, of which there must be one. Returns the number of
   * rules whose text must be set.
   */
  load(places: RulePlaces, from: number, to: number, profile: Profile): number {
    const count = to - from;
    const start = places.start(from);
    const length = places.end(to - 1) - start;
    const first = (TEXT + length + WORD - 1) >>> WORD_SHIFT;
    this.#reserve(WORD * (first + PLACE_WORDS * count));
    this.#bytes.set(new Uint8Array(places.memory, places.memoryOffset + start, length), TEXT);
    const { words } = places;
    const shift = PLACE_WORDS * from;
    for (let word = PLACE_WORDS * from; word < PLACE_WORDS * to; word += PLACE_WORDS) {
      const at = first + word - shift;
      this.#words[at] = (words[word] as number) - start;
      this.#words[at + 1] = (words[word + 1] as number) - start;
      this.#words[at + 2] = words[word + 2] as number;
    }
    const isGoogle = profile === 'google' ? 1 : 0;
    const lacking = this.#kernel.loadRules(BLOCK, TEXT, WORD * first, count, isGoogle);
    this.#reserve(this.word(BLOCK + COMPILE_END));
    return lacking;
  }

  /** Writes the automaton of the loaded rules; returns it. The next call overwrites it. */
  writeAutomaton(): Uint8Array {
    const start = this.#kernel.writeAutomaton(BLOCK) >>> 0;
    this.#reserve(this.word(BLOCK + COMPILE_END));
    return new Uint8Array(this.#bytes.buffer, start, this.word(BLOCK + COMPILE_LENGTH));
  }

  /** Sets the text of a rule that remains. */
  setText(item: number, written: Uint8Array): void {
    const most = ESCAPE_GROWTH * Math.min(written.length, TEXT_LIMIT);
    const start = this.#kernel.claim(most) >>> 0;
    this.#reserve(start + most);
    const end = writeDisplayText(written, this.#bytes, start);
    this.#kernel.setText(item, start, end - start);
  }

  /** Makes at least `end` bytes of the memory visible. */
  #reserve(end: number): void {
    const bytes = this.#own.bytes(end);
    if (bytes === this.#bytes) return;
    this.#bytes = bytes;
    this.#words = new Uint32Array(bytes.buffer);
  }
}
