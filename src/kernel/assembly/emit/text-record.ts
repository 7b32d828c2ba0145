/** Text records: verdicts, the line, and columns that explain the verdicts. */

import { TAB } from '../../../ascii';
import {
  FRAGMENT_REASONS,
  QUERY_AGENT_COUNT,
  QUERY_EXPLAIN,
  QUERY_FLAGS,
  RESULT_LINE,
  RESULT_OUTCOME,
  RESULT_RANK,
} from '../../layout';
import { decimal } from '../bytes/decimal';
import { pass } from './line';
import { agentOf, byte, fragment, resultOf, ruleText, tokenText, verdicts } from './parts';
import { sourceText } from './rule';

/** Writes verdicts and the line; with QUERY_EXPLAIN five additional columns for each agent. */
export function annotateText(query: usize, worker: usize, line: usize, to: usize): usize {
  to = verdicts(query, worker, to);
  return textColumns(query, worker, pass(line, to));
}

/** With QUERY_EXPLAIN writes for each agent reason, line, rule, agent, source, after tabs. */
export function textColumns(query: usize, worker: usize, to: usize): usize {
  return (load<u32>(query, QUERY_FLAGS) & QUERY_EXPLAIN) === 0 ? to : columns(query, worker, to);
}

function columns(query: usize, worker: usize, to: usize): usize {
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  for (let i = 0; i < agents; i++) {
    const result = resultOf(worker, i);
    const ruled = load<i32>(result, RESULT_RANK) !== 0;
    to = byte(TAB, to);
    to = fragment(query, FRAGMENT_REASONS + (load<i32>(result, RESULT_OUTCOME) & 15), to);
    to = byte(TAB, to);
    if (ruled) to = decimal(load<u32>(result, RESULT_LINE), to);
    to = byte(TAB, to);
    if (ruled) to = ruleText(query, result, to);
    to = byte(TAB, to);
    if (ruled) to = tokenText(agentOf(query, i), result, to);
    to = byte(TAB, to);
    to = sourceText(query, result, to);
  }
  return to;
}
