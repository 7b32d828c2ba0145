import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCorpus } from '../../../bench/corpus/corpus.js';
import { rulesAt, ZipfRanks } from '../../../bench/corpus/distribution.js';
import type { CorpusOptions, CorpusSummary } from '../../../bench/corpus/options.js';
import { Random } from '../../../bench/corpus/random.js';

const OPTIONS = { seed: 7, hosts: 2000, urls: 20_000, robots: 'both' } as const;

let directory: string;
let summary: CorpusSummary;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'robots-filter-corpus-'));
  summary = writeCorpus(join(directory, 'first'), OPTIONS);
});

afterAll(() => rmSync(directory, { recursive: true }));

describe('robots.txt files', () => {
  it('have as many rules as real files at every step of the distribution', () => {
    const counts = bodies()
      .map((body) => rulesOf(body).length)
      .sort((a, b) => a - b);
    const at = (share: number) => counts[Math.floor(share * counts.length)] ?? 0;
    expect(counts.filter((count) => count === 0).length / counts.length).toBeCloseTo(0.151, 2);
    const steps = [
      [0.5, 9],
      [0.75, 14],
      [0.9, 52],
      [0.95, 90],
      [0.99, 362],
    ] as const;
    for (const [share, rules] of steps) {
      expect(at(share), `at ${share}`).toBeGreaterThanOrEqual(Math.floor(rules * 0.85));
      expect(at(share), `at ${share}`).toBeLessThanOrEqual(Math.ceil(rules * 1.15));
    }
    expect(counts.at(-1)).toBeLessThanOrEqual(5000);
    expect(counts.reduce((sum, count) => sum + count)).toBe(summary.rules);
  });

  it('hold wildcards, anchors, escapes and queries as often as real patterns do', () => {
    const patterns = bodies().flatMap(rulesOf);
    const share = (test: (pattern: string) => boolean) =>
      patterns.filter(test).length / patterns.length;
    expect(patterns.length).toBeGreaterThan(50_000);
    expect(Math.abs(share((pattern) => pattern.includes('*')) - 0.259)).toBeLessThan(0.03);
    expect(Math.abs(share((pattern) => pattern.endsWith('$')) - 0.029)).toBeLessThan(0.01);
    expect(Math.abs(share((pattern) => /%[0-9A-Fa-f]{2}/.test(pattern)) - 0.053)).toBeLessThan(
      0.01,
    );
    expect(Math.abs(share((pattern) => pattern.includes('?')) - 0.071)).toBeLessThan(0.015);
  });

  it('are duplicates for half of the hosts', () => {
    expect(new Set(bodies()).size / bodies().length).toBeGreaterThan(0.45);
    expect(new Set(bodies()).size / bodies().length).toBeLessThanOrEqual(0.5);
  });

  it('have every kind of line end, byte order marks, HTML pages, several groups and named crawlers', () => {
    const all = bodies();
    const share = (test: (body: string) => boolean) => all.filter(test).length / all.length;
    expect(Math.abs(share((body) => body.startsWith('<!DOCTYPE html>')) - 0.09)).toBeLessThan(0.01);
    expect(share((body) => body.includes('\r\n'))).toBeGreaterThan(0.17);
    expect(share((body) => body.includes('\r\n'))).toBeLessThan(0.34);
    expect(share((body) => body.includes('\r') && !body.includes('\n'))).toBeGreaterThan(0);
    expect(share((body) => body.startsWith('\uFEFF'))).toBeGreaterThan(0);
    expect(share((body) => body.includes('Crawl-delay: '))).toBeGreaterThan(0.05);
    expect(share((body) => body.includes('Sitemap: '))).toBeGreaterThan(0.3);
    expect(share((body) => body.includes('GPTBot'))).toBeGreaterThan(0.07);
    expect(share((body) => body.split('\nUser-agent: *').length > 2)).toBeGreaterThan(0);
  });

  it('have the same text in NDJSON records', () => {
    const records = linesOf('first/robots.ndjson').map((line) => JSON.parse(line));
    expect(records).toHaveLength(OPTIONS.hosts);
    for (const { host, robots } of records) {
      expect(readFileSync(join(directory, 'first', 'robots', host), 'utf8')).toBe(robots);
    }
  });
});

describe('lists of URLs', () => {
  it('have the requested number of lines, as long as the lines of real lists', () => {
    expect(linesOf('first/urls.txt')).toHaveLength(OPTIONS.urls);
    expect(Math.abs(summary.textBytes / summary.urls - 55)).toBeLessThan(2);
  });

  it('have an unknown host in every tenth line and no URL in every thousandth', () => {
    const hosts = new Set(readdirSync(join(directory, 'first', 'robots')));
    const urls = linesOf('first/urls.txt').map((line) =>
      URL.canParse(line) ? new URL(line) : undefined,
    );
    const valid = urls.filter((url) => url?.protocol === 'https:' || url?.protocol === 'http:');
    const unknown = valid.filter((url) => !hosts.has(url?.hostname ?? ''));
    expect(unknown.length / urls.length).toBeCloseTo(0.1, 1);
    expect(unknown.length / urls.length).toBeGreaterThan(0.09);
    const invalid = urls.length - valid.length;
    expect(invalid).toBeGreaterThan(0);
    expect(invalid / urls.length).toBeLessThan(0.003);
  });

  it('name hosts by a flattened Zipf law: some far more often than others', () => {
    const random = new Random(3);
    const ranks = new ZipfRanks(1000);
    const drawn = new Uint32Array(1000);
    for (let draw = 0; draw < 100_000; draw++) {
      const rank = ranks.draw(random);
      drawn[rank] = (drawn[rank] ?? 0) + 1;
    }
    const sum = (from: number, to: number) => drawn.slice(from, to).reduce((a, b) => a + b, 0);
    let weights = 0;
    let first = 0;
    for (let rank = 0; rank < 1000; rank++) {
      weights += (rank + 30) ** -0.85;
      if (rank < 100) first += (rank + 30) ** -0.85;
    }
    expect(sum(0, 100) / 100_000).toBeCloseTo(first / weights, 2);
    expect(sum(900, 1000)).toBeGreaterThan(0);
  });
});

describe('a corpus', () => {
  const small = { ...OPTIONS, hosts: 100, urls: 1000 };

  it('is reproducible for the same options', () => {
    expect(hashOf('second', small)).toBe(hashOf('third', small));
  });

  it('differs for another seed', () => {
    expect(hashOf('second', small)).not.toBe(hashOf('third', { ...small, seed: 8 }));
  });

  it('has the same URLs, whatever the layout of its robots.txt files', () => {
    writeCorpus(join(directory, 'second'), small);
    writeCorpus(join(directory, 'third'), { ...small, robots: 'files' });
    expect(linesOf('third/urls.txt')).toEqual(linesOf('second/urls.txt'));
  });

  it('is the same on every machine (update this hash and the stored counts with the generator)', () => {
    expect(hashOf('first')).toBe(
      'ac5bd205287dbb2d73916f50c9eb335f04383386d5097f01f878c54362ffc730',
    );
  });

  it('may be tiny', () => {
    const tiny = writeCorpus(join(directory, 'tiny'), { seed: 1, hosts: 1, urls: 3 });
    expect(tiny).toMatchObject({ hosts: 1, bodies: 1, urls: 3 });
    expect(linesOf('tiny/urls.txt')).toHaveLength(3);
  });
});

describe('rulesAt', () => {
  it('rises from no rules to the given maximum', () => {
    expect(rulesAt(0.1, 5000)).toBe(0);
    expect(rulesAt(0.5, 5000)).toBe(9);
    expect(rulesAt(1, 5000)).toBe(5000);
    expect(rulesAt(1, 47_064)).toBe(47_064);
    expect(rulesAt(1, 100)).toBe(100);
    for (let share = 0.2; share < 1; share += 0.01) {
      expect(rulesAt(share + 0.005, 5000)).toBeGreaterThanOrEqual(rulesAt(share, 5000));
    }
  });
});

function bodies(): string[] {
  const robots = join(directory, 'first', 'robots');
  return readdirSync(robots).map((name) => readFileSync(join(robots, name), 'utf8'));
}

/** The patterns of a generated file. Its lines are regular except for their ends and spellings. */
function rulesOf(body: string): string[] {
  return body
    .split(/\r\n|\r|\n/)
    .map((line) => /^(?:dis)?allow: ?([^#]*)/i.exec(line)?.[1]?.trim())
    .filter((pattern) => pattern !== undefined);
}

function linesOf(name: string): string[] {
  return readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
}

/** @param options options of the corpus, which is made first */
function hashOf(name: string, options?: CorpusOptions): string {
  if (options !== undefined) writeCorpus(join(directory, name), options);
  const hash = createHash('sha256');
  const robots = join(directory, name, 'robots');
  for (const host of readdirSync(robots).sort()) {
    hash.update(host).update(readFileSync(join(robots, host)));
  }
  hash.update(readFileSync(join(directory, name, 'urls.txt')));
  return hash.digest('hex');
}
