import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFigures } from '../../../bench/report/markdown.js';
import { newestRecords } from '../../../bench/report/newest-records.js';
import { drawRows, drawThroughput } from '../../../bench/report/throughput-svg.js';
import { RECORDS } from './sample-records.js';

function tableOf(name: string): string[][] {
  const page = withFigures(`<!-- figures: ${name} -->\nold\n<!-- /figures -->`, RECORDS);
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

describe('the figures of a page', () => {
  it('replace the text between the marks and nothing else', () => {
    const page = 'a <!-- figures: rate text -->old<!-- /figures --> b\n';
    const filled = 'a <!-- figures: rate text -->10.0<!-- /figures --> b\n';
    expect(withFigures(page, RECORDS)).toBe(filled);
    expect(withFigures(filled, RECORDS)).toBe(filled);
  });

  it('must have a known name and a case in the record', () => {
    const page = (name: string) => `<!-- figures: ${name} -->old<!-- /figures -->`;
    expect(() => withFigures(page('nosuch'), RECORDS)).toThrow('unknown figures nosuch');
    expect(() => withFigures(page('rate nosuch'), RECORDS)).toThrow('no case nosuch');
  });

  it('are unchanged if there is no record', () => {
    const page = '<!-- figures: growth -->old<!-- /figures -->';
    expect(withFigures(page, { ...RECORDS, growth: undefined })).toBe(page);
  });

  it('give median and spread of the filter and of the floors', () => {
    expect(tableOf('throughput').slice(1)).toEqual([
      ['text', '`robots-filter f.txt`', '100 B', '0.80 (0.64–1.00)', '10.0'],
      ['one-thread', '`robots-filter --threads 1 f.txt`', '100 B', '1.60 (1.28–2.00)', '5.0'],
      ['pipe', '`cat f \\| robots-filter`', '100 B', '1.60 (1.28–2.00)', '5.0'],
      ['md5-short', '`md5sum f.ndjson`', '100 B', '1.60 (1.28–2.00)', '5.0'],
      ['wc', '`wc -l f.ndjson`', '100 B', '0.00 (0.00–0.00)', '8000.0'],
    ]);
    expect(tableOf('ratios').at(-1)).toEqual(['text file', '0.50 (0.40–0.63)', '× md5sum']);
  });

  it('give rate, megabytes and memory of archives, formats and jobs, without the busy threads', () => {
    for (const name of ['warc', 'formats', 'jobs']) {
      expect(
        tableOf(name)
          .slice(1)
          .map((row) => row.slice(2)),
      ).toEqual([
        ['1,000,000', '20.00 (16.00–25.00)', '0.05', '5', '5'],
        ['1,000,000', '10.00 (8.00–12.50)', '0.10', '10', ''],
      ]);
      expect(tableOf(`${name}-ratios`).at(-1)).toEqual(['captures', '2.00 (1.60–2.50)', '× zcat']);
    }
  });

  it('list each library once, the fastest first, with its differing verdicts in 100,000', () => {
    expect(tableOf('libraries').slice(1)).toEqual([
      ['a fast library', '0.20', 'once', '–'],
      ['a slow library', '0.10', 'once', '1,234'],
    ]);
  });

  it('include growth, real data, load, compiling and the machine', () => {
    expect(tableOf('growth').at(-1)).toEqual(['1,000', '0.5 MB', '0.05 s', '111', '0.3 s']);
    expect(tableOf('real').at(-1)).toEqual([
      'real, grouped',
      '1,000,000',
      '0.50 (0.40–0.63)',
      '2.0',
    ]);
    expect(tableOf('machine')).toContainEqual(['processor', 'A & B <C>, 2 cores']);
    const line = (name: string) =>
      withFigures(`<!-- figures: ${name} --><!-- /figures -->`, RECORDS);
    expect(line('load')).toContain('104,000,000 records');
    expect(line('load')).toContain('in 21 s, with 175 MB at the peak');
    expect(line('compile')).toContain('in 20.0 (16.0–25.0) s (50,000 files/s)');
  });
});

describe('the pages of this project', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, '../../..', name), 'utf8');

  it.each(['README.md', 'docs/benchmarks.md'])(
    '%s has the figures of the newest records',
    (name) => {
      expect(read(name)).toContain('<!-- figures: ');
      expect(withFigures(read(name), newestRecords())).toBe(read(name));
    },
  );

  it('have tables whose rows have as many cells as their header', () => {
    const cells = (row: string) => row.split(/(?<!\\)\|/).length;
    const rows = read('docs/benchmarks.md').split('\n');
    let width = 0;
    for (const row of rows) {
      if (!row.startsWith('|')) width = 0;
      else if (width === 0) width = cells(row);
      else expect(cells(row), row).toBe(width);
    }
    expect(rows.filter((row) => row.startsWith('|')).length).toBeGreaterThan(50);
  });

  it('show the charts of the newest record', () => {
    const { throughput } = newestRecords();
    expect(throughput && drawThroughput(throughput)).toBe(read('docs/throughput.svg'));
    const rows = read('docs/rows.svg');
    expect(throughput && drawRows(throughput)).toBe(rows);
    expect(rows.match(/<rect /g)).toHaveLength(5);
  });
});
