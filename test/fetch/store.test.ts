import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FetchResult } from '../../src/fetch/result.js';
import { Store } from '../../src/fetch/store.js';
import { Table } from '../../src/judge/table.js';
import { compileCache } from '../../src/pipeline/compile/compile-cache.js';
import { formatAuthority, parseAuthority } from '../../src/protocol/authority.js';
import { PROFILES, type Profile } from '../../src/protocol/verdict.js';
import { type CacheContent, cacheParts } from '../../src/sources/cache.js';
import { type Reading, readCache, readParts } from '../cache/read-cache.js';
import { authorityOf, EXAMPLE, fetchResult, ROBOTS } from './fetch-results.js';

const DAY = 24 * 60 * 60 * 1000;
const START = Date.UTC(2026, 0, 1);
const DIRECTORY = 'https/example.com';

let root: string;
let now: number;
let store: Store;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'robots-store-'));
  now = START;
  store = await Store.open(root, { now: () => now });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function resultOf(status: number | undefined, members: Partial<FetchResult> = {}): FetchResult {
  return fetchResult(now, status, members);
}

/** One fetch, as the schedule makes it. */
async function fetched(result: FetchResult): Promise<void> {
  const { state } = await store.load(result.authority);
  await store.save(result, state);
}

/** What the store holds, on the calling thread or read in the thread pool. */
async function readStore(concurrent: boolean): Promise<Reading> {
  const parts: CacheContent[] = [];
  for await (const part of cacheParts(root, false)) {
    parts.push(part.kind === 'names' ? { ...part, access: { ...part.access, concurrent } } : part);
  }
  return readParts(parts, { maxBodyBytes: 512_000 });
}

async function verdict(
  url = 'https://example.com/private',
  options: {
    stale?: 'use' | 'unknown';
    unreachableAfter?: number;
    profile?: Profile;
    maxRobotsBytes?: number;
  } = {},
): Promise<string> {
  const { layout } = await compileCache([root], {
    profile: options.profile ?? 'rfc9309',
    maxRobotsBytes: options.maxRobotsBytes,
    stale: options.stale,
    fetchReading: { now, unreachableAfter: options.unreachableAfter },
    onWarning: () => {},
  });
  const { verdict, reason } = Table.from(layout.table()).verdict(url, 'bot');
  return `${verdict} ${reason}`;
}

describe('RFC 9309 section 2.3.1: what a fetch came to is what the filter goes by', () => {
  it('2.3.1.1: successful: the rules', async () => {
    await fetched(resultOf(200));
    expect(await verdict()).toBe('deny rule');
    expect(await verdict('https://example.com/page')).toBe('allow no-rule');
  });

  it('2.3.1.1: successful without a body: no rules', async () => {
    await fetched(resultOf(204, { body: undefined }));
    expect(await verdict()).toBe('allow no-group');
  });

  it('2.3.1.3: unavailable: allow, and the copy that was is gone', async () => {
    await fetched(resultOf(200));
    await fetched(resultOf(404));
    expect(readdirSync(join(root, DIRECTORY))).toEqual(['robots.json']);
    expect(await verdict()).toBe('allow unavailable');
  });

  it('429: what each reader makes of it, and the copy stays for those that deny', async () => {
    await fetched(resultOf(200));
    await fetched(resultOf(429));
    expect(readdirSync(join(root, DIRECTORY))).toEqual(['robots.json', 'robots.txt']);
    const state = readFileSync(join(root, DIRECTORY, 'robots.json'), 'utf8');
    expect(state).toContain('"status": 429');
    expect(state).not.toContain('accessResult');
    expect(await verdict()).toBe('allow unavailable');
    expect(await verdict(undefined, { profile: 'google' })).toBe('deny unreachable');
    for (let day = 1; day <= 31; day++) {
      now = START + day * DAY;
      await fetched(resultOf(429));
    }
    now++;
    await fetched(resultOf(429));
    expect(await verdict()).toBe('allow unavailable');
    expect(await verdict(undefined, { profile: 'google' })).toBe('deny rule');
    await fetched(resultOf(404));
    expect(readdirSync(join(root, DIRECTORY))).toEqual(['robots.json']);
    expect(await verdict(undefined, { profile: 'google' })).toBe('allow unavailable');
  });

  it('429 and 503 in turn: one row of failures for those that deny both', async () => {
    await fetched(resultOf(200));
    for (let hour = 1; hour <= 13; hour++) {
      now = START + (hour * DAY) / 24;
      await fetched(resultOf(hour % 2 === 0 ? 429 : 503));
      expect(await verdict(undefined, { profile: 'google' })).toBe('deny unreachable');
    }
    now++;
    await fetched(resultOf(503));
    // The 12 hours are over for Google; elsewhere the 429 before was an answer.
    expect(await verdict(undefined, { profile: 'google' })).toBe('deny rule');
    expect(await verdict()).toBe('deny unreachable');
    for (let day = 1; day <= 31; day++) {
      now = START + day * DAY;
      await fetched(resultOf(day % 2 === 0 ? 503 : 429));
    }
    await fetched(resultOf(503));
    expect(await verdict()).toBe('deny unreachable');
    // An answer that is no failure anywhere ends the row.
    await fetched(resultOf(200));
    await fetched(resultOf(503));
    expect(await verdict(undefined, { profile: 'google' })).toBe('deny unreachable');
    expect(readFileSync(join(root, DIRECTORY, 'robots.json'), 'utf8')).not.toContain(
      'failingSince',
    );
  });

  it('429: what the user has chosen, in every profile', async () => {
    for (const accessResult of ['unavailable', 'unreachable'] as const) {
      await fetched(resultOf(429, { accessResult, isByProfile: false }));
      const meant = accessResult === 'unavailable' ? 'allow unavailable' : 'deny unreachable';
      for (const profile of PROFILES) expect(await verdict(undefined, { profile })).toBe(meant);
    }
  });

  it('2.3.1.4: unreachable: deny, whatever copy there is', async () => {
    await fetched(resultOf(200));
    await fetched(resultOf(503));
    expect(readdirSync(join(root, DIRECTORY))).toEqual(['robots.json', 'robots.txt']);
    expect(await verdict('https://example.com/page')).toBe('deny unreachable');
  });

  it('2.3.1.4: unreachable for more than 30 days: the last good copy', async () => {
    await fetched(resultOf(200));
    for (let day = 1; day <= 31; day += 3) {
      now = START + day * DAY;
      await fetched(resultOf(undefined));
      expect(await verdict('https://example.com/page')).toBe('deny unreachable');
    }
    now = START + 31 * DAY + 1;
    await fetched(resultOf(503));
    expect(await verdict('https://example.com/page')).toBe('allow no-rule');
    expect(await verdict()).toBe('deny rule');
    expect(await verdict('https://example.com/page', { unreachableAfter: 60 })).toBe(
      'deny unreachable',
    );
  });

  it('2.3.1.4: unreachable for more than 30 days, and no copy: unavailable', async () => {
    for (let day = 0; day <= 30; day += 3) {
      now = START + day * DAY;
      await fetched(resultOf(undefined));
      expect(await verdict()).toBe('deny unreachable');
    }
    now += 1;
    await fetched(resultOf(undefined));
    expect(await verdict()).toBe('allow unavailable');
  });

  it('google: unreachable for more than 12 hours: the last good copy, also after 30 days', async () => {
    const google = { profile: 'google' } as const;
    await fetched(resultOf(200));
    await fetched(resultOf(503));
    expect(await verdict(undefined, google)).toBe('deny unreachable');
    now = START + DAY / 2;
    await fetched(resultOf(undefined));
    expect(await verdict('https://example.com/page', google)).toBe('deny unreachable');
    now += 1;
    await fetched(resultOf(503));
    expect(await verdict('https://example.com/page', google)).toBe('allow no-rule');
    expect(await verdict(undefined, google)).toBe('deny rule');
    for (const profile of PROFILES.filter((name) => name !== 'google')) {
      expect(await verdict('https://example.com/page', { profile })).toBe('deny unreachable');
    }
    expect(await verdict(undefined, { ...google, unreachableAfter: 1 })).toBe('deny unreachable');
    now = START + 45 * DAY;
    await fetched(resultOf(503));
    expect(await verdict(undefined, google)).toBe('deny rule');
  });

  it('google: unreachable for more than 12 hours, and no copy: unavailable', async () => {
    await fetched(resultOf(undefined));
    now += DAY / 2 + 1;
    // Time alone proves nothing: the host may be back.
    expect(await verdict(undefined, { profile: 'google' })).toBe('deny unreachable');
    await fetched(resultOf(undefined));
    expect(await verdict(undefined, { profile: 'google' })).toBe('allow unavailable');
    expect(await verdict()).toBe('deny unreachable');
  });

  it('google: the days that fetch was given count in every profile', async () => {
    store = await Store.open(root, { now: () => now, unreachableAfter: 2 });
    await fetched(resultOf(503));
    now += DAY;
    await fetched(resultOf(503));
    expect(await verdict(undefined, { profile: 'google' })).toBe('deny unreachable');
    now += DAY + 1;
    await fetched(resultOf(503));
    for (const profile of PROFILES) {
      expect(await verdict(undefined, { profile })).toBe('allow unavailable');
    }
  });

  it('2.3.1.4: ten days with failed attempts are needed, of the last 30', async () => {
    await fetched(resultOf(503));
    // Nothing for a long time, then an attempt a day: they prove nothing until there are ten.
    for (let day = 400; day < 409; day++) {
      // However many there are on a day.
      for (const hour of [0, 5, 23]) {
        now = START + day * DAY + hour * 3_600_000;
        await fetched(resultOf(503));
        expect(await verdict()).toBe('deny unreachable');
      }
    }
    now = START + 409 * DAY;
    await fetched(resultOf(503));
    expect(await verdict()).toBe('allow unavailable');
    const text = readFileSync(join(root, DIRECTORY, 'robots.json'), 'utf8');
    expect(JSON.parse(text).failedOn).toHaveLength(10);
    expect(JSON.parse(text).failedOn[9]).toBe('2027-02-14');
    // Of these ten, all but one lie too far back.
    now = START + 439 * DAY;
    await fetched(resultOf(503));
    expect(await verdict()).toBe('deny unreachable');
  });

  it('2.3.1.4: two attempts far apart open nothing, nor does a state that knows of no others', async () => {
    await fetched(resultOf(undefined));
    now += 31 * DAY;
    await fetched(resultOf(undefined));
    expect(await verdict()).toBe('deny unreachable');
    const path = join(root, DIRECTORY, 'robots.json');
    const { failedOn: _failedOn, ...earlier } = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify(earlier));
    expect(await verdict()).toBe('deny unreachable');
    for (let day = 1; day <= 9; day++) {
      expect(await verdict()).toBe('deny unreachable');
      now += DAY;
      await fetched(resultOf(undefined));
    }
    expect(await verdict()).toBe('allow unavailable');
  });

  it('2.3.1.4: days of the future, as a wrong clock leaves them, do not count', async () => {
    await fetched(resultOf(503));
    for (let day = 500; day < 509; day++) {
      now = START + day * DAY;
      await fetched(resultOf(503));
    }
    now = START + 40 * DAY;
    await fetched(resultOf(503));
    expect(await verdict()).toBe('deny unreachable');
    expect((await store.load(EXAMPLE)).state?.failedOn).toEqual([START, START + 40 * DAY]);
  });

  it('2.3.1.4: of fewer days, attempts on every third', async () => {
    await fetched(resultOf(503));
    now += 7 * DAY;
    await fetched(resultOf(503));
    const options = { unreachableAfter: 6 };
    expect(await verdict(undefined, options)).toBe('deny unreachable');
    now += DAY;
    await fetched(resultOf(503));
    expect(await verdict(undefined, options)).toBe('allow unavailable');
    expect(await verdict(undefined, { unreachableAfter: 0 })).toBe('allow unavailable');
  });

  it('2.3.1.4: days without an attempt prove nothing, and an answer ends the count', async () => {
    await fetched(resultOf(503));
    now += 40 * DAY;
    expect(await verdict()).toBe('deny unreachable');
    await fetched(resultOf(404));
    now += DAY;
    await fetched(resultOf(503));
    expect(await verdict()).toBe('deny unreachable');
    expect((await store.load(EXAMPLE)).state?.failedOn).toHaveLength(1);
  });
});

describe('RFC 9309 section 2.5: a robots.txt that was cut', () => {
  const LIMIT = 512_000;
  const READINGS = [{}, { maxRobotsBytes: 1_000_000 }, { profile: 'google' }] as const;

  /**
   * What a fetch keeps of a robots.txt: the bytes up to the limit, of which `end` are the last,
   * and one more.
   */
  function cutBefore(end: string, next: string, encoding: BufferEncoding = 'latin1'): Buffer {
    const mark = encoding === 'utf16le' ? '\ufeff' : '';
    const head = `${mark}User-agent: *\nDisallow: /\n#`;
    const width = encoding === 'utf16le' ? 2 : 1;
    const filling = 'x'.repeat(LIMIT / width - head.length - end.length - 1);
    return Buffer.from(`${head}${filling}\n${end}${next}`, encoding).subarray(0, LIMIT + 1);
  }

  async function cutTo(body: Buffer): Promise<string[]> {
    await fetched(resultOf(200, { body, cut: true }));
    const verdicts: string[] = [];
    for (const reading of READINGS) verdicts.push(await verdict('https://example.com/x', reading));
    return verdicts;
  }

  it('the torn line is no rule, whatever the profile and the limit', async () => {
    expect(await cutTo(cutBefore('Allow: ', '/only-this'))).toEqual(Array(3).fill('deny rule'));
    expect(await cutTo(cutBefore('Allow: /', 'only-this'))).toEqual(Array(3).fill('deny rule'));
    const utf16 = await cutTo(cutBefore('Allow: /', 'only-this', 'utf16le'));
    expect(utf16.slice(0, 2)).toEqual(Array(2).fill('deny rule'));
  });

  it('a line whose end is the byte beyond the limit is whole', async () => {
    expect(await cutTo(cutBefore('Allow: /', '\n'))).toEqual(Array(3).fill('allow rule'));
  });

  it('is named where more of it would be read', async () => {
    await fetched(resultOf(200, { body: cutBefore('Allow: /', 'only-this'), cut: true }));
    for (const reading of READINGS) {
      const codes: string[] = [];
      const onWarning = ({ code }: { readonly code: string }) => void codes.push(code);
      await compileCache([root], { profile: 'rfc9309', ...reading, threads: 1, onWarning });
      expect(codes).toEqual(reading === READINGS[0] ? [] : ['truncated']);
    }
  });

  it('a file that somebody has made shorter counts as it is', async () => {
    await fetched(resultOf(200, { body: cutBefore('Allow: /', 'only-this'), cut: true }));
    writeFileSync(join(root, DIRECTORY, 'robots.txt'), 'User-agent: *\nDisallow: /x');
    for (const reading of READINGS) {
      expect(await verdict('https://example.com/x', reading)).toBe('deny rule');
    }
  });
});

describe('RFC 9309 section 2.4: for how long it counts', () => {
  it('a finding is fresh for 24 hours, then stale', async () => {
    await fetched(resultOf(200));
    now = START + DAY - 1;
    expect((await store.load(EXAMPLE)).fresh).toBe(true);
    now = START + DAY;
    expect((await store.load(EXAMPLE)).fresh).toBe(false);
    expect(await verdict(undefined, { stale: 'unknown' })).toBe('deny rule');
    now = START + DAY + 1;
    expect(await verdict()).toBe('deny rule');
    expect(await verdict(undefined, { stale: 'unknown' })).toBe('unknown unknown-host');
  });

  it('a finding is stale after 24 hours, whatever the state says of its use', async () => {
    const path = join(root, DIRECTORY, 'robots.json');
    for (const result of [resultOf(200), resultOf(404), resultOf(503)]) {
      now = START;
      await fetched(result);
      const state = JSON.parse(readFileSync(path, 'utf8'));
      for (const usableUntil of ['9999-12-31T00:00:00.000Z', 'never', undefined]) {
        writeFileSync(path, JSON.stringify({ ...state, usableUntil }));
        now = START + DAY;
        expect(await verdict(undefined, { stale: 'unknown' })).not.toContain('unknown');
        now = START + DAY + 1;
        expect(await verdict(undefined, { stale: 'unknown' })).toBe('unknown unknown-host');
      }
      // How old it is, nobody can tell.
      writeFileSync(path, JSON.stringify({ ...state, respondedAt: undefined }));
      now = START;
      expect(await verdict(undefined, { stale: 'unknown' })).toBe('unknown unknown-host');
    }
  });

  it('a finding of the future, as a wrong clock leaves it, is stale', async () => {
    for (const result of [resultOf(200), resultOf(404), resultOf(503)]) {
      now = START;
      await fetched({ ...result, respondedAt: START });
      for (const earlier of [6 * 60_000, DAY, 3000 * DAY]) {
        now = START - earlier;
        expect((await store.load(EXAMPLE)).fresh).toBe(false);
        expect(await verdict(undefined, { stale: 'unknown' })).toBe('unknown unknown-host');
        expect(await verdict()).not.toContain('unknown');
      }
      // The clocks of two machines may differ by some minutes.
      now = START - 4 * 60_000;
      expect((await store.load(EXAMPLE)).fresh).toBe(true);
    }
  });

  it('stale findings are counted', async () => {
    await fetched(resultOf(200));
    await fetched(resultOf(404, { authority: authorityOf('https://b.example') }));
    now += 2 * DAY;
    await fetched(resultOf(404, { authority: authorityOf('https://c.example') }));
    for (const stale of ['use', 'unknown'] as const) {
      const options = { profile: 'rfc9309', stale, fetchReading: { now }, onWarning() {} } as const;
      const compiled = await compileCache([root], options);
      expect(compiled.stale).toBe(2);
      expect(compiled.stats.files).toBe(stale === 'use' ? 3 : 1);
    }
  });

  it('304 renews the times and leaves the file', async () => {
    await fetched(resultOf(200));
    now += DAY;
    await fetched(resultOf(304, { accessResult: 'successful', notModified: true }));
    const { state, fresh } = await store.load(EXAMPLE);
    expect(fresh).toBe(true);
    expect(state?.lastSuccess).toMatchObject({ receivedAt: START, validatedAt: now });
    expect(await verdict(undefined, { stale: 'unknown' })).toBe('deny rule');
  });

  it('a copy that was cut at a lower limit is stale, and is asked for without conditions', async () => {
    await fetched(resultOf(200, { body: Buffer.alloc(1001, '#'), cut: true }));
    for (const [maxBytes, isGood] of [
      [undefined, true],
      [1000, true],
      [1001, false],
      [5000, false],
    ] as const) {
      const other = await Store.open(root, { now: () => now, maxBytes });
      const { state, fresh } = await other.load(EXAMPLE);
      expect(fresh).toBe(isGood);
      expect(other.copyOf(state)?.etag).toBe(isGood ? '"1"' : undefined);
      // What is unreachable in between leaves the copy.
      expect(state?.lastSuccess?.bytes).toBe(1001);
    }
    await fetched(resultOf(200, { body: Buffer.alloc(1001, '#') }));
    const whole = await Store.open(root, { now: () => now, maxBytes: 5000 });
    const { state, fresh } = await whole.load(EXAMPLE);
    expect([fresh, whole.copyOf(state)?.etag]).toEqual([true, '"1"']);
  });

  it('what is unreachable is not asked again for an hour', async () => {
    await fetched(resultOf(503));
    expect((await store.load(EXAMPLE)).state?.freshUntil).toBe(START + 3_600_000);
  });
});

describe('files that somebody edits or deletes', () => {
  it('a robots.txt that was edited counts as it is, and is asked for without conditions', async () => {
    await fetched(resultOf(200));
    now += DAY;
    expect((await store.load(EXAMPLE)).state?.lastSuccess?.headers).toEqual({ etag: '"1"' });
    writeFileSync(join(root, DIRECTORY, 'robots.txt'), 'user-agent: *\ndisallow: /page\n');
    expect((await store.load(EXAMPLE)).state?.lastSuccess).toBeUndefined();
    expect(await verdict('https://example.com/page')).toBe('deny rule');
  });

  it('a robots.txt that was deleted is asked for anew, and unknown until then', async () => {
    await fetched(resultOf(200));
    rmSync(join(root, DIRECTORY, 'robots.txt'));
    expect((await store.load(EXAMPLE)).fresh).toBe(false);
    expect(await verdict()).toBe('unknown unknown-host');
  });

  it('a robots.txt without a robots.json is successful', async () => {
    await fetched(resultOf(200));
    rmSync(join(root, DIRECTORY, 'robots.json'));
    expect(await store.load(EXAMPLE)).toEqual({ state: undefined, fresh: false });
    expect(await verdict()).toBe('deny rule');
  });

  it('a robots.json that cannot be believed leaves its host out, and is fetched anew', async () => {
    await fetched(resultOf(503));
    const path = join(root, DIRECTORY, 'robots.json');
    const good = readFileSync(path, 'utf8');
    const members = JSON.parse(good);
    writeFileSync(join(root, DIRECTORY, 'robots.txt'), 'user-agent: *\nallow: /\n');
    const but = (other: object) => () =>
      writeFileSync(path, JSON.stringify({ ...members, ...other }));
    const texts = ['', '{', '[]', '{}', '{"accessResult":"perhaps"}', good.slice(0, -3)];
    const faults: readonly (readonly [put: () => void, code: string, message: string])[] = [
      ...texts.map((text) => [() => writeFileSync(path, text), 'bad-record', 'skipped'] as const),
      [() => writeFileSync(path, good.padEnd(600_000)), 'bad-record', 'longer than 512 KiB'],
      [but({ version: 2 }), 'bad-record', '"version" is not 1'],
      [but({ version: '1' }), 'bad-record', '"version" is not 1'],
      [but({ authority: 'https://other.example' }), 'bad-record', 'does not match the directory'],
      [but({ authority: 'http://example.com' }), 'bad-record', 'does not match the directory'],
      [
        but({ authority: 'https://example.com:8443' }),
        'bad-record',
        'does not match the directory',
      ],
      [but({ authority: '' }), 'bad-record', 'does not match the directory'],
      [but({ authority: null }), 'bad-record', 'does not match the directory'],
      [() => mkdirSync(path), 'not-a-file', 'A directory, not a file'],
      [() => execFileSync('mkfifo', [path]), 'not-a-file', 'A pipe'],
      [() => symlinkSync('nowhere', path), 'unreadable', 'ENOENT'],
      [() => symlinkSync('robots.json', path), 'unreadable', 'ELOOP'],
    ];
    for (const [put, code, message] of faults) {
      rmSync(path, { recursive: true });
      put();
      for (const concurrent of [false, true]) {
        const { entries, warnings } = await readStore(concurrent);
        expect(entries).toEqual([]);
        expect(warnings).toMatchObject([{ code, path, message: expect.stringContaining(message) }]);
      }
      expect(await store.load(EXAMPLE)).toEqual({ state: undefined, fresh: false });
    }
    expect(await verdict()).toBe('unknown unknown-host');
    await fetched(resultOf(503));
    expect(await verdict()).toBe('deny unreachable');
  });

  it('a robots.json for the same host without a scheme, or with its port, is believed', async () => {
    for (const [directory, authority] of [
      ['example.com', 'https://example.com'],
      ['example.com_443', 'https://example.com'],
      ['example.com_8080', 'http://example.com:8080'],
      ['https/example.com', 'example.com'],
      ['https/example.com_443', 'https://EXAMPLE.com:443'],
    ] as const) {
      const path = join(root, directory);
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'robots.json'), JSON.stringify({ authority, status: 503 }));
    }
    const { entries, warnings } = await readCache(root, { maxBodyBytes: 512_000 });
    expect(warnings).toEqual([]);
    expect(entries).toHaveLength(5);
  });

  it('a state of one member is enough, and so is a status', async () => {
    mkdirSync(join(root, DIRECTORY), { recursive: true });
    for (const [text, expected] of [
      ['{"accessResult":"unreachable"}', 'deny unreachable'],
      ['{"accessResult":"unavailable"}', 'allow unavailable'],
      ['{"status":403}', 'allow unavailable'],
      ['{"status":500}', 'deny unreachable'],
    ] as const) {
      writeFileSync(join(root, DIRECTORY, 'robots.json'), text);
      expect(await verdict()).toBe(expected);
    }
  });

  it('a robots.txt that a killed run should have deleted goes with the next one', async () => {
    await fetched(resultOf(200));
    await fetched(resultOf(404));
    writeFileSync(join(root, DIRECTORY, 'robots.txt'), ROBOTS);
    expect(await verdict()).toBe('allow unavailable');
    expect((await store.load(EXAMPLE)).fresh).toBe(true);
    expect(existsSync(join(root, DIRECTORY, 'robots.txt'))).toBe(false);
    // Another one is somebody's.
    writeFileSync(join(root, DIRECTORY, 'robots.txt'), '# mine');
    await store.load(EXAMPLE);
    expect(readFileSync(join(root, DIRECTORY, 'robots.txt'), 'utf8')).toBe('# mine');
  });
});

describe('names of files that are made from hosts', () => {
  const HOSTILE = [
    'http://example.com',
    'https://example.com',
    'ftp://example.com',
    'http://example.com:8080',
    'http://example.com_8080',
    'http://example.com_80',
    'http://example.com_80:80',
    'http://example.com_8080:8080',
    'https://example.com_443:8443',
    'http://a_1_2_3',
    'http://a_1_2:3',
    'http://robots.txt',
    'http://robots.json',
    'http://robots.txt:8080',
    'http://x.ndjson',
    'http://x.ndjson.gz',
    'http://http',
    'http://https',
    'http://x.txt',
    'http://x-robots.txt',
    'http://[::1]',
    'http://[::1]:8080',
    'http://[2001:db8::1]',
    'http://[::ffff:1.2.3.4]:65535',
    'http://1.2.3.4',
    'http://bücher.example',
    'http://-a',
    'http://a-',
    'http://xn--n3h',
    'http://con',
    'http://..a',
    'http://.',
    'http://..',
    'http://...',
    'http://%2e%2e%2fa',
    `http://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(60)}`,
    `http://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(60)}:65535`,
  ];

  it('lead nowhere else, never collide, and are read back', async () => {
    const directories = new Map<string, string>();
    let unnamed = 0;
    for (const text of HOSTILE) {
      const parsed = parseAuthority(text);
      if (parsed?.scheme === undefined) {
        unnamed++;
        continue;
      }
      const authority = authorityOf(text);
      const directory = store.directoryOf(authority);
      if (directory === undefined) {
        unnamed++;
        await expect(store.save(resultOf(404, { authority }), undefined)).rejects.toThrow(
          'no file name stands for',
        );
        continue;
      }
      const path = relative(root, directory).split('/');
      expect(path).toHaveLength(2);
      expect(path[0]).toBe(authority.scheme);
      expect(path[1]).not.toMatch(/^\.|[/\\:\0]/);
      const canonical = formatAuthority(authority);
      expect(directories.get(directory) ?? canonical).toBe(canonical);
      directories.set(directory, canonical);
      await fetched(resultOf(200, { authority }));
    }
    expect(unnamed).toBeLessThanOrEqual(7);
    expect(directories.size).toBeGreaterThan(28);
    const { entries, warnings } = await readCache(root, { maxBodyBytes: 512_000 });
    expect(warnings).toEqual([]);
    const expected = [...directories.values()].sort();
    expect(entries.map(({ authority }) => formatAuthority(authority)).sort()).toEqual(expected);
    const listed: string[] = [];
    for await (const authority of store.authorities()) listed.push(formatAuthority(authority));
    expect(listed.sort()).toEqual(expected);
  });
});

it('an address that was refused is asked once refusing ends, and not before', async () => {
  const error = { code: 'address-refused', message: 'refused' } as const;
  await fetched(resultOf(undefined, { error }));
  expect((await store.load(EXAMPLE)).fresh).toBe(true);
  const allowing = await Store.open(root, { now: () => now, allowPrivate: true });
  expect((await allowing.load(EXAMPLE)).fresh).toBe(false);
  await fetched(resultOf(undefined));
  expect((await allowing.load(EXAMPLE)).fresh).toBe(true);
});

describe('what stands where a fetch keeps its findings and is no file', () => {
  for (const [what, block] of [
    [
      'a directory for robots.json',
      () => mkdirSync(join(root, DIRECTORY, 'robots.json/x'), { recursive: true }),
    ],
    [
      'a directory for robots.txt',
      () => mkdirSync(join(root, DIRECTORY, 'robots.txt/x'), { recursive: true }),
    ],
    [
      'a file for the directory',
      () => {
        mkdirSync(join(root, 'https'));
        writeFileSync(join(root, DIRECTORY), '');
      },
    ],
    [
      'a link that leads to itself',
      () => {
        mkdirSync(join(root, 'https'));
        symlinkSync('example.com', join(root, DIRECTORY));
      },
    ],
  ] as const) {
    it(`${what} concerns one host, and leaves nothing behind`, async () => {
      block();
      expect(await store.load(EXAMPLE)).toMatchObject({ state: undefined, fresh: false });
      await expect(fetched(resultOf(200))).rejects.toMatchObject({ name: 'StoreFault' });
      await fetched(resultOf(200, { authority: authorityOf('https://other.example') }));
      const names = readdirSync(root, { recursive: true }).map(String);
      expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
      expect(names).toContain('https/other.example/robots.json');
    });
  }

  it('keeps the robots.txt as well, with what it says', async () => {
    const directory = join(root, DIRECTORY);
    mkdirSync(join(directory, 'robots.json/x'), { recursive: true });
    writeFileSync(join(directory, 'robots.txt'), 'user-agent: *\ndisallow: /old\n');
    const body = Buffer.from('user-agent: *\nallow: /\n');
    await expect(fetched(resultOf(200, { body }))).rejects.toMatchObject({ name: 'StoreFault' });
    expect(readFileSync(join(directory, 'robots.txt'), 'utf8')).toContain('/old');
    expect(readdirSync(directory).sort()).toEqual(['robots.json', 'robots.txt']);
  });

  it('is not read: a pipe would have no end', async () => {
    const directory = join(root, DIRECTORY);
    mkdirSync(directory, { recursive: true });
    for (const name of ['robots.json', 'robots.txt'])
      execFileSync('mkfifo', [join(directory, name)]);
    expect(await store.load(EXAMPLE)).toMatchObject({ state: undefined, fresh: false });
    await expect(fetched(resultOf(404))).resolves.not.toThrow();
  });
});
