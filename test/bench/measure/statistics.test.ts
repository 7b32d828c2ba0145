import { describe, expect, it } from 'vitest';
import { figureOf, median } from '../../../bench/measure/statistics.js';

describe('a figure', () => {
  it('is the median with the minimum and the maximum', () => {
    expect(figureOf([5, 1, 2])).toEqual({ median: 2, least: 1, greatest: 5 });
  });

  it('takes the mean of the two middle values', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('needs at least one value', () => {
    expect(() => figureOf([])).toThrow(RangeError);
  });
});
