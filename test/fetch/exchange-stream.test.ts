import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { ExchangeStream, NEVER_PAUSED, TidiedResponse } from '../../src/fetch/http-exchange.js';
import { Loopback, ROBOTS, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

const OK = `HTTP/1.1 200 OK\r\nContent-Length: ${ROBOTS.length}\r\n\r\n${ROBOTS}`;
const CONTINUE = 'HTTP/1.1 100 Continue\r\nServer: HTTP/1.1 100\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </100>\r\n\r\n';
const STRICT_OK = `HTTP/1.1 200 \r\nConnection: close\r\nContent-Length: ${ROBOTS.length}\r\n\r\n${ROBOTS}`;

/** What comes of bytes that arrive in these pieces. */
function strict(...pieces: string[]): string {
  const response = new TidiedResponse(['content-length', 'transfer-encoding']);
  return pieces
    .map((piece) => response.take(Buffer.from(piece, 'latin1')).toString('latin1'))
    .join('');
}

/** What comes of them whole, cut in two at every place, and one by one: all mean the same. */
function strictHoweverCut(bytes: string): string {
  const whole = strict(bytes);
  for (let at = 0; at <= bytes.length; at++) {
    expect(unchunked(strict(bytes.slice(0, at), bytes.slice(at)))).toBe(unchunked(whole));
  }
  expect(unchunked(strict(...bytes))).toBe(unchunked(whole));
  return whole;
}

/** Chunks of other sizes mean the same: joins them. */
function unchunked(message: string): string {
  const blank = message.indexOf('\r\n\r\n') + 4;
  const head = message.slice(0, blank);
  if (!head.includes('chunked')) return message;
  let body = '';
  for (let at = blank; at < message.length; ) {
    const end = message.indexOf('\r\n', at);
    const size = Number.parseInt(message.slice(at, end), 16);
    if (size === 0) return `${head}${body}END${message.slice(end + 4)}`;
    expect(message.slice(end + 2 + size, end + 4 + size)).toBe('\r\n');
    body += message.slice(end + 2, end + 2 + size);
    at = end + 4 + size;
  }
  return head + body;
}

describe('an answer as undici is given it', () => {
  for (const [what, bytes, expected] of [
    ['100 is left out', CONTINUE + OK, STRICT_OK],
    ['100, 103, 100', CONTINUE + HINTS + CONTINUE + OK, STRICT_OK],
    ['after blank lines', `\r\n\n${CONTINUE}\r\n${CONTINUE}${OK}`, STRICT_OK],
    ['nothing before the head is complete', `${HINTS}HTTP/1.1 200 OK\r\nServer: x\r\n`, ''],
    ['what follows the body is left out', OK + CONTINUE, STRICT_OK],
    ['a body that is cut short stays so', OK.slice(0, -3), STRICT_OK.slice(0, -3)],
    [
      'the body of an error is left out',
      `HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc`,
      'HTTP/1.1 404 \r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    ],
    [
      'a body without a length has none',
      `HTTP/1.0 200\n\n${ROBOTS}`,
      `HTTP/1.1 200 \r\nConnection: close\r\n\r\n${ROBOTS}`,
    ],
    [
      'chunks lose extensions and trailers',
      'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3;a=b\r\nabc\r\n2\nde\n0\r\nX: y\r\n\r\n',
      'HTTP/1.1 200 \r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    ],
    [
      'chunks without the last one lack it',
      'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\r\nabc\r\n',
      'HTTP/1.1 200 \r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
    ],
  ] as const) {
    it(what, () => {
      expect(strictHoweverCut(bytes)).toBe(expected);
    });
  }

  for (const [what, bytes, reason] of [
    ['another protocol', 'ICY 200 OK\r\n', 'the answer is not HTTP'],
    ['what is no HTTP', '\0\u00ff', 'the answer is not HTTP'],
    ['no status', 'HTTP/1.1 OK\r\n', 'the status line is not HTTP'],
    ['101', 'HTTP/1.1 101 Switching\r\n\r\n', 'unexpected interim status 101'],
  ] as const) {
    it(`${what} is refused as soon as it is seen`, () => {
      expect(() => strict(bytes)).toThrow(reason);
      expect(() => strict(...bytes)).toThrow(reason);
    });
  }

  it('heads of more than 300 KiB are refused', () => {
    const most = 307_200;
    const longest = `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(most - 24)}\r\n\r\n`;
    expect(longest.length).toBe(most);
    expect(strict(longest, ROBOTS)).toContain(ROBOTS);
    const twice = CONTINUE + longest;
    for (const bytes of [longest.replace('X', 'XX'), twice, '\r\n'.repeat(most)]) {
      expect(() => strict(bytes)).toThrow(`a header of more than ${most} bytes`);
    }
  });

  it('one value folded into a hundred thousand lines takes no time', () => {
    const folded = `HTTP/1.1 200 OK\r\nContent-Length: 5${'\n '.repeat(100_000)}\n\nabcde`;
    expect(strict(folded)).toContain('Content-Length: 5\r\n\r\nabcde');
  });
});

describe('a connection as undici is given it', () => {
  /** The stream over a connection to a server that does this. */
  async function streamTo(answer: (socket: Socket) => void, most = Infinity) {
    const server = await loopback.raw((socket) => socket.once('data', () => answer(socket)));
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    return { server, socket, stream: new ExchangeStream(socket, most, ['content-length']) };
  }

  it('carries bytes both ways, to the end', async () => {
    const { stream } = await streamTo((socket) => socket.end(CONTINUE + OK));
    stream.write('GET');
    expect(await text(stream)).toBe(STRICT_OK);
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
  it('a coding without chunks', async () => {
    const bytes = `HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n${ROBOTS}`;
    const whole = await loopback.answering(bytes, 'end');
    expect(await loopback.fetch(whole)).toMatchObject({
      accessResult: 'successful',
    });
    const server = await loopback.raw((socket) => {
      socket.once('data', () => socket.write(bytes, () => socket.resetAndDestroy()));
    });
    expect(await loopback.fetch(server)).toMatchObject(unreachable('body-broken'));
  });

  it('204 with a length has none', async () => {
    const server = await loopback.answering(
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      'keep',
    );
    expect(await loopback.fetch(server)).toMatchObject({
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
    expect(await loopback.fetch(server)).toMatchObject(unreachable('body-broken', { status: 200 }));
  });
});
