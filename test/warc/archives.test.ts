import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/protocol/verdict.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { compiled, withFiles } from './table-of.js';
import { captureOf, membersOf, recordOf, responseOf, robotsOf } from './warc-bytes.js';

const DAY = 86_400_000;
const START = Date.UTC(2025, 0, 1);

function dateOf(day: number): string {
  return new Date(START + day * DAY).toISOString();
}

function robotsUrl(host: string): string {
  return `http://${host}/robots.txt`;
}

/** A capture whose rule tells it. */
function found(url: string, rule: string, day = 0): Buffer {
  return captureOf(url, responseOf(200, robotsOf(rule)), { date: dateOf(day) });
}

function moved(url: string, location: string, day = 0): Buffer {
  return captureOf(url, responseOf(301, 'gone', { Location: location }), { date: dateOf(day) });
}

function failed(url: string, status: number, day = 0): Buffer {
  return captureOf(url, responseOf(status, 'no'), { date: dateOf(day) });
}

/** Compiles one archive and judges `/x` of hosts. */
async function judged(records: readonly Buffer[], hosts: readonly string[]): Promise<string[]> {
  return withFiles({ 'a.warc.gz': membersOf(records) }, async (directory) => {
    const { judge } = await compiled([join(directory, 'a.warc.gz')]);
    return hosts.map((host) => judge(`http://${host}/x`).split(' ').slice(0, 2).join(' '));
  });
}

describe('a robots.txt of an archive', () => {
  it('counts for the authority that was asked, and for no other', async () => {
    const records = [found('http://a.example:8080/robots.txt', '/x')];
    await withFiles({ 'a.warc': Buffer.concat(records) }, async (directory) => {
      const { judge, stats } = await compiled([join(directory, 'a.warc')]);
      expect(judge('http://a.example:8080/x')).toBe('deny rule a.warc:0');
      expect(judge('http://a.example/x')).toBe('unknown unknown-host');
      expect(judge('https://a.example:8080/x')).toBe('unknown unknown-host');
      expect(stats).toMatchObject({ files: 1, bodies: 1 });
    });
  });

  it('has the access result of its status', async () => {
    const statuses = [404, 410, 429, 500, 503];
    const records = statuses.map((status) => failed(robotsUrl(`h${status}`), status));
    expect(
      await judged(
        records,
        statuses.map((status) => `h${status}`),
      ),
    ).toEqual([
      'allow unavailable',
      'allow unavailable',
      'allow unavailable',
      'deny unreachable',
      'deny unreachable',
    ]);
  });

  it('is parsed, even if it is an HTML page', async () => {
    const page = responseOf(200, '<html>user-agent: *\nuser-agent: *\ndisallow: /x\n', {
      'Content-Type': 'text/html',
    });
    expect(await judged([captureOf(robotsUrl('a'), page)], ['a'])).toEqual(['deny rule']);
  });

  it('is the latest one, in whatever order and file', async () => {
    const [first, second, third] = [1, 2, 3].map((day) => found(robotsUrl('a'), `/${day}`, day));
    const files = {
      'a.warc': Buffer.concat([third as Buffer, first as Buffer]),
      'b.warc.gz': membersOf([second as Buffer]),
    };
    await withFiles(files, async (directory) => {
      for (const paths of [['a.warc', 'b.warc.gz'], ['b.warc.gz', 'a.warc'], ['.']]) {
        const { judge } = await compiled(paths.map((path) => join(directory, path)));
        expect(['1', '2', '3'].map((day) => judge(`http://a/${day}`).split(' ')[0])).toEqual([
          'allow',
          'allow',
          'deny',
        ]);
      }
      for (const [asOf, latest] of [
        [START + DAY - 1, undefined],
        [START + DAY, '1'],
        [START + 2 * DAY - 1, '1'],
        [START + 2 * DAY, '2'],
        [START + 9 * DAY, '3'],
      ] as const) {
        const { judge } = await compiled([directory], { asOf });
        const denied = ['1', '2', '3'].filter((day) => judge(`http://a/${day}`).startsWith('deny'));
        expect(denied).toEqual(latest === undefined ? [] : [latest]);
      }
    });
  });

  it('is the later record of two at the same moment', async () => {
    const records = [found(robotsUrl('a'), '/x'), found(robotsUrl('a'), '/y')];
    expect(await judged(records, ['a'])).toEqual(['allow no-rule']);
    expect(await judged(records.reverse(), ['a'])).toEqual(['deny rule']);
  });

  it('is left out with its host if the host is no name', async () => {
    const records = [
      found(`http://${'a'.repeat(300)}/robots.txt`, '/x'),
      found(robotsUrl('a'), '/x'),
    ];
    expect(await judged(records, ['a'])).toEqual(['deny rule']);
  });
});

describe('redirects', () => {
  const chainOf = (length: number, end: Buffer): Buffer[] => [
    moved(robotsUrl('a'), '/1'),
    ...Array.from({ length: length - 1 }, (_, at) => moved(`http://a/${at + 1}`, `/${at + 2}`)),
    end,
  ];

  it('are followed five times, and then there is no robots.txt', async () => {
    for (const [length, verdict] of [
      [1, 'deny rule'],
      [5, 'deny rule'],
      [6, 'allow unavailable'],
      [7, 'allow unavailable'],
    ] as const) {
      const chain = chainOf(length, found(`http://a/${length}`, '/x'));
      expect(await judged(chain, ['a']), `${length}`).toEqual([verdict]);
      // Targets that come before their redirects need further readings.
      expect(await judged(chain.toReversed(), ['a']), `${length}, reversed`).toEqual([verdict]);
    }
  });

  it('lead to other hosts and files, and count for the host that was asked', async () => {
    const files = {
      'a.warc.gz': membersOf([
        moved(robotsUrl('a'), 'https://b/x.txt'),
        found('https://b/z', '/z'),
      ]),
      'b.warc': Buffer.concat([found('https://b/x.txt', '/x'), found('https://b/y', '/y')]),
      'c.warc': Buffer.concat([moved(robotsUrl('c'), 'https://b/y')]),
    };
    await withFiles(files, async (directory) => {
      for (const threads of [1, 2]) {
        const { judge, warnings } = await compiled([directory], { threads });
        expect(warnings).toEqual([]);
        expect(judge('http://a/x')).toBe('deny rule b.warc:0');
        expect(judge('http://c/y')).toMatch(/^deny rule b.warc:\d+$/);
        expect(judge('https://b/x')).toBe('unknown unknown-host');
      }
    });
  });

  it('lead to the latest capture of their target', async () => {
    const records = [
      found('http://a/1', '/x', 9),
      moved(robotsUrl('a'), '/1', 1),
      found('http://a/1', '/y', 2),
    ];
    expect(await judged(records, ['a'])).toEqual(['deny rule']);
  });

  it('lead to captures that lie before them, however the file is laid out', async () => {
    const others = Array.from({ length: 1200 }, (_, page) => found(`http://o/${page}`, '/o'));
    const targets = [
      found('http://a/1', '/x', 3),
      found('http://a/1', '/y', 2),
      moved('http://b/1', 'http://c/', 1),
    ];
    const last = [
      found('http://c/', '/x'),
      moved(robotsUrl('a'), '/1'),
      moved(robotsUrl('b'), '/1'),
    ];
    for (const records of [
      [...targets, ...last],
      [...targets, ...others, ...last],
      [...others, ...targets, ...last],
    ]) {
      const whole = Buffer.concat(records);
      for (const [name, bytes] of [
        ['a.warc', whole],
        ['a.warc.gz', membersOf(records)],
        // One member for all records; and members that end within records.
        ['a.warc.gz', gzipSync(whole)],
        ['a.warc.gz', membersOf([whole.subarray(0, 1000), whole.subarray(1000)])],
      ] as const) {
        await withFiles(
          { [name]: bytes, 'b.warc': found(robotsUrl('z'), '/x') },
          async (directory) => {
            const { judge, warnings } = await compiled([directory]);
            expect(warnings).toEqual([]);
            expect(judge('http://a/x')).toMatch(/^deny rule a\.warc/);
            expect(judge('http://a/y')).toMatch(/^allow/);
            expect(judge('http://b/x')).toMatch(/^deny rule a\.warc/);
          },
        );
      }
    }
  });

  it('in a loop, or to no URL, mean that there is no robots.txt', async () => {
    const records = [
      moved(robotsUrl('a'), robotsUrl('a')),
      moved(robotsUrl('b'), '/1'),
      moved('http://b/1', '/2'),
      moved('http://b/2', '/1'),
      moved(robotsUrl('c'), 'mailto:x'),
      failed(robotsUrl('d'), 302),
    ];
    expect(await judged(records, ['a', 'b', 'c', 'd'])).toEqual(
      Array.from({ length: 4 }, () => 'allow unavailable'),
    );
  });

  it('have the access result of their end', async () => {
    const records = [
      moved(robotsUrl('a'), '/1'),
      failed('http://a/1', 404),
      moved(robotsUrl('b'), '/1'),
      failed('http://b/1', 503),
    ];
    expect(await judged(records, ['a', 'b'])).toEqual(['allow unavailable', 'deny unreachable']);
  });

  it('to what was not captured leave the host unknown, with a warning', async () => {
    const records = [moved(robotsUrl('a'), 'https://a/robots.txt'), moved(robotsUrl('b'), '/1')];
    await withFiles({ 'a.warc': Buffer.concat(records) }, async (directory) => {
      const { judge, warnings } = await compiled([directory]);
      expect(judge('http://a/x')).toBe('unknown unknown-host');
      expect(judge('http://b/x')).toBe('unknown unknown-host');
      expect(warnings).toMatchObject([
        { code: 'no-target', offset: 0 },
        { code: 'no-target', offset: records[0]?.length },
      ]);
      expect(warnings[0]?.message).toContain('https://a/robots.txt, which was not captured');
    });
  });
});

describe('a revisit', () => {
  const revisit = (fields: Record<string, string>, day: number, status = 200): Buffer =>
    recordOf({
      type: 'revisit',
      uri: robotsUrl('a'),
      date: dateOf(day),
      block: responseOf(status),
      fields,
    });
  const digested = (url: string, rule: string, digest: string, day: number): Buffer =>
    captureOf(url, responseOf(200, robotsOf(rule)), {
      date: dateOf(day),
      fields: { 'WARC-Payload-Digest': digest },
    });

  it('has the payload of its digest, or of the URL and date that it refers to', async () => {
    const older = digested(robotsUrl('a'), '/x', 'sha1:X', 1);
    const newer = digested(robotsUrl('a'), '/y', 'sha1:Y', 2);
    const elsewhere = digested('https://b/robots.txt', '/x', 'sha1:X', 1);
    for (const [name, records, verdict] of [
      ['digest', [older, newer, revisit({ 'WARC-Payload-Digest': 'sha1:X' }, 3)], 'deny rule'],
      [
        'other URL',
        [newer, elsewhere, revisit({ 'WARC-Payload-Digest': 'sha1:X' }, 3)],
        'deny rule',
      ],
      ['before', [revisit({ 'WARC-Payload-Digest': 'sha1:X' }, 3), newer, older], 'deny rule'],
      ['earlier', [older, revisit({ 'WARC-Payload-Digest': 'sha1:X' }, 1), newer], 'allow no-rule'],
      [
        'reference',
        [
          elsewhere,
          newer,
          revisit(
            {
              'WARC-Refers-To-Target-URI': 'https://b/robots.txt',
              'WARC-Refers-To-Date': dateOf(1),
            },
            3,
          ),
        ],
        'deny rule',
      ],
      ['not modified', [older, revisit({}, 3, 304)], 'deny rule'],
      [
        'not modified since',
        [older, revisit({}, 2, 304), digested(robotsUrl('a'), '/y', 'sha1:Y', 3)],
        'allow no-rule',
      ],
      ['another status', [older, revisit({}, 3, 503)], 'deny unreachable'],
    ] as const) {
      expect(await judged(records, ['a']), name).toEqual([verdict]);
    }
  });

  it('has the payload of a capture that is not the latest of its URL, or is of a page', async () => {
    const referred = (url: string, day: number): Buffer =>
      revisit({ 'WARC-Refers-To-Target-URI': url, 'WARC-Refers-To-Date': dateOf(day) }, 4);
    const other = robotsUrl('b');
    const [older, newer] = [found(other, '/x', 1), found(other, '/y', 2)];
    const page = found('http://b/page', '/x', 1);
    const own = [found(robotsUrl('a'), '/x', 1), found(robotsUrl('a'), '/y', 2)];
    for (const [name, records, verdict] of [
      ['older', [older, newer, referred(other, 1)], 'deny rule'],
      ['latest', [older, newer, referred(other, 2)], 'allow no-rule'],
      ['neither', [older, newer, referred(other, 3)], 'unknown unknown-host'],
      ['added first', [newer, older, referred(other, 1)], 'deny rule'],
      ['added last', [referred(other, 1), newer, older], 'deny rule'],
      ['of the same host', [...own, referred(robotsUrl('a'), 1)], 'deny rule'],
      ['page before', [page, referred('http://b/page', 1)], 'deny rule'],
      ['page after', [referred('http://b/page', 1), page], 'deny rule'],
      [
        'older page',
        [page, found('http://b/page', '/y', 2), referred('http://b/page', 1)],
        'deny rule',
      ],
      [
        'redirect to a page that is a revisit',
        [
          moved(robotsUrl('a'), '/moved', 1),
          recordOf({
            type: 'revisit',
            uri: 'http://a/moved',
            date: dateOf(2),
            block: responseOf(200),
            fields: {
              'WARC-Refers-To-Target-URI': 'http://b/page',
              'WARC-Refers-To-Date': dateOf(1),
            },
          }),
          page,
        ],
        'deny rule',
      ],
    ] as const) {
      expect(await judged(records, ['a']), name).toEqual([verdict]);
    }
  });

  it('of a missing capture does not count, with a warning', async () => {
    const older = digested(robotsUrl('a'), '/x', 'sha1:X', 1);
    const lost = revisit({ 'WARC-Payload-Digest': 'sha1:Z' }, 3);
    await withFiles({ 'a.warc': Buffer.concat([older, lost]) }, async (directory) => {
      const { judge, warnings } = await compiled([directory]);
      expect(judge('http://a/x')).toBe('deny rule a.warc:0');
      expect(warnings).toMatchObject([{ code: 'no-payload', offset: older.length }]);
    });
    expect(await judged([lost], ['a'])).toEqual(['unknown unknown-host']);
    expect(await judged([revisit({}, 3, 304)], ['a'])).toEqual(['unknown unknown-host']);
  });

  it('confirms the capture or revisit before it with a 304, in whatever order they lie', async () => {
    const random = new Random(304);
    const reached = new Map<string, number>();
    for (let archive = 0; archive < 8; archive++) {
      const hosts = Array.from({ length: 40 }, (_, index) => `h${index}`);
      const histories = hosts.map((host) => historyOf(host, random));
      const records = shuffled(
        histories.flatMap(({ records: all }) => all),
        random,
      );
      const expected = histories.map(({ verdict }) => verdict);
      expect(await judged(records, hosts), `archive ${archive}`).toEqual(expected);
      for (const { verdict, last } of histories) {
        const key = `${last}: ${verdict}`;
        reached.set(key, (reached.get(key) ?? 0) + 1);
      }
    }
    // Each kind of last record came with each verdict that it can have.
    expect([...reached.keys()].sort()).toEqual(
      [
        ...EVENTS.flatMap((last) => (last === '404' ? [] : [`${last}: deny rule`])),
        ...EVENTS.flatMap((last) => (last === '404' ? [] : [`${last}: allow no-rule`])),
        ...['404', 'revisit', '304'].map((last) => `${last}: allow unavailable`),
        ...['revisit', '304'].map((last) => `${last}: unknown unknown-host`),
      ].sort(),
    );
  });

  it('that says 304 does not take its own empty body for the robots.txt', async () => {
    const empty = captureOf(robotsUrl('b'), responseOf(200), {
      date: dateOf(1),
      fields: { 'WARC-Payload-Digest': 'sha1:EMPTY' },
    });
    const older = digested(robotsUrl('a'), '/x', 'sha1:X', 1);
    const same = revisit({ 'WARC-Payload-Digest': 'sha1:EMPTY' }, 3, 304);
    expect(await judged([empty, older, same], ['a', 'b'])).toEqual(['deny rule', 'allow no-group']);
  });
});

const EVENTS = ['capture', '404', 'revisit', '304'] as const;

/** What the model knows of a host: its records, the verdict on `/x`, and the last record. */
interface History {
  readonly records: readonly Buffer[];
  readonly verdict: string;
  readonly last: (typeof EVENTS)[number];
}

/** Draws the records of a host, one a day, and tells what they say in the end. */
function historyOf(host: string, random: Random): History {
  const url = robotsUrl(host);
  const days = random.between(1, 7);
  const drawn = Array.from({ length: days }, () => ({
    event: random.pick(EVENTS),
    path: random.pick(['/x', '/y']),
  }));
  const verdicts = new Map([
    ['/x', 'deny rule'],
    ['/y', 'allow no-rule'],
  ]);
  const captured = new Set(
    drawn.filter(({ event }) => event === 'capture').map(({ path }) => path),
  );
  let verdict = 'unknown unknown-host';
  const records = drawn.map(({ event, path }, day) => {
    const date = dateOf(day);
    const fields = { 'WARC-Payload-Digest': `sha1:${host}${path}` };
    if (event === '404') {
      verdict = 'allow unavailable';
      return failed(url, 404, day);
    }
    if (event === 'capture') {
      verdict = verdicts.get(path) ?? '';
      return captureOf(url, responseOf(200, robotsOf(path)), { date, fields });
    }
    if (event === '304')
      return recordOf({ type: 'revisit', uri: url, date, block: responseOf(304) });
    if (captured.has(path)) verdict = verdicts.get(path) ?? '';
    return recordOf({ type: 'revisit', uri: url, date, block: responseOf(200), fields });
  });
  return { records, verdict, last: drawn.at(-1)?.event ?? '304' };
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const order = items.map((item) => ({ item, key: random.number() }));
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

describe('archives', () => {
  const A = found(robotsUrl('a'), '/x', 2);
  const B = found(robotsUrl('b'), '/x', 2);

  it('are found in a directory beside other files, which win', async () => {
    const files = { 'z.warc': Buffer.concat([A, B]), 'c.txt': robotsOf('/x') };
    await withFiles(files, async (directory) => {
      mkdirSync(join(directory, 'http'));
      writeFileSync(join(directory, 'http', 'a'), robotsOf('/y'));
      writeFileSync(join(directory, 'http', 'b.warc'), B);
      const { judge, warnings } = await compiled([directory]);
      expect(judge('http://a/y')).toBe('deny rule http/a');
      expect(judge('http://b/x')).toMatch(/^deny rule z.warc:\d+$/);
      expect(judge('http://c/x')).toBe('deny rule c.txt');
      expect(warnings).toMatchObject([{ code: 'too-deep' }]);
    });
  });

  it('are found through a list of paths', async () => {
    const list = 'sub/a.warc\n\nfar/away/b.warc.gz\r\n';
    const files = { 'b.warc.gz': gzipSync(B), 'robotstxt.paths': list };
    await withFiles({ ...files, 'robotstxt.paths.gz': gzipSync(list) }, async (directory) => {
      const missing = compiled([join(directory, 'robotstxt.paths')]);
      await expect(missing).rejects.toThrow('robotstxt.paths:1: sub/a.warc is not there');
      mkdirSync(join(directory, 'sub'));
      writeFileSync(join(directory, 'sub', 'a.warc'), A);
      for (const name of ['robotstxt.paths', 'robotstxt.paths.gz']) {
        const { judge } = await compiled([join(directory, name)]);
        expect(judge('http://a/x')).toBe('deny rule sub/a.warc:0');
        expect(judge('http://b/x')).toBe('deny rule far/away/b.warc.gz:0');
      }
    });
  });

  it('are overridden by later caches, and override earlier ones', async () => {
    const files = { 'a.warc': A, 'b.ndjson': '{"url":"http://a/robots.txt","robots":""}\n' };
    await withFiles(files, async (directory) => {
      const [warc, ndjson] = ['a.warc', 'b.ndjson'].map((name) => join(directory, name)) as [
        string,
        string,
      ];
      expect((await compiled([warc, ndjson])).judge('http://a/x')).toBe('allow no-group');
      expect((await compiled([ndjson, warc])).judge('http://a/x')).toBe('deny rule a.warc:0');
    });
  });

  it('name their damage, and then count it', async () => {
    const records = Array.from({ length: 60 }, (_, index) =>
      index % 2 === 0 ? found(robotsUrl(`h${index}`), '/x') : Buffer.from(`junk ${index}\r\n\r\n`),
    );
    await withFiles({ 'a.warc': Buffer.concat(records) }, async (directory) => {
      const { warnings } = await compiled([join(directory, 'a.warc')]);
      const damaged = warnings.filter(({ code }) => code === 'damaged-record');
      expect(damaged).toHaveLength(21);
      const [first] = records as [Buffer];
      // The intact record before counts.
      const place = { offset: first.length, path: join(directory, 'a.warc') };
      expect(damaged[0]).toMatchObject(place);
      expect(damaged.at(-1)).toMatchObject({ count: 10 });
    });
  });

  it('make the same table on any number of threads', async () => {
    const random = new Random(4);
    const files: Record<string, Buffer> = {};
    for (let file = 0; file < 12; file++) {
      const records = Array.from({ length: 40 }, () => drawRecord(random));
      files[`f${file}.warc.gz`] = membersOf(records);
    }
    files['between.ndjson'] = Buffer.from('{"host":"a","robots":"user-agent: *\\ndisallow: /b"}\n');
    await withFiles(files, async (directory) => {
      const names = ['f0.warc.gz', 'f1.warc.gz', 'f2.warc.gz', 'f3.warc.gz', 'between.ndjson'];
      // Threads end with an archive, and others start for the next one.
      const paths = [...names.map((name) => join(directory, name)), directory];
      const one = await compiled(paths, { threads: 1 });
      const two = await compiled(paths, { threads: 3 });
      expect(Buffer.compare(one.bytes, two.bytes)).toBe(0);
      expect(two.warnings).toEqual(one.warnings);
      expect(two.stats).toEqual(one.stats);
    });
  });
});

const HOSTS = ['a', 'b', 'c', 'd', 'e', 'f'];
const PATHS = ['robots.txt', 'robots.txt', 'robots.txt', '1', '2'];

function drawUrl(random: Random): string {
  return `http://${random.pick(HOSTS)}/${random.pick(PATHS)}`;
}

function drawRecord(random: Random): Buffer {
  const url = drawUrl(random);
  const day = random.between(0, 1000);
  const kind = random.between(0, 9);
  if (kind < 4) return found(url, `/${random.between(1, 9)}`, day);
  if (kind < 8) return moved(url, drawUrl(random), day);
  return failed(url, random.pick([404, 503]), day);
}

/** What captures mean, in the plainest way: the model that archives are compared with. */
class Model {
  readonly #latest = new Map<string, { day: number; outcome: string }>();

  add(url: string, day: number, outcome: string): void {
    const known = this.#latest.get(url);
    if (known === undefined || day >= known.day) this.#latest.set(url, { day, outcome });
  }

  judge(host: string): string {
    let url = robotsUrl(host);
    const chain = [url];
    for (;;) {
      const outcome = this.#latest.get(url)?.outcome;
      if (outcome === undefined) return 'unknown';
      if (!outcome.startsWith('> ')) return outcome;
      url = outcome.slice(2);
      if (chain.includes(url) || chain.length > 5) return 'unavailable';
      chain.push(url);
    }
  }
}

describe('drawn archives', () => {
  it('mean what a plain model says', async () => {
    const seen = new Set<string>();
    const limited = { rfc9309: 0, google: 0, 'draft-koster-rep-00': 0 };
    for (let seed = 0; seed < cases(50); seed++) {
      const random = new Random(seed);
      const model = new Model();
      const moments = new Set<string>();
      const profile = random.pick(PROFILES);
      const asOf = random.chance(0.3) ? random.between(0, 1000) : 1000;
      const files: Record<string, Buffer> = {};
      const count = random.between(1, 4);
      for (let file = 0; file < count; file++) {
        const records: Buffer[] = [];
        for (let left = random.between(1, 12); left > 0; left--) {
          const url = drawUrl(random);
          const day = random.between(0, 1000);
          // Captures of one moment are in no order; same-moment.test.ts has their model.
          if (moments.has(`${url} ${day}`)) continue;
          moments.add(`${url} ${day}`);
          const kind = random.between(0, 9);
          const rule = `/${random.between(1, 9)}`;
          const target = drawUrl(random);
          const status = random.pick([404, 429, 503]);
          if (kind < 4) records.push(found(url, rule, day));
          else if (kind < 8) records.push(moved(url, target, day));
          else records.push(failed(url, status, day));
          if (day > asOf) continue;
          const isFailure = status === 503 || (status === 429 && profile === 'google');
          const access = isFailure ? 'unreachable' : 'unavailable';
          if (kind >= 8 && status === 429) limited[profile]++;
          model.add(url, day, kind < 4 ? rule : kind < 8 ? `> ${target}` : access);
        }
        const plain = Buffer.concat(records);
        files[`f${file}.warc${['', '.gz', '.gz'][file % 3]}`] =
          file % 3 === 0 ? plain : file % 3 === 1 ? membersOf(records) : gzipSync(plain);
      }
      await withFiles(files, async (directory) => {
        const { judge } = await compiled([directory], { profile, asOf: START + asOf * DAY });
        for (const host of HOSTS) {
          const expected = model.judge(host);
          seen.add(expected.startsWith('/') ? 'rule' : expected);
          const path = expected.startsWith('/') ? expected : '/x';
          const [, reason] = judge(`http://${host}${path}`).split(' ');
          const found = expected.startsWith('/') ? 'rule' : expected;
          expect(reason, `seed ${seed}, ${profile}, ${host}`).toBe(
            found === 'unknown' ? 'unknown-host' : found,
          );
        }
      });
    }
    expect([...seen].sort()).toEqual(['rule', 'unavailable', 'unknown', 'unreachable']);
    for (const count of Object.values(limited)) expect(count).toBeGreaterThan(3);
  });
});
