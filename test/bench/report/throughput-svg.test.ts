import { describe, expect, it } from 'vitest';
import { drawThroughput } from '../../../bench/report/throughput-svg.js';
import { RECORDS, result } from './sample-records.js';

describe('the chart of a record', () => {
  const svg = drawThroughput(RECORDS.throughput);
  const bars = [...svg.matchAll(/<rect class="(\w+)" x="(\d+)".* width="([\d.]+)"/g)].map(
    ([, kind, start, width]) => ({ kind, start: Number(start), width: Number(width) }),
  );

  it('has a bar for each case, in proportion to its rate, and prints the rate', () => {
    expect(bars.map(({ kind }) => kind)).toEqual([
      'ours',
      'ours',
      'floor',
      'ours',
      'competitor',
      'competitor',
    ]);
    const [text, pipe, , oneThread, fast] = bars.map(({ width }) => width);
    expect((pipe ?? 0) / (text ?? 1)).toBeCloseTo(0.5, 2);
    expect((oneThread ?? 0) / (text ?? 1)).toBeCloseTo(0.5, 2);
    expect((fast ?? 0) / (text ?? 1)).toBeCloseTo(0.02, 2);
    expect(svg).toContain('>10.0<');
    expect(svg).toContain('>0.20<');
  });

  it('compares a library on one thread with the filter on one thread', () => {
    expect(svg).toContain('1/25 of robots-filter');
    expect(svg).toContain('1/50 of robots-filter');
  });

  it('draws the spread from the slowest to the fastest run', () => {
    const [text] = bars;
    const [, from, to] = /<path class="spread" d="M([\d.]+) [\d.]+H([\d.]+)"/.exec(svg) ?? [];
    const length = (end: string | undefined) => Number(end) - (text?.start ?? 0);
    expect(length(from) / (text?.width ?? 1)).toBeCloseTo(1 / 1.25, 2);
    expect(length(to) / (text?.width ?? 1)).toBeCloseTo(1.25, 2);
  });

  it('compares programs over the same rows with the filter over these rows', () => {
    const rows = [
      result('index-middle', 'robots-filter', 'ours', 2_000_000, 1),
      result('duckdb-extract', 'DuckDB', 'competitor', 2_000_000, 1.5),
      result('jq-extract', 'jq', 'competitor', 200_000, 2),
    ];
    const both = drawThroughput({
      ...RECORDS.throughput,
      results: [...RECORDS.throughput.results, ...rows],
    });
    expect(both).toContain('1/1.5 of robots-filter');
    expect(both).toContain('1/20 of robots-filter');
    expect(both.match(/>DuckDB|>jq/g)).toHaveLength(2);
  });

  it('draws a floor that is faster than the filter on the same scale', () => {
    const faster = [result('md5-text', 'md5sum f.txt', 'floor', 8_000_000, 0.4)];
    const both = drawThroughput({
      ...RECORDS.throughput,
      results: [...RECORDS.throughput.results, ...faster],
    });
    const rects = [...both.matchAll(/<rect class="(\w+)" x="(\d+)".* width="([\d.]+)"/g)];
    const [text, , floor] = rects.map(([, , , width]) => Number(width));
    expect((floor ?? 0) / (text ?? 1)).toBeCloseTo(2, 2);
    expect(
      Math.max(...rects.map(([, , start, width]) => Number(start) + Number(width))),
    ).toBeLessThan(880);
  });

  it('leaves out wc -l, beside which all other bars would be too short', () => {
    expect(svg).not.toContain('wc -l');
  });

  it('lists each library once, the fastest first', () => {
    expect(svg.indexOf('a fast library')).toBeGreaterThan(0);
    expect(svg.indexOf('a fast library')).toBeLessThan(svg.indexOf('a slow library'));
    expect(svg).not.toContain('from NDJSON');
  });

  it('is reproducible, well-formed and self-contained', () => {
    expect(drawThroughput(RECORDS.throughput)).toBe(svg);
    expect(svg).toContain('A &amp; B &lt;C&gt;');
    expect(svg).toContain('robots-filter 1.2.3');
    expect(svg).toContain('median of 3 whole runs');
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg.match(/https?:\/\/[^"']*/g)).toEqual(['http://www.w3.org/2000/svg']);
    expect(svg).not.toMatch(/url\(|<image|<script|NaN|undefined/);
  });
});
