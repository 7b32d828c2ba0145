import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checksum } from '../../src/kernel/hashes.js';
import { Table } from '../../src/library/index.js';
import { OLDEST_VERSION, VERSION } from '../../src/table/format.js';
import { ROOT } from '../docs/scratch.js';

const HEADER_VERSION = 8;
const CHECKSUM = 20;

/** Tables of fixtures/robots that the last builds of versions 7 and 8 wrote. */
const VERSION_7 = join(ROOT, 'fixtures/tables/version-7.table.gz');
const VERSION_8 = join(ROOT, 'fixtures/tables/version-8.table.gz');

/** What it says, decided by literals, wildcards, encodings, ports, schemes and addresses. */
const EXPECTED: readonly [url: string, agent: string, verdict: string, line: number | undefined][] =
  [
    ['https://www.example.com/admin/', 'Any', 'deny', 3],
    ['https://www.example.com/search/about', 'Any', 'allow', 6],
    ['https://www.example.com/robots.txt', 'Any', 'allow', undefined],
    ['https://encoded.example/%7ejoe/index.html', 'Any', 'deny', 3],
    ['https://encoded.example/stra%C3%9Fe/1', 'Any', 'deny', 7],
    ['https://anchors.example/?', 'Any', 'deny', 5],
    ['https://queries.example/x?u=/a', 'Any', 'deny', 6],
    ['https://model-crawlers.example/members/', 'GPTBot', 'deny', 12],
    ['ftp://mirror.example.net/pub/old/1', 'Any', 'deny', 2],
    ['https://intranet.test:8443/payroll/', 'Any', 'deny', 2],
    ['http://3221225994/router/', 'Any', 'deny', 2],
    ['https://nowhere.example/', 'Any', 'unknown', undefined],
  ];

let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'robots-filter-versions-'));
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('versions of tables', () => {
  it('are 7 to 9, and 11', () => {
    expect([OLDEST_VERSION, VERSION]).toEqual([7, 11]);
  });

  it.each([
    [7, VERSION_7],
    [8, VERSION_8],
  ])('a table of version %i is opened, verified, and answers as it did', async (version, path) => {
    const table = await Table.open(path, { verify: true });
    expect(table.bytes[HEADER_VERSION]).toBe(version);
    expect([table.hosts, table.profile]).toEqual([68, 'rfc9309']);
    const answers = EXPECTED.map(([url, agent]) => {
      const { verdict, rule } = table.verdict(url, agent);
      return [url, agent, verdict, rule?.line];
    });
    expect(answers).toEqual(EXPECTED);
  });

  it('has records in version 8', async () => {
    const table = await Table.open(VERSION_8);
    expect(table.sitemaps('https://www.example.com/').length).toBeGreaterThan(0);
  });

  it('has no records in version 7, and says so', async () => {
    const table = await Table.open(VERSION_7);
    expect(() => table.sitemaps('https://www.example.com/')).toThrow(/--records|records: true/);
  });

  it.each([
    [6, 'the table is older: got v6, this build reads v7 to v9 and v11: compile it again'],
    [10, 'the table is older: got v10, this build reads v7 to v9 and v11: compile it again'],
    [12, 'the table is newer: got v12, this build reads v7 to v9 and v11: upgrade robots-filter'],
  ])('version %i is refused', async (version, message) => {
    const bytes = (await Table.open(VERSION_7)).bytes.slice();
    const view = new DataView(bytes.buffer);
    view.setUint32(HEADER_VERSION, version, true);
    view.setUint32(CHECKSUM, checksum(bytes), true);
    const path = join(place, `${version}.table`);
    writeFileSync(path, bytes);
    await expect(Table.open(path)).rejects.toThrow(message);
  });
});
