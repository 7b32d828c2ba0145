import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { chunkedOf } from '../warc/warc-bytes.js';

/** The body of the answers, of 29 bytes. */
export const RULES = 'User-agent: *\nDisallow: /no/\n';

/**
 * What an answer means. `rules`: the rules above count. `nothing`: a robots.txt without rules.
 * `other`: a robots.txt with other bytes.
 */
export type Meaning = 'rules' | 'nothing' | 'other' | 'unavailable' | 'unreachable';

/** What curl 7.88 with --compressed makes of it: its exit status if that is an error. */
type Curl = 'rules' | 'nothing' | 'other' | number;

/** An answer that some server sends. */
export interface OddAnswer {
  readonly name: string;
  readonly bytes: Buffer;
  /** What the server does after these bytes. */
  readonly after: 'end' | 'reset' | 'keep';
  readonly fetch: Meaning;
  /** If it differs from `fetch`. `lost`: the record is no response, and counts as damaged. */
  readonly capture?: Meaning | 'lost';
  /** Why captures and fetches differ; docs/sources.md has it. */
  readonly why?: string;
  readonly curl: Curl;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const LENGTH = 'Content-Length: 29\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = chunkedOf(Buffer.from(RULES), 29).toString('latin1');
const UNDONE = 'crawlers undo codings and keep their fields';

function latin1(text: string | Buffer): Buffer {
  return typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
}

type Options = Partial<Omit<OddAnswer, 'name' | 'bytes'>>;

function answer(
  name: string,
  head: string,
  body: string | Buffer,
  fetch: Meaning,
  curl: Curl,
  options: Options = {},
): OddAnswer {
  const bytes = Buffer.concat([latin1(head), latin1(body)]);
  return { name, bytes, fetch, curl, after: 'end', ...options };
}

/** An answer whose rules count. */
function read(name: string, head: string, body: string | Buffer = RULES, options: Options = {}) {
  return answer(name, head, body, 'rules', 'rules', options);
}

/** An answer that is refused. */
function refused(
  name: string,
  head: string,
  body: string | Buffer,
  curl: Curl,
  options: Options = {},
) {
  return answer(name, head, body, 'unreachable', curl, options);
}

function coded(coding: string, body: string | Buffer): [string, Buffer] {
  const bytes = latin1(body);
  return [`${OK}Content-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n\r\n`, bytes];
}

const GZIP = gzipSync(RULES);
const LONG_GZIP = gzipSync(Array.from({ length: 400 }, (_, at) => `# ${at * 7919}\n`).join(''));

/** Heads that are old or untidy. */
const HEADS: readonly OddAnswer[] = [
  read('plain', `${OK}${LENGTH}\r\n`),
  read('a folded field', `${OK}X-Policy: a;\r\n   b\r\n${LENGTH}\r\n`),
  read('a field folded with a tab', `${OK}X-Policy:\r\n\ta\r\n${LENGTH}\r\n`),
  read('a folded length', `${OK}Content-Length:\r\n 29\r\n\r\n`, RULES, { curl: 8 }),
  read('a folded line of blanks', `${OK}X: y\r\n \r\n${LENGTH}\r\n`),
  read('a fold before any field', `${OK} X: y\r\n${LENGTH}\r\n`, RULES, { curl: 43 }),
  read('LF alone', `HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 29\n\n`),
  read('LF and CRLF mixed', `HTTP/1.1 200 OK\nServer: x\r\nContent-Length: 29\n\r\n`),
  read('a field of 20,000 bytes', `${OK}X: ${'a'.repeat(20_000)}\r\n${LENGTH}\r\n`),
  read('a head of 90 KB in 1,000 lines', `${OK}${`X: ${'a'.repeat(86)}\r\n`.repeat(1000)}\r\n`),
  read('a head of nearly 300 KB', `${OK}${`X: ${'a'.repeat(9_990)}\r\n`.repeat(30)}\r\n`),
  refused('a head of 320 KB', `${OK}${`X: ${'a'.repeat(9_990)}\r\n`.repeat(32)}\r\n`, RULES, 56, {
    capture: 'lost',
    why: 'a record without a response is damaged',
  }),
  read('no reason', `HTTP/1.1 200 \r\n${LENGTH}\r\n`),
  read('no reason, no space', `HTTP/1.1 200\r\n${LENGTH}\r\n`),
  read('an empty head', 'HTTP/1.1 200 OK\r\n\r\n'),
  read('a reason of 20,000 bytes', `HTTP/1.1 200 ${'O'.repeat(20_000)}\r\n${LENGTH}\r\n`),
  read('a reason in bytes beyond ASCII', `HTTP/1.1 200 \xc3\xa9\xff\r\n${LENGTH}\r\n`),
  read('two spaces before the status', `HTTP/1.1  200 OK\r\n${LENGTH}\r\n`),
  read('a tab after the status', `HTTP/1.1 200\tOK\r\n${LENGTH}\r\n`),
  read('HTTP/1.0', `HTTP/1.0 200 OK\r\n\r\n`),
  read('HTTP/1.0 with chunks', `HTTP/1.0 200 OK\r\n${CHUNKED}\r\n`, CHUNKS),
  read('HTTP/1.2', `HTTP/1.2 200 OK\r\n${LENGTH}\r\n`, RULES, { curl: 1 }),
  read('HTTP/2', `HTTP/2 200 OK\r\n${LENGTH}\r\n`),
  read('HTTP/2.0', `HTTP/2.0 200 OK\r\n${LENGTH}\r\n`),
  read('HTTP/0.9 in name', `HTTP/0.9 200 OK\r\n${LENGTH}\r\n`, RULES, { curl: 1 }),
  read('lower case', `http/1.1 200 ok\r\n${LENGTH}\r\n`),
  read('blank lines first', `\r\n\n\r\n${OK}${LENGTH}\r\n`, RULES, { curl: 1 }),
  read('a blank before the colon', `${OK}Content-Length : 29\r\n\r\n`, `${RULES}Disallow: /b\n`, {
    curl: 'other',
    capture: 'other',
    why: UNDONE,
  }),
  read('blanks around a value', `${OK}Content-Length: \t 29 \t\r\n\r\n`),
  read('no blank after the colon', `${OK}Content-Length:29\r\n\r\n`),
  read('names in capitals', `${OK}CONTENT-LENGTH: 29\r\n\r\n`),
  read('odd characters in a name', `${OK}X (y) @: z\r\n\xe9: 1\r\n${LENGTH}\r\n`),
  read('an empty name', `${OK}: y\r\n${LENGTH}\r\n`),
  read('an empty value', `${OK}X-Empty:\r\n${LENGTH}\r\n`),
  read('a line without a colon', `${OK}nonsense\r\n${LENGTH}\r\n`, RULES, { curl: 8 }),
  read('a line of blanks at first', `${OK}\t \r\n${LENGTH}\r\n`, RULES, { curl: 8 }),
  read('a NUL in a value', `${OK}X: a\0b\r\n${LENGTH}\r\n`, RULES, { curl: 8 }),
  read('bytes beyond ASCII in a value', `${OK}X: \x80\xff\xe9\r\n${LENGTH}\r\n`),
  read('controls in a value', `${OK}X: \x01\x1b[31m\x7f\r\n${LENGTH}\r\n`),
  read('a bare CR in a value', `${OK}X: a\rContent-Length: 3\r\n${LENGTH}\r\n`),
  read('CR twice', `HTTP/1.1 200 OK\r\r\nX: y\r\r\n${LENGTH}\r\n`),
  read('100', `HTTP/1.1 100 Continue\r\n\r\n${OK}${LENGTH}\r\n`),
  read(
    '100 with fields, 103, 102',
    `HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Hints\r\nLink: <a>\r\n\r\nHTTP/1.0 102\n\n${OK}${LENGTH}\r\n`,
  ),
  read('an unknown interim status', `HTTP/1.1 199 Wait\r\n\r\n${OK}${LENGTH}\r\n`),
  read('an upgrade that is offered', `${OK}Connection: upgrade\r\nUpgrade: h2\r\n${LENGTH}\r\n`),
  read('a Location without a redirect', `${OK}Location: /elsewhere\r\n${LENGTH}\r\n`),
  refused(
    '101',
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n`,
    `${OK}\r\n${RULES}`,
    'other',
  ),
  refused('no status', 'HTTP/1.1 OK\r\n\r\n', RULES, 1, LOST()),
  refused('a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', RULES, 1, LOST()),
  refused('a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', RULES, 1, LOST()),
  read('no space after the status', `HTTP/1.1 200OK\r\n${LENGTH}\r\n`),
  refused('a tab before the status', `HTTP/1.1\t200 OK\r\n${LENGTH}\r\n`, RULES, 1, LOST()),
  refused(
    'a CR within the status line',
    'HTTP/1.1 200 OK\rContent-Length: 29\r\r',
    `${RULES}\n`,
    'nothing',
    LOST(),
  ),
  refused('ICY', `ICY 200 OK\r\n\r\n`, RULES, 1, LOST()),
  refused('no head', '', RULES, 1, LOST()),
  refused('another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', '', 1, LOST()),
  refused('a space before the status line', ` ${OK}${LENGTH}\r\n`, RULES, 1, LOST()),
  refused('100 alone', 'HTTP/1.1 100 Continue\r\n\r\n', '', 52, LOST()),
  refused('nothing', '', '', 52, LOST()),
  refused('a head without end', `${OK}Content-Type: text/plain`, '', 'nothing', {
    capture: 'nothing',
    why: 'some crawlers omit the blank line of a head without a body',
  }),
];

function LOST(): Options {
  return { capture: 'lost', why: 'a record without a response is damaged' };
}

/** Lengths and chunks. */
const FRAMINGS: readonly OddAnswer[] = [
  read('one length twice', `${OK}${LENGTH}${LENGTH}\r\n`),
  read('one length as a list', `${OK}Content-Length: 29, 29\r\n\r\n`),
  read('a length with zeros', `${OK}Content-Length: 0029\r\n\r\n`),
  read('an empty length', `${OK}Content-Length:\r\n\r\n`, RULES, { curl: 8 }),
  read('a length and a kept connection', `${OK}${LENGTH}\r\n`, RULES, { after: 'keep' }),
  read('a length and a reset', `${OK}${LENGTH}\r\n`, RULES, { after: 'reset' }),
  answer('a length that is too short', `${OK}Content-Length: 13\r\n\r\n`, RULES, 'other', 'other', {
    capture: 'rules',
    why: UNDONE,
  }),
  answer('length 0', `${OK}Content-Length: 0\r\n\r\n`, '', 'nothing', 'nothing'),
  answer('no body, no length', `${OK}\r\n`, '', 'nothing', 'nothing'),
  refused('two lengths', `${OK}${LENGTH}Content-Length: 13\r\n\r\n`, RULES, 'other'),
  refused('two lengths as a list', `${OK}Content-Length: 13, 29\r\n\r\n`, RULES, 'other'),
  refused('a signed length', `${OK}Content-Length: +29\r\n\r\n`, RULES, 'rules'),
  refused('a negative length', `${OK}Content-Length: -1\r\n\r\n`, RULES, 8),
  refused('a hexadecimal length', `${OK}Content-Length: 0x1d\r\n\r\n`, RULES, 'nothing'),
  refused('a length in words', `${OK}Content-Length: many\r\n\r\n`, RULES, 8),
  refused(
    'a length beyond all numbers',
    `${OK}Content-Length: ${'9'.repeat(30)}\r\n\r\n`,
    RULES,
    'rules',
  ),
  refused('a length that is too long', `${OK}Content-Length: 1000\r\n\r\n`, RULES, 18),
  refused(
    'a length that is too long, and a reset',
    `${OK}Content-Length: 1000\r\n\r\n`,
    RULES,
    56,
    { after: 'reset' },
  ),
  refused('no length and a reset', `${OK}\r\n`, RULES, 56, {
    after: 'reset',
    capture: 'rules',
    why: 'a record does not tell how the connection ended',
  }),
  read('chunks', `${OK}${CHUNKED}\r\n`, CHUNKS, { after: 'keep' }),
  read('CHUNKED', `${OK}TRANSFER-ENCODING: CHUNKED\r\n\r\n`, CHUNKS),
  read('chunks and a length', `${OK}${CHUNKED}Content-Length: 5\r\n\r\n`, CHUNKS),
  read('chunks and two lengths', `${OK}${LENGTH}${CHUNKED}Content-Length: 5\r\n\r\n`, CHUNKS),
  read('chunks of one byte', `${OK}${CHUNKED}\r\n`, chunkedOf(Buffer.from(RULES), 1)),
  read(
    'chunks with extensions',
    `${OK}${CHUNKED}\r\n`,
    `1d;a="b;c" ; d\r\n${RULES}\r\n0;e\r\n\r\n`,
  ),
  read('chunks with blanks', `${OK}${CHUNKED}\r\n`, `1d \t\r\n${RULES}\r\n0 \r\n\r\n`),
  read('chunks with zeros and capitals', `${OK}${CHUNKED}\r\n`, `0001D\r\n${RULES}\r\n000\r\n\r\n`),
  read('chunks with LF alone', `${OK}${CHUNKED}\r\n`, `1d\n${RULES}\n0\n\n`),
  read(
    'trailer fields',
    `${OK}${CHUNKED}Trailer: X\r\n\r\n`,
    CHUNKS.replace(/\r\n$/, 'X: y\r\nnonsense\r\n\r\n'),
    { curl: 43 },
  ),
  read('no blank line after the last chunk', `${OK}${CHUNKED}\r\n`, CHUNKS.slice(0, -2), {
    curl: 18,
  }),
  read('bytes after the last chunk', `${OK}${CHUNKED}\r\n`, `${CHUNKS}junk`),
  refused('no last chunk', `${OK}${CHUNKED}\r\n`, CHUNKS.slice(0, -5), 18),
  refused('half a chunk', `${OK}${CHUNKED}\r\n`, CHUNKS.slice(0, 20), 18),
  refused('a chunk without a length', `${OK}${CHUNKED}\r\n`, `1d\r\n${RULES}\r\nzz\r\nx\r\n`, 56),
  refused(
    'a chunk that is longer than it says',
    `${OK}${CHUNKED}\r\n`,
    `1a\r\n${RULES}\r\n0\r\n\r\n`,
    56,
  ),
  refused(
    'a chunk of too many digits',
    `${OK}${CHUNKED}\r\n`,
    `1d\r\n${RULES}\r\n${'0'.repeat(40)}1\r\nx\r\n0\r\n\r\n`,
    56,
  ),
  refused('chunks that are none', `${OK}${CHUNKED}\r\n`, RULES, 56, {
    capture: 'rules',
    why: UNDONE,
  }),
  refused('no chunks at all', `${OK}${CHUNKED}\r\n`, '', 18, { capture: 'nothing', why: UNDONE }),
  refused(
    'chunked twice',
    `${OK}${CHUNKED}${CHUNKED}\r\n`,
    chunkedOf(Buffer.from(CHUNKS), 60),
    'other',
  ),
  refused(
    'chunked and then gzip',
    `${OK}Transfer-Encoding: chunked, gzip\r\n\r\n`,
    gzipSync(CHUNKS),
    56,
  ),
  refused('an unknown transfer coding', `${OK}Transfer-Encoding: xchunked\r\n\r\n`, CHUNKS, 61),
  read('identity', `${OK}Transfer-Encoding: identity\r\n${LENGTH}\r\n`),
  read('chunked and identity', `${OK}Transfer-Encoding: chunked, identity\r\n\r\n`, CHUNKS),
  refused(
    'identity and a length that is too long',
    `${OK}Transfer-Encoding: identity\r\nContent-Length: 1000\r\n\r\n`,
    RULES,
    'rules',
  ),
  refused(
    'an unknown transfer coding and a length',
    `${OK}Transfer-Encoding: x\r\n${LENGTH}\r\n`,
    RULES,
    61,
  ),
  read(
    'gzip as a transfer coding and a wrong length',
    `${OK}Transfer-Encoding: gzip\r\nContent-Length: 9\r\n\r\n`,
    GZIP,
  ),
  refused(
    'gzip as a transfer coding that breaks off',
    `${OK}Transfer-Encoding: gzip\r\nContent-Length: 29\r\n\r\n`,
    LONG_GZIP.subarray(0, 900),
    'other',
  ),
  read('gzip as a transfer coding', `${OK}Transfer-Encoding: gzip\r\n\r\n`, GZIP),
  read('gzip and chunks', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`, chunkedOf(GZIP, 7)),
];

/** Content codings. */
const CODINGS: readonly OddAnswer[] = [
  read('gzip', ...coded('gzip', GZIP)),
  read('deflate', ...coded('deflate', deflateSync(RULES))),
  read('br', ...coded('br', brotliCompressSync(RULES))),
  read('two codings', ...coded('gzip, br', brotliCompressSync(GZIP))),
  read('an empty coding', ...coded('', RULES)),
  ...['UTF-8', 'none', 'text/plain', '8bit', 'aws-chunked', 'identity, utf-8'].map((coding) =>
    read(`${coding} on text`, ...coded(coding, RULES), { curl: coding === 'none' ? 'rules' : 61 }),
  ),
  read('a charset and bytes beyond ASCII', ...coded('utf-8', Buffer.from(`\ufeff${RULES}`)), {
    curl: 61,
    fetch: 'other',
  }),
  read('an unknown coding and an empty body', ...coded('utf-8', ''), {
    curl: 'nothing',
    fetch: 'nothing',
  }),
  refused('an unknown coding on data', ...coded('exi', '\x80\x00\xa0\x01\x02binary'), 61),
  refused('an unknown coding on gzip', ...coded('utf-8', GZIP), 61),
  refused('gzip that is brotli', ...coded('gzip', brotliCompressSync(RULES)), 61),
  refused('gzip that is text', ...coded('gzip', RULES), 61, { capture: 'rules', why: UNDONE }),
  refused('five codings on text', ...coded('br, br, br, br, br', RULES), 61, {
    capture: 'rules',
    why: UNDONE,
  }),
  refused('gzip that breaks off', ...coded('gzip', LONG_GZIP.subarray(0, 900)), 'other'),
  refused('gzip with a changed byte', ...coded('gzip', changed(LONG_GZIP, 900)), 61),
  refused('gzip with a wrong checksum', ...coded('gzip', changed(GZIP, GZIP.length - 7)), 61),
  answer('gzip without a field', `${OK}\r\n`, GZIP, 'other', 'other'),
];

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

/** Statuses. */
const STATUSES: readonly OddAnswer[] = [
  answer('204', `HTTP/1.1 204 x\r\n${LENGTH}\r\n`, RULES, 'nothing', 'nothing'),
  read('206 without a range', `HTTP/1.1 206 x\r\n${LENGTH}\r\n`),
  read('206 of the whole', `HTTP/1.1 206 x\r\nContent-Range: bytes 0-28/29\r\n${LENGTH}\r\n`),
  ...['bytes 0-28/57', 'bytes 3-28/29', 'bytes 0-28/*', 'bytes */29', 'lines 0-28/29', ''].map(
    (range) =>
      refused(
        `206 of ${range}`,
        `HTTP/1.1 206 x\r\nContent-Range: ${range}\r\n${LENGTH}\r\n`,
        RULES,
        'rules',
      ),
  ),
  refused(
    '206 in parts',
    `HTTP/1.1 206 x\r\nContent-Type: multipart/byteranges; boundary=b\r\n\r\n`,
    RULES,
    'rules',
  ),
  answer('304 to nothing', `HTTP/1.1 304 x\r\n\r\n`, '', 'unavailable', 'nothing', {
    // It refers to a capture before it, and there is none.
    capture: 'lost',
    why: 'a 304 confirms the capture before it',
  }),
  answer(
    '300 with Location',
    `HTTP/1.1 300 x\r\nLocation: /x\r\n\r\n`,
    '',
    'unavailable',
    'nothing',
  ),
  ...['mailto:x@example.com', 'http://', 'http://[', 'javascript:0'].map((location) =>
    answer(
      `302 to ${location}`,
      `HTTP/1.1 302 x\r\nLocation: ${location}\r\n\r\n`,
      '',
      'unavailable',
      'nothing',
    ),
  ),
  answer(
    '404 with two lengths',
    `HTTP/1.1 404 x\r\n${LENGTH}Content-Length: 1\r\n\r\n`,
    RULES,
    'unavailable',
    'other',
  ),
  answer(
    '404 that breaks off',
    `HTTP/1.1 404 x\r\nContent-Length: 1000\r\n\r\n`,
    RULES,
    'unavailable',
    18,
  ),
];

/** An answer with rules and any final status. */
export function answerOfStatus(status: number): Buffer {
  return latin1(`HTTP/1.1 ${status} x\r\n${LENGTH}\r\n${RULES}`);
}

export const ODD_ANSWERS: readonly OddAnswer[] = [...HEADS, ...FRAMINGS, ...CODINGS, ...STATUSES];
