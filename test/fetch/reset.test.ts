import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { certificate, fetchOnce, key, Loopback, ROBOTS, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

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
