import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { fetchOnce, Loopback, ROBOTS, textOf, USER_AGENT, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

describe('connections', () => {
  it('are one to a request, and end with it', async () => {
    const closing: unknown[] = [];
    const server = await loopback.http((request, response) => {
      closing.push(request.headers.connection);
      response.setHeader('keep-alive', 'timeout=600');
      if (request.url === '/robots.txt')
        response.writeHead(302, { location: '/r.txt' }).end('moved');
      else response.end(ROBOTS);
    });
    const fetcher = loopback.fetcher();
    for (let times = 0; times < 5; times++) {
      expect(await fetchOnce(fetcher, server.authority())).toMatchObject({ status: 200 });
    }
    expect(server.connections).toBe(10);
    expect(new Set(closing)).toEqual(new Set(['close']));
    while (server.sockets.size > 0) await wait(5);
  });

  it('one to a host at a time, however many want it', async () => {
    let [running, most] = [0, 0];
    const server = await loopback.http(async (_request, response) => {
      most = Math.max(most, ++running);
      await wait(5);
      running--;
      response.end(ROBOTS);
    });
    const fetcher = loopback.fetcher();
    const results = await Promise.all(
      Array.from({ length: 20 }, () => fetchOnce(fetcher, server.authority())),
    );
    expect(new Set(results.map(textOf))).toEqual(new Set([ROBOTS]));
    expect(most).toBe(1);
  });

  it('over TLS offer HTTP/1.1 alone, whatever the server would rather speak', async () => {
    const versions: string[] = [];
    const both = await loopback.http2((request, response) => {
      versions.push(request.httpVersion, String(request.headers['user-agent']));
      response.end(ROBOTS);
    }, true);
    expect(textOf(await loopback.fetch(both))).toBe(ROBOTS);
    expect(versions).toEqual(['1.1', USER_AGENT]);
    const stubborn = await loopback.http2((_request, response) => response.end(ROBOTS), false);
    expect(await loopback.fetch(stubborn)).toMatchObject(unreachable('tls-failed'));
  });

  it('all end with the fetcher; what is under way ends as unreachable', async () => {
    const idle = await loopback.serving(ROBOTS);
    const secure = await loopback.serving(ROBOTS, 'https');
    const hanging = await loopback.http(() => undefined);
    const fetcher = loopback.fetcher();
    await fetchOnce(fetcher, idle.authority());
    await fetchOnce(fetcher, secure.authority());
    const fetching = fetchOnce(fetcher, hanging.authority());
    while (hanging.sockets.size === 0) await wait(5);
    await fetcher.close();
    expect(await fetching).toMatchObject({ accessResult: 'unreachable' });
    for (const server of [idle, secure, hanging]) {
      while (server.sockets.size > 0) await wait(5);
    }
  });

  it('a body that nobody reads does not hold up the next request', async () => {
    const server = await loopback.http((request, response) => {
      if (request.url === '/r.txt') {
        response.end(ROBOTS);
        return;
      }
      response.writeHead(302, { location: '/r.txt' });
      response.write(Buffer.alloc(200_000));
    });
    expect(await loopback.fetch(server)).toMatchObject({
      accessResult: 'successful',
    });
    const slow = await loopback.http((_request, response) => {
      response.writeHead(404);
      response.write('and then nothing');
    });
    expect(await loopback.fetch(slow)).toMatchObject({
      accessResult: 'unavailable',
    });
    while (slow.sockets.size > 0) await wait(20);
  });
});

describe('hosts', () => {
  it('an internationalised name is asked for by its A-labels', async () => {
    const hosts: unknown[] = [];
    const asked: string[] = [];
    const server = await loopback.http((request, response) => {
      hosts.push(request.headers.host);
      response.end(ROBOTS);
    });
    const fetcher = loopback.fetcher({
      resolve: async (host) => {
        asked.push(host);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    expect(await fetchOnce(fetcher, server.authority('xn--bcher-kva.test'))).toMatchObject({
      status: 200,
    });
    expect([asked, hosts]).toEqual([['xn--bcher-kva.test'], [`xn--bcher-kva.test:${server.port}`]]);
  });

  it('an IPv6 literal', async () => {
    const hosts: unknown[] = [];
    const server = await loopback.http((request, response) => {
      hosts.push(request.headers.host);
      response.end(ROBOTS);
    }, '::1');
    const result = await fetchOnce(loopback.fetcher(), server.authority('[::1]'));
    expect(result).toMatchObject({ status: 200, chain: [server.url('/robots.txt', '[::1]')] });
    expect(hosts).toEqual([`[::1]:${server.port}`]);
  });

  it('of several addresses, the next is tried where one fails', async () => {
    const server = await loopback.serving(ROBOTS);
    const fetcher = loopback.fetcher({
      resolve: async () => [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ],
    });
    expect(await fetchOnce(fetcher, server.authority('two.test'))).toMatchObject({ status: 200 });
  });
});

describe('options', () => {
  it('a user agent that is no header', () => {
    for (const userAgent of ['', ' ', 'a\nb', 'a\0', 'bücher\u{1f4da}']) {
      expect(() => loopback.fetcher({ userAgent })).toThrow('cannot be sent');
    }
  });

  it('times and counts out of range', () => {
    for (const options of [
      { maxRedirects: -1 },
      { maxRedirects: 1.5 },
      { connectTimeout: 0 },
      { deadline: Number.NaN },
      { pause: 86_400_001 },
    ]) {
      expect(() => loopback.fetcher(options)).toThrow('use a whole number from');
    }
  });
});
