import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseUrl } from '../../src/http/url.js';
import { canonicalUrl, captureUrl } from '../../src/warc/captures.js';
import { rawFrame } from '../files/zstd-frames.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { readCaptures } from './read-captures.js';
import { captureOf, chunkedOf, recordOf, responseOf, robotsOf } from './warc-bytes.js';

const URL_A = 'http://a.example/robots.txt';
const BODY = robotsOf('/secret');

/** The only capture of an archive of one record. */
async function captured(record: Buffer) {
  const { captures, damage } = await readCaptures(record);
  expect(damage).toEqual([]);
  expect(captures).toHaveLength(1);
  return captures[0];
}

async function bodyOf(block: Buffer): Promise<string | undefined> {
  return (await captured(captureOf(URL_A, block)))?.body;
}

describe('the body of a response', () => {
  it('is what was sent, with lines of the header in CRLF or LF', async () => {
    expect(await bodyOf(responseOf(200, BODY, { 'content-type': 'text/plain' }))).toBe(BODY);
    expect(await bodyOf(responseOf(200, BODY, { 'content-type': 'text/plain' }, '\n'))).toBe(BODY);
    expect(await bodyOf(responseOf(200))).toBe('');
    expect(await bodyOf(Buffer.from('HTTP/1.0 200\r\n'))).toBe('');
  });

  it('is decoded from its codings as on the wire', async () => {
    const body = Buffer.from(BODY);
    for (const [coding, encoded] of [
      ['gzip', gzipSync(body)],
      ['x-gzip', gzipSync(body)],
      ['deflate', deflateSync(body)],
      ['deflate', deflateRawSync(body)],
      ['br', brotliCompressSync(body)],
      ['gzip, br', brotliCompressSync(gzipSync(body))],
      ['zstd', rawFrame(body)],
      ['gzip, zstd', rawFrame(gzipSync(body))],
      ['zstd, gzip', gzipSync(rawFrame(body))],
      ['identity', body],
    ] as const) {
      const fields = { 'Content-Encoding': coding, 'Content-Length': String(encoded.length) };
      expect(await bodyOf(responseOf(200, encoded, fields)), coding).toBe(BODY);
      const chunked = chunkedOf(encoded, 7);
      expect(
        await bodyOf(
          responseOf(200, chunked, { 'content-encoding': coding, 'TRANSFER-ENCODING': 'chunked' }),
        ),
        `${coding}, chunked`,
      ).toBe(BODY);
    }
  });

  it('is decoded from its transfer codings, after which its content codings come', async () => {
    const body = Buffer.from(BODY);
    const gzip = gzipSync(body);
    for (const [coding, encoded, content] of [
      ['gzip, chunked', chunkedOf(gzip, 7), ''],
      ['GZIP , Chunked', chunkedOf(gzip, 7), ''],
      ['deflate, chunked', chunkedOf(deflateSync(body), 7), ''],
      ['identity, chunked', chunkedOf(body, 7), ''],
      ['gzip', gzip, ''],
      ['gzip, chunked', chunkedOf(gzipSync(brotliCompressSync(body)), 7), 'br'],
      ['gzip, chunked', chunkedOf(body, 7), ''],
      ['gzip, chunked', body, ''],
    ] as const) {
      const fields = { 'Transfer-Encoding': coding, 'Content-Encoding': content };
      expect(await bodyOf(responseOf(200, encoded, fields)), coding).toBe(BODY);
    }
    const unknown = { 'Transfer-Encoding': 'exi, chunked' };
    const block = responseOf(200, chunkedOf(Buffer.from('\x8f\x01binary', 'latin1'), 7), unknown);
    const { captures, broken } = await readCaptures(captureOf(URL_A, block));
    expect(captures).toMatchObject([{ kind: 'unreachable' }]);
    expect(broken).toEqual([URL_A]);
  });

  it('is taken as it is if the crawler has decoded it and kept the header', async () => {
    for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip, gzip, gzip, gzip']) {
      const fields = { 'Content-Encoding': coding, 'Content-Length': '9999' };
      expect(await bodyOf(responseOf(200, BODY, fields)), coding).toBe(BODY);
    }
    expect(await bodyOf(responseOf(200, BODY, { 'Transfer-Encoding': 'chunked' }))).toBe(BODY);
    expect(await bodyOf(responseOf(200, BODY, { 'X-Crawl-Content-Encoding': 'gzip' }))).toBe(BODY);
  });

  it('is that of the final response after interim ones', async () => {
    const block = Buffer.concat([responseOf(100), responseOf(103), responseOf(200, BODY)]);
    expect(await bodyOf(block)).toBe(BODY);
    const many = Buffer.concat(Array.from({ length: 101 }, () => responseOf(100)));
    const { captures, damage } = await readCaptures(
      captureOf(URL_A, Buffer.concat([many, responseOf(200, BODY)])),
    );
    expect(captures).toEqual([]);
    expect(damage).toMatchObject([{ offset: 0, isCapture: true }]);
  });

  it('counts up to the parsing limit and one byte', async () => {
    for (const length of [511_999, 512_000, 512_001, 512_002, 3_000_000]) {
      const body = Buffer.alloc(length, 'a');
      const kept = Math.min(length, 512_001);
      for (const block of [
        responseOf(200, body),
        responseOf(200, gzipSync(body), { 'Content-Encoding': 'gzip' }),
        responseOf(200, chunkedOf(body, 100_000), { 'Transfer-Encoding': 'chunked' }),
      ]) {
        expect((await bodyOf(block))?.length).toBe(kept);
      }
    }
  });

  it('is incomplete, so unreachable, if something is missing before the parsing limit', async () => {
    const encoded = gzipSync(BODY.repeat(50));
    for (const [name, block, truncated] of [
      ['Content-Length', responseOf(200, BODY, { 'Content-Length': '1000' }), undefined],
      [
        'chunks',
        responseOf(200, chunkedOf(Buffer.from(BODY), 5).subarray(0, 20), {
          'Transfer-Encoding': 'chunked',
        }),
        undefined,
      ],
      [
        'coding',
        responseOf(200, encoded.subarray(0, encoded.length - 10), { 'Content-Encoding': 'gzip' }),
        undefined,
      ],
      ['WARC-Truncated', responseOf(200, BODY), 'disconnect'],
    ] as const) {
      const record = captureOf(URL_A, block, { fields: { 'WARC-Truncated': truncated } });
      const { captures, broken } = await readCaptures(record);
      expect(captures, name).toMatchObject([{ kind: 'unreachable', url: URL_A }]);
      expect(broken).toEqual([URL_A]);
    }
  });

  it('counts if it is cut at the parsing limit or later', async () => {
    for (const [length, kind] of [
      [511_999, 'unreachable'],
      [512_000, 'body'],
      [512_001, 'body'],
    ] as const) {
      const record = captureOf(URL_A, responseOf(200, Buffer.alloc(length, 'a')), {
        fields: { 'WARC-Truncated': 'length' },
      });
      expect((await readCaptures(record)).captures, `${length}`).toMatchObject([{ kind }]);
    }
  });

  it('is unreachable if the parser would read more of it than is kept', async () => {
    const longest = 64 * 1024 * 1024;
    for (const [length, maxBodyBytes, kind] of [
      [longest, Number.POSITIVE_INFINITY, 'body'],
      [longest + 1, longest, 'body'],
      [longest + 1, longest + 1, 'unreachable'],
      [longest + 1, Number.POSITIVE_INFINITY, 'unreachable'],
    ] as const) {
      const record = captureOf(URL_A, responseOf(200, Buffer.alloc(length, '\n')));
      const { captures } = await readCaptures(record, { maxBodyBytes });
      expect(captures, `${length} of ${maxBodyBytes}`).toMatchObject([{ kind }]);
    }
  });

  it('is unreachable in a coding that cannot be undone', async () => {
    const encoded = gzipSync(BODY);
    encoded.fill(0xff, 12, 20);
    for (const [coding, body] of [
      ['gzip', encoded],
      ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 1, 2, 3])],
      ['br', Buffer.from([0xff, 0xfe, 0xfd, 0xfc, 0xfb])],
    ] as const) {
      const record = captureOf(URL_A, responseOf(200, body, { 'Content-Encoding': coding }));
      const { captures, broken } = await readCaptures(record);
      expect(captures, coding).toMatchObject([{ kind: 'unreachable' }]);
      expect(broken, coding).toEqual([URL_A]);
    }
  });

  it('is bounded in memory, however far it expands', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(200_000_000)));
    const block = responseOf(200, bomb, { 'Content-Encoding': 'gzip, gzip' });
    expect((await bodyOf(block))?.length).toBe(512_001);
  });
});

describe('a capture', () => {
  it('has the access result of its status', async () => {
    for (const [status, kind] of [
      [200, 'body'],
      [206, 'body'],
      [299, 'body'],
      [300, 'unavailable'],
      [301, 'unavailable'],
      [304, 'revisit'],
      [403, 'unavailable'],
      [404, 'unavailable'],
      [429, 'unavailable'],
      [500, 'unreachable'],
      [503, 'unreachable'],
      [600, 'unreachable'],
      [999, 'unreachable'],
    ] as const) {
      expect((await captured(captureOf(URL_A, responseOf(status, BODY))))?.kind).toBe(kind);
    }
  });

  it('has the access result that the profile makes of its status', async () => {
    for (const status of [404, 428, 429, 430]) {
      const record = captureOf(URL_A, responseOf(status, BODY));
      const { captures } = await readCaptures(record, { profile: 'google' });
      const kind = status === 429 ? 'unreachable' : 'unavailable';
      expect(captures, `${status}`).toMatchObject([{ kind }]);
    }
  });

  it('redirects where its Location leads', async () => {
    for (const [location, target] of [
      ['https://a.example/robots.txt', 'https://a.example/robots.txt'],
      ['/start', 'http://a.example/start'],
      ['//b.example./x#y', 'http://b.example/x'],
      ['http://u:p@B.EXAMPLE:80/', 'http://b.example/'],
      ['/caf\u00c3\u00a9', 'http://a.example/caf%C3%A9'],
    ] as const) {
      const capture = await captured(captureOf(URL_A, responseOf(302, '', { Location: location })));
      expect(capture).toMatchObject({ kind: 'redirect', target });
    }
    for (const location of ['mailto:a@b.example', 'http://', 'javascript:1']) {
      const capture = await captured(captureOf(URL_A, responseOf(301, '', { Location: location })));
      expect(capture?.kind).toBe('unavailable');
    }
  });

  it('is found under any spelling of the URL', async () => {
    for (const [uri, url] of [
      ['<http://a.example/robots.txt>', URL_A],
      ['http://A.Example:80/robots.txt', URL_A],
      ['http://a.example./robots.txt#x', URL_A],
      ['HTTP://a.example/./robots.txt', URL_A],
      ['http://a.example:8080/robots.txt', 'http://a.example:8080/robots.txt'],
      ['https://b\u00c3\u00bccher.example/robots.txt', 'https://xn--bcher-kva.example/robots.txt'],
      ['ftp://a.example/robots.txt', 'ftp://a.example/robots.txt'],
    ] as const) {
      expect(await captured(captureOf(uri, responseOf(200, BODY)))).toMatchObject({ url });
    }
  });

  it('of another URL, scheme or type is left out', async () => {
    const response = responseOf(200, BODY);
    const records = [
      captureOf('http://a.example/robots.txt?', response),
      captureOf('http://a.example/Robots.txt', response),
      captureOf('http://a.example/a/robots.txt', response),
      recordOf({ type: 'response', uri: 'dns:a.example', block: 'a', contentType: 'text/dns' }),
      recordOf({ type: 'request', uri: URL_A, block: 'GET /robots.txt HTTP/1.1\r\n\r\n' }),
      recordOf({ type: 'metadata', uri: URL_A, block: 'fetchTimeMs: 1\r\n' }),
      recordOf({ type: 'warcinfo', block: 'software: x\r\n' }),
      recordOf({ type: 'conversion', uri: URL_A, block: BODY }),
      recordOf({ type: 'resource', uri: 'metadata://gnu.org/wget/log', contentType: 'text/plain' }),
      recordOf({ type: 'resource', uri: 'urn:x:y', contentType: 'text/plain' }),
      recordOf({ type: 'response', uri: 'whois:a.example', contentType: 'text/plain' }),
      recordOf({ type: 'response', uri: 'file:/robots.txt', block: response }),
      recordOf({ type: 'x', uri: URL_A, contentType: 'text/plain' }),
    ];
    const { captures, damage, skipped } = await readCaptures(Buffer.concat(records));
    expect(captures).toEqual([]);
    expect(damage).toEqual([]);
    expect(skipped).toEqual([
      'http://a.example/robots.txt?',
      'http://a.example/Robots.txt',
      'http://a.example/a/robots.txt',
    ]);
  });

  it('is damaged if it cannot be told whose it is', async () => {
    const response = responseOf(200, BODY);
    const next = captureOf(URL_A, response);
    for (const [spec, reason] of [
      [{ type: 'response' }, 'WARC-Target-URI is missing'],
      [{ type: 'resource', uri: '', contentType: 'text/plain' }, 'WARC-Target-URI is missing'],
      [{ type: 'revisit', uri: 'not a URL' }, 'WARC-Target-URI is invalid'],
      [{ type: 'response', uri: 'hvtp://a.example/robots.txt' }, 'WARC-Target-URI is invalid'],
      [{ type: 'response', uri: 'http:' }, 'WARC-Target-URI is invalid'],
      [{ type: 'response', uri: 'http//a.example/' }, 'WARC-Target-URI is invalid'],
      [{ type: 'resource', uri: '1:a', contentType: 'a/b' }, 'WARC-Target-URI is invalid'],
      [{ type: 'response', uri: 'http://a.example/\rX' }, 'WARC-Target-URI is invalid'],
      [{ type: 'responsd', uri: URL_A }, 'the WARC-Type is unknown'],
    ] as const) {
      const record = recordOf({ block: response, ...spec });
      const { captures, damage } = await readCaptures(Buffer.concat([next, record, next]));
      expect(captures).toHaveLength(2);
      expect(damage).toEqual([{ offset: next.length, reason, isCapture: true }]);
    }
  });

  it('of a resource is its block, with the digest of its payload', async () => {
    const spec = { type: 'resource', uri: URL_A, contentType: 'text/plain' };
    const capture = await captured(recordOf({ ...spec, block: 'User-Agent: *\nDisallow:\n' }));
    expect(capture).toMatchObject({
      kind: 'body',
      body: 'User-Agent: *\nDisallow:\n',
      payloadDigest: 'sha1:R7BYRMF7NIMDTDLH5FDYNHNNZB7BPNNB',
    });
    expect(await captured(recordOf({ ...spec, block: '' }))).toMatchObject({ body: '' });
  });

  it('of a revisit is that of its status, or of what it refers to', async () => {
    const revisit = (block: Buffer) => captured(recordOf({ type: 'revisit', uri: URL_A, block }));
    expect((await revisit(responseOf(200)))?.kind).toBe('revisit');
    expect((await revisit(Buffer.alloc(0)))?.kind).toBe('revisit');
    expect((await revisit(responseOf(304)))?.kind).toBe('revisit');
    expect((await revisit(responseOf(404)))?.kind).toBe('unavailable');
    expect((await revisit(responseOf(301, '', { Location: '/b' })))?.kind).toBe('redirect');
  });

  it('needs a date and an HTTP response', async () => {
    for (const [record, reason] of [
      [captureOf(URL_A, responseOf(200), { date: 'yesterday' }), 'WARC-Date'],
      [captureOf(URL_A, responseOf(200), { fields: { 'WARC-Date': undefined } }), 'WARC-Date'],
      [captureOf(URL_A, Buffer.from('SSH-2.0-x\r\n')), 'not an HTTP response'],
      [captureOf(URL_A, Buffer.alloc(0)), 'not an HTTP response'],
      [
        captureOf(URL_A, responseOf(200), { fields: { 'WARC-Segment-Number': '1' } }),
        'one segment of several',
      ],
    ] as const) {
      const { captures, damage } = await readCaptures(record);
      expect(captures).toEqual([]);
      expect(damage).toMatchObject([{ offset: 0, isCapture: true }]);
      expect(damage[0]?.reason).toContain(reason);
    }
  });

  it('has fields in any case, folded or twice; then the first counts', async () => {
    const block = responseOf(200, BODY);
    const header = [
      'WARC/1.1',
      'warc-TYPE:response',
      'X-Other: 1',
      'WARC-Date: 2025-03-10T00:00:00Z',
      'WARC-Date: 2026-03-10T00:00:00Z',
      'Warc-Target-Uri:',
      '\thttp://a.example',
      '  ',
      'no field',
      `CONTENT-LENGTH:  ${block.length}  `,
      'WARC-Payload-Digest: sha1:A',
      ' \tB',
    ];
    for (const lineEnd of ['\n', '\r\n']) {
      const fields = [...header, '', ''].join(lineEnd).replace('.example', '.example/robots.txt');
      const record = Buffer.concat([Buffer.from(fields), block, Buffer.from('\r\n\r\n')]);
      expect(await captured(record)).toMatchObject({
        url: URL_A,
        date: Date.UTC(2025, 2, 10),
        payloadDigest: 'sha1:A B',
        body: BODY,
      });
    }
  });

  it('has the date of its record', async () => {
    for (const [date, time] of [
      ['2025-03-10T01:02:03Z', Date.UTC(2025, 2, 10, 1, 2, 3)],
      ['2025-03-10T01:02:03.5Z', Date.UTC(2025, 2, 10, 1, 2, 3, 500)],
      ['2025-03-10T01:02:03.123456Z', Date.UTC(2025, 2, 10, 1, 2, 3, 123) + 0.456],
      ['2025-03-10T01:02:03.123456789Z', Date.UTC(2025, 2, 10, 1, 2, 3, 123) + 0.456789],
      ['2025-03-10', Date.UTC(2025, 2, 10)],
    ] as const) {
      expect(await captured(captureOf(URL_A, responseOf(200), { date }))).toMatchObject({
        date: time,
      });
    }
  });
});

const PIECES = [
  ...['a', 'b', 'example', 'xn--', 'xn--bcher-kva', 'ab--cd', 'robots.txt', 'A', 'ü', '%61', '0x'],
  ...[
    '0',
    '1',
    '127',
    '-',
    '.',
    '.',
    '.',
    '..',
    ':80',
    ':8080',
    '@',
    '/',
    '#',
    '?',
    ' ',
    '\t',
    '_',
  ],
];

describe('the canonical form of the URL of a robots.txt', () => {
  it('is that of the URL parser, though most such URLs are not parsed', () => {
    const random = new Random(4);
    let same = 0;
    let other = 0;
    let invalid = 0;
    for (let run = 0; run < cases(15_000); run++) {
      const host = Array.from({ length: random.between(1, 5) }, () => random.pick(PIECES)).join('');
      const scheme = random.pick(['http://', 'https://', 'https://', 'HTTP://', 'http:/']);
      const text = `${scheme}${host}${random.pick(['/robots.txt', '/robots.txt', '/Robots.txt'])}`;
      const parsed = parseUrl(text);
      const expected = parsed && canonicalUrl(parsed);
      expect(captureUrl(text), text).toEqual(expected);
      if (expected === undefined) invalid++;
      else if (expected.isRobots && expected.href === text) same++;
      else other++;
    }
    expect(Math.min(same, other, invalid)).toBeGreaterThan(400);
  });
});
