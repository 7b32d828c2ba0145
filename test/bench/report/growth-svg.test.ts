import { describe, expect, it } from 'vitest';
import { drawGrowth } from '../../../bench/report/growth-svg.js';
import { RECORDS, result } from './sample-records.js';

const RECORD = {
  ...RECORDS.growth,
  results: [
    result('records of 64 B', 'f', 'ours', 1_000_000, 0.15),
    result('records of 1024 B', 'f', 'ours', 1_000_000, 0.45),
    result('1 agents', 'f', 'ours', 1_000_000, 0.25),
    result('64 agents', 'f', 'ours', 1_000_000, 0.85),
    result('1 threads, file', 'f', 'ours', 1_000_000, 0.3),
    result('1 threads, pipe', 'f', 'ours', 1_000_000, 0.9),
    result('start-up', 'f', 'ours', 1, 0.05),
  ],
};

describe('the curves of a record', () => {
  const svg = drawGrowth(RECORD);

  it('have a point for each case, with its nanoseconds without start-up and its spread', () => {
    const values = [...svg.matchAll(/class="value"[^>]*>(\d+)</g)].map(([, value]) => value);
    expect(values).toEqual(['100', '400', '200', '800']);
    expect(svg.match(/class="spread" d=/g)).toHaveLength(4);
  });

  it('place a point by its value: a quarter of the greatest is a quarter as high', () => {
    const base = Number(/class="base" d="M\d+ (\d+)/.exec(svg)?.[1]);
    const heights = [...svg.matchAll(/cy="([\d.]+)"/g)].map(([, y]) => base - Number(y));
    expect((heights[0] ?? 0) / (heights[1] ?? 1)).toBeCloseTo(0.25, 2);
  });

  it('leave out what has fewer than two points', () => {
    expect(svg).not.toContain('by hosts');
    expect(svg).not.toContain('by threads');
  });

  it('are reproducible, well-formed and self-contained', () => {
    expect(drawGrowth(RECORD)).toBe(svg);
    expect(svg).toContain('A &amp; B &lt;C&gt;');
    expect(svg.match(/https?:\/\/[^"']*/g)).toEqual(['http://www.w3.org/2000/svg']);
    expect(svg).not.toMatch(/url\(|<image|<script|NaN|undefined/);
  });
});
