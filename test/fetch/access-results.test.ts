import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchResult } from '../../src/fetch/result.js';
import { Store } from '../../src/fetch/store.js';
import { isRedirect } from '../../src/http/url.js';
import { Table } from '../../src/judge/table.js';
import { Robots } from '../../src/library/index.js';
import { compileCache } from '../../src/pipeline/compile/compile-cache.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { accessResultOf, type Profile } from '../../src/protocol/verdict.js';
import { fetchOnce, Loopback, ROBOTS, textOf, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

/**
 * Answers /robots.txt with a status, and with rules that would deny: only a successful status may
 * make them count.
 */
async function answerOf(status: number, options = {}): Promise<FetchResult> {
  const server = await loopback.http((_request, response) => {
    response.writeHead(status);
    response.end(status === 204 || status === 304 ? undefined : ROBOTS);
  });
  return loopback.fetch(server, options);
}

describe('RFC 9309, 2.3.1.1: successful access', () => {
  for (const status of [200, 201, 203, 206, 226, 299]) {
    it(`${status}: the rules are there to be followed`, async () => {
      const result = await answerOf(status);
      expect(result).toMatchObject({
        accessResult: 'successful',
        status,
        error: undefined,
        cut: false,
      });
      expect(textOf(result)).toBe(ROBOTS);
    });
  }

  it('204: an empty file', async () => {
    const result = await answerOf(204);
    expect(result.accessResult).toBe('successful');
    expect(textOf(result)).toBe('');
  });

  it('says what was asked, when, and the headers that matter', async () => {
    const seen: unknown[] = [];
    const server = await loopback.http((request, response) => {
      seen.push(request.method, request.url, request.headers);
      response.setHeader('Content-Type', 'text/html; charset=latin1');
      response.setHeader('X-Other', 'does not');
      response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      response.end(ROBOTS);
    });
    let time = 1_000_000;
    const fetcher = loopback.fetcher({ now: () => (time += 1000) });
    const result = await fetchOnce(fetcher, server.authority());
    expect(result.chain).toEqual([server.url()]);
    expect(result.authority).toEqual(server.authority());
    expect([result.requestedAt, result.respondedAt]).toEqual([1_001_000, 1_002_000]);
    // The content type is recorded, and not judged: 2.3 asks for text/plain, but many are not.
    expect(result.headers['content-type']).toBe('text/html; charset=latin1');
    expect(Object.keys(result.headers)).not.toContain('x-other');
    expect(Object.keys(result.headers)).not.toContain('set-cookie');
    expect(seen).toEqual([
      'GET',
      '/robots.txt',
      expect.objectContaining({
        'user-agent': 'TestBot/1.0 (+https://bot.example/)',
        'accept-encoding': 'gzip, deflate, br',
        host: `127.0.0.1:${server.port}`,
      }),
    ]);
  });
});

describe('RFC 9309, 2.3.1.3: "unavailable" status', () => {
  for (const status of [400, 401, 403, 404, 410, 418, 429, 451, 499]) {
    it(`${status}: no rules count`, async () => {
      const result = await answerOf(status);
      expect(result).toMatchObject({ accessResult: 'unavailable', status, error: undefined });
      expect(result.body).toBeUndefined();
    });
  }

  it('429 means what the user has chosen, or else what the profile makes of it', async () => {
    for (const [status, options, accessResult, isByProfile] of [
      [429, {}, 'unavailable', true],
      [429, { profile: 'google' }, 'unreachable', true],
      [429, { on429: 'deny' }, 'unreachable', false],
      [429, { profile: 'google', on429: 'allow' }, 'unavailable', false],
      [428, { on429: 'deny' }, 'unavailable', false],
      [428, { profile: 'google' }, 'unavailable', false],
    ] as const) {
      expect(await answerOf(status, options)).toMatchObject({ accessResult, isByProfile });
    }
  });

  // Not in the RFC: an answer that leads nowhere, as after too many redirects (2.3.1.2).
  for (const status of [300, 301, 302, 303, 304, 305, 306, 307, 308, 399]) {
    it(`${status} that cannot be followed: as unavailable`, async () => {
      const result = await answerOf(status);
      expect(result).toMatchObject({ accessResult: 'unavailable', status, notModified: false });
    });
  }
});

describe('RFC 9309, 2.3.1.4: "unreachable" status', () => {
  for (const status of [500, 501, 502, 503, 504, 599]) {
    it(`${status}: everything is denied`, async () => {
      const result = await answerOf(status);
      expect(result).toMatchObject({ accessResult: 'unreachable', status, error: undefined });
      expect(result.body).toBeUndefined();
    });
  }

  // "Other undefined status codes", in the words of the draft.
  for (const status of [600, 700, 999]) {
    it(`${status}, which HTTP does not define`, async () => {
      const server = await loopback.answering(
        `HTTP/1.1 ${status} What\r\nContent-Length: 0\r\n\r\n`,
        'keep',
      );
      const result = await loopback.fetch(server);
      expect(result).toMatchObject({ accessResult: 'unreachable', status });
    });
  }

  it('101 and no more', async () => {
    const server = await loopback.answering(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'keep',
    );
    const result = await loopback.fetch(server);
    expect(result).toMatchObject(unreachable('protocol-error'));
  });

  it('103 before the answer is passed by', async () => {
    const server = await loopback.answering(
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n#',
      'keep',
    );
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({ accessResult: 'successful', status: 200 });
  });
});

describe('the conformance cases on access results', () => {
  interface Case {
    id: string;
    clause: string;
    source: string;
    robots: string;
    agent: string;
    url: string;
    expect: 'allow' | 'deny';
    status: number;
    error?: string;
    redirects?: number;
    unreachable_days?: number;
  }
  const path = new URL('../../fixtures/conformance/access-results.ndjson', import.meta.url);
  const cases = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Case);
  // What days make of an unreachable one is the store's to say.
  const ofOneFetch = cases.filter((one) => one.unreachable_days === undefined);

  it('are all there', () => {
    expect(cases.length).toBe(42);
    expect(ofOneFetch.length).toBe(38);
  });

  for (const one of ofOneFetch) {
    it(`${one.id} (${one.source}, ${one.clause}): ${one.error ?? one.status} means ${one.expect}`, async () => {
      const result = await carryOut(one);
      expect(result.chain.length).toBe(1 + Math.min(one.redirects ?? 0, 5));
      expect(verdictOf(result, one)).toBe(one.expect);
    });
  }

  async function carryOut(one: Case): Promise<FetchResult> {
    const fetcher = loopback.fetcher({
      headerTimeout: 200,
      ...(one.error === 'tls' ? { ca: undefined } : {}),
      ...(one.error === 'dns' ? { resolve: () => Promise.reject(new Error('ENOTFOUND')) } : {}),
    });
    switch (one.error) {
      case 'timeout':
        return fetchOnce(fetcher, (await loopback.http(() => undefined)).authority());
      case 'dns':
        return fetchOnce(fetcher, { scheme: 'http', host: 'absent.test', port: undefined });
      case 'connection-reset': {
        const server = await loopback.raw((socket) =>
          socket.once('data', () => socket.resetAndDestroy()),
        );
        return fetchOnce(fetcher, server.authority());
      }
      case 'tls':
        return fetchOnce(fetcher, (await loopback.https(() => undefined)).authority());
      case 'incomplete': {
        const head = `HTTP/1.1 ${one.status} OK\r\nContent-Length: 1000\r\n\r\n`;
        return fetchOnce(fetcher, (await loopback.answering(head + one.robots, 'end')).authority());
      }
    }
    const { status, redirects = 0 } = one;
    if (status < 200) {
      const bytes = `HTTP/1.1 ${status} X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n`;
      return fetchOnce(fetcher, (await loopback.answering(bytes, 'end')).authority());
    }
    const server = await loopback.http((request, response) => {
      const hop = Number(request.url?.split('hop=')[1] ?? 0);
      if (hop < redirects) {
        response.writeHead(301, { location: `/robots.txt?hop=${hop + 1}` }).end();
        return;
      }
      response.writeHead(isRedirect(status) ? 200 : status);
      response.end(status === 204 ? undefined : one.robots);
    });
    return fetchOnce(fetcher, server.authority());
  }

  function verdictOf({ accessResult, body }: FetchResult, { url, agent }: Case): string {
    if (accessResult === 'unavailable') return 'allow';
    if (accessResult === 'unreachable' || body === undefined) return 'deny';
    return Robots.parse(body).verdict(url, agent).verdict;
  }
});

const FILE = fileURLToPath(
  new URL('../../fixtures/conformance/access-results.ndjson', import.meta.url),
);
const DAY = 24 * 60 * 60 * 1000;

interface AccessCase {
  readonly id: string;
  readonly source: string;
  readonly clause: string;
  readonly robots: string;
  readonly agent: string;
  readonly url: string;
  readonly expect: 'allow' | 'deny';
  /** 0 where there was no response. */
  readonly status: number;
  readonly error?: string;
  readonly redirects?: number;
  readonly final_robots_url?: string;
  readonly unreachable_days?: number;
  readonly cached?: boolean;
}

const CASES = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as AccessCase);

let root: string;
let number = 0;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'robots-access-'));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What a fetcher makes of a case; its own tests show that it does. */
function resultOf(testCase: AccessCase, time: number): FetchResult {
  const { status, error, robots, url, redirects = 0 } = testCase;
  const parsed = parseAuthority(url);
  if (parsed?.scheme === undefined) throw new Error(url);
  const own = `${new URL(url).origin}/robots.txt`;
  const accessResult =
    error === undefined ? accessResultOf(status, profileOf(testCase)) : 'unreachable';
  const chain = [own];
  for (let step = 1; step < redirects; step++) chain.push(`${own}?${step}`);
  if (testCase.final_robots_url !== undefined) chain.push(testCase.final_robots_url);
  return {
    authority: { ...parsed, scheme: parsed.scheme },
    accessResult,
    status: status === 0 ? undefined : status,
    error: error === undefined ? undefined : { code: 'connect-failed', message: error },
    chain,
    body: accessResult === 'successful' ? Buffer.from(robots) : undefined,
    notModified: false,
    cut: false,
    headers: {},
    policy: undefined,
    retryAfter: undefined,
    requestedAt: time,
    respondedAt: time,
  };
}

function profileOf({ source }: AccessCase): Profile {
  return source.startsWith('draft') ? 'draft-koster-rep-00' : 'rfc9309';
}

async function verdictOf(testCase: AccessCase, now: number): Promise<string> {
  const directory = join(root, String(number++));
  let time = now - (testCase.unreachable_days ?? 0) * DAY;
  const store = await Store.open(directory, { now: () => time });
  const result = resultOf(testCase, time);
  if (testCase.cached === true) {
    const earlier = { ...testCase, status: 200, unreachable_days: 0 };
    await store.save(resultOf(earlier, time - DAY), undefined);
  }
  await store.save(result, (await store.load(result.authority)).state);
  // An attempt a day, as those who fetch what has gone stale make it.
  while (time !== now) {
    time = Math.min(time + DAY, now);
    await store.save(resultOf(testCase, time), (await store.load(result.authority)).state);
  }
  const { layout } = await compileCache([directory], {
    profile: profileOf(testCase),
    fetchReading: { now },
    onWarning({ path, message }) {
      throw new Error(`${path}: ${message}`);
    },
  });
  return Table.from(layout.table()).verdict(testCase.url, testCase.agent).verdict;
}

describe('access results: from what a fetch came to, by way of the store, to the verdict', () => {
  it.each(CASES)('$clause ($source): $id: $status means $expect', async (testCase) => {
    expect(await verdictOf(testCase, Date.UTC(2026, 5, 1))).toBe(testCase.expect);
  });

  it('covers all cases of the file', () => {
    expect(CASES).toHaveLength(42);
    expect(CASES.filter(({ expect }) => expect === 'deny').length).toBeGreaterThan(15);
  });
});
