import { VERDICTS, type Verdict } from '../../src/protocol/verdict.js';

export type VerdictCounts = Record<Verdict, number>;

export function noVerdicts(): VerdictCounts {
  return { allow: 0, deny: 0, unknown: 0, invalid: 0 };
}

export function countsText(counts: VerdictCounts): string {
  return VERDICTS.map((word) => `${counts[word].toLocaleString('en')} ${word}`).join(', ');
}
