import { describe, expect, it } from 'vitest';
import type { ThroughputRecord } from '../../bench/record.js';
import { drawThroughput } from '../../bench/throughput-svg.js';

function result(id: string, name: string, kind: string, records: number, medianSeconds: number) {
  const seconds = [medianSeconds];
  return { id, name, kind, records, octets: 0, medianSeconds, seconds, peakOctets: undefined };
}

const RECORD: ThroughputRecord = {
  date: '2026-01-02T03:04:05.678Z',
  machine: {
    processor: 'A & B <C>',
    cores: 2,
    memoryOctets: 2 ** 34,
    system: 'linux',
    node: 'v20.20.0',
    commit: 'abcdef0',
    command: 'npm run bench:throughput --',
  },
  corpus: {
    options: { seed: 1, hosts: 5000, urls: 8_000_000 },
    hosts: 5000,
    bodies: 2500,
    rules: 1,
    robotsOctets: 1,
    urls: 8_000_000,
    unknown: 0,
    invalid: 0,
    textOctets: 1,
    ndjsonOctets: 1,
  },
  results: [
    result('text', '', 'ours', 8_000_000, 0.8),
    result('yardstick', 'md5sum f.ndjson', 'floor', 8_000_000, 1.6),
    result('slow', 'a slow one', 'competitor', 100_000, 1),
    result('fast', 'a fast one', 'competitor', 100_000, 0.5),
    result('fast-ndjson', 'the same, from NDJSON', 'competitor', 100_000, 0.5),
  ],
};

describe('the picture of a record', () => {
  const svg = drawThroughput(RECORD);

  it('has a bar for each, as long as it is fast, with its number', () => {
    const bars = [...svg.matchAll(/<rect class="(\w+)".* width="([\d.]+)"/g)];
    expect(bars.map(([, kind]) => kind)).toEqual(['ours', 'floor', 'competitor', 'competitor']);
    const lengths = bars.map(([, , width]) => Number(width));
    expect((lengths[1] ?? 0) / (lengths[0] ?? 1)).toBeCloseTo(0.5, 2);
    expect((lengths[2] ?? 0) / (lengths[0] ?? 1)).toBeCloseTo(0.02, 2);
    expect(svg).toContain('>10.0<');
    expect(svg).toContain('>0.20<');
    expect(svg).toContain('1/50 of the text file');
  });

  it('puts the faster competitor first, and none twice', () => {
    expect(svg.indexOf('a fast one')).toBeGreaterThan(0);
    expect(svg.indexOf('a fast one')).toBeLessThan(svg.indexOf('a slow one'));
    expect(svg).not.toContain('from NDJSON');
  });

  it('is the same again, well-formed, and needs nothing from outside', () => {
    expect(drawThroughput(RECORD)).toBe(svg);
    expect(svg).toContain('A &amp; B &lt;C&gt;');
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg.match(/https?:\/\/[^"']*/g)).toEqual(['http://www.w3.org/2000/svg']);
    expect(svg).not.toMatch(/url\(|<image|<script|NaN|undefined/);
  });
});
