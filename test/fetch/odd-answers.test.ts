import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FetchResult } from '../../src/fetch/result.js';
import { type CaptureReading, readCaptures } from '../warc/read-captures.js';
import { compiled, withFiles } from '../warc/table-of.js';
import { captureOf, responseOf } from '../warc/warc-bytes.js';
import { answerOfStatus, type Meaning, ODD_ANSWERS, type OddAnswer, RULES } from './odd-answers.js';
import { type Listening, Loopback, USER_AGENT } from './servers.js';

/*
 * One table of answers, asked both ways: from a server over the network, and from a WARC file that
 * holds the same bytes.
 */

const loopback = new Loopback();
afterAll(() => loopback.end());

const STATUSES = Array.from({ length: 800 }, (_, at) => 200 + at);

/** Every status from 200 that no other answer has; few of them also over the network. */
const BY_STATUS = STATUSES.filter((status) => ![204, 206, 304].includes(status)).map(
  (status): OddAnswer => ({
    name: `status ${status}`,
    bytes: answerOfStatus(status),
    after: 'end',
    fetch: status < 300 ? 'rules' : status < 500 ? 'unavailable' : 'unreachable',
    curl: 'rules',
  }),
);

const ALL: readonly OddAnswer[] = [
  ...ODD_ANSWERS,
  ...BY_STATUS.filter((_, at) => at < 10 || at % 13 === 0 || at > 790),
];

let server: Listening;
let fetched: readonly FetchResult[];
let reading: CaptureReading;

beforeAll(async () => {
  server = await loopback.raw((socket) => {
    socket.once('data', (request) => {
      const { bytes, after } = ALL[numberOf(request.toString('latin1'))] as OddAnswer;
      const end = () => {
        if (after === 'end') socket.end();
        if (after === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
      };
      if (bytes.length === 0) end();
      else socket.write(bytes, end);
    });
  });
  const fetcher = loopback.fetcher({
    headerTimeout: 5_000,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const { signal } = new AbortController();
  const results: FetchResult[] = [];
  for (let start = 0; start < ALL.length; start += 50) {
    const some = ALL.slice(start, start + 50).map((_, at) =>
      fetcher.fetch(server.authority(`c${start + at}.test`), undefined, signal),
    );
    results.push(...(await Promise.all(some)));
  }
  fetched = results;
  reading = await readCaptures(
    Buffer.concat(ALL.map(({ bytes }, at) => captureOf(`http://c${at}.test/robots.txt`, bytes))),
  );
});

/** The number of the answer for the host that a request names. */
function numberOf(request: string): number {
  expect(request).toContain(USER_AGENT);
  const start = request.toLowerCase().indexOf('host: c') + 7;
  return Number(request.slice(start, request.indexOf('.test', start)));
}

function meaningOf(accessResult: string, body: string): Meaning {
  if (accessResult !== 'successful') return accessResult as Meaning;
  if (body === RULES) return 'rules';
  return body === '' ? 'nothing' : 'other';
}

function ofFetch({ accessResult, body }: FetchResult): Meaning {
  return meaningOf(accessResult, Buffer.from(body ?? []).toString('latin1'));
}

function ofCapture(number: number): Meaning | 'lost' {
  const url = `http://c${number}.test/robots.txt`;
  const found = reading.captures.find((capture) => capture.url === url);
  // A 304 refers to a capture before it, and there is none.
  if (found === undefined || found.kind === 'revisit') return 'lost';
  return meaningOf(found.kind === 'body' ? 'successful' : found.kind, found.body ?? '');
}

it('a fetch reads what other clients read', () => {
  for (const [number, { name, fetch }] of ALL.entries()) {
    expect(`${name}: ${ofFetch(fetched[number] as FetchResult)}`).toBe(`${name}: ${fetch}`);
  }
});

it('a capture of the same bytes means the same, or the table says why not', () => {
  for (const [number, { name, fetch, capture = fetch, why }] of ALL.entries()) {
    expect(`${name}: ${ofCapture(number)}`).toBe(`${name}: ${capture}`);
    expect(why !== undefined, name).toBe(capture !== fetch);
  }
});

it('every status means the same in a capture', async () => {
  const uri = (number: number) => `http://s${number}.test/robots.txt`;
  const { captures } = await readCaptures(
    Buffer.concat(BY_STATUS.map(({ bytes }, at) => captureOf(uri(at), bytes))),
  );
  expect(captures).toHaveLength(797);
  for (const [at, { kind, body = '' }] of captures.entries()) {
    const { name, fetch } = BY_STATUS[at] as OddAnswer;
    const meaning = meaningOf(kind === 'body' ? 'successful' : kind, body);
    expect(`${name}: ${meaning}`).toBe(`${name}: ${fetch}`);
  }
});

it('no rules of a fetch are lost in a capture', () => {
  for (const [number, { name, fetch }] of ALL.entries()) {
    if (fetch !== 'rules') continue;
    const body = reading.captures.find(({ url }) => url === `http://c${number}.test/robots.txt`);
    expect(body?.body ?? '', name).toContain(RULES);
  }
});

it('what curl reads is refused only if it has two readings', () => {
  const refused = ODD_ANSWERS.filter(
    ({ fetch, curl }) => fetch === 'unreachable' && typeof curl === 'string',
  );
  expect(refused.map(({ name }) => name)).toEqual([
    '101',
    'a CR within the status line',
    'a head without end',
    'two lengths',
    'two lengths as a list',
    'a signed length',
    'a hexadecimal length',
    'a length beyond all numbers',
    'chunked twice',
    'identity and a length that is too long',
    'gzip as a transfer coding that breaks off',
    'gzip that breaks off',
    '206 of bytes 0-28/57',
    '206 of bytes 3-28/29',
    '206 of bytes 0-28/*',
    '206 of bytes */29',
    '206 of lines 0-28/29',
    '206 of ',
    '206 in parts',
  ]);
});

it('206 opens no host, in a record or in a capture', async () => {
  const robots = 'User-agent: *\nAllow: /\n';
  const part = responseOf(206, robots, { 'Content-Range': 'bytes 0-23/500' });
  const files = {
    'a.ndjson': [
      { host: 'a.example', status: 206, robots },
      { host: 'b.example', status: 206 },
      { host: 'c.example', status: 207, robots },
    ]
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(''),
    'b.warc': captureOf('https://d.example/robots.txt', part),
  };
  await withFiles(files, async (directory) => {
    const { judge, warnings } = await compiled([directory]);
    for (const host of ['a', 'b', 'd']) {
      expect(judge(`https://${host}.example/x`)).toBe('deny unreachable');
    }
    expect(judge('https://c.example/x')).toMatch('allow rule');
    expect(warnings.map(({ message }) => message)).toEqual([
      'The response of https://d.example/robots.txt is incomplete: only a part of the body came (Content-Range: "bytes 0-23/500"), and none was asked for, so it counts as unreachable.',
    ]);
  });
});

it('the table is not vacuous', () => {
  const count = (meaning: Meaning) => ODD_ANSWERS.filter(({ fetch }) => fetch === meaning).length;
  expect(count('rules')).toBeGreaterThan(70);
  expect(count('unreachable')).toBeGreaterThan(40);
  expect(count('unavailable')).toBeGreaterThan(7);
  const names = ALL.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
