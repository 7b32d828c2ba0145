import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ArchiveSummary,
  finishArchive,
  writeArchiveFiles,
} from '../../../bench/corpus/archives.js';
import { CapturePlan, type PlannedCapture } from '../../../bench/corpus/capture-plan.js';
import { INDEX_COLUMNS, indexRows } from '../../../bench/corpus/index-rows.js';
import { warcFileName } from '../../../bench/corpus/warc-file.js';
import { countIndex } from '../../../bench/verify/judges.js';
import { readCaptures } from '../../warc/read-captures.js';

const OPTIONS = { seed: 3, files: 4, captures: 2000 };
const plan = new CapturePlan(OPTIONS);
const planned: PlannedCapture[] = [];
for (let file = 0; file < OPTIONS.files; file++) {
  for (let place = 0; place < OPTIONS.captures / OPTIONS.files; place++) {
    planned.push(plan.capture(file, place));
  }
}

let directory: string;
let summary: ArchiveSummary;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'robots-filter-archives-'));
  const parts = [0, 1, 2].map((first) => writeArchiveFiles(directory, OPTIONS, { first, step: 3 }));
  summary = finishArchive(directory, OPTIONS, parts);
});

afterAll(() => rmSync(directory, { recursive: true }));

describe('generated captures', () => {
  it('have the statuses of real ones, in their shares', () => {
    const share = (test: (capture: PlannedCapture) => boolean) =>
      planned.filter(test).length / planned.length;
    const status = (from: number, to: number) =>
      share(({ reply }) => reply.status >= from && reply.status <= to);
    expect(status(200, 299)).toBeGreaterThan(0.25);
    expect(status(300, 399)).toBeGreaterThan(0.35);
    expect(status(400, 499)).toBeGreaterThan(0.1);
    expect(status(500, 599)).toBeGreaterThan(0.01);
    expect(share(({ reply }) => reply.body.toString().startsWith('<!DOCTYPE'))).toBeGreaterThan(
      0.1,
    );
    expect(share(({ url }) => !url.endsWith('/robots.txt'))).toBeGreaterThan(0);
  });

  it('hold redirects across hosts, and the same URL at several dates', () => {
    const across = planned.filter(({ url, reply: { location } }) => {
      return location !== undefined && new URL(location).host !== new URL(url).host;
    });
    expect(across.length).toBeGreaterThan(planned.length / 10);
    const urls = new Set(planned.map(({ url }) => url));
    expect(urls.size).toBe(planned.length * 0.8);
    expect(new Set(planned.map(({ url, date }) => `${url} ${date}`)).size).toBe(planned.length);
  });

  it('are the same on every machine (update this hash with the generator)', () => {
    expect(summary.sha256).toBe('ff60495aa5b0d79e43b32fba9c23cfd2dd4ddb336e6e4a3def4d0d888ec3ef2c');
  });

  it('come out of the files as they were planned', async () => {
    const read = [];
    for (let file = 0; file < OPTIONS.files; file++) {
      const bytes = readFileSync(join(directory, warcFileName(file)));
      const { captures, damage, broken } = await readCaptures(bytes, {
        kind: 'gzip',
        targets: new Set(planned.map(({ url }) => url)),
      });
      expect([...damage, ...broken]).toEqual([]);
      read.push(...captures);
      const text = gunzipSync(bytes).toString('latin1');
      expect(text.split('\r\nWARC-Type: request\r\n')).toHaveLength(501);
      expect(text.split('\r\nWARC-Type: metadata\r\n')).toHaveLength(501);
    }
    expect(read).toHaveLength(planned.length);
    for (const [index, { url, date, reply }] of planned.entries()) {
      expect(read[index]).toMatchObject({ url, date });
      if (reply.status === 200) expect(read[index]?.body).toBe(reply.body.toString('latin1'));
      if (reply.location !== undefined) expect(read[index]?.target).toBe(reply.location);
    }
  });

  it('need a number of captures that pairs of sites and files share', () => {
    expect(() => new CapturePlan({ ...OPTIONS, captures: 2001 })).toThrow(RangeError);
    expect(() => new CapturePlan({ ...OPTIONS, files: 7 })).toThrow(RangeError);
  });
});

describe('a generated index', () => {
  it('has as many rows as asked for, sorted by SURT, of known and unknown hosts', () => {
    const rows = [...indexRows(plan, 5000)];
    expect(rows).toHaveLength(5000);
    const keys = rows.map(({ values }) => String(values[0]));
    expect(keys.toSorted()).toEqual(keys);
    for (const { values, url, authority } of rows) {
      expect(values).toHaveLength(INDEX_COLUMNS.length);
      expect(new URL(url).href).toBe(url);
      expect(url.startsWith(`${authority}/`)).toBe(true);
    }
    const answers = rows.map(({ answer }) => answer().kind);
    for (const kind of ['body', 'unavailable', 'unreachable', 'unknown'] as const) {
      expect(answers.filter((each) => each === kind).length, kind).toBeGreaterThan(20);
    }
  });

  it('is the same each time, with the same verdicts', () => {
    const first = countIndex(plan, 2000, 'CCBot');
    expect(countIndex(new CapturePlan(OPTIONS), 2000, 'CCBot')).toEqual(first);
    expect(first.counts.invalid).toBe(0);
    expect(Math.min(first.counts.allow, first.counts.deny, first.counts.unknown)).toBeGreaterThan(
      100,
    );
    expect(first.sha256).not.toBe(
      countIndex(new CapturePlan({ ...OPTIONS, seed: 4 }), 2000, 'CCBot').sha256,
    );
  });
});
