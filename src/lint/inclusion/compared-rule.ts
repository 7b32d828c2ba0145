import type { Pattern } from '../../compile/automaton/pattern.js';
import type { PatternAutomaton } from './pattern-automaton.js';

/** A rule as `findNeverDeciding` needs it. */
export interface ComparedRule {
  readonly allow: boolean;
  readonly pattern: Uint8Array;
}

/** A rule with its pattern. */
export interface Entry<Rule> {
  readonly rule: Rule;
  readonly pattern: Pattern;
  /** Position among the rules. */
  readonly index: number;
  readonly prefix: string;
  readonly isWildcard: boolean;
  automaton: PatternAutomaton | undefined;
}
