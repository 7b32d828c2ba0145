import { mkdtempSync, rmSync } from 'node:fs';
import { isIPv4, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EndTurn, Turns } from '../../src/fetch/connection.js';
import type { FetchAuthority } from '../../src/fetch/result.js';
import type { RobotsFetcher } from '../../src/fetch/robots-fetcher.js';
import { type FetchDone, Schedule, type ScheduleOptions } from '../../src/fetch/schedule.js';
import { Store } from '../../src/fetch/store.js';
import { fetchOnce, type Listening, Loopback, ROBOTS } from './servers.js';

const loopback = new Loopback();
let root: string;
let stores = 0;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'robots-polite-'));
});

afterAll(async () => {
  await loopback.end();
  rmSync(root, { recursive: true, force: true });
});

/** A server for every name. */
const resolve = async () => [{ address: '127.0.0.1', family: 4 } as const];

function authorities(server: Listening, count: number, name = 'h'): FetchAuthority[] {
  return Array.from({ length: count }, (_, at) => server.authority(`${name}${at}.test`));
}

async function run(
  fetcher: RobotsFetcher,
  asked: readonly FetchAuthority[],
  options: ScheduleOptions = {},
): Promise<{ done: FetchDone[]; schedule: Schedule; end: Promise<void> }> {
  const store = await Store.open(join(root, String(stores++)));
  const done: FetchDone[] = [];
  const schedule = new Schedule(fetcher, store, {
    attempts: 1,
    ...options,
    onDone: (finding) => {
      done.push(finding);
      options.onDone?.(finding);
    },
  });
  return { done, schedule, end: schedule.run(asked) };
}

/**
 * A server that sends every host but the victim to the victim, in so many steps; and when the
 * victim was asked.
 */
async function redirecting(steps: number, asked: number[] = []): Promise<Listening> {
  const server: Listening = await loopback.http((request, response) => {
    const host = request.headers.host ?? '';
    if (host.startsWith('plain')) {
      response.end(ROBOTS);
      return;
    }
    const isVictim = host.startsWith('victim');
    if (isVictim) asked.push(performance.now());
    const step = isVictim ? Number(request.url?.slice(2)) : 0;
    if (isVictim && step === steps) response.end(ROBOTS);
    else response.writeHead(302, { location: server.url(`/r${step + 1}`, 'victim.test') }).end();
  });
  return server;
}

describe('a host that others redirect to', () => {
  it('is asked by one at a time, with a pause after each', async () => {
    const asked: number[] = [];
    const server = await redirecting(2, asked);
    const fetcher = loopback.fetcher({ resolve, pause: 30 });
    const { done, end } = await run(fetcher, authorities(server, 12), { concurrency: 4 });
    await end;
    expect(done).toHaveLength(12);
    expect(done.every(({ state }) => state?.accessResult === 'successful')).toBe(true);
    expect(asked).toHaveLength(24);
    for (let at = 1; at < asked.length; at++) {
      expect((asked[at] ?? 0) - (asked[at - 1] ?? 0)).toBeGreaterThanOrEqual(28);
    }
  });

  it('takes no place from others while many wait for it', async () => {
    const server = await redirecting(1);
    const fetcher = loopback.fetcher({ resolve, pause: 60_000 });
    let plains = 0;
    const { end, schedule } = await run(
      fetcher,
      [...authorities(server, 9), ...authorities(server, 100, 'plain')],
      {
        concurrency: 4,
        onDone: ({ authority }) => {
          if (authority.host.startsWith('plain') && ++plains === 100) schedule.stop();
        },
      },
    );
    await end;
    expect(plains).toBe(100);
    await fetcher.close();
  });

  it('keeps nobody waiting once the run is stopped; the next run asks again', async () => {
    const server = await redirecting(1);
    const fetcher = loopback.fetcher({ resolve, pause: 60_000 });
    const { done, schedule, end } = await run(fetcher, authorities(server, 10), { concurrency: 2 });
    while (done.length === 0) await wait(5);
    await wait(50);
    schedule.stop();
    await end;
    expect(done).toHaveLength(1);
    await fetcher.close();
  });

  it('whose line is too long is left to the next run: nothing is kept of that', async () => {
    const server = await redirecting(1);
    // Ten minutes' worth of pauses are two fetches.
    const fetcher = loopback.fetcher({ resolve, pause: 300_000 });
    const crowded: FetchDone[] = [];
    const { end, schedule } = await run(fetcher, authorities(server, 10), {
      onDone: (done) => {
        if (done.unkept !== undefined && crowded.push(done) === 7) schedule.stop();
      },
    });
    await end;
    expect(crowded).toHaveLength(7);
    for (const { unkept, state } of crowded) {
      expect(unkept).toMatchObject({ kind: 'host-crowded' });
      expect(state).toBeUndefined();
    }
    await fetcher.close();
  });

  it('gives its time to the wait, not to the deadline of the fetch', async () => {
    const server = await redirecting(1);
    const fetcher = loopback.fetcher({ resolve, pause: 250, deadline: 200 });
    const results = await Promise.all(
      authorities(server, 3).map((authority) => fetchOnce(fetcher, authority)),
    );
    expect(results.map(({ accessResult }) => accessResult)).toEqual(Array(3).fill('successful'));
  });
});

describe('an address of many names', () => {
  it('has so many connections at a time and no more, over http and ftp', async () => {
    let now = 0;
    let most = 0;
    /**
     * Counts connections until this side ends them: the other may be faster to begin the next than
     * to say that it has ended.
     */
    const served = (socket: Socket, answer: string) => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        socket.end(answer);
      }, 5);
    };
    const http = await loopback.raw((socket) =>
      socket.once('data', () => served(socket, 'HTTP/1.1 404 None\r\n\r\n')),
    );
    const ftp = await loopback.raw((socket) => served(socket, '421 No\r\n'));
    for (const [server, scheme] of [
      [http, 'http'],
      [ftp, 'ftp'],
    ] as const) {
      [now, most] = [0, 0];
      const fetcher = loopback.fetcher({ resolve, perAddress: 3 });
      const asked = authorities(server, 30).map((each) => ({ ...each, scheme }));
      const { done, end } = await run(fetcher, asked);
      await end;
      expect([done.length, server.connections, most]).toEqual([30, 30, 3]);
    }
  });

  it('is one address, however it is spelt', async () => {
    let now = 0;
    let most = 0;
    const server = await loopback.raw((socket) =>
      socket.once('data', () => {
        most = Math.max(most, ++now);
        setTimeout(() => {
          now--;
          socket.end('HTTP/1.1 404 None\r\n\r\n');
        }, 5);
      }),
    );
    const spellings = [
      '127.0.0.1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '0:0:0:0:0:FFFF:127.0.0.1',
    ];
    const fetcher = loopback.fetcher({
      perAddress: 2,
      resolve: async (host) => {
        const address = spellings[Number(host.split('.')[0]?.slice(1)) % 4] ?? '';
        return [{ address, family: isIPv4(address) ? 4 : 6 }];
      },
    });
    const asked = Array.from({ length: 12 }, (_, at) => server.authority(`n${at}.test`));
    const results = await Promise.all(asked.map((each) => fetchOnce(fetcher, each)));
    expect(results.map(({ accessResult }) => accessResult)).toEqual(Array(12).fill('unavailable'));
    expect(most).toBe(2);
  });

  it('is free again after each connection, over TLS too, and after one that failed', async () => {
    const good = await loopback.serving(ROBOTS, 'https');
    const bad = await loopback.raw((socket) => socket.end('no TLS'));
    const fetcher = loopback.fetcher({ resolve, perAddress: 1 });
    for (const [server, accessResult] of [
      [good, 'successful'],
      [bad, 'unreachable'],
      [good, 'successful'],
    ] as const) {
      const asked = Array.from({ length: 4 }, () => ({
        scheme: 'https' as const,
        host: 'right.test',
        port: server.port,
      }));
      const results = await Promise.all(asked.map((each) => fetchOnce(fetcher, each)));
      expect(results.map((result) => result.accessResult)).toEqual(Array(4).fill(accessResult));
      expect(server.connections).toBeGreaterThanOrEqual(4);
    }
  });

  it('keeps no place from others while its names wait', async () => {
    const silent = await loopback.http(() => undefined);
    const plain = await loopback.http((_request, response) => response.end(ROBOTS), '127.0.0.2');
    const fetcher = loopback.fetcher({
      perAddress: 2,
      resolve: async (host) => [
        { address: host.startsWith('plain') ? '127.0.0.2' : '127.0.0.1', family: 4 },
      ],
    });
    let plains = 0;
    const controller = new AbortController();
    const store = await Store.open(join(root, String(stores++)));
    const schedule = new Schedule(fetcher, store, {
      concurrency: 4,
      onDone: () => {
        if (++plains === 100) controller.abort();
      },
    });
    const asked = [...authorities(silent, 100), ...authorities(plain, 100, 'plain')];
    await schedule.run(asked, controller.signal);
    expect(plains).toBe(100);
    expect(silent.connections).toBe(2);
  });
});

/** One that is never aborted. */
const patience = () => new AbortController().signal;

describe('turns', () => {
  it('are given in order, so many at a time', async () => {
    const turns = new Turns({ atOnce: 2, pause: 0, mostWaiting: 100 });
    const order: number[] = [];
    let held = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const end = turns.tryTake('a') ?? (await turns.take('a', patience()));
        order.push(number);
        most = Math.max(most, ++held);
        await new Promise(setImmediate);
        held--;
        end();
        end(); // does no harm
      }),
    );
    expect(order).toEqual(Array.from({ length: 20 }, (_, number) => number));
    expect(most).toBe(2);
    expect(turns.tryTake('a')).toBeDefined();
  });

  it('of different keys do not wait for one another', () => {
    const turns = new Turns({ atOnce: 1, pause: 1e6, mostWaiting: 100 });
    expect(turns.tryTake('a')).toBeDefined();
    expect(turns.tryTake('a')).toBeUndefined();
    expect(turns.tryTake('b')).toBeDefined();
    turns.close();
  });

  it('are a pause apart, counted from the end of the last', async () => {
    const turns = new Turns({ atOnce: 1, pause: 30, mostWaiting: 100 });
    const times: [begin: number, end: number][] = [];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const end = await turns.take('a', patience());
        const begin = performance.now();
        await wait(10);
        times.push([begin, performance.now()]);
        end();
      }),
    );
    for (let at = 1; at < times.length; at++) {
      // Timers of Node may come a millisecond early.
      expect((times[at]?.[0] ?? 0) - (times[at - 1]?.[1] ?? 0)).toBeGreaterThanOrEqual(28);
    }
    expect(turns.tryTake('a')).toBeUndefined();
    turns.close();
  });

  it('are left by who is aborted, for those behind', async () => {
    const turns = new Turns({ atOnce: 1, pause: 0, mostWaiting: 2 });
    const first = turns.tryTake('a');
    const controller = new AbortController();
    const aborted = turns.take('a', controller.signal);
    const patient = turns.take('a', patience());
    expect(turns.isCrowded('a')).toBe(true);
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    expect(turns.isCrowded('a')).toBe(false);
    first?.();
    const end: EndTurn = await patient;
    expect(turns.tryTake('a')).toBeUndefined();
    end();
    expect(turns.tryTake('a')).toBeDefined();
    await expect(turns.take('a', AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });
});
