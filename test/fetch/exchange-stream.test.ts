import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { ExchangeStream, NEVER_PAUSED } from '../../src/fetch/http/exchange-stream.js';
import { InterimStatus } from '../../src/fetch/http/interim-status.js';
import { fetchOnce, Loopback, ROBOTS } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

const OK = `HTTP/1.1 200 OK\r\nContent-Length: ${ROBOTS.length}\r\n\r\n${ROBOTS}`;
const CONTINUE = 'HTTP/1.1 100 Continue\r\nServer: HTTP/1.1 100\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </100>\r\n\r\n';

/** What comes of bytes that arrive in these pieces. */
function renamed(...pieces: string[]): string {
  const status = new InterimStatus();
  return pieces
    .map((piece) => {
      const bytes = Buffer.from(piece, 'latin1');
      status.rename(bytes);
      return bytes.toString('latin1');
    })
    .join('');
}

/** What comes of them whole, cut in two at every place, and one by one, which must be the same. */
function renamedHoweverCut(bytes: string): string {
  const whole = renamed(bytes);
  for (let at = 0; at <= bytes.length; at++) {
    expect(renamed(bytes.slice(0, at), bytes.slice(at))).toBe(whole);
  }
  expect(renamed(...bytes)).toBe(whole);
  return whole;
}

describe('the statuses of interim responses', () => {
  const changed = CONTINUE.replace('100', '102');

  for (const [what, bytes, expected] of [
    ['100 is renamed', CONTINUE + OK, changed + OK],
    ['100, 103, 100', CONTINUE + HINTS + CONTINUE + OK, changed + HINTS + changed + OK],
    [
      'after blank lines',
      `\r\n\n${CONTINUE}\r\n${CONTINUE}${OK}`,
      `\r\n\n${changed}\r\n${changed}${OK}`,
    ],
    ['that ends too early', `${HINTS}HTTP/1.1 100 Cont`, `${HINTS}HTTP/1.1 102 Cont`],
    ['without a reason', `HTTP/1.0 100\r\n\r\n${OK}`, `HTTP/1.0 102\r\n\r\n${OK}`],
  ] as const) {
    it(what, () => {
      expect(renamedHoweverCut(bytes)).toBe(expected);
    });
  }

  for (const [what, bytes] of [
    ['a body', OK + CONTINUE],
    ['what follows a 404', `HTTP/1.1 404 Not Found\r\n\r\n${CONTINUE}`],
    ['200 with a 100 in its headers', OK.replace('OK', 'HTTP/1.1 100')],
    ['103', HINTS + OK],
    ['101', `HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}`],
    ['another protocol', `ICY 100 OK\r\n\r\n${CONTINUE}`],
    ['what is no HTTP', `\0\u00ff ${CONTINUE}`],
  ] as const) {
    it(`${what} stays as it is`, () => {
      expect(renamedHoweverCut(bytes)).toBe(bytes);
    });
  }

  it('a head of 16 KiB is passed over, whatever is in it', () => {
    const head = `HTTP/1.1 103 Early Hints\r\nX: ${'HTTP/1.1 100 '.repeat(1250)}\r\n\r\n`;
    expect(head.length).toBeGreaterThan(16_000);
    expect(renamed(...(head + CONTINUE + OK))).toBe(head + changed + OK);
  });

  it('a status line, or blank lines, of more than 16 KiB are refused', () => {
    const start = 'HTTP/1.1 200 ';
    const longest = start + 'x'.repeat(16_384 - start.length - 1);
    expect(renamed(`${longest}\n`, OK)).toBe(`${longest}\n${OK}`);
    for (const bytes of [`${longest}xx`, '\r\n'.repeat(8_193)]) {
      expect(() => renamed(...bytes)).toThrow('a status line of more than 16384 bytes');
    }
  });
});

describe('a connection as undici is given it', () => {
  /** The stream over a connection to a server that does this. */
  async function streamTo(answer: (socket: Socket) => void, most = Infinity) {
    const server = await loopback.raw((socket) => socket.once('data', () => answer(socket)));
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    return { server, socket, stream: new ExchangeStream(socket, most) };
  }

  it('carries bytes both ways, to the end', async () => {
    const { stream } = await streamTo((socket) => socket.end(CONTINUE + OK));
    stream.write('GET');
    expect(await text(stream)).toBe(CONTINUE.replace('100', '102') + OK);
  });

  it('that is reset ends in an error without the code that undici takes for an end', async () => {
    const { socket, stream } = await streamTo((peer) => peer.resetAndDestroy());
    stream.write('GET');
    await expect(text(stream)).rejects.toThrow('the connection broke off');
    expect(stream.errored).not.toHaveProperty('code');
    expect(socket.destroyed).toBe(true);
  });

  it('takes the socket with it', async () => {
    const { server, socket, stream } = await streamTo(() => undefined);
    stream.destroy(new Error('given up'));
    await once(socket, 'close');
    while (server.sockets.size > 0) await wait(5);
  });

  it('reads no more than is asked for, and no more than it may', async () => {
    const flood = (socket: Socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
      };
      socket.on('drain', more);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      more();
    };
    const { socket, stream } = await streamTo(flood, 1_000_000);
    stream.write('GET');
    stream.read();
    let before = -1;
    while (before !== socket.bytesRead || before === 0) {
      before = socket.bytesRead;
      await wait(30);
    }
    expect(socket.bytesRead).toBeLessThan(500_000);
    await expect(text(stream)).rejects.toThrow('an answer of more than 1000000 bytes');
    expect(socket.bytesRead).toBeLessThan(1_200_000);
  });

  it('is read by undici to the end, however slowly the body is read', async () => {
    // By itself undici pauses at 65,536 bytes of a body; an end just then would end the process.
    let [answers, waiting] = [0, 0];
    for (const first of [1, 1_000, undefined]) {
      for (const length of [65_535, 65_536, 66_000, 75_000, 100_000, 131_072, 300_000]) {
        const body = '#'.repeat(length);
        const { server, stream } = await streamTo((peer) =>
          peer.end(`HTTP/1.1 200 OK\r\n\r\n${body}`),
        );
        const client = new Client(`http://127.0.0.1:${server.port}`, {
          pipelining: 0,
          connect: (_options, callback) => queueMicrotask(() => callback(null, stream as never)),
        });
        const response = await client.request({
          method: 'GET',
          path: '/',
          highWaterMark: NEVER_PAUSED,
        });
        stream.backlog = () => response.body.readableLength;
        await wait(10);
        if (response.body.readableLength >= 65_536) waiting++;
        expect(response.body.readableLength).toBeLessThan(250_000);
        const begin = first === undefined ? '' : String(response.body.read(first));
        await wait(5);
        let rest = '';
        for await (const piece of response.body) {
          rest += piece;
          stream.proceed();
        }
        expect(begin + rest).toBe(body);
        await client.destroy();
        answers++;
      }
    }
    expect(answers).toBe(21);
    expect(waiting).toBeGreaterThan(10);
  });
});

describe('bodies of which only the connection tells the end', () => {
  it('chunks without end to their codings', async () => {
    const bytes = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n${ROBOTS}`;
    const whole = await loopback.answering(bytes, 'end');
    expect(await fetchOnce(loopback.fetcher(), whole.authority())).toMatchObject({
      accessResult: 'successful',
    });
    const server = await loopback.raw((socket) => {
      socket.once('data', () => socket.write(bytes, () => socket.resetAndDestroy()));
    });
    expect(await fetchOnce(loopback.fetcher(), server.authority())).toMatchObject({
      accessResult: 'unreachable',
      error: { code: 'body-broken' },
    });
  });

  it('204 with a length has none', async () => {
    const server = await loopback.answering(
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      'keep',
    );
    expect(await fetchOnce(loopback.fetcher(), server.authority())).toMatchObject({
      accessResult: 'successful',
      status: 204,
      body: Buffer.alloc(0),
    });
  });

  it('a chunk whose extension never ends', async () => {
    const server = await loopback.raw((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;');
        socket.on('drain', more);
        more();
      });
    });
    expect(await fetchOnce(loopback.fetcher(), server.authority())).toMatchObject({
      accessResult: 'unreachable',
      status: 200,
      error: { code: 'body-broken' },
    });
  });
});
