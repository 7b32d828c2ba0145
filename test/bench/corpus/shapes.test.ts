import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCorpus } from '../../../bench/corpus/corpus.js';
import { writeRecords } from '../../../bench/corpus/records.js';
import { PLACES, SHAPES, type ShapeName } from '../../../bench/corpus/shapes.js';

let directory: string;
let urls: string[];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'robots-filter-shapes-'));
  writeCorpus(join(directory, 'corpus'), { seed: 7, hosts: 200, urls: 2000 });
  urls = linesOf('corpus/urls.txt');
});

afterAll(() => rmSync(directory, { recursive: true }));

function linesOf(name: string): string[] {
  return readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
}

function recordsOf(text: string, shape: ShapeName, place: (typeof PLACES)[number]): string[] {
  writeRecords(join(directory, text), join(directory, 'records'), { shape, place, seed: 7 });
  return linesOf('records');
}

/** The value of the member at a path. */
function memberOf(record: string, path: string): unknown {
  return path.split('.').reduce((value, key) => value[key], JSON.parse(record));
}

describe.each(Object.keys(SHAPES) as ShapeName[])('%s records', (name) => {
  const { meanBytes, urlField } = SHAPES[name];

  it.each(PLACES)('are JSON of their nominal size with the URL %s', (place) => {
    const records = recordsOf('corpus/urls.txt', name, place);
    expect(records.map((record) => memberOf(record, urlField))).toEqual(urls);
    const bytes = records.reduce((sum, record) => sum + Buffer.byteLength(record) + 1, 0);
    expect(Math.abs(bytes / records.length / meanBytes - 1)).toBeLessThan(0.03);
  });

  it('have the URL in the stated place', () => {
    const share = (record: string, url: string) => record.lastIndexOf(url) / record.length;
    const shareAt = (place: (typeof PLACES)[number]) => {
      const records = recordsOf('corpus/urls.txt', name, place);
      return (
        records.reduce((sum, record, index) => sum + share(record, urls[index] ?? ''), 0) /
        urls.length
      );
    };
    expect(shareAt('first')).toBeLessThan(shareAt('middle'));
    expect(shareAt('middle')).toBeLessThan(shareAt('last'));
  });

  it('hold any URL', () => {
    const odd = [
      'https://h.example/"a\\b"',
      'https://h.example/\u0007',
      'https://h.example/\u00e9',
    ];
    writeFileSync(join(directory, 'odd.txt'), odd.map((url) => `${url}\n`.repeat(50)).join(''));
    const records = recordsOf('odd.txt', name, 'middle');
    expect(new Set(records.map((record) => memberOf(record, urlField)))).toEqual(new Set(odd));
  });
});

describe('short records', () => {
  it('have rare spellings now and then', () => {
    const plain = recordsOf('corpus/urls.txt', 'short', 'first').filter((record) =>
      /^\{"url":"[^"\\]*","id":\d+,"depth":\d,"seen":\d+\}$/.test(record),
    );
    expect(plain.length / urls.length).toBeCloseTo(0.965, 1);
    expect(plain.length).toBeLessThan(urls.length);
  });
});
