import { ASTERISK } from '../../ascii.js';
import {
  ITEM_END,
  ITEM_KIND,
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
import { RuleMemory } from './rule-memory.js';

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

let memory: RuleMemory | undefined;

/**
 * The patterns of a rule: none if it can match no text, because its pattern is empty or starts with
 * neither `/` nor `*`. In the google profile an allow rule whose last path segment starts with
 * `/index.htm` has two (spec notes, section 2, point 10). The kernel reads them, as it does for
 * automata.
 */
export function patternsOf(rule: Pick<Rule, 'allow' | 'pattern'>, profile: Profile): Pattern[] {
  memory ??= new RuleMemory();
  const { length } = rule.pattern;
  const places = new RulePlaces(rule.pattern);
  places.add(rule.allow, 0, length, 1);
  memory.load(places, 0, 1, profile);
  const own = memory;
  return Array.from({ length: memory.rules }, (_, index) => patternAt(own, own.item(index)));
}

/** The pattern of an item; see `readPattern` of kernel/assembly/compile/item.ts. */
function patternAt(memory: RuleMemory, item: number): Pattern {
  const [start, prefixEnd, end] = [ITEM_START, ITEM_PREFIX_END, ITEM_END].map((field) =>
    memory.word(item + field),
  );
  const kind = memory.word(item + ITEM_KIND);
  const twoForms = memory.word(item + ITEM_TWO_FORMS) !== 0;
  return {
    bytes: memory.word(item + ITEM_RANK) >>> 1,
    prefix: memory.bytes.slice(start, prefixEnd),
    segments: segmentsOf(memory.bytes.slice(prefixEnd, end), twoForms),
    anchored: kind === KIND_END || kind === KIND_WILDCARDS_END,
    twoForms,
  };
}

/** @param rest the canonical form after the prefix */
function segmentsOf(rest: Uint8Array, twoForms: boolean): Segment[] {
  const segments: Segment[] = [];
  for (let at = 0; at < rest.length; ) {
    const next = rest.indexOf(ASTERISK, at + 1);
    const end = next < 0 ? rest.length : next;
    const forms = rest.subarray(at + 1, end);
    const second = twoForms ? forms.indexOf(SECOND_FORM) : -1;
    segments.push({
      first: second < 0 ? forms : forms.subarray(0, second),
      second: second < 0 ? undefined : forms.subarray(second + 1),
    });
    at = end;
  }
  return segments;
}
