import type { Group } from '../../src/protocol/robots-file.js';

/**
 * The line that the program reports if google/robotstxt names `line`. google/robotstxt also names
 * an empty rule, which matches every path with priority 0 and decides nothing. This program reports
 * only a rule that decides, else 0.
 */
export function decidingLine(groups: readonly Group[], line: number): number {
  for (const { rules } of groups) {
    for (const rule of rules) if (rule.line === line) return rule.pattern.length === 0 ? 0 : line;
  }
  return line;
}
