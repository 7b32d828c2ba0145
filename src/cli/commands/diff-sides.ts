import type { Judgement } from '../../kernel/judge.js';
import type { Agent } from '../../protocol/agent.js';
import type { Table } from '../../table.js';

/** The two tables of a diff, and what is asked of them. */
export interface DiffSides {
  readonly old: Table;
  readonly new: Table;
  readonly agents: readonly Agent[];
}

/** The rule that decided, with its line, or the reason. */
export function causeOf({ rule, reason }: Judgement): string {
  return rule === undefined ? reason : `${rule.text} (line ${rule.line})`;
}
