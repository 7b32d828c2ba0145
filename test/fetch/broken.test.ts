import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { fetchOnce, Loopback, ROBOTS, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

const OK = 'HTTP/1.1 200 OK\r\n';

describe('RFC 9309, 2.3.1.4: network errors are unreachable', () => {
  it('a port where nobody listens', async () => {
    const server = await loopback.raw(() => undefined);
    const authority = server.authority();
    await server.close();
    const result = await loopback.fetch(authority);
    expect(result).toMatchObject(unreachable('connect-failed', { status: undefined }));
  });

  it('a name without an address, or whose name servers fail', async () => {
    const authority = { scheme: 'http', host: 'absent.test', port: undefined } as const;
    const none = loopback.fetcher({ resolve: async () => [] });
    expect(await fetchOnce(none, authority)).toMatchObject(
      unreachable('dns-failed', { message: 'absent.test has no address' }),
    );
    const failing = loopback.fetcher({ resolve: () => Promise.reject(new Error('SERVFAIL')) });
    expect(await fetchOnce(failing, authority)).toMatchObject(
      unreachable('dns-failed', { message: 'SERVFAIL' }),
    );
  });

  it.each([
    ['bytes 0-13/27', 'unreachable'],
    ['bytes 3-26/27', 'unreachable'],
    ['bytes 0-26/*', 'unreachable'],
    ['', 'unreachable'],
    ['BYTES 0-26/27', 'successful'],
  ] as const)('a part of a body that nobody asked for: %j is %s', async (range, accessResult) => {
    const head = `HTTP/1.1 206 Partial Content\r\nContent-Range: ${range}\r\n`;
    const body = 'User-agent: *\nDisallow: /a\n';
    const bytes = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    const server = await loopback.answering(bytes, 'end');
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({ accessResult, status: 206 });
    expect(result.error?.code).toBe(accessResult === 'successful' ? undefined : 'body-broken');
  });

  it('a host that is none', async () => {
    const result = await loopback.fetch({
      scheme: 'http',
      host: 'a b',
      port: undefined,
    });
    expect(result).toMatchObject({
      accessResult: 'unreachable',
      error: { code: 'dns-failed' },
      chain: [],
    });
  });

  it('name servers that never answer', async () => {
    const fetcher = loopback.fetcher({
      connectTimeout: 100,
      resolve: () => new Promise(() => undefined),
    });
    expect(
      await fetchOnce(fetcher, { scheme: 'http', host: 'mute.test', port: undefined }),
    ).toMatchObject(unreachable('connect-timeout'));
  });

  it('a TLS handshake that never ends', async () => {
    const server = await loopback.raw(() => undefined);
    const fetcher = loopback.fetcher({ connectTimeout: 100 });
    expect(await fetchOnce(fetcher, { ...server.authority(), scheme: 'https' })).toMatchObject(
      unreachable('connect-timeout'),
    );
  });

  it('TLS with a certificate that is not trusted, of another host, and no TLS at all', async () => {
    const server = await loopback.serving(ROBOTS, 'https');
    expect(await loopback.fetch(server, { ca: undefined })).toMatchObject(
      unreachable('tls-failed'),
    );
    const elsewhere = loopback.fetcher({
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    expect(await fetchOnce(elsewhere, server.authority('other.example'))).toMatchObject(
      unreachable('tls-failed'),
    );
    expect(await fetchOnce(elsewhere, server.authority('right.test'))).toMatchObject({
      accessResult: 'successful',
    });
    const plain = await loopback.serving(ROBOTS);
    const authority = { ...plain.authority(), scheme: 'https' as const };
    expect(await loopback.fetch(authority)).toMatchObject(unreachable('tls-failed'));
  });

  it('a connection that ends, or is reset, before the answer', async () => {
    const ended = await loopback.raw((socket) => socket.once('data', () => socket.end()));
    const reset = await loopback.raw((socket) =>
      socket.once('data', () => socket.resetAndDestroy()),
    );
    const refused = await loopback.raw((socket) => socket.destroy());
    for (const server of [ended, reset, refused]) {
      expect(await loopback.fetch(server)).toMatchObject(
        unreachable('connect-failed', { status: undefined }),
      );
    }
  });

  it('headers that do not come, or not to an end', async () => {
    const silent = await loopback.raw(() => undefined);
    const partial = await loopback.answering(`${OK}Content-Type: text`, 'keep');
    for (const server of [silent, partial]) {
      expect(await loopback.fetch(server, { headerTimeout: 100 })).toMatchObject(
        unreachable('header-timeout'),
      );
    }
  });

  it('headers that come byte by byte: the deadline of all ends them', async () => {
    const server = await loopback.raw(async (socket) => {
      await once(socket, 'data');
      for (const byte of `${OK}Content-Type: text/plain\r\n`.repeat(100)) {
        if (socket.destroyed) return;
        socket.write(byte);
        await wait(10);
      }
    });
    expect(await loopback.fetch(server, { deadline: 300, headerTimeout: 5000 })).toMatchObject(
      unreachable('header-timeout', { message: 'the fetch took longer than 300 ms' }),
    );
  });

  for (const [what, bytes] of [
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a status line without a status', 'HTTP/1.1 OK\r\n\r\n'],
    ['headers without end', `${OK}${`X-Filler: ${'x'.repeat(1000)}\r\n`.repeat(310)}`],
    ['two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\n##`],
    ['a negative length', `${OK}Content-Length: -1\r\n\r\n#`],
  ] as const) {
    it(`an answer that is ${what}`, async () => {
      const server = await loopback.answering(bytes, 'keep');
      expect(await loopback.fetch(server)).toMatchObject(
        unreachable('protocol-error', { status: undefined }),
      );
    });
  }
});

describe('RFC 9309, 2.3.1.4, with Google\'s document: "incomplete data" is unreachable', () => {
  for (const [what, bytes, then] of [
    ['shorter than its length', `${OK}Content-Length: 1000\r\n\r\n${ROBOTS}`, 'end'],
    ['reset within its length', `${OK}Content-Length: 1000\r\n\r\n${ROBOTS}`, 'reset'],
    ['reset without a length', `${OK}\r\n${ROBOTS}`, 'reset'],
    ['without its last chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nallow\r\n`, 'end'],
    ['ended within a chunk', `${OK}Transfer-Encoding: chunked\r\n\r\nff\r\nallow`, 'end'],
    ['with a chunk of no length', `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nallow\r\n`, 'keep'],
  ] as const) {
    it(`a body ${what}`, async () => {
      const server = await loopback.answering(bytes, then);
      const result = await loopback.fetch(server);
      expect(result).toMatchObject({
        accessResult: 'unreachable',
        // What came of it is on record, and must not be taken for a file.
        status: 200,
        error: { code: 'body-broken' },
        policy: undefined,
      });
      expect(result.body).toBeUndefined();
    });
  }

  it('a body that stops', async () => {
    const server = await loopback.answering(`${OK}Content-Length: 1000\r\n\r\n${ROBOTS}`, 'keep');
    expect(await loopback.fetch(server, { bodyTimeout: 100 })).toMatchObject(
      unreachable('body-timeout', { status: 200 }),
    );
  });

  it('a body that comes byte by byte: the deadline of all ends it', async () => {
    const server = await loopback.http(async (_request, response) => {
      while (!response.destroyed) {
        response.write('#');
        await wait(10);
      }
    });
    expect(await loopback.fetch(server, { deadline: 300 })).toMatchObject(
      unreachable('body-timeout', { message: 'the fetch took longer than 300 ms', status: 200 }),
    );
  });

  it('without a length, what the connection carries until its end is whole', async () => {
    const server = await loopback.answering(`${OK}\r\n${ROBOTS}`, 'end');
    expect(await loopback.fetch(server)).toMatchObject({
      accessResult: 'successful',
      body: Buffer.from(ROBOTS),
    });
  });

  it('bytes beyond the length do not count', async () => {
    const server = await loopback.answering(`${OK}Content-Length: 1\r\n\r\n#disallow: /`, 'end');
    expect(await loopback.fetch(server)).toMatchObject({
      accessResult: 'successful',
      body: Buffer.from('#'),
    });
  });
});

describe('an aborted fetch', () => {
  it('is there at once, and takes its connection with it', async () => {
    const server = await loopback.http(() => undefined);
    const controller = new AbortController();
    const fetching = loopback.fetcher().fetch(server.authority(), undefined, controller.signal);
    while (server.sockets.size === 0) await wait(5);
    controller.abort();
    expect(await fetching).toMatchObject(unreachable('aborted'));
    while (server.sockets.size > 0) await wait(5);
  });

  it('within a body', async () => {
    const server = await loopback.answering(`${OK}Content-Length: 1000\r\n\r\n${ROBOTS}`, 'keep');
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const result = await loopback.fetcher().fetch(server.authority(), undefined, controller.signal);
    expect(result).toMatchObject(unreachable('aborted', { status: 200 }));
  });

  it('while name servers are silent, or a connection does not come about', async () => {
    const mute = () => new Promise<never>(() => undefined);
    const server = await loopback.raw(() => undefined);
    for (const scheme of ['http', 'https', 'ftp'] as const) {
      const silent = loopback.fetcher({ resolve: mute, deadline: 60 });
      const authority = { scheme, host: 'mute.test', port: undefined };
      expect(await fetchOnce(silent, authority)).toMatchObject({
        accessResult: 'unreachable',
        error: { message: 'the fetch took longer than 60 ms' },
      });
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 20);
      const fetching = loopback
        .fetcher({ resolve: mute })
        .fetch(authority, undefined, controller.signal);
      expect(await fetching).toMatchObject(unreachable('aborted'));
    }
    const hurried = loopback.fetcher({ deadline: 60 });
    const handshake = { ...server.authority(), scheme: 'https' } as const;
    expect(await fetchOnce(hurried, handshake)).toMatchObject({ accessResult: 'unreachable' });
  });

  it('before it began asks nobody', async () => {
    const server = await loopback.http(() => undefined);
    const result = await loopback
      .fetcher()
      .fetch(server.authority(), undefined, AbortSignal.abort());
    expect(result).toMatchObject(unreachable('aborted'));
    expect(server.connections).toBe(0);
  });

  it('shares one listener on its signal with a thousand others, and leaves none', async () => {
    const server = await loopback.serving(ROBOTS);
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    const listening = new Set<unknown>();
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (type: string, listener: unknown, ...rest: unknown[]) => {
      listening.add(listener);
      Reflect.apply(addEventListener, signal, [type, listener, ...rest]);
    };
    signal.removeEventListener = (type: string, listener: unknown, ...rest: unknown[]) => {
      listening.delete(listener);
      Reflect.apply(removeEventListener, signal, [type, listener, ...rest]);
    };
    const fetcher = loopback.fetcher();
    const all = Array.from({ length: 1000 }, (_, at) =>
      fetcher.fetch(server.authority(`127.0.${at >> 8}.${at & 255}`), undefined, signal),
    );
    expect(listening.size).toBe(1);
    await Promise.all(all);
    expect(listening.size).toBe(0);
    await wait(10);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
