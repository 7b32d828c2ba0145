import { afterAll, describe, expect, it } from 'vitest';
import {
  cachePolicy,
  freshUntil,
  isConfirmedBy,
  revalidatedHeaders,
} from '../../src/fetch/freshness.js';
import type { StoredCopy } from '../../src/fetch/result.js';
import { DAY } from '../../src/protocol/verdict.js';
import { fetchOnce, Loopback, ROBOTS, textOf } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

const URL_ASKED = 'http://example.com/robots.txt';
const RESPONDED = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;

function http(time: number): string {
  return new Date(time).toUTCString();
}

/** For how long a response with these headers is fresh, in seconds. */
function lifetime(headers: Record<string, string>, maxAge?: number): number {
  const policy = JSON.parse(JSON.stringify(cachePolicy(URL_ASKED, headers, RESPONDED)));
  return (freshUntil(policy, RESPONDED, RESPONDED, maxAge) - RESPONDED) / 1000;
}

describe('RFC 9309, 2.4: caching, by the rules of RFC 9111', () => {
  for (const [what, headers, seconds] of [
    ['nothing said: 24 hours', {}, 86_400],
    ['an age alone says nothing', { age: '100' }, 86_400],
    ['max-age', { 'cache-control': 'max-age=600' }, 600],
    ['max-age among others', { 'cache-control': 'public, max-age=600, must-revalidate' }, 600],
    ['max-age in quotes', { 'cache-control': 'max-age="600"' }, 600],
    ['max-age less the age', { 'cache-control': 'max-age=600', age: '200' }, 400],
    ['max-age and a greater age', { 'cache-control': 'max-age=600', age: '601' }, 0],
    ['an age that is none', { 'cache-control': 'max-age=600', age: 'x' }, 600],
    ['an age below zero', { 'cache-control': 'max-age=600', age: '-9' }, 600],
    ['max-age=0', { 'cache-control': 'max-age=0' }, 0],
    ['a max-age that is none', { 'cache-control': 'max-age=soon' }, 0],
    ['no-cache', { 'cache-control': 'no-cache' }, 0],
    ['no-store', { 'cache-control': 'no-store' }, 0],
    ['private: this cache is', { 'cache-control': 'private, max-age=60' }, 60],
    ['s-maxage is not for it', { 'cache-control': 's-maxage=10' }, 86_400],
    ['max-age of a year: 24 hours', { 'cache-control': 'max-age=31536000' }, 86_400],
    ['immutable', { 'cache-control': 'immutable' }, 86_400],
    ['pragma', { pragma: 'no-cache' }, 0],
    ['expires', { date: http(RESPONDED), expires: http(RESPONDED + HOUR) }, 3600],
    ['expires without a date', { expires: http(RESPONDED + HOUR) }, 3600],
    [
      'expires by the clock of the server',
      { date: http(RESPONDED - HOUR), expires: http(RESPONDED) },
      3600,
    ],
    ['expires in the past', { expires: http(RESPONDED - HOUR) }, 0],
    ['expires of 0', { expires: '0' }, 0],
    [
      'max-age before expires',
      { 'cache-control': 'max-age=5', expires: http(RESPONDED + HOUR) },
      5,
    ],
    ['a tenth of the time since a change', { 'last-modified': http(RESPONDED - 20 * HOUR) }, 7200],
    ['a tenth of years: 24 hours', { 'last-modified': http(RESPONDED - 999 * DAY) }, 86_400],
    ['a change in the future', { 'last-modified': http(RESPONDED + HOUR) }, 0],
    ['vary of everything', { vary: '*' }, 0],
    [
      'vary of what is always the same',
      { vary: 'Accept-Encoding', 'cache-control': 'max-age=9' },
      9,
    ],
  ] as const) {
    it(what, () => {
      expect(lifetime(headers)).toBe(seconds);
    });
  }

  it('never longer than the user allows', () => {
    expect(lifetime({}, HOUR)).toBe(3600);
    expect(lifetime({ 'cache-control': 'max-age=7200' }, HOUR)).toBe(3600);
    expect(lifetime({ 'cache-control': 'max-age=60' }, HOUR)).toBe(60);
  });

  it('of what is unavailable there is no policy: 24 hours', () => {
    expect(freshUntil(undefined, RESPONDED, RESPONDED)).toBe(RESPONDED + DAY);
  });

  it('a response of the future, after the clock was set back, is not fresh for longer', () => {
    expect(freshUntil(undefined, RESPONDED, RESPONDED - 7 * DAY)).toBe(RESPONDED - 6 * DAY);
    expect(freshUntil(undefined, RESPONDED, RESPONDED + 7 * DAY)).toBe(RESPONDED + DAY);
  });

  it('a stored policy that somebody edited says nothing', () => {
    for (const policy of [
      {},
      [],
      { v: 2 },
      { v: 1 },
      { v: 1, rescc: {}, resh: null },
      { v: 1, rescc: 1, resh: 1 },
    ]) {
      expect(freshUntil(policy, RESPONDED, RESPONDED)).toBe(RESPONDED + DAY);
    }
  });
});

describe('RFC 9309, 2.4, and RFC 9110, 13: conditional requests', () => {
  const modified = http(RESPONDED - HOUR);

  /** A server of a file with validators; it keeps the headers that ask for it. */
  async function validating(headers: Record<string, string> = {}) {
    const asked: { inm: unknown; ims: unknown }[] = [];
    const server = await loopback.http((request, response) => {
      const inm = request.headers['if-none-match'];
      const ims = request.headers['if-modified-since'];
      asked.push({ inm, ims });
      response.setHeader('etag', '"v1"');
      response.setHeader('last-modified', modified);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (inm === '"v1"') response.writeHead(304).end();
      else response.end(ROBOTS);
    });
    return { server, asked };
  }

  function storedFrom(result: {
    headers: Readonly<Record<string, string>>;
    policy: object | undefined;
  }) {
    const { headers, policy } = JSON.parse(JSON.stringify(result)) as typeof result;
    return { etag: headers.etag, lastModified: headers['last-modified'], policy, headers };
  }

  it('a stored copy is asked after, and is still good', async () => {
    const { server, asked } = await validating({ 'cache-control': 'max-age=60' });
    let time = RESPONDED;
    const fetcher = loopback.fetcher({ now: () => time });
    const first = await fetchOnce(fetcher, server.authority());
    expect(first).toMatchObject({ status: 200, notModified: false, body: Buffer.from(ROBOTS) });
    expect(freshUntil(first.policy, first.respondedAt, time)).toBe(RESPONDED + 60_000);
    time += 10 * DAY;
    const second = await fetchOnce(fetcher, server.authority(), storedFrom(first));
    expect(second).toMatchObject({ accessResult: 'successful', status: 304, notModified: true });
    expect(second.body).toBeUndefined();
    expect(second.headers).toMatchObject({ etag: '"v1"', 'last-modified': modified });
    // Fresh again, counted from the second answer.
    expect(freshUntil(second.policy, second.respondedAt, time)).toBe(time + 60_000);
    const third = await fetchOnce(fetcher, server.authority(), storedFrom(second));
    expect(third).toMatchObject({ notModified: true });
    expect(asked).toEqual([
      { inm: undefined, ims: undefined },
      { inm: '"v1"', ims: modified },
      { inm: '"v1"', ims: modified },
    ]);
  });

  it('a stored copy that is no longer good is replaced', async () => {
    const { server } = await validating();
    const stored: StoredCopy = { etag: '"v0"', headers: { etag: '"v0"' } };
    expect(await fetchOnce(loopback.fetcher(), server.authority(), stored)).toMatchObject({
      status: 200,
      notModified: false,
      body: Buffer.from(ROBOTS),
      headers: { etag: '"v1"' },
    });
  });

  it("Google's profile never asks conditionally", async () => {
    const { server, asked } = await validating();
    const stored: StoredCopy = { etag: '"v1"', lastModified: modified, headers: {} };
    const result = await fetchOnce(
      loopback.fetcher({ profile: 'google' }),
      server.authority(),
      stored,
    );
    expect(result).toMatchObject({ status: 200, notModified: false });
    expect(textOf(result)).toBe(ROBOTS);
    expect(asked).toEqual([{ inm: undefined, ims: undefined }]);
  });

  it('304 without a condition is no answer', async () => {
    const server = await loopback.http((_request, response) => response.writeHead(304).end());
    for (const stored of [
      undefined,
      { headers: { etag: '"v1"' } },
      { etag: 'a\nb', headers: {} },
    ]) {
      expect(await fetchOnce(loopback.fetcher(), server.authority(), stored)).toMatchObject({
        accessResult: 'unavailable',
        status: 304,
        notModified: false,
      });
    }
  });

  it('304 with other validators than the stored ones: asked again, without a condition', async () => {
    const asked: (string | undefined)[] = [];
    const server = await loopback.http((request, response) => {
      const inm = request.headers['if-none-match'];
      asked.push(inm);
      response.setHeader('etag', '"v2"');
      if (inm === undefined) response.end('user-agent: *\ndisallow: /\n');
      else response.writeHead(304).end();
    });
    const stored: StoredCopy = { etag: '"v1"', headers: { etag: '"v1"' } };
    const result = await fetchOnce(loopback.fetcher(), server.authority(), stored);
    expect(result).toMatchObject({
      accessResult: 'successful',
      status: 200,
      notModified: false,
      chain: [server.url()],
      headers: { etag: '"v2"' },
    });
    expect(textOf(result)).toBe('user-agent: *\ndisallow: /\n');
    expect(asked).toEqual(['"v1"', undefined]);
  });

  it('304 with other validators, even without a condition, is asked twice and no more', async () => {
    const server = await loopback.http((_request, response) =>
      response.writeHead(304, { etag: '"v2"' }).end(),
    );
    const stored: StoredCopy = { etag: '"v1"', headers: { etag: '"v1"' } };
    const result = await fetchOnce(loopback.fetcher(), server.authority(), stored);
    expect(result).toMatchObject({ accessResult: 'unavailable', status: 304, notModified: false });
    expect(server.connections).toBe(2);
  });

  it.each([
    ['no validator', {}, true],
    ['an empty one', { etag: '' }, true],
    ['the stored ETag', { etag: '"v1"' }, true],
    ['the same as a weak one', { etag: 'W/"v1"' }, true],
    ['the stored ETag and a new date', { etag: '"v1"', 'last-modified': 'today' }, true],
    ['the stored date', { 'last-modified': 'yesterday' }, true],
    ['another ETag', { etag: '"v2"' }, false],
    ['another weak ETag', { etag: 'W/"v2"' }, false],
    ['another ETag and the stored date', { etag: '"v2"', 'last-modified': 'yesterday' }, false],
    ['another date', { 'last-modified': 'today' }, false],
  ])('a 304 with %s (RFC 9111, 4.3.4)', (_what, confirming, isConfirmed) => {
    const stored = { etag: '"v1"', lastModified: 'yesterday', headers: {} };
    expect(isConfirmedBy(stored, confirming)).toBe(isConfirmed);
    expect(isConfirmedBy({ ...stored, etag: 'W/"v1"' }, confirming)).toBe(isConfirmed);
  });

  it('a 304 with a validator where the stored copy has none of its kind does not confirm', () => {
    const dated = { lastModified: 'yesterday', headers: {} };
    expect(isConfirmedBy(dated, { etag: '"v2"', 'last-modified': 'yesterday' })).toBe(false);
    expect(isConfirmedBy({ etag: '"v1"', headers: {} }, { 'last-modified': 'today' })).toBe(false);
  });

  it('a validator goes to the URL whose response it is of, and to no other', async () => {
    const { server: target, asked } = await validating();
    const first: unknown[] = [];
    const server = await loopback.http((request, response) => {
      first.push(request.headers['if-none-match']);
      response.writeHead(302, { location: target.url() }).end();
    });
    const fetcher = loopback.fetcher();
    const result = await fetchOnce(fetcher, server.authority());
    const again = await fetchOnce(fetcher, server.authority(), storedFrom(result));
    expect(again).toMatchObject({ notModified: true, chain: [server.url(), target.url()] });
    expect(first).toEqual([undefined, undefined]);
    expect(asked.map(({ inm }) => inm)).toEqual([undefined, '"v1"']);
  });

  it('what a 304 says replaces what was stored (RFC 9111, 4.3.4)', () => {
    const stored = {
      age: '50',
      date: 'then',
      etag: '"a"',
      'content-type': 'text/plain',
      'content-encoding': 'gzip',
    };
    const confirming = {
      date: 'now',
      'cache-control': 'max-age=1',
      'content-length': '0',
      'content-encoding': 'br',
    };
    expect(revalidatedHeaders(stored, confirming)).toEqual({
      date: 'now',
      etag: '"a"',
      'cache-control': 'max-age=1',
      'content-type': 'text/plain',
      'content-encoding': 'gzip',
    });
  });
});
