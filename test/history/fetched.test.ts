import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Store } from '../../src/fetch/store.js';
import { compileTable } from '../../src/library/compile-table.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { findingsOf, parseFetchState } from '../../src/sources/fetch-state.js';
import { readCache } from '../cache/read-cache.js';
import { EXAMPLE, fetchResult } from '../fetch/fetch-results.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

/*
 * A store that `fetch --history` keeps day by day. What the filter reads of the store on a day must
 * be what a table with histories of the same store answers for that day, at any later time.
 */

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const START = Date.UTC(2025, 0, 1, 6);
const LONGEST = 512_000;
const URL_OF = 'https://example.com/';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'robots-fetched-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const directory = (): string => join(root, 'https/example.com');

function robotsOf(name: string): string {
  return `user-agent: *\ndisallow: /${name}\n`;
}

const NAMES = ['a', 'b', 'c'];

/** The verdicts for the names: of the robots.txt "a", of "b", and before any robots.txt. */
const [A, B, NONE] = ['deny allow allow', 'allow deny allow', 'unknown unknown unknown'];

const DENIED = 'deny deny deny';

/** Profiles that read 429 in different ways. */
const READERS = ['rfc9309', 'google'] as const;

/** One fetch: a name is a robots.txt, 304 confirms the one before. */
async function fetchAt(
  now: number,
  answer: string | number,
  history = true,
  profile: Profile = 'rfc9309',
): Promise<void> {
  const store = await Store.open(root, { now: () => now, history, profile });
  const { state } = await store.load(EXAMPLE);
  if (answer === 304) {
    if (store.copyOf(state) === undefined) return;
    const confirmed = fetchResult(now, 200, { notModified: true, body: undefined });
    await store.save(confirmed, state);
    return;
  }
  const denied = { accessResult: 'unreachable' } as const;
  const result =
    typeof answer === 'number'
      ? fetchResult(now, answer, answer === 429 && profile === 'google' ? denied : {})
      : fetchResult(now, 200, { body: Buffer.from(robotsOf(answer)) });
  await store.save(result, state);
}

/** What the filter takes from the store: the verdict for each name. */
async function used(now: number, profile?: Profile): Promise<string> {
  const { entries, warnings } = await readCache(root, {
    profile,
    maxBodyBytes: LONGEST,
    fetchReading: { now },
  });
  expect(warnings).toEqual([]);
  const [entry] = entries;
  if (entry === undefined) return 'unknown unknown unknown';
  const access = entry.fetched?.access ?? 'successful';
  const body = entry.body.toString();
  return NAMES.map((name) => {
    if (access !== 'successful') return access === 'unavailable' ? 'allow' : 'deny';
    return body.includes(`: /${name}\n`) ? 'deny' : 'allow';
  }).join(' ');
}

async function answersAt(times: readonly number[], profile?: Profile): Promise<string[]> {
  const warnings: unknown[] = [];
  const table = await compileTable(root, {
    profile,
    history: true,
    threads: 1,
    onWarning: (warning) => warnings.push(warning),
  });
  expect(warnings).toEqual([]);
  return times.map((at) =>
    NAMES.map((name) => table.verdict(`${URL_OF}${name}`, 'x', { at: new Date(at) }).verdict).join(
      ' ',
    ),
  );
}

it.each(READERS)(
  'answers for each day what a crawler with the store used then: fetched under %s',
  async (by) => {
    const random = new Random(20261128);
    const seen = {
      kept: 0,
      unreachable: 0,
      long: 0,
      confirmed: 0,
      limited: 0,
      differing: 0,
      copied: 0,
    };
    for (let round = 0; round < cases(4); round++) {
      rmSync(directory(), { recursive: true, force: true });
      const expected: [number, string[]][] = [[START - 1000, READERS.map(() => NONE)]];
      let now = START;
      for (let left = random.between(4, 9); left > 0; left--) {
        const answer = random.pick(['a', 'a', 'b', 'c', 304, 404, 429, 500, 503]);
        const isLong = answer === 503 || answer === 429;
        const days = isLong ? random.pick([3, 34]) : random.between(1, 3);
        const pause = days === 34 ? DAY : random.pick([5 * HOUR, 13 * HOUR, DAY]);
        for (let day = 0; day < days; day++, now += pause) {
          await fetchAt(now, answer, true, by);
          const verdicts: string[] = [];
          for (const reader of READERS) verdicts.push(await used(now, reader));
          expected.push([now, verdicts], [now + pause - 1000, verdicts]);
          if (answer === 429) seen.limited++;
          if (verdicts[0] !== verdicts[1]) seen.differing++;
          if (answer === 304) seen.confirmed++;
          if (answer === 503) seen[day > 30 ? 'long' : 'unreachable']++;
          if (answer === 503 && verdicts[0] !== verdicts[1]) seen.copied++;
        }
      }
      const times = expected.map(([time]) => time);
      for (const [which, reader] of READERS.entries()) {
        const answers = await answersAt(times, reader);
        for (const [index, [time, verdicts]] of expected.entries()) {
          const context = `round ${round}, ${reader}, ${new Date(time).toISOString()}`;
          expect(answers[index], context).toBe(verdicts[which]);
        }
      }
      seen.kept += versions().length;
    }
    expect(seen.kept).toBeGreaterThan(10);
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(1);
  },
);

/** The names of the versions that are kept. */
function versions(): string[] {
  return readdirSync(directory()).includes('history')
    ? readdirSync(join(directory(), 'history')).sort()
    : [];
}

function stateOf(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(directory(), 'robots.json'), 'utf8'));
}

it('knows of a robots.txt that never changed from its first fetch on, without --history', async () => {
  for (let day = 0; day < 5; day++) {
    await fetchAt(START + day * DAY, day % 2 === 0 ? 'a' : 304, false);
  }
  expect(versions()).toEqual([]);
  expect(await answersAt([START - 1000, START, START + 3 * DAY])).toEqual([NONE, A, A]);
  // A state of an older version has no "since": the last body came on the fifth day.
  const { since, lastSuccess, ...state } = stateOf();
  expect(since).toBe(new Date(START).toISOString());
  const { since: first, ...copy } = lastSuccess as Record<string, unknown>;
  expect(first).toBe(since);
  const text = JSON.stringify({ ...state, lastSuccess: copy });
  writeFileSync(join(directory(), 'robots.json'), text);
  const fifth = START + 4 * DAY;
  expect(await answersAt([fifth - 1000, fifth])).toEqual([NONE, A]);
});

it('keeps versions that are there, and adds none, without --history', async () => {
  await fetchAt(START, 'a');
  await fetchAt(START + DAY, 'b');
  const kept = versions();
  expect(kept).toEqual([expect.stringMatching(/^20250101060000000-[0-9a-f]{8}$/)]);
  await fetchAt(START + 2 * DAY, 404, false);
  await fetchAt(START + 3 * DAY, 'c', false);
  expect(versions()).toEqual(kept);
  const at = [START, START + DAY, START + 3 * DAY];
  // Of the two that were replaced, the table knows nothing.
  expect(await answersAt(at)).toEqual([A, A, 'allow allow deny']);
});

it('refuses to leave out what is stale now, which counts for its own time', async () => {
  await fetchAt(START, 'a');
  const options = { history: true, stale: 'unknown', threads: 1 } as const;
  await expect(compileTable(root, options)).rejects.toThrow('stale has no effect on a history');
});

it('keeps two findings of one moment', async () => {
  for (const name of ['a', 'b', 'c']) await fetchAt(START, name);
  expect(versions()).toHaveLength(2);
  // Of one second the last counts.
  expect(await answersAt([START])).toEqual(['allow allow deny']);
});

/** Writes another robots.txt by hand. */
function edit(name: string, time: number): void {
  const path = join(directory(), 'robots.txt');
  writeFileSync(path, robotsOf(name));
  utimesSync(path, new Date(time), new Date(time));
}

it('keeps a robots.txt that was edited, from the edit on', async () => {
  await fetchAt(START, 'c');
  await fetchAt(START + DAY, 'a');
  const edited = START + 2 * DAY + HOUR;
  await fetchAt(START + 2 * DAY, 304);
  edit('b', edited);
  const times = [START, START + DAY, edited - 1000, edited, START + 3 * DAY];
  // The one that was edited is lost, so the one before seems in force until then.
  const C = 'allow allow deny';
  expect(await answersAt(times)).toEqual([C, C, C, B, B]);
  await fetchAt(START + 3 * DAY, 'a');
  expect(await answersAt(times)).toEqual([C, C, C, B, A]);
  const [, name = ''] = versions();
  expect(name).toMatch(/^20250103070000000-/);
  expect(readFileSync(join(directory(), 'history', name, 'robots.txt'), 'utf8')).toBe(
    robotsOf('b'),
  );
});

it('keeps an edited copy that an error puts out of force', async () => {
  await fetchAt(START, 'a');
  edit('b', START + HOUR);
  await fetchAt(START + DAY, 404);
  const times = [START, START + HOUR, START + DAY];
  expect(await answersAt(times)).toEqual([NONE, B, 'allow allow allow']);
});

it('keeps a robots.txt without a state from the time of the file on', async () => {
  await fetchAt(START, 'a');
  rmSync(join(directory(), 'robots.json'));
  const written = new Date(START - 30 * DAY);
  utimesSync(join(directory(), 'robots.txt'), written, written);
  await fetchAt(START, 'b');
  expect(versions()).toEqual([expect.stringMatching(/^20241202060000000-/)]);
  const before = written.getTime();
  expect(await answersAt([before - 1000, before, START])).toEqual([NONE, A, B]);
});

it('takes what a killed run wrote for what was found when it was written', async () => {
  await fetchAt(START, 'a');
  const state = readFileSync(join(directory(), 'robots.json'));
  await fetchAt(START + DAY, 'b');
  // The run was killed between the two files.
  writeFileSync(join(directory(), 'robots.json'), state);
  edit('b', START + DAY);
  const times = [START, START + DAY - 1000, START + DAY, START + 2 * DAY];
  expect(await answersAt(times)).toEqual([A, A, B, B]);
  await fetchAt(START + 2 * DAY, 'c');
  expect(await answersAt(times)).toEqual([A, A, B, 'allow allow deny']);
});

it('keeps a robots.txt beside a damaged state, and tells that it does not count', async () => {
  await fetchAt(START, 'a');
  writeFileSync(join(directory(), 'robots.json'), '{');
  await fetchAt(START + DAY, 'b');
  const [name = ''] = versions();
  const kept = join(directory(), 'history', name);
  expect(readFileSync(join(kept, 'robots.txt'), 'utf8')).toBe(robotsOf('a'));
  const warnings: { path: string; message: string }[] = [];
  const onWarning = (warning: { path: string; message: string }) => warnings.push(warning);
  const table = await compileTable(root, { history: true, threads: 1, onWarning });
  expect(warnings.map(({ path }) => path)).toEqual([join(kept, 'robots.json')]);
  expect(table.verdict(`${URL_OF}b`, 'x', { at: new Date(START + DAY) }).verdict).toBe('deny');
});

it('knows of a failure beside a copy that cannot be read, without a warning', async () => {
  await fetchAt(START, 'a');
  await fetchAt(START + DAY, 503);
  const gzip = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
  // Bodies of more than 64 KiB are read in another way.
  for (const bytes of [gzip, Buffer.concat([gzip, Buffer.alloc(64 * 1024)])]) {
    writeFileSync(join(directory(), 'robots.txt'), bytes);
    expect(await answersAt([START, START + DAY])).toEqual([A, DENIED]);
  }
});

it('lets the copy count from the last failure on, after fewer days than the state has', async () => {
  await fetchAt(START, 'a');
  for (let day = 1; day <= 12; day++) await fetchAt(START + day * DAY, 503);
  const state = parseFetchState(readFileSync(join(directory(), 'robots.json')), EXAMPLE);
  if (typeof state === 'string') throw new Error(state);
  const [first, last] = [START + DAY, START + 12 * DAY];
  const copy = { access: 'successful', since: START, confirmed: START };
  const intact = { kind: 'intact' } as const;
  const ended = { access: 'unreachable', since: first, confirmed: first };
  // Google's 12 hours were over on the second day.
  const second = START + 2 * DAY;
  expect(findingsOf(state, intact, {})).toEqual([
    copy,
    ended,
    { access: 'unreachable', since: second, confirmed: last },
  ]);
  expect(findingsOf(state, intact, { unreachableAfter: 10 })).toEqual([
    copy,
    ended,
    { access: 'successful', since: last, confirmed: last },
  ]);
  expect(findingsOf(state, { kind: 'none' }, { unreachableAfter: 10 })).toEqual([
    ended,
    { access: 'unavailable', since: last, confirmed: last },
  ]);
  expect(findingsOf({ ...state, profile: 'google' }, intact, {})).toEqual([
    copy,
    ended,
    { access: 'successful', since: second, confirmed: last },
  ]);
});

it('denies again after a pause in the attempts, from the first failure after it on', async () => {
  await fetchAt(START, 'a');
  for (let day = 1; day <= 35; day++) await fetchAt(START + day * DAY, 503);
  expect(await used(START + 59 * DAY)).toBe(A);
  for (const day of [60, 61]) {
    await fetchAt(START + day * DAY, 503);
    expect(await used(START + day * DAY)).toBe(DENIED);
  }
  const days = [0, 1, 31, 32, 35, 59, 60, 60.5, 61];
  const expected = [A, DENIED, DENIED, A, A, A, DENIED, DENIED, DENIED];
  expect(await answersAt(days.map((day) => START + day * DAY))).toEqual(expected);
});

it('has no version of what is missing, or was found by nobody', async () => {
  await fetchAt(START, 'a');
  rmSync(join(directory(), 'robots.txt'));
  await fetchAt(START + DAY, 'b');
  expect(versions()).toEqual([]);
  rmSync(directory(), { recursive: true });
  await fetchAt(START, 'a');
  expect(versions()).toEqual([]);
});
