import { gunzipSync, gzipSync } from 'node:zlib';
import { charactersOf } from '../../oracle/bytes.js';
import { memberHeaderLength } from '../../src/files/gzip.js';
import { readMember } from '../../src/warc/archive.js';
import { CaptureReader } from '../../src/warc/capture-reader.js';
import { type Capture, captureUrl } from '../../src/warc/captures.js';
import { RecordSplitter } from '../../src/warc/records.js';
import type { Random } from '../../test/random/random.js';
import { chunkedOf, recordOf, responseOf } from '../../test/warc/warc-bytes.js';
import { agree, Fault } from '../fault.js';
import type { Target } from '../target.js';

/** Bytes of a body that count, so that short inputs reach the limit. */
const MAX_BODY_BYTES = 40;

/** Lengths of the pieces in which an input is read, besides the whole. */
const PIECES = [1, 2, 5, 64, 1000];

const TYPES = ['response', 'response', 'resource', 'revisit', 'request', 'warcinfo', 'x'];
const URIS = [
  'http://a/robots.txt',
  '<https://b.example:8080/robots.txt>',
  'ftp://c/robots.txt',
  'http://a/1',
  'dns:a',
  'http://[::1]/robots.txt#',
];
const BODIES = [
  '',
  'user-agent: *\ndisallow: /\n',
  'x'.repeat(41),
  '\r\n\r\nWARC/1.0\r\n',
  '\x1f\x8b',
];
const FIELDS = [
  'Content-Encoding: gzip',
  'Content-Encoding: deflate, br',
  'Transfer-Encoding: chunked',
  'Content-Length: 3',
  'Location: /1',
  'WARC-Truncated: length',
  'WARC-Segment-Number: 1',
  'WARC-Date: 2025',
  'Content-Length: 99999999999999',
];
const ENDS = ['\r\n', '\n', '\r\n\r\n', '\n\n', ': ', ' '];

/**
 * The reader of WARC files. An input is the bytes of one file. Captures and damage do not depend on
 * the pieces in which the bytes are read. A capture lies where a record begins, and its body is not
 * longer than the limit. Bytes of a gzip member are inflated as zlib does it.
 */
export const target: Target = {
  name: 'warc',
  summary: 'the reader of WARC files, in pieces of any length',
  maxBytes: 4000,
  seeds: [
    record('response', 'http://a/robots.txt', responseOf(200, 'a')).repeat(2),
    `junk${record('resource', 'http://a/robots.txt', Buffer.from('a'))}WARC/1.0\r\n`,
    record('response', 'http://a/robots.txt', responseOf(301, '', { Location: '/1' })),
    `WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\nWARC/1.0\r\nWARC/1.`,
    'WARC/1.0\nWARC-Type: x\nContent-Length: 0\n\nWWARC/WARC/1.0\nWARC-Type: x\n',
    // No record begins with two digits, so nobody may continue there.
    'WARC/1.0\nWARC-Type: x\na: WARC/11.0\nWARC-Type: x\nContent-Length: 0\n\n',
    charactersOf(gzipSync('WARC/1.0\r\n')),
    '\x1f\x8b\x08\x1c\0\0\0\0\0\x03\x04\0abcdname\0comment\0\x03\0\0\0\0\0\0\0\0\0',
  ],
  dictionary: [
    ...TYPES,
    ...URIS,
    ...FIELDS,
    ...ENDS,
    'WARC/1.0\r\n',
    'HTTP/1.1 200 OK\r\n',
    '\x1f\x8b\x08\0',
  ],
  generate: (random) => {
    let text = '';
    for (let left = random.between(1, 5); left > 0; left--) text += piece(random);
    return text;
  },
  piece,
  check: () => (input) => {
    const bytes = Buffer.from(input);
    const whole = outcomeOf(bytes, Math.max(bytes.length, 1));
    for (const length of PIECES) {
      if (length >= bytes.length) break;
      agree(`read ${length} at a time`, outcomeOf(bytes, length), whole);
    }
    checkMember(bytes);
  },
};

function record(type: string, uri: string, block: Buffer, length?: number): string {
  const fields = length === undefined ? {} : { 'Content-Length': String(length) };
  return charactersOf(recordOf({ type, uri, block, fields }));
}

function piece(random: Random): string {
  if (random.chance(0.1)) return random.pick([...ENDS, 'WARC/1.0', 'x', ...BODIES]);
  const body = Buffer.from(random.pick(BODIES), 'latin1');
  const [name = '', value = ''] = random.pick(FIELDS).split(': ');
  const sent = random.chance(0.2) ? gzipSync(body) : random.chance(0.2) ? chunkedOf(body, 5) : body;
  const status = random.pick([200, 200, 200, 301, 304, 404, 503, 100]);
  const block = random.chance(0.9)
    ? responseOf(
        status,
        sent,
        random.chance(0.5) ? { [name]: value } : {},
        random.pick(['\r\n', '\n']),
      )
    : body;
  const length = random.chance(0.3)
    ? Math.max(0, block.length + random.between(-20, 300))
    : undefined;
  return record(random.pick(TYPES), random.pick(URIS), block, length);
}

/** All captures and all damage of a file, as a text. */
function outcomeOf(bytes: Buffer, pieceLength: number): string {
  const events: unknown[] = [];
  const reader = new CaptureReader(
    {
      asOf: Number.POSITIVE_INFINITY,
      profile: 'rfc9309',
      maxBodyBytes: MAX_BODY_BYTES,
      targets: new Set(),
      robots: true,
      onLeftOut: () => {},
    },
    {
      capture: (capture) => events.push(checked(capture, bytes)),
      damage: (offset, reason, isCapture) => events.push([offset, reason, isCapture]),
      broken: (offset, url, reason) => events.push([offset, url, reason]),
    },
  );
  const splitter = new RecordSplitter(reader, bytes.length);
  let readings = 0;
  for (let offset = 0; offset < bytes.length; ) {
    if (++readings > 100 * bytes.length + 1000) throw new Fault('the file is read without end');
    // A piece of its own memory, which is overwritten afterwards, as a reader's buffer is.
    const bytesOfPiece = Buffer.from(bytes.subarray(offset, offset + pieceLength));
    const next = splitter.push({ bytes: bytesOfPiece, offset, kind: 'plain' });
    offset = next ?? offset + bytesOfPiece.length;
    bytesOfPiece.fill(0xff);
  }
  splitter.restart();
  // Bodies that are decoded later would come after this check.
  void reader.settle();
  return JSON.stringify(events);
}

function checked({ url, date, offset, outcome, payloadDigest }: Capture, bytes: Buffer): unknown {
  agree('the canonical form of a canonical URL', captureUrl(url)?.href, url);
  agree('the record at the offset', bytes.toString('latin1', offset, offset + 5), 'WARC/');
  if (outcome.kind !== 'body') return [url, date, offset, payloadDigest, outcome];
  if (outcome.body.length > MAX_BODY_BYTES + 1) throw new Fault('a body beyond the limit');
  return [url, date, offset, payloadDigest, charactersOf(outcome.body), outcome.isCut];
}

/** Compares a member with zlib's result for the same bytes. */
function checkMember(bytes: Buffer): void {
  const member = readMember(bytes);
  const header = memberHeaderLength(bytes);
  if (header > bytes.length) throw new Fault('a header beyond the input');
  if (member.kind !== 'whole') return;
  const { content, length } = member;
  if (length > bytes.length) throw new Fault('a member beyond the input');
  const expected = gunzipSync(bytes.subarray(0, length));
  agree('the content of a member', charactersOf(content), charactersOf(expected));
}
