import { describe, expect, it } from 'vitest';
import type { Result } from '../../../bench/measure/runs.js';
import { peakMemory, RATIOS, ratioRow } from '../../../bench/report/ratios.js';

function result(id: string, seconds: readonly number[], records = 1000, peakBytes = 0): Result {
  const run = () => Promise.reject(new Error('not run in a test'));
  const measured = { id, name: id, kind: 'ours', records, bytes: records * 100, run } as const;
  return { case: measured, seconds, cpuSeconds: [], peakBytes };
}

function rowOf(id: string, results: readonly Result[]) {
  const ratio = RATIOS.find((each) => each.id === id);
  if (ratio === undefined) throw new RangeError(`no ratio ${id}`);
  return ratioRow(ratio, results);
}

describe('a ratio', () => {
  it('is computed in each run; the median and the spread are those of the ratios', () => {
    const results = [result('text', [5, 1, 3]), result('md5-text', [2, 2, 1])];
    expect(rowOf('text', results)).toMatchObject({ median: 2.5, least: 0.5, greatest: 3 });
  });

  it('compares URLs per second if the numbers of URLs differ', () => {
    const results = [result('short-first', [1], 8000), result('robots-parser-ndjson', [2], 100)];
    expect(rowOf('today', results).median).toBeCloseTo(160);
  });

  it('excludes opening the table on both sides and compares the time for each URL', () => {
    const results = [
      result('text', [3], 2000),
      result('text-one', [1], 1),
      result('million-text', [7], 1000),
      result('million-one', [4], 1),
    ];
    expect(rowOf('hosts', results).median).toBeCloseTo(3);
  });

  it('needs the cases that it compares', () => {
    expect(() => rowOf('text', [result('text', [1])])).toThrow('no case md5-text was run');
  });

  it('has a unique name', () => {
    expect(new Set(RATIOS.map(({ id }) => id)).size).toBe(RATIOS.length);
  });
});

describe('peak memory', () => {
  it('is that of the most demanding filter run, without compiling', () => {
    const runs = { text: 90e6, pipe: 150e6, compile: 9e9 };
    const results = Object.entries(runs).map(([id, bytes]) => result(id, [1], 1, bytes));
    expect(peakMemory(results)).toEqual({ bytes: 150e6, id: 'pipe' });
  });
});
