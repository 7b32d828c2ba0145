import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  BODY_UNAVAILABLE,
  BODY_UNKNOWN,
  BODY_UNREACHABLE,
  FIRST_BODY,
} from '../../src/compile/table-part.js';
import { ArchiveCompilation } from '../../src/pipeline/compile/archive-compilation.js';
import { cacheContents, PartReader } from '../../src/sources/cache.js';
import type { CacheWarning } from '../../src/sources/entry.js';
import { CaptureSet } from '../../src/warc/capture-set.js';
import { type Capture, CaptureList } from '../../src/warc/captures.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { withFiles } from './table-of.js';
import { captureOf, membersOf, recordOf, responseOf } from './warc-bytes.js';

const KEY = Int32Array.of(1, 2);

/** A capture, where it lies, and the number of its body or access result. */
interface Placed {
  readonly capture: Capture;
  readonly file: number;
  readonly body: number;
}

const robotsUrl = (host: string): string => `https://${host}/robots.txt`;
const A = robotsUrl('a');
const B = robotsUrl('b');
const C = robotsUrl('c');
const PAGE = 'https://b/page';

/** A URL by its short name. */
const URLS: Readonly<Record<string, string>> = {
  a: A,
  b: B,
  c: C,
  page: PAGE,
  other: 'https://c/2',
};

/** Where a capture lies, if it matters. */
interface Place {
  readonly file?: number;
  readonly offset?: number;
}

let offsets = 0;

/**
 * Makes a capture. What it says is one of
 *
 * - `x`: a body, whose digest is `x`; and `empty`, a body of no bytes
 * - `404` or `503`
 * - `> b`: a redirect
 * - `= x`: a revisit by digest
 * - `= b @ 1000`: a revisit by URL and date
 * - `304`, and `304 = x`, `304 = b @ 1000`: the same for an unmodified body
 */
function said(url: string, date: number, what: string, place: Place = {}): Placed {
  const { file = 0, offset = ++offsets } = place;
  const isUnmodified = what.startsWith('304');
  const [sign = '', name = '', , at] = what.replace('304', '').trim().split(' ');
  const base = { url: URLS[url] as string, date, offset, payloadDigest: '' };
  const placed = (
    capture: Omit<Capture, keyof typeof base> & Partial<Capture>,
    body = 0,
  ): Placed => ({
    capture: { ...base, ...capture },
    file,
    body,
  });
  if (isUnmodified || sign === '=') {
    const refersTo = at === undefined ? '' : (URLS[name] as string);
    const refersToDate = at === undefined ? Number.NaN : Number(at);
    const payloadDigest = at === undefined ? name : '';
    return placed({
      outcome: { kind: 'revisit', refersTo, refersToDate, isUnmodified },
      payloadDigest,
    });
  }
  if (sign === '>') return placed({ outcome: { kind: 'redirect', target: URLS[name] as string } });
  if (sign === '404') return placed({ outcome: { kind: 'unavailable' } }, BODY_UNAVAILABLE);
  if (sign === '503') return placed({ outcome: { kind: 'unreachable' } }, BODY_UNREACHABLE);
  const body = Buffer.from(sign === 'empty' ? '' : sign);
  const outcome = { kind: 'body', body, isCut: false } as const;
  return placed({ outcome, payloadDigest: sign }, numberOf(sign));
}

/** The number of a body that is named by a letter, or of the empty one. */
function numberOf(name: string): number {
  return name === 'empty' ? FIRST_BODY : FIRST_BODY + 1 + name.charCodeAt(0);
}

function nameOf(number: number): string {
  if (number === BODY_UNAVAILABLE) return '404';
  if (number === BODY_UNREACHABLE) return '503';
  if (number === BODY_UNKNOWN) return 'unknown';
  return number === FIRST_BODY ? 'empty' : String.fromCharCode(number - FIRST_BODY - 1);
}

/** Adds captures to a set; those in a row that lie in one file come together. */
function add(set: CaptureSet, captures: readonly Placed[], areFirst = false): void {
  for (let from = 0; from < captures.length; ) {
    const file = captures[from]?.file as number;
    const list = new CaptureList();
    let at = from;
    for (; captures[at]?.file === file; at++) {
      const { capture, body } = captures[at] as Placed;
      list.push(capture, body);
    }
    set.add(
      list.take(),
      () => file,
      (body) => body,
      areFirst,
    );
    from = at;
  }
}

function newSet(history: boolean): CaptureSet {
  return new CaptureSet(KEY, BODY_UNAVAILABLE, (file) => file, { history });
}

/** The versions of each robots.txt: `DATE BODY`, ascending. */
function versionsOf(captures: readonly Placed[]): Record<string, string[]> {
  const set = newSet(true);
  add(set, captures);
  const versions: Record<string, string[]> = {};
  for (const { kind, url, since, body } of set.findings()) {
    const { host } = new URL(url);
    const version = `${since} ${kind === 'body' ? nameOf(body) : 'no target'}`;
    versions[host] = [...(versions[host] ?? []), version];
  }
  return versions;
}

describe('a history', () => {
  it.each<[string, Placed[], Record<string, string[]>]>([
    [
      'has a version for each change',
      [said('a', 1, 'x'), said('a', 2, 'y'), said('a', 3, 'y'), said('a', 4, 'x')],
      { a: ['1 x', '2 y', '4 x'] },
    ],
    [
      'has failures between successes',
      [said('a', 1, 'x'), said('a', 2, '503'), said('a', 3, '404'), said('a', 4, 'x')],
      { a: ['1 x', '2 503', '3 404', '4 x'] },
    ],
    [
      'follows a redirect to what its target says at each time',
      [
        said('b', 1, 'x'),
        said('a', 2, '> b'),
        said('b', 3, 'y'),
        said('b', 4, '503'),
        said('a', 5, 'z'),
        said('b', 6, 'w'),
      ],
      { a: ['2 x', '3 y', '4 503', '5 z'], b: ['1 x', '3 y', '4 503', '6 w'] },
    ],
    [
      'follows redirects to another target',
      [
        said('b', 1, 'x'),
        said('c', 1, 'y'),
        said('a', 2, '> b'),
        said('a', 3, '> c'),
        said('c', 4, '> b'),
      ],
      { a: ['2 x', '3 y', '4 x'], b: ['1 x'], c: ['1 y', '4 x'] },
    ],
    [
      'ends what was in force before a redirect to nothing',
      [said('a', 1, 'x'), said('a', 2, '> page'), said('a', 4, 'y')],
      { a: ['1 x', '2 no target', '4 y'] },
    ],
    [
      'has a redirect to nothing until its target is captured',
      [said('a', 1, 'x'), said('a', 2, '> page'), said('a', 3, '> page'), said('page', 4, 'x')],
      { a: ['1 x', '2 no target', '4 x'] },
    ],
    [
      'has redirects to nothing once, whatever their targets',
      [said('a', 1, 'x'), said('b', 1, '> a'), said('a', 2, '> page'), said('a', 3, '> other')],
      { a: ['1 x', '2 no target'], b: ['1 x', '2 no target'] },
    ],
    [
      'begins when the target of a redirect is captured',
      [said('a', 1, '> page'), said('page', 3, 'x')],
      { a: ['1 no target', '3 x'] },
    ],
    [
      'has a loop as long as it is closed',
      [said('a', 1, '> b'), said('b', 1, 'x'), said('b', 2, '> a'), said('b', 3, 'x')],
      { a: ['1 x', '2 404', '3 x'], b: ['1 x', '2 404', '3 x'] },
    ],
    [
      'is confirmed by revisits',
      [said('a', 1, 'x'), said('a', 2, '= x'), said('a', 3, '304'), said('a', 4, '304 = empty')],
      { a: ['1 x'] },
    ],
    [
      'has the revisit of an older body',
      [said('a', 1, 'x'), said('a', 2, 'y'), said('a', 3, '= x'), said('a', 4, '= a @ 2')],
      { a: ['1 x', '2 y', '3 x', '4 y'] },
    ],
    [
      'has what a revisit refers to from when that was captured',
      [said('a', 1, '404'), said('a', 2, '= x'), said('b', 3, 'x'), said('a', 4, '= b @ 5')],
      { a: ['1 404', '3 x'], b: ['3 x'] },
    ],
    [
      'prefers rules in one second, then the later capture',
      [
        said('a', 1, 'x'),
        said('a', 1, '503'),
        said('a', 2, '404'),
        said('a', 2, '503'),
        said('a', 3, '> a'),
        said('a', 3, 'x'),
        said('a', 3, 'y'),
      ],
      { a: ['1 x', '2 503', '3 y'] },
    ],
    [
      'does not depend on the order of files',
      [
        said('a', 5, 'x', { file: 0 }),
        said('a', 1, 'x', { file: 0 }),
        said('a', 3, 'y', { file: 1 }),
        said('a', 4, 'y', { file: 2 }),
        said('a', 2, 'z', { file: 2 }),
      ],
      { a: ['1 x', '2 z', '3 y', '5 x'] },
    ],
  ])('%s', (_name, captures, versions) => {
    expect(versionsOf(captures)).toEqual(versions);
    // The places of captures decide, in whatever order the captures come.
    expect(versionsOf([...captures].reverse())).toEqual(versions);
  });

  it('has the place of the first capture of a version', () => {
    const set = newSet(true);
    add(set, [said('a', 2, 'x', { offset: 20 }), said('a', 1, 'x', { file: 1, offset: 10 })]);
    expect([...set.findings()]).toMatchObject([{ file: 1, offset: 10, since: 1 }]);
  });

  it('names the revisits of captures that are missing, at any time', () => {
    const captures = [
      said('a', 1, '304'),
      said('a', 2, '= z'),
      said('a', 3, 'x'),
      said('a', 4, '304'),
      said('a', 5, '= b @ 9'),
      said('a', 6, 'y'),
    ];
    for (const [history, lost] of [
      [true, [0, 1, 4]],
      [false, []],
    ] as const) {
      const set = newSet(history);
      add(set, captures);
      expect([...set.lostRevisits()].map(({ offset }) => offset)).toEqual(
        lost.map((index) => captures[index]?.capture.offset),
      );
    }
  });

  it('is cut to its latest 10,000 times', () => {
    const captures = Array.from({ length: 10_050 }, (_, at) => said('a', at, at % 2 ? 'x' : 'y'));
    const set = newSet(true);
    add(set, captures);
    const findings = [...set.findings()];
    expect(findings).toHaveLength(10_000);
    expect(findings.at(-1)).toMatchObject({ since: 10_049 });
    expect(findings[0]).toMatchObject({ since: 50 });
    expect(set.shortened).toBe(1);
    const allowed = newSet(true);
    add(allowed, captures.slice(0, 10_000));
    expect([...allowed.findings()]).toHaveLength(10_000);
    expect(allowed.shortened).toBe(0);
  });

  it('takes bounded time where many redirects lead to many captures', () => {
    const captures = Array.from({ length: 2000 }, (_, at) => said('b', at, at % 2 ? 'x' : 'y'));
    const redirect = said('a', 0, '> b');
    const redirects = Array.from({ length: 400 }, (_, host) => ({
      ...redirect,
      capture: { ...redirect.capture, url: robotsUrl(`h${host}`) },
    }));
    const set = newSet(true);
    add(set, [...captures, ...redirects]);
    const counts = new Map<string, number>();
    const latest = new Map<string, string>();
    for (const { url, since, body } of set.findings()) {
      counts.set(url, (counts.get(url) ?? 0) + 1);
      latest.set(url, `${since} ${nameOf(body)}`);
    }
    expect(counts.size).toBe(401);
    expect([...latest.values()].filter((each) => each !== '1999 x')).toEqual([]);
    const whole = [...counts.values()].filter((count) => count === 2000).length;
    expect(whole).toBeGreaterThan(5);
    expect(whole).toBeLessThan(100);
    expect(set.shortened).toBe(401 - whole);
  });
});

/** Dates of random captures; some lie in one second or one millisecond. */
const DATES = [1000, 1000, 1000.25, 1000.5, 2000, 2000, 3000, 4000, 5000.001];

const WHATS = ['x', 'x', 'y', 'y', 'empty', '404', '503', '> a', '> b', '> b', '> c', '> page'];

const REFERENCES = ['= x', '= y', '= z', '304', '304 = empty', '304 = y'];

/** The captures of some files, in the order in which they are added. */
function drawCaptures(random: Random): { first: Placed[]; again: Placed[] } {
  const captures: Placed[] = [];
  const dates = DATES.slice(random.between(0, 3), random.between(5, DATES.length));
  const names = Object.keys(URLS);
  for (let files = random.between(1, 3), file = 0; file < files; file++) {
    let offset = 0;
    for (let count = random.pick([2, 5, 10, 20]); count > 0; count--) {
      const name = random.pick(names);
      // Only one capture comes first at an offset.
      if (name === 'page' || name === 'other' || random.chance(0.6)) offset += 10;
      const reference = `= ${random.pick(names)} @ ${Math.floor(random.pick(dates))}`;
      const what = random.chance(0.3)
        ? random.pick([...REFERENCES, reference, `304 ${reference}`])
        : random.pick([...WHATS, '> other']);
      const date = random.pick(dates);
      const { capture, body } = said(name, date, what, { file, offset });
      // Some archives give a digest to several bodies.
      const payloadDigest = random.chance(0.05)
        ? random.pick(['x', 'y', ''])
        : capture.payloadDigest;
      captures.push({ capture: { ...capture, payloadDigest }, file, body });
    }
  }
  if (random.chance(0.2)) captures.sort((one, other) => other.file - one.file);
  // Captures of pages may be read later, where they lie.
  const isLater = ({ capture }: Placed): boolean => !capture.url.endsWith('/robots.txt');
  if (random.chance(0.5)) return { first: captures, again: [] };
  return {
    first: captures.filter((each) => !isLater(each)),
    again: captures.filter(isLater),
  };
}

describe('histories of random captures', () => {
  it('have at each time what the captures until then say', () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= cases(800); seed++) {
      const random = new Random(seed);
      const { first, again } = drawCaptures(random);
      const captures = [...first, ...again];
      const set = newSet(true);
      add(set, first);
      if (random.chance(0.5)) set.targets();
      add(set, again, true);

      const versions = new Map<string, { since: number; body: number | undefined }[]>();
      const missing = new Set<string>();
      const kinds = new Set<string>();
      for (const { kind, url, since, body, file, offset } of set.findings()) {
        const list = versions.get(url) ?? [];
        versions.set(url, list);
        if (kind === 'no-target') {
          missing.add(url);
          if (list.length > 0) kinds.add('ended');
          list.push({ since, body: undefined });
          continue;
        }
        list.push({ since, body });
        const holders = captures.filter(
          (each) =>
            each.file === file && each.capture.offset === offset && each.capture.date <= since,
        );
        expect(holders.length, `seed ${seed}: the place of ${url}`).toBeGreaterThan(0);
        const own = captures.filter((each) => each.capture.url === url);
        if (!own.some(({ capture }) => capture.date === since)) kinds.add('target changed');
        if (holders.every(({ capture }) => capture.outcome.kind === 'revisit'))
          kinds.add('revisit');
        if (holders.every(({ capture }) => capture.outcome.kind === 'redirect')) kinds.add('loop');
      }

      const dates = captures.map(({ capture }) => capture.date);
      const times = [...new Set(dates)].sort((one, other) => one - other);
      /** `undefined` after a redirect to a URL that was not captured. */
      const inForce = new Map<string, number | undefined>();
      const lacking = new Set<string>();
      const targets = new Set(set.targets());
      const changes = new Map<string, number>();
      // An assertion for each comparison would take longer than all the rest.
      const check = (time: number): void => {
        for (const url of [A, B, C]) {
          const found = versions.get(url)?.findLast(({ since }) => since <= time)?.body;
          if (found === inForce.get(url)) continue;
          expect(found, `seed ${seed}, ${url} at ${time}`).toBe(inForce.get(url));
        }
      };
      for (const time of times) {
        check(time - 0.01);
        const until = newSet(false);
        const isUntil = ({ capture }: Placed): boolean => capture.date <= time;
        add(until, first.filter(isUntil));
        add(until, again.filter(isUntil), true);
        for (const { kind, url, body } of until.findings()) {
          if (kind === 'no-target') lacking.add(url);
          const now = kind === 'no-target' ? undefined : body;
          if (!inForce.has(url) || inForce.get(url) !== now) {
            changes.set(url, (changes.get(url) ?? 0) + 1);
            inForce.set(url, now);
          } else if (captures.some(({ capture }) => capture.url === url && capture.date === time)) {
            kinds.add('merged');
          }
        }
        expect(
          [...until.targets()].filter((url) => !targets.has(url)),
          `seed ${seed}`,
        ).toEqual([]);
        check(time);
        check(time + 0.01);
      }
      expect(missing, `seed ${seed}`).toEqual(lacking);
      for (const [url, list] of versions) {
        expect(list.length, `seed ${seed}, ${url}`).toBe(changes.get(url) ?? 0);
      }

      const moments = captures.map(({ capture }) => `${capture.url} ${capture.date}`);
      if (new Set(moments).size < moments.length) kinds.add('tie');
      if (missing.size > 0) kinds.add('no target');
      if (captures.some(({ file }, at) => file < (captures[at - 1]?.file ?? 0))) kinds.add('files');
      if ([...versions.values()].some(({ length }) => length > 3)) kinds.add('long');
      for (const kind of kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
    for (const kind of [
      'target changed',
      'revisit',
      'loop',
      'merged',
      'tie',
      'no target',
      'ended',
      'files',
      'long',
    ]) {
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(cases(40));
    }
  });
});

const DAY = '2026-02-0';
const DAY_BEFORE = Date.parse('2026-01-31T00:00:00Z');

/** A WARC record of a day of February 2026. */
function recorded(url: string, day: number, status: number, body: string): Buffer {
  const isRedirect = status === 302;
  const block = responseOf(status, isRedirect ? '' : body, isRedirect ? { Location: body } : {});
  return captureOf(url, block, { date: `${DAY}${day}T00:00:00Z` });
}

/** An entry that a compilation has added. */
interface Added {
  readonly host: string;
  readonly date: number;
  /** The body as text, or `404`, `503` or `unknown`. */
  readonly what: string;
  readonly file: string;
}

/** What the archive of some files compiles to, and how many files were read again for it. */
async function entriesOf(
  files: Readonly<Record<string, Uint8Array>>,
  history?: boolean,
  asOf?: number,
): Promise<{ entries: Added[]; warnings: CacheWarning[]; again: number }> {
  return withFiles(files, async (directory) => {
    const entries: Added[] = [];
    const warnings: CacheWarning[] = [];
    const bodies: string[] = [];
    let again = 0;
    const paths = Object.keys(files).map((name) => join(directory, name));
    for await (const content of cacheContents(paths, false)) {
      if (content.kind !== 'archive') throw new Error(content.kind);
      const target = {
        key: KEY,
        addEntry(
          { host }: { readonly host: string },
          { body, source, date = 0 }: { body: number; source: string; date?: number | undefined },
        ) {
          const [file = ''] = source.split('/').at(-1)?.split(':') ?? [];
          const what = body < FIRST_BODY ? nameOf(body) : (bodies[body - FIRST_BODY] as string);
          entries.push({ host, date, what, file });
        },
      };
      const options = history === undefined ? {} : { history };
      const onWarning = (warning: CacheWarning): void => void warnings.push(warning);
      const compilation = new ArchiveCompilation(content, target, onWarning, options);
      const addBody = (body: Uint8Array): number => {
        const text = Buffer.from(body).toString();
        const known = bodies.indexOf(text);
        return FIRST_BODY + (known < 0 ? bodies.push(text) - 1 : known);
      };
      await compilation.compile(new PartReader({ maxBodyBytes: 1000, asOf }), addBody, (part) => {
        if (part.targets !== undefined) again++;
      });
    }
    return { entries, warnings, again };
  });
}

function shown({ host, date, what, file }: Added): string {
  return `${host} ${(date - DAY_BEFORE) / 86_400_000} ${what} ${file}`;
}

/** The WARC record of a capture. Only those of robots.txt files have digests. */
function recordFor({ capture: { url, date, payloadDigest, outcome } }: Placed): Buffer {
  const hasDigest = payloadDigest !== '' && url.endsWith('/robots.txt');
  const digest = hasDigest ? { 'WARC-Payload-Digest': payloadDigest } : {};
  const spec = { date: new Date(date).toISOString(), fields: digest };
  switch (outcome.kind) {
    case 'body':
      return captureOf(url, responseOf(200, outcome.body), spec);
    case 'unavailable':
      return captureOf(url, responseOf(404, 'no'), spec);
    case 'unreachable':
      return captureOf(url, responseOf(503, 'no'), spec);
    case 'redirect':
      return captureOf(url, responseOf(302, '', { Location: outcome.target }), spec);
    case 'revisit': {
      const { refersTo, refersToDate, isUnmodified } = outcome;
      const reference =
        refersTo === ''
          ? {}
          : {
              'WARC-Refers-To-Target-URI': refersTo,
              'WARC-Refers-To-Date': new Date(refersToDate).toISOString(),
            };
      const block = responseOf(isUnmodified ? 304 : 200);
      return recordOf({
        ...spec,
        type: 'revisit',
        uri: url,
        block,
        fields: { ...digest, ...reference },
      });
    }
  }
}

describe('the entries of an archive with a history', () => {
  const files = {
    // The pages come before the redirects that lead to them.
    'a.warc': Buffer.concat([
      recorded('https://b/page', 1, 200, 'Disallow: /1'),
      recorded('https://b/page', 3, 200, 'Disallow: /3'),
      recorded('https://b/last', 5, 200, 'Disallow: /5'),
    ]),
    'b.warc.gz': gzipSync(
      Buffer.concat([
        recorded(A, 2, 302, 'https://b/page'),
        recorded(A, 4, 302, 'https://b/lost'),
        recorded(A, 5, 302, 'https://b/go'),
        recorded('https://b/go', 5, 302, 'https://b/last'),
        recorded(A, 6, 404, ''),
        recorded(C, 6, 200, 'Disallow: /c'),
      ]),
    ),
    'c.warc': Buffer.concat([
      recorded(C, 7, 200, 'Disallow: /c'),
      recordOf({ type: 'revisit', uri: C, date: `${DAY}8T00:00:00Z`, block: responseOf(304) }),
    ]),
  };

  it('are those of each time, also of targets that only older captures lead to', async () => {
    const { entries, warnings } = await entriesOf(files, true);
    expect(entries.map(shown)).toEqual([
      'a 2 Disallow: /1 a.warc',
      'a 3 Disallow: /3 a.warc',
      'a 4 unknown b.warc.gz',
      'a 5 Disallow: /5 a.warc',
      'a 6 404 b.warc.gz',
      'c 6 Disallow: /c b.warc.gz',
      // It was captured twice more.
      'c 7 Disallow: /c c.warc',
      'c 8 Disallow: /c c.warc',
    ]);
    expect(warnings).toMatchObject([{ code: 'no-target' }]);
    expect(warnings[0]?.message).toContain('https://b/lost');
  });

  it('are only the latest ones by default', async () => {
    for (const history of [undefined, false]) {
      const { entries, warnings } = await entriesOf(files, history);
      expect(entries.map(shown)).toEqual(['a 6 404 b.warc.gz', 'c 7 Disallow: /c c.warc']);
      expect(warnings).toEqual([]);
    }
  });

  it('are those of compilations as of each time, whatever has to be read again', async () => {
    let readMore = 0;
    let ended = 0;
    for (let seed = 71; seed < 71 + cases(25); seed++) {
      const random = new Random(seed);
      const drawn = drawCaptures(random);
      // `asOf` has no fractions of milliseconds.
      const captures = [...drawn.first, ...drawn.again].map(({ capture, ...rest }) => ({
        capture: { ...capture, date: Math.floor(capture.date) },
        ...rest,
      }));
      const files: Record<string, Buffer> = {};
      for (const file of new Set(captures.map((each) => each.file))) {
        const records = captures.filter((each) => each.file === file).map(recordFor);
        if (random.chance(0.5)) files[`${file}.warc`] = Buffer.concat(records);
        else files[`${file}.warc.gz`] = membersOf(records);
      }
      const { entries, again } = await entriesOf(files, true);
      if (again > (await entriesOf(files)).again) readMore++;
      const times = new Set(captures.map(({ capture }) => capture.date));
      for (const time of [...times].sort((one, other) => one - other)) {
        const then = (await entriesOf(files, false, time)).entries;
        for (const host of ['a', 'b', 'c']) {
          const found = entries.findLast((entry) => entry.host === host && entry.date <= time);
          const expected = then.find((entry) => entry.host === host)?.what ?? 'unknown';
          expect(found?.what ?? 'unknown', `seed ${seed}, ${host} at ${time}`).toBe(expected);
          if (found?.what === 'unknown') ended++;
        }
      }
    }
    expect(readMore).toBeGreaterThan(cases(2));
    expect(ended).toBeGreaterThan(cases(2));
  });
});
