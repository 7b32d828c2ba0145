import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { workplace } from '../cli/command-line.js';
import { rawFrame } from '../files/zstd-frames.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { compiled, withFiles } from './table-of.js';
import { captureOf, framesOf, membersOf, recordOf, responseOf, robotsOf } from './warc-bytes.js';

/** A moment; records that name none have it. */
const SECOND = '2026-02-01T10:00:00Z';

const robotsUrl = (host: string): string => `https://${host}/robots.txt`;

function found(url: string, rule: string, date = SECOND): Buffer {
  return captureOf(url, responseOf(200, robotsOf(rule)), { date });
}

/** A response whose body is decoded piece by piece. */
const zstd = (url: string, rule: string): Buffer =>
  captureOf(url, responseOf(200, rawFrame(robotsOf(rule)), { 'Content-Encoding': 'zstd' }), {
    date: SECOND,
  });

function moved(url: string, location: string, date = SECOND): Buffer {
  return captureOf(url, responseOf(302, '', { Location: location }), { date });
}

function failed(url: string, status: number, date = SECOND): Buffer {
  return captureOf(url, responseOf(status, 'no'), { date });
}

function revisit(url: string, fields: Record<string, string>, date = SECOND, status = 200): Buffer {
  return recordOf({ type: 'revisit', uri: url, date, block: responseOf(status), fields });
}

/** What `/x` of a host is. */
async function judged(records: readonly Buffer[], host = 'a'): Promise<string> {
  return withFiles({ 'a.warc': Buffer.concat(records) }, async (directory) => {
    const { judge } = await compiled([join(directory, 'a.warc')]);
    return judge(`https://${host}/x`).split(' ').slice(0, 2).join(' ');
  });
}

/** All orders of some items. */
function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    ordersOf([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}

const A = robotsUrl('a');
const PAGE = 'https://b/set-cookie?back=a';
const OTHER = 'https://c/robots.txt';

describe('captures of one moment', () => {
  it.each<[string, string, Buffer[]]>([
    [
      'a redirect that sets a cookie',
      'deny rule',
      [moved(A, PAGE), moved(PAGE, A), found(A, '/x')],
    ],
    ['a redirect to the same URL', 'deny rule', [moved(A, A), found(A, '/x')]],
    [
      'a redirect that goes on elsewhere',
      'deny rule',
      [moved(A, PAGE), moved(PAGE, A), moved(A, OTHER), found(OTHER, '/x')],
    ],
    [
      'a redirect back to another',
      'deny rule',
      [moved(A, OTHER), moved(OTHER, PAGE), moved(PAGE, OTHER), found(OTHER, '/x')],
    ],
    ['a success and a failure', 'deny rule', [found(A, '/x'), failed(A, 503), failed(A, 404)]],
    [
      'a failure after a redirect back',
      'deny unreachable',
      [moved(A, PAGE), moved(PAGE, A), failed(A, 503)],
    ],
    [
      'a redirect to rules, and a failure',
      'deny rule',
      [moved(A, OTHER), found(OTHER, '/x'), failed(A, 404)],
    ],
    [
      'a redirect to a failure, and rules',
      'deny rule',
      [moved(A, OTHER), failed(OTHER, 404), found(A, '/x')],
    ],
    ['a redirect to no capture, and rules', 'deny rule', [moved(A, OTHER), found(A, '/x')]],
    [
      'a redirect to no capture, and a failure',
      'deny unreachable',
      [moved(A, OTHER), failed(A, 503)],
    ],
    [
      'a redirect back, and one to no capture',
      'unknown unknown-host',
      [moved(A, A), moved(A, OTHER)],
    ],
    ['a loop alone', 'allow unavailable', [moved(A, PAGE), moved(PAGE, A)]],
    [
      'a success and an older one that is confirmed',
      'deny rule',
      [found(A, '/y', '2025-01-01'), found(A, '/x'), revisit(A, {}, SECOND, 304)],
    ],
    [
      'a revisit with a payload, and a failure',
      'deny rule',
      [
        captureOf(OTHER, responseOf(200, robotsOf('/x')), {
          fields: { 'WARC-Payload-Digest': 'sha1:X' },
        }),
        failed(A, 404),
        revisit(A, { 'WARC-Payload-Digest': 'sha1:X' }),
      ],
    ],
    [
      'what a revisit refers to',
      'deny rule',
      [
        moved(OTHER, PAGE),
        moved(PAGE, OTHER),
        found(OTHER, '/x'),
        revisit(
          A,
          { 'WARC-Refers-To-Target-URI': OTHER, 'WARC-Refers-To-Date': SECOND },
          '2026-03-01T00:00:00Z',
        ),
      ],
    ],
    [
      'microseconds',
      'deny rule',
      [
        found(A, '/x', '2026-02-01T10:00:00.000002Z'),
        found(A, '/y', '2026-02-01T10:00:00.000001Z'),
        failed(A, 404, '2026-02-01T10:00:00.0000019Z'),
        moved(A, OTHER, '2026-02-01T10:00:00.000Z'),
      ],
    ],
  ])('are in no order: %s', async (_name, verdict, records) => {
    for (const order of ordersOf(records)) expect(await judged(order)).toBe(verdict);
  });

  it('that lead to different rules, or fail differently, count in the order of the archive', async () => {
    for (const [records, verdicts] of [
      [
        [found(A, '/y'), found(A, '/x')],
        ['deny rule', 'allow no-rule'],
      ],
      [
        [zstd(A, '/y'), zstd(A, '/x')],
        ['deny rule', 'allow no-rule'],
      ],
      [
        [zstd(A, '/y'), found(A, '/x')],
        ['deny rule', 'allow no-rule'],
      ],
      [
        [failed(A, 404), failed(A, 503)],
        ['deny unreachable', 'allow unavailable'],
      ],
      [
        [found(A, '/y'), moved(A, OTHER), found(OTHER, '/x')],
        ['deny rule', 'allow no-rule'],
      ],
    ] as const) {
      expect([await judged(records), await judged([...records].reverse())]).toEqual(verdicts);
      const [first, ...rest] = records;
      for (const [one, two] of [
        [first, Buffer.concat(rest)],
        [Buffer.concat([...rest].reverse()), first],
      ] as const) {
        await withFiles(
          { 'a.warc': one as Buffer, 'b.warc.gz': gzipSync(two as Buffer) },
          async (directory) => {
            const { judge } = await compiled([directory]);
            const found = judge('https://a/x').split(' ').slice(0, 2).join(' ');
            expect(found).toBe(verdicts[one === first ? 0 : 1]);
          },
        );
      }
    }
  });

  it('may be more than 1,024, before and after the redirect to them', async () => {
    const pages = Array.from({ length: 1200 }, (_, index) => found(PAGE, `/${index}`));
    for (const before of [1, 1025, 1200]) {
      const records = [...pages.slice(0, before), moved(A, PAGE), ...pages.slice(before)];
      for (const [name, bytes] of [
        ['a.warc', Buffer.concat(records)],
        ['a.warc.gz', gzipSync(Buffer.concat(records))],
      ] as const) {
        await withFiles({ [name]: bytes }, async (directory) => {
          const { judge } = await compiled([directory]);
          expect(judge('https://a/1199'), `${before} ${name}`).toMatch(/^deny rule/);
        });
      }
    }
  });

  it('take bounded time, however many redirects they have', async () => {
    const urls = Array.from({ length: 40 }, (_, index) => robotsUrl(`h${index}`));
    const records = urls.flatMap((url) => urls.map((target) => moved(url, target)));
    expect(await judged(records, 'h0')).toBe('allow unavailable');
    expect(await judged([found('https://h39/robots.txt', '/x'), ...records], 'h39')).toBe(
      'deny rule',
    );
  });
});

const MOMENTS = [
  ...Array.from({ length: 12 }, () => SECOND),
  '2026-02-01T09:59:59Z',
  '2026-02-01T09:59:59.5Z',
  '2026-02-01T10:00:02.000001Z',
  '2026-02-01T10:00:02.000002Z',
];

const HOSTS = ['a', 'b', 'c'];
const URLS = [...HOSTS.map(robotsUrl), 'https://a/1', 'https://b/2'];

/** What the model knows of a record, which lies at a place of the list of all records. */
interface Drawn {
  readonly url: string;
  /** The date, in microseconds since SECOND. */
  readonly at: number;
  readonly kind: 'rules' | 'failure' | 'redirect' | 'digest' | 'reference';
  /** The rule, status, target or digest, or the URL that a revisit refers to at SECOND. */
  readonly value: string;
  readonly bytes: Buffer;
}

function draw(random: Random, index: number): Drawn {
  const url = random.pick(URLS);
  const date = random.pick(MOMENTS);
  const seconds = Number(date.slice(17, -1)) - (date.includes('T09') ? 60 : 0);
  const at = Math.round(seconds * 1_000_000);
  const value = `/${index}`;
  // Only robots.txt files have digests: pages are read only if something leads there.
  const isRobots = url.endsWith('robots.txt');
  switch (random.between(0, 9)) {
    case 0:
    case 1: {
      const body = robotsOf(value);
      const [coding, bytes] = random.pick([
        ['identity', Buffer.from(body)],
        ['gzip', gzipSync(body)],
        ['zstd', rawFrame(body)],
      ] as const);
      const block = responseOf(
        200,
        bytes,
        coding === 'identity' ? {} : { 'Content-Encoding': coding },
      );
      const fields = isRobots ? { 'WARC-Payload-Digest': `sha1:${index}` } : {};
      return { url, at, kind: 'rules', value, bytes: captureOf(url, block, { date, fields }) };
    }
    case 2:
    case 3: {
      const status = random.pick([404, 503]);
      const result = status === 404 ? 'unavailable' : 'unreachable';
      return { url, at, kind: 'failure', value: result, bytes: failed(url, status, date) };
    }
    case 4: {
      // Some have the digest of no capture.
      const digest = random.between(0, index + 2);
      const fields = { 'WARC-Payload-Digest': `sha1:${digest}` };
      return { url, at, kind: 'digest', value: `/${digest}`, bytes: revisit(url, fields, date) };
    }
    case 5: {
      const target = random.pick(URLS);
      const fields = { 'WARC-Refers-To-Target-URI': target, 'WARC-Refers-To-Date': SECOND };
      return { url, at, kind: 'reference', value: target, bytes: revisit(url, fields, date) };
    }
    default: {
      const target = random.pick(URLS);
      return { url, at, kind: 'redirect', value: target, bytes: moved(url, target, date) };
    }
  }
}

/** What captures mean, without any of the program's data structures. */
class Model {
  readonly #records: readonly Drawn[];
  readonly used = new Set<string>();

  constructor(records: readonly Drawn[]) {
    this.#records = records;
  }

  judge(host: string): string {
    const ends = this.#ends(robotsUrl(host), []);
    const ranks = ['loop', 'unknown', 'failure', 'rules'];
    const rank = Math.max(...ends.map(({ kind }) => ranks.indexOf(kind)));
    const end = ends.find(({ kind }) => ranks.indexOf(kind) === rank);
    if (ends.length > 1 && new Set(ends.map(({ kind }) => kind)).size > 1) {
      this.used.add(`${ranks[rank]} among others`);
    }
    return end?.kind === 'loop' ? 'unavailable' : (end?.value ?? 'unknown');
  }

  /** All ends of the captures of a URL, the one of the last capture first. */
  #ends(url: string, before: readonly string[]): { kind: string; value?: string }[] {
    const records = this.#records.flatMap((record) => {
      const means = record.url === url ? this.#meaning(record) : undefined;
      return means === undefined ? [] : [{ ...means, at: record.at }];
    });
    const latest = Math.max(...records.map(({ at }) => at));
    const candidates = records.filter(({ at }) => at === latest).reverse();
    if (candidates.length === 0) return [{ kind: 'unknown' }];
    if (candidates.length > 1)
      this.used.add(`${new Set(candidates.map(({ kind }) => kind)).size} kinds`);
    return candidates.flatMap((record) => {
      if (record.kind !== 'redirect') return [record];
      const chain = [...before, url];
      if (chain.includes(record.value)) return [{ kind: 'loop' }];
      if (chain.length > 5) return [{ kind: 'failure', value: 'unavailable' }];
      return this.#ends(record.value, chain);
    });
  }

  /** What a record says; of a revisit, what it refers to. */
  #meaning({ kind, value, url }: Drawn): { kind: string; value: string } | undefined {
    if (kind !== 'digest' && kind !== 'reference') return { kind, value };
    const referred = this.#records.filter((record) =>
      kind === 'digest'
        ? record.kind === 'rules' && record.value === value && record.url.endsWith('robots.txt')
        : record.url === value && record.at === 0 && !['digest', 'reference'].includes(record.kind),
    );
    const found = referred.findLast((record) => record.kind === 'rules') ?? referred.at(-1);
    if (found !== undefined && url.length > 0) this.used.add(kind);
    return found;
  }
}

const FORMS = {
  '.warc': (records: readonly Buffer[]) => Buffer.concat(records),
  '.warc.gz': membersOf,
  '.warc.zst': framesOf,
  // One member or frame, in which all records lie at offset 0.
  '.one.warc.gz': (records: readonly Buffer[]) => gzipSync(Buffer.concat(records)),
  '.one.warc.zst': (records: readonly Buffer[]) => rawFrame(Buffer.concat(records)),
} as const;

describe('random captures of few moments', () => {
  it('mean what a plain model says, directly and as lines, on any number of threads', async () => {
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
    const place = workplace();
    place.write('pages', URLS.filter((url) => !url.endsWith('robots.txt')).join('\n'));
    for (let seed = 1; seed <= cases(10); seed++) {
      const random = new Random(seed);
      const records: Drawn[] = [];
      const names: string[] = [];
      for (let file = random.between(1, 3); file > 0; file--) {
        const drawn = Array.from({ length: random.pick([3, 6, 20, 24]) }, (_, index) =>
          draw(random, records.length + index),
        );
        const forms = Object.keys(FORMS) as (keyof typeof FORMS)[];
        const form = forms[(seed + names.length) % forms.length] as keyof typeof FORMS;
        // Junk between the records changes nothing.
        const bytes = drawn.map((record) => record.bytes);
        if (random.chance(0.5)) {
          bytes.splice(random.between(0, bytes.length), 0, Buffer.from('hello\r\n'));
          count('junk');
        }
        const name = `${seed}-${names.length}${form}`;
        place.write(name, FORMS[form](bytes));
        names.push(name);
        records.push(...drawn);
        count(form);
        for (const { kind } of drawn) count(kind);
      }
      const model = new Model(records);
      const paths = names.map((name) => join(place.path, name));
      const direct = await compiled(paths);
      for (const host of HOSTS) {
        const expected = model.judge(host);
        const isRule = expected.startsWith('/');
        const [, reason] = direct.judge(`https://${host}${isRule ? expected : '/x'}`).split(' ');
        const wanted = isRule ? 'rule' : expected === 'unknown' ? 'unknown-host' : expected;
        expect(reason, `seed ${seed}, ${host}`).toBe(wanted);
        count(wanted);
      }
      for (const what of model.used) count(what);
      const printed = await place.run(['captures', ...names]);
      const more = await place.run(['captures', '--targets', 'pages', ...names]);
      place.write(`${seed}.captures.ndjson`, `${printed.text}${more.text}`);
      const lines = await compiled([join(place.path, `${seed}.captures.ndjson`)]);
      expect(Buffer.compare(lines.bytes, direct.bytes), `seed ${seed}`).toBe(0);
      if (seed % 4 > 0) continue;
      const threads = await compiled(paths, { threads: 3 });
      expect(Buffer.compare(threads.bytes, direct.bytes), `seed ${seed}`).toBe(0);
      const shards = ['compile', '-q', '--shards', '1', '-o', `${seed}.shards`];
      const dirs = names.flatMap((name) => ['--robots-dir', name]);
      expect((await place.run([...shards, ...dirs])).code).toBe(0);
      const part = readFileSync(join(place.path, `${seed}.shards`, 'part-00000.table'));
      expect(Buffer.compare(part, direct.bytes), `seed ${seed}`).toBe(0);
    }
    for (const what of [
      ...Object.keys(FORMS),
      ...['junk', 'rules', 'failure', 'redirect', 'digest', 'reference', '2 kinds', '3 kinds'],
      ...['rule', 'unavailable', 'unreachable', 'unknown-host'],
      ...['rules among others', 'failure among others'],
    ]) {
      expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
    }
  });
});
