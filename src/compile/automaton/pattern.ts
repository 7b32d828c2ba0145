import { Buffer } from 'node:buffer';
import { ASTERISK } from '../../ascii.js';
import {
  COMPILE_LOADED,
  COMPILE_LOADED_ITEMS,
  ITEM_BYTES,
  ITEM_END,
  ITEM_KIND,
  ITEM_LINE,
  ITEM_PREFIX_END,
  ITEM_RANK,
  ITEM_START,
  ITEM_TWO_FORMS,
  KIND_END,
  KIND_WILDCARDS_END,
  SECOND_FORM,
} from '../../kernel/compile-layout.js';
import type { Profile } from '../../protocol/profile.js';
import type { Rule } from '../../protocol/robots-file.js';
import { RulePlaces } from '../../protocol/rule-places.js';
import { BLOCK, type RuleMemory, ruleMemory } from './rule-memory.js';

/** A literal between two `*`, or after the last: at least one canonical byte. */
export interface Segment {
  /** The canonical form in the pattern. */
  readonly first: Uint8Array;
  /**
   * The canonical form if an earlier `*` matched the text's `?`; `undefined` if the form is the
   * same.
   */
  readonly second: Uint8Array | undefined;
}

/** A path pattern (RFC 9309 sections 2.2.2 and 2.2.3) in canonical form. */
export interface Pattern {
  /**
   * Specificity: length in canonical form, including each `*` and a final `$` (spec notes, note B).
   */
  readonly bytes: number;
  /** The literal before the first `*`, with which a text must begin. */
  readonly prefix: Uint8Array;
  /** The literals that must follow in this order; none if nothing follows the first `*`. */
  readonly segments: readonly Segment[];
  /** Whether the last literal must end the text; never if the pattern ends in `*$`. */
  readonly anchored: boolean;
  /** Whether some segment has a second form (spec notes, note A). */
  readonly twoForms: boolean;
}

/**
 * The patterns of each rule: none if the rule can match no text, because its pattern is empty or
 * starts with neither `/` nor `*`. In the google profile an allow rule whose last path segment
 * starts with `/index.htm` has two (spec notes, section 2, point 10). The kernel reads the
 * patterns, and those of automata, too.
 */
export function patternsOf(
  rules: readonly Pick<Rule, 'allow' | 'pattern'>[],
  profile: Profile,
): Pattern[][] {
  const patterns: Pattern[][] = rules.map(() => []);
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

/** The pattern of an item; see `readPattern` of kernel/assembly/compile/item.ts. */
function patternAt(memory: RuleMemory, item: number): Pattern {
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
