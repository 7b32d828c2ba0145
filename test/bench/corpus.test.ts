import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CorpusSummary, writeCorpus } from '../../bench/corpus/corpus.js';
import { rulesAt, ZipfRanks } from '../../bench/corpus/distribution.js';
import { Random } from '../../bench/corpus/random.js';

const OPTIONS = { seed: 7, hosts: 2000, urls: 20_000, robots: 'both' } as const;

let directory: string;
let summary: CorpusSummary;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'robots-filter-corpus-'));
  summary = writeCorpus(join(directory, 'first'), OPTIONS);
});

afterAll(() => rmSync(directory, { recursive: true }));

describe('robots.txt files', () => {
  it('have as many rules as real ones at every step of the distribution', () => {
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

  it('hold wildcards, anchors, escapes and queries in the shares of real patterns', () => {
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

  it('are duplicates of another for half of the hosts', () => {
    expect(new Set(bodies()).size / bodies().length).toBeGreaterThan(0.45);
    expect(new Set(bodies()).size / bodies().length).toBeLessThanOrEqual(0.5);
  });

  it('come with every line end, marks, HTML pages, several groups and crawlers by name', () => {
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

  it('are the same as records of NDJSON', () => {
    const records = linesOf('first/robots.ndjson').map((line) => JSON.parse(line));
    expect(records).toHaveLength(OPTIONS.hosts);
    for (const { host, robots } of records) {
      expect(readFileSync(join(directory, 'first', 'robots', host), 'utf8')).toBe(robots);
    }
  });
});

describe('lists of URLs', () => {
  it('are the same as text and as NDJSON, whatever the records look like', () => {
    const urls = linesOf('first/urls.txt');
    const records = linesOf('first/urls.ndjson');
    expect(urls).toHaveLength(OPTIONS.urls);
    expect(records.map((line) => JSON.parse(line).url)).toEqual(urls);
    const plain = records.filter(
      (line) =>
        /^\{"url":"[^"\\]*","depth":[^{}\\]*\}$/.test(line) && line.split('"url"').length === 2,
    );
    expect(plain.length / records.length).toBeCloseTo(0.965, 2);
    expect(plain.length).toBeLessThan(records.length);
  });

  it('have lines of about 84 and 138 octets', () => {
    expect(Math.abs(summary.textOctets / summary.urls - 84)).toBeLessThan(2);
    expect(Math.abs(summary.ndjsonOctets / summary.urls - 138)).toBeLessThan(3);
  });

  it('name unknown hosts in every tenth line and no URL in every thousandth', () => {
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

  it('ask for some hosts far more often than for others, as a flattened Zipf law says', () => {
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
  it('is the same again for the same options', () => {
    writeCorpus(join(directory, 'second'), OPTIONS);
    expect(hashOf('second')).toBe(hashOf('first'));
  });

  it('is another one for another seed', () => {
    writeCorpus(join(directory, 'third'), { ...OPTIONS, seed: 8 });
    expect(hashOf('third')).not.toBe(hashOf('first'));
  });

  it('keeps its URLs when its robots.txt files are written in another form', () => {
    writeCorpus(join(directory, 'fourth'), { ...OPTIONS, robots: 'files' });
    expect(linesOf('fourth/urls.txt')).toEqual(linesOf('first/urls.txt'));
  });

  it('is the same on every machine: change this hash with the generator, and the stored counts with it', () => {
    expect(hashOf('first')).toBe(
      'b30c773a296a7da7ace1f46f6572e4caa58fecbec782768840d2aeb5156d539a',
    );
  });

  it('may be tiny', () => {
    const tiny = writeCorpus(join(directory, 'tiny'), { seed: 1, hosts: 1, urls: 3 });
    expect(tiny).toMatchObject({ hosts: 1, bodies: 1, urls: 3 });
    expect(linesOf('tiny/urls.txt')).toHaveLength(3);
  });
});

describe('rulesAt', () => {
  it('rises from none to the maximum that it is given', () => {
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

/** The patterns of a generated file, whose lines have no surprises but their ends and spellings. */
function rulesOf(body: string): string[] {
  return body
    .split(/\r\n|\r|\n/)
    .map((line) => /^(?:dis)?allow: ?([^#]*)/i.exec(line)?.[1]?.trim())
    .filter((pattern) => pattern !== undefined);
}

function linesOf(name: string): string[] {
  return readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
}

function hashOf(name: string): string {
  const hash = createHash('sha256');
  const robots = join(directory, name, 'robots');
  for (const host of readdirSync(robots).sort()) {
    hash.update(host).update(readFileSync(join(robots, host)));
  }
  for (const list of ['urls.txt', 'urls.ndjson']) {
    hash.update(readFileSync(join(directory, name, list)));
  }
  return hash.digest('hex');
}
