import { describe, expect, it } from 'vitest';
import type { Case } from '../../../bench/measure/runs.js';
import { interleaved, lossText, versionRows } from '../../../bench/report/versions.js';

function caseOf(id: string, name: string): Case {
  const run = () => Promise.reject(new Error('not run in a test'));
  return { id, name, kind: 'ours', records: 1, bytes: 1, run };
}

describe('two versions', () => {
  it('are listed side by side, case by case', () => {
    const after = [caseOf('a', 'new'), caseOf('b', 'new'), caseOf('c', 'new')];
    const cases = interleaved(after, [caseOf('b', 'old'), caseOf('a', 'old')]);
    expect(cases.map(({ id, name, kind }) => `${id} ${name} ${kind}`)).toEqual([
      'a new ours',
      'a (before) old before',
      'b new ours',
      'b (before) old before',
      'c new ours',
    ]);
  });

  it('are compared in each run', () => {
    const cases = interleaved([caseOf('a', 'new'), caseOf('c', 'new')], [caseOf('a', 'old')]);
    const times = [
      [3, 2, 1],
      [2, 2, 2],
      [9, 9, 9],
    ];
    const results = cases.map((each, index) => ({
      case: each,
      seconds: [1, 1, 1],
      cpuSeconds: times[index] ?? [],
      peakBytes: undefined,
    }));
    expect(versionRows(results)).toEqual([
      { id: 'a', before: 2, after: 2, median: 1, least: 0.5, greatest: 1.5 },
    ]);
  });

  it('a case that loses more than 3 % is named', () => {
    const row = { before: 1, after: 1, least: 1, greatest: 1.2 };
    const kept = { ...row, id: 'a', median: 1.03 };
    expect(lossText([kept])).toBe('no case takes more than 3 % more CPU time');
    expect(lossText([kept, { ...row, id: 'b', median: 1.031 }])).toContain('b (1.031)');
  });
});
