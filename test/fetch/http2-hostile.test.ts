import http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchAuthority } from '../../src/fetch/result.js';
import { certificate, fetchOnce, key, Loopback, ROBOTS } from './servers.js';

const loopback = new Loopback();
const uncaught: unknown[] = [];
const onUncaught = (error: unknown) => uncaught.push(error);

beforeAll(() => void process.prependListener('uncaughtException', onUncaught));
afterAll(async () => {
  await loopback.end();
  process.off('uncaughtException', onUncaught);
});

/** A frame of HTTP/2 (RFC 9113 section 4.1). */
function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const SETTINGS = frame(4, 0, 0);
/** `:status: 200`, from the static table. */
const HEADERS = frame(1, 4, 1, Buffer.from([0x88]));
/** The same, with a `content-length: 1000` that is not kept (RFC 7541 section 6.2.2). */
const HEADERS_1000 = frame(1, 4, 1, Buffer.from([0x88, 0x0f, 0x0d, 4, 0x31, 0x30, 0x30, 0x30]));
const DATA = frame(0, 0, 1, Buffer.from(ROBOTS));
const GOAWAY = (code: number) => frame(7, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, code]));
const RESET = (code: number) => frame(3, 0, 1, Buffer.from([0, 0, 0, code]));

/** A server that has agreed on h2 and then does as it likes, once a request has come. */
async function h2Server(
  onRequest: (socket: Socket) => void,
  atOnce = false,
): Promise<FetchAuthority> {
  const sockets = new Set<Socket>();
  const server = tls.createServer({ key, cert: certificate, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (atOnce) onRequest(socket);
    else socket.once('data', () => setTimeout(() => onRequest(socket), 20));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  loopback.onEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { scheme: 'https', host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

const OCTETS: readonly (readonly [string, Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['octets that are no frames', Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')],
  ['its settings', SETTINGS],
  ['GOAWAY without an error', Buffer.concat([SETTINGS, GOAWAY(0)])],
  ['GOAWAY with an error', Buffer.concat([SETTINGS, GOAWAY(11)])],
  ['a stream that is reset', Buffer.concat([SETTINGS, RESET(2)])],
  ['a stream that is refused', Buffer.concat([SETTINGS, RESET(7)])],
  ['a stream that is cancelled', Buffer.concat([SETTINGS, RESET(8)])],
  ['headers', Buffer.concat([SETTINGS, HEADERS])],
  ['headers and GOAWAY', Buffer.concat([SETTINGS, HEADERS, GOAWAY(0)])],
  ['headers and a reset', Buffer.concat([SETTINGS, HEADERS, RESET(2)])],
  ['headers and a reset that says all is well', Buffer.concat([SETTINGS, HEADERS_1000, RESET(0)])],
  ['headers and a cancel', Buffer.concat([SETTINGS, HEADERS_1000, RESET(8)])],
  ['part of a body', Buffer.concat([SETTINGS, HEADERS, DATA])],
  ['part of a body and GOAWAY', Buffer.concat([SETTINGS, HEADERS, DATA, GOAWAY(0)])],
  ['part of a body and a cancel', Buffer.concat([SETTINGS, HEADERS_1000, DATA, RESET(8)])],
  [
    'part of a body and a reset that says all is well',
    Buffer.concat([SETTINGS, HEADERS_1000, DATA, RESET(0)]),
  ],
  [
    'headers that cannot be decompressed',
    Buffer.concat([SETTINGS, frame(1, 4, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))]),
  ],
  ['headers without a status', Buffer.concat([SETTINGS, frame(1, 5, 1)])],
  ['a body before headers', Buffer.concat([SETTINGS, DATA])],
  [
    'a promise that nobody wanted',
    Buffer.concat([SETTINGS, frame(5, 4, 1, Buffer.from([0, 0, 0, 2, 0x82]))]),
  ],
  ['a frame that is too long', Buffer.concat([SETTINGS, frame(0, 0, 1, Buffer.alloc(100_000))])],
  ['settings that allow no stream', frame(4, 0, 0, Buffer.from([0, 3, 0, 0, 0, 0]))],
];

describe('servers of HTTP/2 that misbehave: unreachable (RFC 9309, 2.3.1.4), and no more than that', () => {
  for (const [what, octets] of OCTETS) {
    for (const then of ['stay', 'end', 'break'] as const) {
      for (const atOnce of [false, true]) {
        it(`${what}, then ${then}${atOnce ? ', unasked' : ''}`, async () => {
          const authority = await h2Server((socket) => {
            socket.write(octets);
            if (then === 'end') socket.end();
            if (then === 'break') setTimeout(() => socket.destroy(), 10);
          }, atOnce);
          const fetcher = loopback.fetcher({ deadline: 120 });
          const result = await fetchOnce(fetcher, authority);
          expect(result.accessResult).toBe('unreachable');
          expect(result.error).toBeDefined();
          await wait(5);
          await fetcher.close();
          await wait(5);
          expect(uncaught).toEqual([]);
        });
      }
    }
  }

  it('one that ends its sessions whenever it likes', async () => {
    const server = http2.createSecureServer({ key, cert: certificate });
    const sessions = new Set<http2.ServerHttp2Session>();
    server.on('session', (session) => {
      sessions.add(session);
      session.on('error', () => undefined);
      setTimeout(() => session.close(), 15);
      setTimeout(() => session.destroy(), 40);
    });
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      setTimeout(() => {
        if (!stream.destroyed) {
          stream.respond({ ':status': 200 });
          stream.end(ROBOTS);
        }
      }, 5);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    loopback.onEnd(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
    const fetcher = loopback.fetcher();
    const { port } = server.address() as AddressInfo;
    const results: string[] = [];
    for (let times = 0; times < 60; times++) {
      const { accessResult } = await fetchOnce(fetcher, {
        scheme: 'https',
        host: '127.0.0.1',
        port,
      });
      results.push(accessResult);
      await wait(times % 7);
    }
    expect(results.filter((result) => result === 'successful').length).toBeGreaterThan(20);
    expect(results).not.toContain('unavailable');
    expect(uncaught).toEqual([]);
  });
});
