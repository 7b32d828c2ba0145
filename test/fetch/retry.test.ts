import { afterAll, describe, expect, it } from 'vitest';
import type { AccessResult, FetchErrorCode, FetchResult } from '../../src/fetch/result.js';
import { backoffDelay, withRetries } from '../../src/fetch/retry.js';
import { parseRetryAfter } from '../../src/fetch/retry-after.js';
import { Random } from '../random.js';
import { fetchOnce, Loopback, ROBOTS } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

function resultOf(
  accessResult: AccessResult,
  code?: FetchErrorCode,
  retryAfter?: number,
): FetchResult {
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
    retryAfter,
    requestedAt: 0,
    respondedAt: 0,
  };
}

/**
 * Runs attempts that end so, without waiting; tells how many were made, and for how long it would
 * have slept.
 */
async function run(results: FetchResult[], options = {}, signal = new AbortController().signal) {
  const slept: number[] = [];
  let made = 0;
  const result = await withRetries(
    async () => results[Math.min(made++, results.length - 1)] ?? resultOf('successful'),
    signal,
    { random: () => 1, sleep: async (delay) => void slept.push(delay), ...options },
  );
  return { result, made, slept };
}

describe('what is unreachable is asked again', () => {
  it('until it is not', async () => {
    const results = [
      resultOf('unreachable'),
      resultOf('unreachable', 'dns-failed'),
      resultOf('unavailable'),
    ];
    const { result, made, slept } = await run(results, { attempts: 5 });
    expect(result).toBe(results[2]);
    expect(made).toBe(3);
    expect(slept).toEqual([1000, 2000]);
  });

  it('so many times and no more', async () => {
    expect(await run([resultOf('unreachable')])).toMatchObject({ made: 3 });
    expect(await run([resultOf('unreachable')], { attempts: 1 })).toMatchObject({
      made: 1,
      slept: [],
    });
    const many = await run([resultOf('unreachable')], { attempts: 8, maxDelay: 10_000 });
    expect(many.slept).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
  });

  it('but not what would end the same, nor what was reached', async () => {
    for (const result of [
      resultOf('successful'),
      resultOf('unavailable', 'too-many-redirects'),
      resultOf('unreachable', 'address-refused'),
      resultOf('unreachable', 'aborted'),
    ]) {
      expect(await run([result])).toMatchObject({ made: 1, slept: [] });
    }
  });

  it('not before Retry-After has passed, and not for the shorter of the two', async () => {
    const results = [
      resultOf('unreachable', undefined, 90_000),
      resultOf('unreachable', undefined, 5),
      resultOf('successful'),
    ];
    expect(await run(results)).toMatchObject({ made: 3, slept: [90_000, 2000] });
  });

  it('no longer when aborted, even in mid-sleep', async () => {
    const controller = new AbortController();
    const sleeping = withRetries(async () => resultOf('unreachable'), controller.signal, {
      baseDelay: 1e6,
      maxDelay: 1e6,
    });
    setTimeout(() => controller.abort(), 20);
    expect(await sleeping).toMatchObject({ accessResult: 'unreachable' });
    expect(await run([resultOf('unreachable')], {}, controller.signal)).toMatchObject({
      made: 1,
      slept: [],
    });
  });

  it('after a time of which half is by chance', () => {
    const random = new Random(7);
    const delays = Array.from({ length: 1000 }, () =>
      backoffDelay(3, 1000, 30_000, () => random.number()),
    );
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(2000);
    expect(Math.max(...delays)).toBeLessThan(4000);
    expect(new Set(delays).size).toBeGreaterThan(900);
    expect(backoffDelay(2000, 1000, 30_000, () => 0)).toBe(15_000);
  });

  it('with a server that comes round', async () => {
    let requests = 0;
    const server = await loopback.http((_request, response) => {
      requests++;
      response.writeHead(requests < 3 ? 503 : 200, { 'retry-after': '7' }).end(ROBOTS);
    });
    const slept: number[] = [];
    const fetcher = loopback.fetcher();
    const result = await withRetries(
      () => fetchOnce(fetcher, server.authority()),
      new AbortController().signal,
      { sleep: async (delay) => void slept.push(delay) },
    );
    expect(result).toMatchObject({ accessResult: 'successful', status: 200 });
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
      expect(await fetchOnce(loopback.fetcher(), server.authority())).toMatchObject({
        status,
        retryAfter,
      });
    }
  });
});
