/** Compiles the rules of a group into an automaton, with the kernel. */

import { Buffer } from 'node:buffer';
import { ASTERISK } from '../base/ascii.js';
import { PLACE_WORDS, type Rule, RulePlaces } from '../protocol/robots-file.js';
import type { Profile } from '../protocol/verdict.js';
import { ESCAPE_GROWTH, writeDisplayText } from '../table/display-text.js';
import { RULE_TEXT, TEXT_LIMIT } from '../table/format.js';
import {
  ANY,
  COMPILE_BYTES,
  COMPILE_DIRECTORIES,
  COMPILE_END,
  COMPILE_FIRST_LINE,
  COMPILE_GOOGLE,
  COMPILE_ITEMS,
  COMPILE_LENGTH,
  COMPILE_LOADED,
  COMPILE_LOADED_ITEMS,
  COMPILE_RARITY,
  COMPILE_RULES,
  COMPILE_SHARES,
  ITEM_BYTES,
  ITEM_END,
  ITEM_FORM,
  ITEM_KIND,
  ITEM_LINE,
  ITEM_PREFIX_END,
  ITEM_RANK,
  ITEM_START,
  ITEM_TEXT_BYTES,
  ITEM_TWO_FORMS,
  ITEM_WRITTEN,
  ITEM_WRITTEN_END,
  KIND_END,
  KIND_WILDCARDS_END,
  SECOND_FORM,
} from './compile-layout.js';
import { FIRST_ADDRESS, PrivateKernel } from './kernel.js';

/** Compiles groups of rules into automata, one after another in the same memory. */
export class AutomatonCompiler {
  /** The line that the lines of the last automaton's rules are relative to. */
  firstLine = 0;

  /**
   * Compiles the rules from number `from` to `to`; returns the automaton, which the next call for
   * any compiler overwrites. `undefined` if none of the rules can match.
   *
   * @param isOfRules false for signals, which the google profile takes as they are written
   */
  compile(
    places: RulePlaces,
    from: number,
    to: number,
    profile: Profile,
    isOfRules = true,
  ): Uint8Array | undefined {
    if (from === to) return undefined;
    const memory = ruleMemory();
    const unwritten = memory.load(places, from, to, profile, isOfRules);
    if (memory.rules === 0) return undefined;
    this.firstLine = memory.word(BLOCK + COMPILE_FIRST_LINE);
    if (unwritten > 0) writeTexts(memory);
    return memory.writeAutomaton();
  }
}

/** Writes the texts that need escapes. */
function writeTexts(memory: RuleMemory): void {
  for (let index = 0; index < memory.rules; index++) {
    const item = memory.item(index);
    const isKept = memory.word(item + ITEM_FORM) === RULE_TEXT;
    if (!isKept || memory.word(item + ITEM_TEXT_BYTES) > 0) continue;
    const from = memory.word(item + ITEM_WRITTEN);
    memory.setText(item, memory.bytes.slice(from, memory.word(item + ITEM_WRITTEN_END)));
  }
}

/** Address of the block for compiling: COMPILE_… of kernel/compile-layout.ts. */
const BLOCK = FIRST_ADDRESS;
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
   *
   * @param isOfRules as AutomatonCompiler.compile
   */
  load(places: RulePlaces, from: number, to: number, profile: Profile, isOfRules = true): number {
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
    const google = profile === 'google' ? COMPILE_GOOGLE : 0;
    const flags = google | (google !== 0 && isOfRules ? COMPILE_DIRECTORIES : 0);
    const lacking = this.#kernel.loadRules(BLOCK, TEXT, WORD * first, count, flags);
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

/** Bytes of canonical paths and queries by descending frequency, from 450,000 real URLs. */
const BY_FREQUENCY =
  "/etsai-ronl02cumgpd1h%b83wf5946y7.kvE_=BAxj?CFzDSPq&LTMINRGWOHJUV+KYQZ)X:~@,;[(]!'";

/** Rank of all other bytes in this order. */
const OTHER_PLACE = BY_FREQUENCY.length + 20;

/**
 * Information content of a byte, in tenths of a bit: `-log2` of its share in these URLs. The share
 * starts at 9 % and falls by about a fifteenth from each byte to the next.
 */
const RARITY = rarities();

function rarities(): Uint8Array {
  const rarity = new Uint8Array(ANY + 1).fill(34 + OTHER_PLACE);
  for (let place = 0; place < BY_FREQUENCY.length; place++) {
    rarity[BY_FREQUENCY.charCodeAt(place)] = 34 + place;
  }
  rarity[ANY] = 0;
  return rarity;
}

/**
 * 2 to the power of 0, -0.1 to -0.9. Constants, because the last bit of `**` differs between
 * engines, and all engines must compile the same table.
 */
const TENTHS = [
  1,
  0.9330329915368074,
  0.8705505632961241,
  0.8122523963562355,
  0.757858283255199,
  Math.SQRT1_2,
  0.6597539553864471,
  0.6155722066724582,
  0.5743491774985175,
  0.5358867312681466,
] as const;

/** The estimated share of a byte in URLs. */
export function shareOf(byte: number): number {
  const rarity = RARITY[byte] as number;
  return (TENTHS[rarity % 10] as number) / (1 << Math.floor(rarity / 10));
}

/** Sets of halves of bytes, eight halves each. */
const SETS = 256;

/** Made once: 65,536 additions take longer than compiling a usual file. */
let shares: Float64Array | undefined;

/**
 * The share of the bytes whose half is in a set, in the order of COMPILE_SHARES: sets of the low
 * halves 0 to 7 and 8 to 15, then sets of high halves.
 */
function sharesOfSets(): Float64Array {
  shares ??= makeShares();
  return shares;
}

function makeShares(): Float64Array {
  const shares = new Float64Array(4 * SETS);
  for (let byte = 0; byte < 256; byte++) {
    addShare(shares.subarray(0, 2 * SETS), byte & 15, shareOf(byte));
    addShare(shares.subarray(2 * SETS), byte >> 4, shareOf(byte));
  }
  return shares;
}

function addShare(shares: Float64Array, half: number, share: number): void {
  const from = half < 8 ? 0 : SETS;
  for (let set = 0; set < SETS; set++) {
    if ((set >> (half & 7)) & 1) shares[from + set] = (shares[from + set] as number) + share;
  }
}

/** A literal between two `*`, or after the last: at least one canonical byte. */
interface Segment {
  /** The canonical form in the pattern. */
  readonly first: Uint8Array;
  /**
   * The canonical form if an earlier `*` matched the text's `?`; `undefined` if the form is the
   * same.
   */
  readonly second: Uint8Array | undefined;
}

/** A path pattern (RFC 9309 sections 2.2.2 and 2.2.3) in canonical form. */
export interface CanonicalPattern {
  /**
   * Specificity: length in canonical form, including each `*` and a final `$` (docs/verdicts.md,
   * note B).
   */
  readonly bytes: number;
  /** The literal before the first `*`, with which a text must begin. */
  readonly prefix: Uint8Array;
  /** The literals that must follow in this order; none if nothing follows the first `*`. */
  readonly segments: readonly Segment[];
  /** Whether the last literal must end the text; never if the pattern ends in `*$`. */
  readonly anchored: boolean;
  /** Whether some segment has a second form (docs/verdicts.md, note A). */
  readonly twoForms: boolean;
}

/**
 * The patterns of each rule: none if the rule can match no text, because its pattern is empty or
 * starts with neither `/` nor `*`. In the google profile an allow rule whose last path segment
 * starts with `/index.htm` has two (docs/verdicts.md, google profile, point 10). The kernel reads
 * the patterns, and those of automata, too.
 */
export function patternsOf(
  rules: readonly Pick<Rule, 'allow' | 'pattern'>[],
  profile: Profile,
): CanonicalPattern[][] {
  const patterns: CanonicalPattern[][] = rules.map(() => []);
  if (rules.length === 0) return patterns;
  const places = new RulePlaces(Buffer.concat(rules.map(({ pattern }) => pattern)));
  let at = 0;
  rules.forEach(({ allow, pattern }, index) => {
    const start = at;
    at += pattern.length;
    places.add(allow, start, at, index);
  });
  const memory = ruleMemory();
  memory.load(places, 0, rules.length, profile);
  const first = memory.word(BLOCK + COMPILE_LOADED);
  const end = first + ITEM_BYTES * memory.word(BLOCK + COMPILE_LOADED_ITEMS);
  for (let item = first; item < end; item += ITEM_BYTES) {
    patterns[memory.word(item + ITEM_LINE)]?.push(patternAt(memory, item));
  }
  return patterns;
}

/** The pattern of an item; see `readPattern` of kernel/assembly/compile/patterns.ts. */
function patternAt(memory: RuleMemory, item: number): CanonicalPattern {
  const start = memory.word(item + ITEM_START);
  const form = memory.bytes.slice(start, memory.word(item + ITEM_END));
  const prefixBytes = memory.word(item + ITEM_PREFIX_END) - start;
  const kind = memory.word(item + ITEM_KIND);
  const twoForms = memory.word(item + ITEM_TWO_FORMS) !== 0;
  return {
    bytes: memory.word(item + ITEM_RANK) >>> 1,
    prefix: form.subarray(0, prefixBytes),
    segments: segmentsOf(form, prefixBytes, twoForms),
    anchored: kind === KIND_END || kind === KIND_WILDCARDS_END,
    twoForms,
  };
}

/**
 * @param form a canonical form
 * @param from where its prefix ends
 */
function segmentsOf(form: Uint8Array, from: number, twoForms: boolean): Segment[] {
  const segments: Segment[] = [];
  for (let at = from; at < form.length; ) {
    const next = form.indexOf(ASTERISK, at + 1);
    const end = next < 0 ? form.length : next;
    const forms = form.subarray(at + 1, end);
    const second = twoForms ? forms.indexOf(SECOND_FORM) : -1;
    segments.push({
      first: second < 0 ? forms : forms.subarray(0, second),
      second: second < 0 ? undefined : forms.subarray(second + 1),
    });
    at = end;
  }
  return segments;
}
