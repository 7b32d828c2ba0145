import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FetchErrorCode, FetchResult } from '../../src/fetch/result.js';
import { parseRetryAfter } from '../../src/fetch/robots-fetcher.js';
import {
  backoffDelay,
  type FetchDone,
  isWorthRetrying,
  Schedule,
} from '../../src/fetch/schedule.js';
import { Store } from '../../src/fetch/store.js';
import type { AccessResult } from '../../src/protocol/verdict.js';
import { Random } from '../random/random.js';
import { Loopback, ROBOTS } from './servers.js';

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
