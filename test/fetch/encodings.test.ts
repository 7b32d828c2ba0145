import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { FetchResult } from '../../src/fetch/result.js';
import { rawFrame } from '../files/zstd-frames.js';
import { fetchOnce, type Listening, Loopback, ROBOTS, textOf, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

const MIB = 1024 * 1024;

function serve(body: Uint8Array | string, encoding?: string | string[]): Promise<Listening> {
  return loopback.http((_request, response) => {
    if (encoding !== undefined) response.setHeader('content-encoding', encoding);
    response.end(body);
  });
}

async function fetched(
  body: Uint8Array | string,
  encoding?: string | string[],
): Promise<FetchResult> {
  return loopback.fetch(await serve(body, encoding));
}

describe('content codings (RFC 9110, 8.4.1)', () => {
  const twoPieces = Buffer.concat([gzipSync(ROBOTS.slice(0, 9)), gzipSync(ROBOTS.slice(9))]);
  for (const [encoding, body] of [
    [undefined, Buffer.from(ROBOTS)],
    ['identity', Buffer.from(ROBOTS)],
    ['', Buffer.from(ROBOTS)],
    ['gzip', gzipSync(ROBOTS)],
    ['GZIP', gzipSync(ROBOTS)],
    ['x-gzip', gzipSync(ROBOTS)],
    ['gzip', twoPieces],
    ['gzip', Buffer.concat([gzipSync(ROBOTS), Buffer.alloc(5)])],
    ['deflate', deflateSync(ROBOTS)],
    ['deflate', deflateRawSync(ROBOTS)],
    ['deflate', deflateRawSync(ROBOTS, { level: 0 })],
    ['br', brotliCompressSync(ROBOTS)],
    ['gzip, br', brotliCompressSync(gzipSync(ROBOTS))],
    ['zstd', rawFrame(ROBOTS)],
    [['deflate', 'gzip'], gzipSync(deflateSync(ROBOTS))],
    ['deflate, identity, deflate', deflateRawSync(deflateRawSync(ROBOTS))],
    // None of these is a coding, and the body is text.
    ['exi', Buffer.from(ROBOTS)],
    ['utf-8', Buffer.from(ROBOTS)],
  ] as const) {
    it(`${encoding} of ${body.length} bytes`, async () => {
      const result = await fetched(body, encoding as string);
      expect(textOf(result)).toBe(ROBOTS);
      expect(result).toMatchObject({ accessResult: 'successful', cut: false });
    });
  }

  it('nothing at all, whatever the header says', async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd']) {
      expect(textOf(await fetched('', encoding))).toBe('');
    }
  });

  for (const [what, encoding, body] of [
    ['one that is not known, on data', 'exi', `\x80\x00\x01${ROBOTS}`],
    ['zstd that is none', 'zstd', ROBOTS],
    ['one that is none, on gzip', 'utf-8', gzipSync(ROBOTS).toString('latin1')],
    ['five of them', 'br, br, br, br, br', ROBOTS],
    ['gzip that is none', 'gzip', ROBOTS],
    ['brotli that is none', 'br', `\xff${ROBOTS}`],
    ['deflate that is none', 'deflate', '\xff\xff\xff\xff'],
    [
      'a member after zeros',
      'gzip',
      Buffer.concat([gzipSync(ROBOTS.slice(0, 9)), Buffer.alloc(5), gzipSync(ROBOTS.slice(9))]),
    ],
    [
      'a wrong checksum',
      'gzip',
      Buffer.concat([gzipSync(ROBOTS).subarray(0, -8), Buffer.alloc(8)]),
    ],
  ] as const) {
    it(`${what}: unreachable`, async () => {
      const body8 = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
      const result = await fetched(body8, encoding);
      expect(result).toMatchObject(unreachable('decoding-failed', { status: 200 }));
      expect(result.body).toBeUndefined();
    });
  }

  it('a transfer coding that was not requested is undone, too', async () => {
    const body = gzipSync(ROBOTS);
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n';
    const chunk = Buffer.concat([
      Buffer.from(`${head}${body.length.toString(16)}\r\n`),
      body,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const server = await loopback.raw((socket) => socket.once('data', () => socket.write(chunk)));
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({ accessResult: 'successful' });
    expect(textOf(result)).toBe(ROBOTS);
  });

  it('a coding that breaks off, cut at every byte: unreachable, incomplete', async () => {
    const text = Buffer.from(ROBOTS.repeat(3));
    const encoded = [
      ['gzip', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['br', brotliCompressSync(text)],
    ] as const;
    for (const [encoding, whole] of encoded) {
      const fetcher = loopback.fetcher();
      let length = 1;
      const server = await loopback.http((_request, response) => {
        response.setHeader('content-encoding', encoding);
        response.end(whole.subarray(0, length));
      });
      for (; length < whole.length; length++) {
        const result = await fetchOnce(fetcher, server.authority());
        expect(result, `${encoding}, ${length}`).toMatchObject(unreachable('body-broken'));
      }
      expect(await fetchOnce(fetcher, server.authority())).toMatchObject({
        accessResult: 'successful',
      });
    }
  });
});

describe('RFC 9309, 2.5: the parsing limit', () => {
  const LIMIT = 512_000;

  for (const [length, kept, cut] of [
    [LIMIT - 1, LIMIT - 1, false],
    [LIMIT, LIMIT, false],
    [LIMIT + 1, LIMIT + 1, true],
    [LIMIT + 100_000, LIMIT + 1, true],
  ] as const) {
    it(`of ${length} bytes ${kept} are kept`, async () => {
      const body = Buffer.alloc(length, '#');
      for (const [encoding, bytes] of [
        [undefined, body],
        ['gzip', gzipSync(body)],
        ['br', brotliCompressSync(body, {})],
      ] as const) {
        const result = await fetched(bytes, encoding);
        expect(result).toMatchObject({ accessResult: 'successful', cut });
        expect(result.body?.length).toBe(kept);
        expect(Buffer.from(result.body ?? []).equals(body.subarray(0, kept))).toBe(true);
      }
    });
  }

  it('is 500 KiB at the least, and settable upwards', async () => {
    expect(() => loopback.fetcher({ maxBytes: 511_999 })).toThrow(
      'maxBytes is 511999; use a whole number from 512000',
    );
    const server = await serve(Buffer.alloc(2_000_000, '#'));
    const result = await loopback.fetch(server, { maxBytes: 2_000_000 });
    expect(result).toMatchObject({ cut: false });
    expect(result.body?.length).toBe(2_000_000);
  });

  it('of ten million bytes the rest is not downloaded', async () => {
    let written = 0;
    let closed: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await loopback.raw((socket) => {
      socket.once('close', () => {
        written = socket.bytesWritten;
        closed?.();
      });
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${100 * MIB}\r\n\r\n`);
        const piece = Buffer.alloc(65_536, '#');
        const more = () => {
          while (!socket.destroyed && socket.bytesWritten < 100 * MIB && socket.write(piece));
        };
        socket.on('drain', more);
        more();
      });
    });
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({ accessResult: 'successful', cut: true });
    expect(result.body?.length).toBe(512_001);
    await ended;
    // What the kernel had buffered on both sides at the time.
    expect(written).toBeLessThan(20 * MIB);
  });

  it('a bomb ends there: a gigabyte in gzip, in brotli, in gzip within gzip', async () => {
    const piece = Buffer.alloc(64 * MIB);
    const member = gzipSync(piece, { level: 1 });
    const gzip = Buffer.concat(Array.from({ length: 16 }, () => member));
    const brotli = brotliCompressSync(piece, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    });
    for (const [encoding, bytes] of [
      ['gzip', gzip],
      ['br', brotli],
      ['gzip, gzip', gzipSync(gzip)],
    ] as const) {
      const server = await serve(bytes, encoding);
      const before = process.memoryUsage().arrayBuffers;
      const result = await loopback.fetch(server);
      expect(result).toMatchObject({ accessResult: 'successful', cut: true });
      expect(result.body?.length).toBe(512_001);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * MIB);
    }
  });

  it('a body of endless bytes that hold nothing', async () => {
    // Stored blocks without content (RFC 1951, 3.2.4), after the header of zlib.
    const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff]);
    const piece = Buffer.concat(Array.from({ length: 10_000 }, () => emptyBlock));
    const server = await loopback.http((_request, response) => {
      response.setHeader('content-encoding', 'deflate');
      response.write(Buffer.from([0x78, 0x9c]));
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    expect(await loopback.fetch(server)).toMatchObject(unreachable('decoding-failed'));
  });
});
