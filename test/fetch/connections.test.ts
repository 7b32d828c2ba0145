import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { validateHeaderValue } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { userAgentFault } from '../../src/fetch/limits.js';
import {
  certificate,
  fetchOnce,
  key,
  Loopback,
  ROBOTS,
  textOf,
  USER_AGENT,
  unreachable,
} from './servers.js';

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

/** A body whose end only that of the connection tells. */
const ANSWER = `HTTP/1.1 200 OK\r\n\r\n${ROBOTS}`;

/** Keeps this thread from reading what comes, for so many milliseconds at a time. */
async function whileBusy<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  if (milliseconds === 0) return work;
  const timer = setInterval(() => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  }, 1);
  return work.finally(() => clearInterval(timer));
}

const TORN = unreachable('body-broken', { status: 200 });

describe('a body that ends with the connection, and a connection that is reset', () => {
  for (const delay of [undefined, 0, 1, 5]) {
    for (const busy of [0, 4]) {
      it(`${delay ?? 'no'} ms after the answer, read ${busy === 0 ? 'at once' : 'late'}`, async () => {
        const server = await loopback.raw((socket) => {
          socket.once('data', () =>
            socket.write(ANSWER, () => {
              if (delay === undefined) socket.resetAndDestroy();
              else setTimeout(() => socket.resetAndDestroy(), delay);
            }),
          );
        });
        for (let times = 0; times < 3; times++) {
          const fetching = loopback.fetch(server);
          expect(await whileBusy(busy, fetching)).toMatchObject(TORN);
        }
      });
    }
  }

  it('by another process, which does not wait for this one', async () => {
    const child = spawn(process.execPath, [
      '-e',
      `const server = require('node:net').createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.write(${JSON.stringify(ANSWER)}, () => socket.resetAndDestroy()));
      });
      server.listen(0, '127.0.0.1', () => console.log(server.address().port));`,
    ]);
    try {
      const [line] = await once(child.stdout, 'data');
      const authority = { scheme: 'http', host: '127.0.0.1', port: Number(line) } as const;
      const fetcher = loopback.fetcher();
      for (let times = 0; times < 20; times++) {
        const fetching = fetchOnce(fetcher, authority);
        expect(await whileBusy(times % 4, fetching)).toMatchObject(TORN);
      }
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });

  it('over TLS', async () => {
    const connections: Socket[] = [];
    const server = createServer({ key, cert: certificate }, (secure) => {
      secure.on('error', () => undefined);
      secure.once('data', () => secure.write(ANSWER, () => connections.at(-1)?.resetAndDestroy()));
    });
    server.on('connection', (socket: Socket) => connections.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    loopback.onEnd(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const authority = { scheme: 'https', host: '127.0.0.1', port } as const;
    for (const busy of [0, 4]) {
      const fetching = loopback.fetch(authority);
      expect(await whileBusy(busy, fetching)).toMatchObject(TORN);
    }
  });

  it('an orderly end is one, read at once or late', async () => {
    const server = await loopback.answering(ANSWER, 'end');
    const fetcher = loopback.fetcher();
    for (let times = 0; times < 12; times++) {
      const fetching = fetchOnce(fetcher, server.authority());
      expect(await whileBusy(times % 4, fetching)).toMatchObject({
        accessResult: 'successful',
        body: Buffer.from(ROBOTS),
      });
    }
  });
});

const OK = `HTTP/1.1 200 OK\r\nContent-Length: ${ROBOTS.length}\r\n\r\n${ROBOTS}`;

describe('interim responses (RFC 9110, 15.2)', () => {
  for (const [what, interim] of [
    ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['100 three times', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3)],
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'],
    ['100, 102, 103', '100 Continue,102 Processing,103 Early Hints'],
  ] as const) {
    const bytes = interim.startsWith('HTTP')
      ? interim
      : interim
          .split(',')
          .map((line) => `HTTP/1.1 ${line}\r\n\r\n`)
          .join('');
    it(`${what} before 200 is passed by, in one piece or several`, async () => {
      const whole = await loopback.answering(bytes + OK, 'keep');
      const pieces = await loopback.raw((socket) => {
        socket.once('data', () => {
          socket.write(bytes);
          setTimeout(() => socket.write(OK), 20);
        });
      });
      for (const server of [whole, pieces]) {
        expect(await loopback.fetch(server)).toMatchObject({
          accessResult: 'successful',
          status: 200,
          body: Buffer.from(ROBOTS),
        });
      }
    });
  }

  for (const status of ['100 Continue', '103 Early Hints']) {
    it(`${status} without end takes no longer than an answer may`, async () => {
      let sent = 0;
      const server = await loopback.raw((socket) => {
        const timer = setInterval(() => {
          socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
          sent++;
        }, 20);
        socket.on('close', () => clearInterval(timer));
      });
      expect(await loopback.fetch(server, { headerTimeout: 200 })).toMatchObject(
        unreachable('header-timeout'),
      );
      expect(sent).toBeGreaterThan(1);
    });
  }

  it('a flood of them is given up at once', async () => {
    const server = await loopback.answering(
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5000),
      'keep',
    );
    expect(await loopback.fetch(server)).toMatchObject(
      unreachable('protocol-error', { message: 'more than 100 interim responses' }),
    );
  });

  it('101 to another protocol, which nobody asked for, is unreachable', async () => {
    const server = await loopback.answering(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n${OK}`,
      'keep',
    );
    expect(await loopback.fetch(server)).toMatchObject(unreachable('protocol-error'));
  });
});

describe('a user agent', () => {
  it.each([
    'MyBot',
    'MyBot/1.0 (+https://example.com/bot)',
    'Mozilla/5.0 (compatible; MyBot/1.0; +http://example.com/)',
    'my-bot_x',
    '360Spider/2',
    `a${'b'.repeat(1023)}`,
  ])('may be %j', (text) => {
    expect(userAgentFault(text)).toBeUndefined();
    validateHeaderValue('user-agent', text);
  });

  it.each([
    ['', 'It is empty'],
    [' ', 'Character 1 is " "'],
    [' MyBot', 'Character 1 is " "'],
    ['(MyBot)', 'Character 1 is "("'],
    ['/1.0', 'Character 1 is "/"'],
    ['1.0', 'no letter'],
    ['MyBot\n', 'Character 6 is U+000A;'],
    ['MyBot\r\nCookie: a=b', 'Character 6 is U+000D;'],
    ['My\tBot', 'Character 3 is U+0009;'],
    ['My\u007fBot', 'Character 3 is U+007F;'],
    ['MyBot é', 'Character 7 is U+00E9;'],
    ['MyBot \u{1f4da}\u0007', 'Character 7 is U+1F4DA;'],
    ['MyBot \udc00', 'Character 7 is U+DC00;'],
    ['a'.repeat(1025), 'It has 1025 characters'],
  ])('is refused with a reason and a remedy: %j', (text, reason) => {
    const fault = userAgentFault(text) ?? '';
    expect(fault).toContain(reason);
    expect(fault).toMatch(/such as MyBot|at most 1024/);
  });
});
