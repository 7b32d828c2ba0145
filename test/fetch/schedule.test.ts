import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FetchAuthority, Fetcher, FetchResult, StoredCopy } from '../../src/fetch/result.js';
import { type FetchDone, Schedule, type ScheduleOptions } from '../../src/fetch/schedule.js';
import { Store } from '../../src/fetch/store.js';
import { formatAuthority } from '../../src/protocol/authority.js';

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
    const long = new FakeFetcher(() => ({ ...FAILED, retryAfter: 90 * 60_000 }));
    const [done] = await run(
      long,
      hosts(1, () => 'long.test'),
      { sleep },
    );
    expect(long.asked).toHaveLength(1);
    expect(done?.state?.freshUntil).toBe(now + 90 * 60_000);
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
