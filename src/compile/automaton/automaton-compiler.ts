import {
  COMPILE_FIRST_LINE,
  ITEM_FORM,
  ITEM_TEXT_BYTES,
  ITEM_WRITTEN,
  ITEM_WRITTEN_END,
} from '../../kernel/compile-layout.js';
import type { Profile } from '../../protocol/profile.js';
import type { RulePlaces } from '../../protocol/rule-places.js';
import { RULE_TEXT } from '../../table/format.js';
import { BLOCK, type RuleMemory, ruleMemory } from './rule-memory.js';

/** Compiles groups of rules into automata, one after another in the same memory. */
export class AutomatonCompiler {
  /** The line that the lines of the last automaton's rules are relative to. */
  firstLine = 0;

  /**
   * Compiles the rules from number `from` to `to`; returns the automaton, which the next call for
   * any compiler overwrites. `undefined` if none of the rules can match.
   */
  compile(places: RulePlaces, from: number, to: number, profile: Profile): Uint8Array | undefined {
    if (from === to) return undefined;
    const memory = ruleMemory();
    const unwritten = memory.load(places, from, to, profile);
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
