import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { ended, lines, test, type Workplace } from './command-line.js';

/** What the server sends to each host; a robots.txt also has an ETag. */
let answer: (host: string) => number | string;
/** Called when a request comes. */
let onRequest: () => void = () => {};
let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer((request, response) => {
    onRequest();
    const [host = ''] = (request.headers.host ?? '').split(':');
    const sent = answer(host);
    const etag = `"${encodeURIComponent(sent)}"`;
    if (typeof sent === 'number') response.statusCode = sent;
    else {
      response.setHeader('etag', etag);
      if (request.headers['if-none-match'] === etag) response.statusCode = 304;
    }
    response.end(typeof sent === 'string' && response.statusCode === 200 ? sent : '');
  });
  server.listen(0);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close').catch(() => {});
});

const FETCH = '-q --robots-dir store --allow-private --pause 0 --retries 0'.split(' ');
const DAY = 24 * 60 * 60 * 1000;
/** Time between two fetches. */
const PASSED = 2 * DAY;

function at({ path }: Workplace, name: string): string {
  return join(path, name);
}

function robotsOf(path: string): string {
  return `user-agent: *\ndisallow: /${path}\n`;
}

/** Every robots.json of a store. */
function statesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('robots.json'))
    .map((name) => join(directory, name));
}

/** Moves all times of a store back: two days pass. */
function passTime(directory: string): void {
  for (const path of statesIn(directory)) {
    const state = JSON.parse(readFileSync(path, 'utf8'), (_name, value: unknown) => {
      if (typeof value !== 'string' || !value.startsWith('20')) return value;
      const time = Date.parse(value);
      if (Number.isNaN(time)) return value;
      const text = new Date(time - PASSED).toISOString();
      return text.slice(0, value.length);
    });
    writeFileSync(path, JSON.stringify(state));
  }
}

/** The second of the last answer of the only host. */
function answeredAt(place: Workplace): number {
  const [path = ''] = statesIn(at(place, 'store')).filter((name) => !name.includes('/history/'));
  const { respondedAt } = JSON.parse(readFileSync(path, 'utf8'));
  return Math.floor(Date.parse(respondedAt) / 1000);
}

function isoTime(seconds: number): string {
  return `${new Date(1000 * seconds).toISOString().slice(0, 19)}Z`;
}

/** What came from the server, and the verdict and the reason of the URL /a from then on. */
const DAYS: readonly (readonly [number | string, string])[] = [
  [robotsOf('a'), 'deny rule'],
  [robotsOf('a'), 'deny rule'],
  [404, 'allow unavailable'],
  [503, 'deny unreachable'],
  [503, 'deny unreachable'],
  [robotsOf('b'), 'allow no-rule'],
  [robotsOf('b'), 'allow no-rule'],
  [robotsOf('a'), 'deny rule'],
  [410, 'allow unavailable'],
];

/** The days on which another finding was made than the day before. */
const CHANGES = [0, 2, 3, 5, 7, 8];

/** The day on which the 12 hours of failures of Google are over: for its readers a version ends. */
const GOOGLE_CHANGE = 4;

describe('fetch --history', () => {
  test('keeps every finding, each from its second on', async ({ empty: place }) => {
    const url = `http://127.0.0.1:${port}/a`;
    place.write('urls.txt', `${url}\n`);
    const seconds: number[] = [];
    let unchanged = 0;
    for (const [sent] of DAYS) {
      if (seconds.length > 0) passTime(at(place, 'store'));
      answer = () => sent;
      const source = seconds.length % 2 === 1 ? '--stale' : 'urls.txt';
      const fetched = await place.run(['fetch', '--history', ...FETCH, '--json', source]);
      expect(fetched.code, fetched.stderr).toBe(0);
      unchanged += JSON.parse(fetched.text).notModified;
      for (const index of seconds.keys()) seconds[index] = (seconds[index] ?? 0) - PASSED / 1000;
      seconds.push(answeredAt(place));
    }
    expect(unchanged).toBe(2);
    const history = join(at(place, 'store'), `http/127.0.0.1_${port}/history`);
    expect(readdirSync(history)).toHaveLength([...CHANGES, GOOGLE_CHANGE].length - 1);

    const compiled = await place.run('compile --history --robots-dir store -o h.table');
    expect(compiled).toMatchObject({ code: 0 });
    // The state in which Google's 12 hours are over also tells of the failure that began them.
    expect(compiled.stderr).toContain(`1 host from ${[...CHANGES, GOOGLE_CHANGE, 3].length} files`);
    const expected = CHANGES.map((day, index) => {
      const [since = 0, until] = [seconds[day], seconds[CHANGES[index + 1] ?? -1]];
      const end = until === undefined ? '' : isoTime(until);
      const [verdict = '', reason = ''] = (DAYS[day]?.[1] ?? '').split(' ');
      return [verdict, url, isoTime(since), end, reason].join('\t');
    });
    const checked = await place.run(['check', '-q', '--history', 'h.table', 'x', url]);
    expect(lines(checked.text).map((line) => line.split('\t').slice(0, 5).join('\t'))).toEqual(
      expected,
    );

    await place.run('compile -q --history --profile google --robots-dir store -o google.table');
    const google = await place.run(['check', '-q', '--history', 'google.table', 'x', url]);
    const periods = lines(google.text).map((line) => line.split('\t'));
    expect(periods).toContainEqual([
      'allow',
      url,
      isoTime(seconds[GOOGLE_CHANGE] ?? 0),
      isoTime(seconds[GOOGLE_CHANGE + 1] ?? 0),
      'unavailable',
    ]);

    // Beside and on each edge, by the table, by the directory itself, and in shards.
    const asked = seconds.flatMap((second, day) => {
      const [before, after] = [
        DAYS[day - 1]?.[1] ?? 'unknown before-first-capture',
        DAYS[day]?.[1],
      ];
      return [
        [second - 1, before],
        [second, after],
        [second + 1, after],
      ] as const;
    });
    place.write(
      'asked.ndjson',
      asked.map(([when]) => `${JSON.stringify({ url, when: isoTime(when) })}\n`).join(''),
    );
    const sharded = await place.run('compile -q --history --robots-dir store --shards 2 -o shards');
    expect(sharded.code, sharded.stderr).toBe(0);
    const filter = '-q --time-field when --explain --format text asked.ndjson'.split(' ');
    for (const source of ['--table h.table', '--robots-dir store', '--table shards']) {
      const { text, stderr } = await place.run([...source.split(' '), ...filter]);
      expect(stderr).toBe('');
      const verdicts = lines(text).map((line) => line.split('\t'));
      expect(
        verdicts.map(([verdict, , reason]) => `${verdict} ${reason}`),
        source,
      ).toEqual(asked.map(([, outcome]) => outcome));
    }
    // The first robots.txt was confirmed once, and not after that.
    const confirmed = (seconds[1] ?? 0) + DAY / 1000;
    for (const [when, verdict] of [
      [confirmed, 'deny'],
      [confirmed + 1, 'unknown'],
    ] as const) {
      const args = ['--as-of', isoTime(when), '--max-age', '1d', 'urls.txt'];
      const { text } = await place.run(['-q', '--table', 'h.table', ...args]);
      expect(text).toBe(`${verdict}\t${url}\n`);
    }

    // Without --history they are not read.
    const plain = await place.run('compile --robots-dir store -o plain.table');
    expect(plain.stderr).toContain('1 host from 1 file (0 bytes)');
    const stale = await place.run('compile --history --stale unknown --robots-dir store -o x');
    expect(stale).toMatchObject({ code: 2 });
    expect(stale.stderr).toContain('--stale has no effect on a history');
  });

  test('loses nothing if it is killed, and completes the next time', async ({ empty: place }) => {
    const hosts = Array.from({ length: 70 }, (_, number) => `127.8.0.${1 + number}`);
    const urls = hosts.map((host) => `http://${host}:${port}/`).join('\n');
    const begin = (): ChildProcess => {
      const child = place.start(['fetch', '--history', ...FETCH, '--concurrency', '16', '-']);
      child.stdin?.on('error', () => {});
      child.stdin?.end(urls);
      return child;
    };
    const [old, next] = ['old', 'new'];
    answer = (host) => robotsOf(`${old}-${host}`);
    expect(await ended(begin())).toMatchObject({ code: 0, stderr: '' });
    passTime(at(place, 'store'));
    answer = (host) => robotsOf(`${next}-${host}`);
    // Paths by host, oldest version first.
    const versions = async (): Promise<Map<string, string[]>> => {
      const { code, stderr } = await place.run(
        'compile -q --history --robots-dir store -o h.table',
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const found = new Map<string, string[]>();
      const asked = hosts.flatMap((host) =>
        [old, next].map((path) => `http://${host}:${port}/${path}-${host}`),
      );
      const command = ['check', '-q', '--history', 'h.table', 'x', '-'];
      for (const line of lines((await place.run(command, asked.join('\n'))).text)) {
        const [verdict, url = ''] = line.split('\t');
        const { hostname, pathname } = new URL(url);
        const name = pathname.slice(1, -hostname.length - 1);
        const denials = verdict === 'deny' ? [name] : [];
        found.set(hostname, [...(found.get(hostname) ?? []), ...denials]);
      }
      return found;
    };
    const replaced = (): number =>
      hosts.filter((host) => existsSync(join(at(place, 'store'), `http/${host}_${port}/history`)))
        .length;
    for (const requests of [40, 20]) {
      let left = requests;
      const child = begin();
      onRequest = () => {
        if (--left === 0) child.kill('SIGKILL');
      };
      expect(await ended(child)).toMatchObject({ signal: 'SIGKILL' });
      onRequest = () => {};
      const found = await versions();
      for (const host of hosts) {
        // A host that was reached has both, each once.
        expect([[old], [old, next]], host).toContainEqual(found.get(host));
      }
      const both = [...found.values()].filter(({ length }) => length === 2).length;
      expect(both).toBeGreaterThan(10);
      expect(both).toBeLessThan(hosts.length);
      expect(replaced()).toBeGreaterThanOrEqual(both);
    }
    expect(await ended(begin())).toMatchObject({ code: 0, stderr: '' });
    const all = await versions();
    for (const host of hosts) expect(all.get(host), host).toEqual([old, next]);
    const names = readdirSync(at(place, 'store'), { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('names what cannot be kept, and keeps what is there', async ({ empty: place }) => {
    const url = `http://127.0.0.1:${port}/a`;
    answer = () => robotsOf('a');
    await place.run(['fetch', '--history', ...FETCH, '-'], url);
    const host = `store/http/127.0.0.1_${port}`;
    const kept = place.read(`${host}/robots.txt`);
    place.write(`${host}/history`, 'a file\n');
    passTime(at(place, 'store'));
    answer = () => robotsOf('b');
    const { code, stderr } = await place.run(['fetch', '--history', ...FETCH, '-'], url);
    expect(code).toBe(0);
    expect(stderr).toContain('1 authority was not recorded; earlier files still count');
    expect(place.read(`${host}/robots.txt`)).toBe(kept);
  });
});

describe('a directory of versions', () => {
  const HOST = 'd/https/a.example';

  /** A host with a robots.txt of today, and much beside it that is none. */
  function hostile(place: Workplace): void {
    place.write(`${HOST}/robots.txt`, robotsOf('now'));
    place.write(
      `${HOST}/robots.json`,
      JSON.stringify({ status: 200, respondedAt: '2025-06-01T00:00:00Z' }),
    );
    place.write(`${HOST}/history/2024-01-01/robots.txt`, robotsOf('first'));
    place.write(`${HOST}/history/2024-02-01/robots.json`, '{"status":404}');
    place.write(`${HOST}/history/2024-03-01/robots.json`, '{');
    place.write(`${HOST}/history/2024-03-01/robots.txt`, robotsOf('damaged'));
    place.write(`${HOST}/history/2024-04-01`, 'a file\n');
    place.write('outside/robots.txt', robotsOf('outside'));
    symlinkSync(at(place, 'outside'), at(place, `${HOST}/history/2024-05-01`));
    place.write(`${HOST}/history/2024-06-01/robots.txt/x`, '');
    place.write(`${HOST}/history/2024-07-01/robots.json`, '{"status":200}');
    mkdirSync(at(place, `${HOST}/history/2024-08-01`));
    place.write(`${HOST}/history/.robots.x.tmp/robots.txt`, robotsOf('hidden'));
    place.write(`${HOST}/history/2024-09-01/robots.txt`, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]));
    place.write(`${HOST}/history/later/robots.txt`, robotsOf('undated'));
    symlinkSync('2024-01-01', at(place, `${HOST}/history/2024-10-01`));
    place.write('d/https/b.example/history', 'a file\n');
    place.write('d/https/b.example/robots.txt', robotsOf('b'));
    mkdirSync(at(place, 'd/https/c.example'));
    symlinkSync(at(place, 'outside'), at(place, 'd/https/c.example/history'));
    place.write('d/https/c.example/robots.txt', robotsOf('c'));
    place.write('d/https/d.example/history/2024-01-01/robots.txt', robotsOf('alone'));
  }

  test('warns of each path that is no version, and loses no other', async ({ empty: place }) => {
    hostile(place);
    const compiled = await place.run('compile --history --robots-dir d -o h.table');
    expect(compiled.code, compiled.stderr).toBe(0);
    const warned = lines(compiled.stderr)
      .filter((line) => line.includes('warning: d/'))
      .map((line) => line.split(': ')[2]?.replace('d/https/', ''));
    const history = 'a.example/history';
    expect(warned).toEqual([
      `${history}/2024-03-01/robots.json`,
      `${history}/2024-04-01`,
      `${history}/2024-05-01`,
      `${history}/2024-06-01/robots.txt`,
      `${history}/2024-07-01`,
      `${history}/2024-08-01`,
      `${history}/2024-09-01/robots.txt`,
      'b.example/history',
      'c.example/history',
    ]);
    // Without dates: that of "later", and those of b.example and c.example.
    expect(compiled.stderr).toContain('3 robots.txt files of 8 in d left out of the history');
    const checked = await place.run('check -q --history h.table x https://a.example/first');
    const columns = lines(checked.text).map((line) => line.split('\t'));
    expect(columns.map(([verdict, , since]) => `${verdict} ${since?.slice(0, 10)}`)).toEqual([
      'deny 2024-01-01',
      'allow 2024-02-01',
      'deny 2024-10-01',
      'allow 2025-06-01',
    ]);
    const followed = 'compile -q --history --follow-links --robots-dir d -o f.table';
    expect(await place.run(followed)).toMatchObject({ code: 0 });
    const outside = await place.run('check -q --history f.table x https://a.example/outside');
    expect(outside.text).toContain('deny\thttps://a.example/outside\t2024-05-01T00:00:00Z');
    const alone = await place.run('check -q --history h.table x https://d.example/alone');
    expect(alone.text).toContain('deny\thttps://d.example/alone\t2024-01-01T00:00:00Z');
  });

  test('is not read without --history', async ({ empty: place }) => {
    hostile(place);
    const compile = 'compile --robots-dir d -o with.table';
    const found = await place.run(compile);
    expect(lines(found.stderr).filter((line) => line.includes('history'))).toEqual([]);
    for (const host of ['a', 'b', 'c']) {
      const path = at(place, `d/https/${host}.example/history`);
      renameSync(path, at(place, `away-${host}`));
    }
    const without = await place.run(compile.replace('with', 'without'));
    expect(place.read('with.table')).toBe(place.read('without.table'));
    expect(without.stderr.replace('without.table', 'with.table').split('bytes')[0]).toBe(
      found.stderr.split('bytes')[0],
    );
  });

  test('may hold thousands of versions', async ({ empty: place }) => {
    // 64 are read together.
    const counts = { 'a.example': 2000, 'b.example': 64, 'c.example': 65 };
    for (const [host, count] of Object.entries(counts)) {
      for (let version = 0; version < count; version++) {
        const time = new Date(Date.UTC(2020, 0, 1) + version * DAY).toISOString().slice(0, 10);
        place.write(`d/https/${host}/history/${time}/robots.txt`, robotsOf(`v${version % 2}`));
      }
    }
    const compiled = await place.run('compile -q --history --robots-dir d -o h.table');
    expect(compiled).toMatchObject({ code: 0, stderr: '' });
    for (const [host, count] of Object.entries(counts)) {
      const { text } = await place.run(`check -q --history h.table x https://${host}/v1`);
      const verdicts = lines(text).map((line) => line.split('\t')[0]);
      expect(verdicts, host).toEqual(
        Array.from({ length: count }, (_, version) => (version % 2 === 1 ? 'deny' : 'allow')),
      );
    }
  });
});
