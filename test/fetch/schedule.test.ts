import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type {
  FetchAuthority,
  FetchErrorCode,
  Fetcher,
  FetchResult,
  StoredCopy,
} from '../../src/fetch/result.js';
import { parseRetryAfter } from '../../src/fetch/robots-fetcher.js';
import {
  backoffDelay,
  type FetchDone,
  isWorthRetrying,
  Schedule,
  type ScheduleOptions,
} from '../../src/fetch/schedule.js';
import { Store } from '../../src/fetch/store.js';
import { formatAuthority } from '../../src/protocol/authority.js';
import type { AccessResult } from '../../src/protocol/verdict.js';
import { Random } from '../random/random.js';
import { Loopback, ROBOTS } from './servers.js';

let root: string;
let now: number;
let store: Store;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'robots-schedule-'));
  now = Date.UTC(2026, 0, 1);
  store = await Store.open(root, { now: () => now });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Answers as it is told, and notes who is asked, and how many at a time. */
class FakeFetcher implements Fetcher {
  readonly asked: string[] = [];
  readonly conditions: (StoredCopy | undefined)[] = [];
  most = 0;
  mostOfHost = 0;
  readonly #answer: (name: string, times: number) => Partial<FetchResult>;
  readonly #open: string[] = [];

  constructor(answer: (name: string, times: number) => Partial<FetchResult> = () => ({})) {
    this.#answer = answer;
  }

  async fetch(
    authority: FetchAuthority,
    stored: StoredCopy | undefined,
    signal: AbortSignal,
  ): Promise<FetchResult> {
    const name = formatAuthority(authority);
    this.asked.push(name);
    this.conditions.push(stored);
    this.#open.push(authority.host);
    this.most = Math.max(this.most, this.#open.length);
    const ofHost = this.#open.filter((host) => host === authority.host).length;
    this.mostOfHost = Math.max(this.mostOfHost, ofHost);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    this.#open.splice(this.#open.indexOf(authority.host), 1);
    const aborted = signal.aborted;
    return {
      authority,
      accessResult: aborted ? 'unreachable' : 'successful',
      status: 200,
      error: aborted ? { code: 'aborted', message: '' } : undefined,
      chain: [`${name}/robots.txt`],
      body: Buffer.from('user-agent: *\n'),
      notModified: false,
      cut: false,
      headers: { etag: '"e"', 'last-modified': 'yesterday' },
      policy: undefined,
      retryAfter: undefined,
      requestedAt: now,
      respondedAt: now,
      ...this.#answer(name, this.asked.filter((other) => other === name).length),
    };
  }

  async close(): Promise<void> {}
}

const FAILED: Partial<FetchResult> = { accessResult: 'unreachable', status: 503, body: undefined };

function hosts(count: number, host = (index: number) => `h${index}.test`): FetchAuthority[] {
  return Array.from({ length: count }, (_, index) => ({
    scheme: 'http',
    host: host(index),
    port: 8000 + index,
  }));
}

async function run(
  fetcher: Fetcher,
  authorities: Iterable<FetchAuthority>,
  options: ScheduleOptions = {},
): Promise<FetchDone[]> {
  const done: FetchDone[] = [];
  const schedule = new Schedule(fetcher, store, {
    random: () => 0.5,
    sleep: async () => {},
    onDone: (finding) => done.push(finding),
    ...options,
  });
  await schedule.run(authorities);
  return done;
}

describe('the schedule of a fetch', () => {
  it('asks each authority once, so many at a time', async () => {
    const fetcher = new FakeFetcher();
    const done = await run(fetcher, hosts(80), { concurrency: 10 });
    expect(done).toHaveLength(80);
    expect(new Set(fetcher.asked).size).toBe(80);
    expect(fetcher.asked).toHaveLength(80);
    expect(fetcher.most).toBe(10);
  });

  it('asks one authority of a host at a time', async () => {
    const fetcher = new FakeFetcher();
    const done = await run(
      fetcher,
      hosts(60, (index) => `h${index % 4}.test`),
    );
    expect(done).toHaveLength(60);
    expect(fetcher.most).toBe(4);
    expect(fetcher.mostOfHost).toBe(1);
  });

  it('repeats what is unreachable, with the host left alone until then', async () => {
    const waits: number[] = [];
    const fetcher = new FakeFetcher((name, times) =>
      name.endsWith(':8000') && times < 3 ? FAILED : {},
    );
    const done = await run(
      fetcher,
      hosts(3, () => 'one.test'),
      {
        sleep: async (delay) => {
          waits.push(delay);
        },
      },
    );
    expect(fetcher.asked.map((name) => name.slice(-4))).toEqual([
      '8000',
      '8000',
      '8000',
      '8001',
      '8002',
    ]);
    expect(waits).toEqual([750, 1500]);
    expect(done.map(({ attempts }) => attempts)).toEqual([3, 1, 1]);
    expect(done.every(({ state }) => state?.accessResult === 'successful')).toBe(true);
  });

  it('gives up after so many attempts, and keeps that', async () => {
    const fetcher = new FakeFetcher(() => FAILED);
    const done = await run(fetcher, hosts(2), { attempts: 4 });
    expect(fetcher.asked).toHaveLength(8);
    expect(done.map(({ state }) => state?.accessResult)).toEqual(['unreachable', 'unreachable']);
  });

  it('honours Retry-After, and leaves a long one to a later run', async () => {
    const waits: number[] = [];
    const sleep = async (delay: number) => {
      waits.push(delay);
    };
    const short = new FakeFetcher((_, times) =>
      times === 1 ? { ...FAILED, retryAfter: 9000 } : {},
    );
    await run(short, hosts(1), { sleep });
    expect(waits).toEqual([9000]);
    const long = new FakeFetcher(() => ({ ...FAILED, retryAfter: 10 * 60_000 }));
    const [done] = await run(
      long,
      hosts(1, () => 'long.test'),
      { sleep },
    );
    expect(long.asked).toHaveLength(1);
    expect(done?.state?.freshUntil).toBe(now + 60 * 60_000);
  });

  it('waits for a Retry-After of up to a minute before the next port of the host', async () => {
    const waits: number[] = [];
    const fetcher = new FakeFetcher((name) =>
      name.endsWith(':8000') ? { ...FAILED, retryAfter: 60_000 } : {},
    );
    const done = await run(
      fetcher,
      hosts(3, () => 'one.test'),
      { attempts: 1, now: () => now, sleep: async (delay) => void waits.push(delay) },
    );
    expect(waits).toEqual([60_000]);
    expect(done.map(({ state }) => state?.accessResult)).toEqual([
      'unreachable',
      'successful',
      'successful',
    ]);
  });

  it.each([
    ['503', FAILED],
    ['429', { accessResult: 'unavailable', status: 429, body: undefined }],
  ] as const)(
    'after %s with a longer one, leaves the other ports to a later run',
    async (_, answer) => {
      await run(new FakeFetcher(), hosts(2, () => 'one.test').slice(1));
      const waits: number[] = [];
      const fetcher = new FakeFetcher((name) =>
        name.endsWith(':8000') ? { ...answer, retryAfter: 300_000 } : {},
      );
      const done = await run(
        fetcher,
        hosts(3, () => 'one.test'),
        { now: () => now, sleep: async (delay) => void waits.push(delay) },
      );
      expect([fetcher.asked, waits]).toEqual([['http://one.test:8000'], []]);
      const [, fresh, left] = done;
      expect(fresh).toMatchObject({ state: { accessResult: 'successful' }, attempts: 0 });
      expect(left).toMatchObject({
        state: undefined,
        result: undefined,
        attempts: 0,
        unkept: {
          kind: 'retry-after',
          message: 'one.test asked for no request for another 300 s (Retry-After)',
        },
      });
    },
  );

  it('asks the other ports that come after the time of a longer one, or wait for its end', async () => {
    const waits: number[] = [];
    const fetcher = new FakeFetcher((name) =>
      name.endsWith(':8000') ? { ...FAILED, retryAfter: 300_000 } : {},
    );
    const [first, second, third] = hosts(3, () => 'one.test');
    let clock = 0;
    let ended: () => void = () => undefined;
    async function* late() {
      const wasDone = new Promise<void>((resolve) => {
        ended = resolve;
      });
      if (first !== undefined) yield first;
      await wasDone;
      clock += 270_000;
      if (second !== undefined) yield second;
      if (third !== undefined) yield third;
    }
    const done: FetchDone[] = [];
    const schedule = new Schedule(fetcher, store, {
      now: () => clock,
      sleep: async (delay) => void waits.push(delay),
      onDone: (finding) => {
        done.push(finding);
        ended();
      },
    });
    await schedule.run(late());
    expect(waits).toEqual([30_000]);
    expect(fetcher.asked).toHaveLength(3);
    expect(done.every(({ unkept }) => unkept === undefined)).toBe(true);
  });

  it('a Retry-After of a successful answer means nothing', async () => {
    const fetcher = new FakeFetcher(() => ({ retryAfter: 300_000 }));
    await run(
      fetcher,
      hosts(3, () => 'one.test'),
    );
    expect(fetcher.asked).toHaveLength(3);
  });

  it('what is refused is not repeated', async () => {
    const error = { code: 'address-refused', message: '' } as const;
    const fetcher = new FakeFetcher(() => ({ ...FAILED, status: undefined, error }));
    await run(fetcher, hosts(5));
    expect(fetcher.asked).toHaveLength(5);
  });

  it('passes by what is fresh; with time it is stale, and asked for on conditions', async () => {
    await run(new FakeFetcher(), hosts(20));
    now += 23 * 3_600_000;
    const fresh = new FakeFetcher();
    const done = await run(fresh, hosts(21));
    expect(fresh.asked).toEqual(['http://h20.test:8020']);
    expect(done.filter(({ result }) => result === undefined)).toHaveLength(20);
    now += 2 * 3_600_000;
    const stale = new FakeFetcher();
    const stored: FetchAuthority[] = [];
    for await (const authority of store.authorities()) stored.push(authority);
    await run(stale, stored);
    expect(stale.asked).toHaveLength(20);
    expect(stale.asked).not.toContain('http://h20.test:8020');
    expect(stale.conditions[0]).toMatchObject({ etag: '"e"', lastModified: 'yesterday' });
  });

  it('stopped, finishes what is in flight and keeps it; the next run does the rest', async () => {
    const fetcher = new FakeFetcher();
    let finished = 0;
    const schedule = new Schedule(fetcher, store, {
      concurrency: 8,
      onDone: () => {
        if (++finished === 20) schedule.stop();
      },
    });
    await schedule.run(hosts(100));
    expect(finished).toBe(fetcher.asked.length);
    expect(finished).toBeLessThan(100);
    const rest = new FakeFetcher();
    expect(await run(rest, hosts(100))).toHaveLength(100);
    expect(rest.asked).toHaveLength(100 - finished);
  });

  it('stopped while it waits for another attempt, keeps nothing of the first', async () => {
    const fetcher = new FakeFetcher(() => FAILED);
    const schedule = new Schedule(fetcher, store, {
      sleep: (_delay, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
          setTimeout(() => schedule.stop(), 5);
        }),
    });
    const [authority] = hosts(1);
    if (authority === undefined) throw new Error();
    await schedule.run([authority]);
    expect(fetcher.asked).toHaveLength(1);
    expect((await store.load(authority)).state).toBeUndefined();
  });

  it('aborted, keeps nothing of what was in flight', async () => {
    const controller = new AbortController();
    const schedule = new Schedule(new FakeFetcher(), store, {
      onDone: () => controller.abort(),
    });
    await schedule.run(hosts(100), controller.signal);
    let kept = 0;
    for await (const _ of store.authorities()) kept++;
    expect(kept).toBeLessThan(100);
  });

  it('ends with the error of a store that cannot be written', async () => {
    rmSync(root, { recursive: true });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(root, '');
    await expect(run(new FakeFetcher(), hosts(10))).rejects.toMatchObject({ code: 'output' });
  });
});

const loopback = new Loopback();
afterAll(() => loopback.end());

function resultOf(accessResult: AccessResult, code?: FetchErrorCode): FetchResult {
  return {
    authority: { scheme: 'http', host: 'example.com', port: undefined },
    accessResult,
    status: undefined,
    error: code && { code, message: code },
    chain: [],
    body: undefined,
    notModified: false,
    cut: false,
    headers: {},
    policy: undefined,
    retryAfter: undefined,
    requestedAt: 0,
    respondedAt: 0,
  };
}

describe('a retry', () => {
  it.each([
    ['unreachable', undefined, true],
    ['unreachable', 'dns-failed', true],
    ['unreachable', 'local-fault', true],
    ['unreachable', 'address-refused', false],
    ['unreachable', 'aborted', false],
    ['unreachable', 'host-crowded', false],
    ['unavailable', 'too-many-redirects', false],
    ['successful', undefined, false],
  ] as const)('after %s, %s: %s', (accessResult, code, isWorth) => {
    expect(isWorthRetrying(resultOf(accessResult, code))).toBe(isWorth);
  });

  it('comes after a back-off that doubles up to 30 seconds', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 2000].map((made) => backoffDelay(made, () => 1));
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('comes after a back-off of which half is random', () => {
    const random = new Random(7);
    const delays = Array.from({ length: 1000 }, () => backoffDelay(3, () => random.number()));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(2000);
    expect(Math.max(...delays)).toBeLessThan(4000);
    expect(new Set(delays).size).toBeGreaterThan(900);
    expect(backoffDelay(2000, () => 0)).toBe(15_000);
  });

  it('finds a server that has recovered, not before its Retry-After', async () => {
    let requests = 0;
    const server = await loopback.http((_request, response) => {
      requests++;
      response.writeHead(requests < 3 ? 503 : 200, { 'retry-after': '7' }).end(ROBOTS);
    });
    const root = mkdtempSync(join(tmpdir(), 'robots-retry-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const slept: number[] = [];
    const done: FetchDone[] = [];
    const schedule = new Schedule(loopback.fetcher(), await Store.open(root), {
      sleep: async (delay) => void slept.push(delay),
      onDone: (finding) => done.push(finding),
    });
    await schedule.run([server.authority()]);
    expect(done).toMatchObject([
      { attempts: 3, state: { accessResult: 'successful', status: 200 } },
    ]);
    expect([requests, slept]).toEqual([3, [7000, 7000]]);
  });
});

describe('Retry-After (RFC 9110, 10.2.3)', () => {
  const NOW = Date.UTC(1999, 11, 31, 23, 59, 59);
  for (const [value, milliseconds] of [
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['120', 120_000],
    [' 5 ', 5_000],
    ['0', 0],
    ['99999999999999999999999999', 600_000],
    ['Fri, 31 Dec 1999 23:59:59 GMT', 0],
    ['Sat, 01 Jan 2000 00:01:59 GMT', 120_000],
    ['Fri, 31 Dec 1999 20:00:00 GMT', 0],
    ['Fri, 31 Dec 2030 20:00:00 GMT', 600_000],
  ] as const) {
    it(`of ${JSON.stringify(value)} is ${milliseconds}`, () => {
      expect(parseRetryAfter(value, NOW, 600_000)).toBe(milliseconds);
    });
  }

  it('is in the result, capped', async () => {
    for (const [status, value, retryAfter] of [
      [503, '30', 30_000],
      [429, '30', 30_000],
      [503, '86400', 600_000],
      [503, 'later', undefined],
    ] as const) {
      const server = await loopback.http((_request, response) =>
        response.writeHead(status, { 'retry-after': value }).end(),
      );
      expect(await loopback.fetch(server)).toMatchObject({
        status,
        retryAfter,
      });
    }
  });
});
