import { afterAll, describe, expect, it } from 'vitest';
import type { FetchResult } from '../../src/fetch/result.js';
import { redirectUrl } from '../../src/http/url.js';
import { Loopback, ROBOTS, textOf } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

/** A server whose /robots.txt?N leads to /robots.txt?N+1 until `length` is reached. */
async function chainOf(length: number, options = {}): Promise<FetchResult> {
  const server = await loopback.http((request, response) => {
    const at = Number(request.url?.split('?')[1] ?? 0);
    if (at < length) response.writeHead(302, { location: `?${at + 1}` }).end('moved');
    else response.end(ROBOTS);
  });
  return loopback.fetch(server, options);
}

describe('RFC 9309, 2.3.1.2: redirects', () => {
  for (const length of [1, 2, 3, 4, 5]) {
    it(`a chain of ${length} is followed`, async () => {
      const result = await chainOf(length);
      expect(result).toMatchObject({ accessResult: 'successful', status: 200, error: undefined });
      expect(textOf(result)).toBe(ROBOTS);
      expect(result.chain.length).toBe(length + 1);
      expect(result.chain.at(-1)).toMatch(new RegExp(`\\?${length}$`));
    });
  }

  it('of six, five are followed, then it is unavailable', async () => {
    const result = await chainOf(6);
    expect(result).toMatchObject({
      accessResult: 'unavailable',
      status: 302,
      error: { code: 'too-many-redirects' },
    });
    expect(result.chain.length).toBe(6);
    expect(result.body).toBeUndefined();
  });

  it('more are followed if the user says so, or none', async () => {
    expect(await chainOf(9, { maxRedirects: 9 })).toMatchObject({ accessResult: 'successful' });
    const none = await chainOf(1, { maxRedirects: 0 });
    expect(none).toMatchObject({
      accessResult: 'unavailable',
      error: { code: 'too-many-redirects' },
    });
    expect(none.chain.length).toBe(1);
  });

  it('back to a URL that was asked before are followed, because it may answer this time', async () => {
    let requests = 0;
    const server = await loopback.http((request, response) => {
      requests++;
      const location = request.url === '/robots.txt' ? '/b' : '/robots.txt';
      if (requests === 5) response.end(ROBOTS);
      else response.writeHead(307, { location }).end();
    });
    const result = await loopback.fetch(server);
    expect(textOf(result)).toBe(ROBOTS);
    expect(result.chain.map((url) => new URL(url).pathname)).toEqual([
      '/robots.txt',
      '/b',
      '/robots.txt',
      '/b',
      '/robots.txt',
    ]);
  });

  it('in a loop are as endless as six', async () => {
    let requests = 0;
    const server = await loopback.http((request, response) => {
      requests++;
      const location = request.url === '/robots.txt' ? '/b#again' : '/robots.txt';
      response.writeHead(307, { location }).end();
    });
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({ accessResult: 'unavailable', error: { code: 'redirect-loop' } });
    expect(requests).toBe(6);
    const itself = await loopback.redirecting('/robots.txt');
    expect(await loopback.fetch(itself)).toMatchObject({
      error: { code: 'redirect-loop' },
    });
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`${status} is followed by a GET`, async () => {
      const methods: unknown[] = [];
      const server = await loopback.http((request, response) => {
        methods.push(request.method);
        if (request.url === '/robots.txt') response.writeHead(status, { location: '/x' }).end();
        else response.end(ROBOTS);
      });
      expect(await loopback.fetch(server)).toMatchObject({
        status: 200,
      });
      expect(methods).toEqual(['GET', 'GET']);
    });
  }

  it('across authorities: names, addresses of both families, schemes, ports', async () => {
    const hosts: unknown[] = [];
    const last = await loopback.http((request, response) => {
      hosts.push(request.headers.host);
      response.end(ROBOTS);
    }, '::1');
    const third = await loopback.https((request, response) => {
      hosts.push(request.headers.host);
      response.writeHead(301, { location: last.url('/r.txt', '[::1]') }).end();
    });
    const second = await loopback.http((request, response) => {
      hosts.push(request.headers.host);
      response.writeHead(301, { location: third.url('/robots.txt') }).end();
    });
    const first = await loopback.redirecting(second.url('/robots.txt', 'localhost'));
    const result = await loopback.fetch(first);
    expect(textOf(result)).toBe(ROBOTS);
    // What is reached counts for the authority that was asked.
    expect(result.authority).toEqual(first.authority());
    expect(result.chain).toEqual([
      first.url(),
      second.url('/robots.txt', 'localhost'),
      third.url(),
      last.url('/r.txt', '[::1]'),
    ]);
    expect(hosts).toEqual([
      `localhost:${second.port}`,
      `127.0.0.1:${third.port}`,
      `[::1]:${last.port}`,
    ]);
  });

  it('to a host that cannot be reached: unreachable, whatever status led there', async () => {
    const gone = await loopback.raw(() => undefined);
    const url = gone.url();
    await gone.close();
    const server = await loopback.redirecting(url);
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({
      accessResult: 'unreachable',
      status: undefined,
      error: { code: 'connect-failed' },
      chain: [server.url(), url],
    });
  });

  it('to 404 and to 503', async () => {
    for (const [status, accessResult] of [
      [404, 'unavailable'],
      [503, 'unreachable'],
    ] as const) {
      const target = await loopback.http((_request, response) => response.writeHead(status).end());
      const server = await loopback.redirecting(target.url());
      expect(await loopback.fetch(server)).toMatchObject({
        accessResult,
        status,
      });
    }
  });

  for (const location of [
    'file:///etc/passwd',
    'data:text/plain,disallow:',
    'gopher://127.0.0.1/',
    'javascript:1',
    'mailto:a@example.com',
    'http://',
    'http://[::1',
    'http://a b/',
    'http://example.com:99999/',
  ]) {
    it(`to ${location}: refused, and as unavailable as any that cannot be followed`, async () => {
      const server = await loopback.redirecting(location);
      const result = await loopback.fetch(server);
      expect(result).toMatchObject({
        accessResult: 'unavailable',
        status: 301,
        error: { code: 'redirect-refused' },
        chain: [server.url()],
      });
    });
  }

  it('never takes credentials along', async () => {
    const seen: unknown[] = [];
    const target = await loopback.http((request, response) => {
      seen.push(request.headers.authorization, request.url);
      response.end(ROBOTS);
    });
    const server = await loopback.redirecting(
      target.url('/robots.txt#part').replace('http://', 'http://user:secret@'),
    );
    const result = await loopback.fetch(server);
    expect(seen).toEqual([undefined, '/robots.txt']);
    expect(result.chain).toEqual([server.url(), target.url()]);
    expect(JSON.stringify({ chain: result.chain, policy: result.policy })).not.toContain('secret');
  });

  it('reads its first Location, and bytes of UTF-8', async () => {
    const paths: unknown[] = [];
    const server = await loopback.raw((socket) => {
      socket.on('data', (data) => {
        const path = data.toString('latin1').split(' ')[1] ?? '';
        paths.push(path);
        socket.write(
          path === '/robots.txt'
            ? 'HTTP/1.1 301 M\r\nLocation: /gr\u00fc\u00dfe?\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n'
            : 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n#',
        );
      });
    });
    const result = await loopback.fetch(server);
    expect(result.accessResult).toBe('successful');
    expect(paths).toEqual(['/robots.txt', '/gr%C3%BC%C3%9Fe?']);
  });
});

describe('the target of a redirect (RFC 9110, 10.2.2; RFC 3986, 5)', () => {
  const from = new URL('http://example.com/robots.txt?a=b');
  for (const [location, target] of [
    ['/x', 'http://example.com/x'],
    ['x', 'http://example.com/x'],
    ['?c', 'http://example.com/robots.txt?c'],
    ['', 'http://example.com/robots.txt?a=b'],
    ['//other.example/y', 'http://other.example/y'],
    ['https:', undefined],
    ['HTTPS://Other.Example:443/y#z', 'https://other.example/y'],
    ['/a/../b/./c', 'http://example.com/b/c'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['http://b%C3%BCcher.example/', 'http://xn--bcher-kva.example/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['ftp://ftp.example/robots.txt', 'ftp://ftp.example/robots.txt'],
    ['http://u:p@example.com/', 'http://example.com/'],
    ['\\\\other.example\\y', 'http://other.example/y'],
  ] as const) {
    it(`of ${JSON.stringify(location)}`, () => {
      const bytes = Buffer.from(location, 'utf8').toString('latin1');
      const found = String(redirectUrl(bytes, from));
      if (target === undefined) expect(found).toContain('is not a URL');
      else expect(found).toBe(target);
    });
  }
});
