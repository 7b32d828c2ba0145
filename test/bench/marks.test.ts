import { describe, expect, it } from 'vitest';
import { Figures, MARKS, rowOf, standingOf } from '../../bench/marks.js';
import type { Result } from '../../bench/rounds.js';

function result(id: string, seconds: readonly number[], records = 1000, peakOctets = 0): Result {
  const run = () => Promise.reject(new Error('not run in a test'));
  return {
    case: { id, name: id, kind: 'ours', records, octets: records * 100, run },
    seconds,
    peakOctets,
  };
}

function markOf(id: string) {
  const mark = MARKS.find((each) => each.id === id);
  if (mark === undefined) throw new RangeError(`no mark ${id}`);
  return mark;
}

describe('a mark', () => {
  it('is a ratio of medians', () => {
    const figures = new Figures(
      [result('ndjson', [5, 1, 1.1]), result('yardstick', [2, 2.2, 9])],
      new Map(),
    );
    const row = rowOf(markOf('ndjson'), figures);
    expect(row.value).toBeCloseTo(1.1 / 2.2);
    expect(row.byLeast).toBeCloseTo(1 / 2);
    expect(row.standing).toBe('reached');
  });

  it('compares URLs in a second where the counts of URLs differ', () => {
    const figures = new Figures(
      [result('ndjson', [1], 8000), result('robots-parser-ndjson', [2], 100)],
      new Map(),
    );
    expect(rowOf(markOf('today'), figures).value).toBeCloseTo(160);
  });

  it('leaves loading out on both sides', () => {
    const cases = { text: 3, 'text-one': 1, 'million-text': 7, 'million-one': 4 };
    const results = Object.entries(cases).map(([id, seconds]) => result(id, [seconds]));
    expect(rowOf(markOf('hosts'), new Figures(results, new Map())).value).toBeCloseTo(1.5);
  });

  it('takes the most memory of all runs of the filter', () => {
    const figures = new Figures(
      [result('text', [1], 1, 90e6), result('pipe', [1], 1, 150e6), result('compile', [1], 1, 9e9)],
      new Map(),
    );
    expect(figures.peak()).toEqual({ octets: 150e6, id: 'pipe' });
  });

  it('stands by its limits, less or more as it says', () => {
    const wall = markOf('ndjson');
    expect([0.45, 0.46, 0.6, 0.61].map((value) => standingOf(wall, value))).toEqual([
      'aim reached',
      'reached',
      'reached',
      'not reached',
    ]);
    const files = markOf('compile');
    expect([80_000, 79_999, 39_999].map((value) => standingOf(files, value))).toEqual([
      'aim reached',
      'reached',
      'not reached',
    ]);
  });

  it('has a name of its own', () => {
    expect(new Set(MARKS.map(({ id }) => id)).size).toBe(MARKS.length);
  });
});
