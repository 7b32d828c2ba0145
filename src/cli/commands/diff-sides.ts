import type { Judgement } from '../../kernel/judge.js';
import type { Agent } from '../../protocol/agent.js';
import type { Table } from '../../table.js';

/** The two sides of a diff, and the agents that are asked about. */
export interface DiffSides<Side = Table> {
  readonly old: Side;
  readonly new: Side;
  readonly agents: readonly Agent[];
}

/** The rule that decided, with its line, or the reason. */
export function causeOf({ rule, reason }: Judgement): string {
  return rule === undefined ? reason : `${rule.text} (line ${rule.line})`;
}
