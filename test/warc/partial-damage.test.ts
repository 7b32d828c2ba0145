import { constants, gzipSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import xxhash from 'xxhash-wasm';
import { frameOf, rawBlock } from '../files/zstd-frames.js';
import { cases, every } from '../random/cases.js';
import { Random } from '../random/random.js';
import { type CaptureReading, readCaptures } from './read-captures.js';
import { captureOf, recordOf, responseOf, robotsOf } from './warc-bytes.js';

/** Bytes of a member without options before its deflate data. */
const MEMBER_HEADER = 10;
/** Content of a damaged member before the damage that may be lost, in bytes. */
const LOST = 1024;

const digits = new Random(7);

/** Text that a compression does not shorten much, so that a record is longer than a piece. */
function noise(): string {
  return Array.from({ length: 30 }, () => digits.between(0, 2 ** 32 - 1).toString(36)).join('');
}

const RECORDS = Array.from({ length: 40 }, (_, index) =>
  captureOf(`https://h${index}/robots.txt`, responseOf(200, robotsOf(`/${noise()}`))),
);
const FIRST = gzipSync(captureOf('https://first/robots.txt', responseOf(200)));
const LAST = gzipSync(captureOf('https://last/robots.txt', responseOf(200)));

function bodiesOf({ captures }: CaptureReading): string[] {
  return captures.map(({ url, body }) => `${url} ${body}`);
}

/** The records that lie in the first bytes of a content. */
function recordsIn(bytes: number): number {
  let end = 0;
  return RECORDS.filter(({ length }) => {
    end += length;
    return end <= bytes;
  }).length;
}

/** The length of what zlib makes of the beginning of a member. */
function inflatedBytes(member: Buffer, length: number): number {
  if (length <= MEMBER_HEADER) return 0;
  const data = member.subarray(MEMBER_HEADER, length);
  return inflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH }).length;
}

describe('a gzip member of many records', () => {
  const member = gzipSync(Buffer.concat(RECORDS));

  it('loses to damage only what cannot be read', async () => {
    const all = bodiesOf(await readCaptures(member, { kind: 'gzip' }));
    const random = new Random(1);
    let kept = 0;
    for (let round = 0; round < cases(60); round++) {
      const damaged = Buffer.from(member);
      const at = random.between(MEMBER_HEADER, damaged.length - 1);
      // A flipped bit, or a lost sector.
      if (random.chance(0.5)) damaged[at] = (damaged[at] as number) ^ (1 << random.between(0, 7));
      else damaged.fill(random.pick([0, 0xff]), at, Math.min(at + 100, damaged.length));
      if (damaged.equals(member)) continue;
      const bytes = Buffer.concat([FIRST, damaged, LAST]);
      const mostAtOnce = random.pick([500, 1 << 20]);
      const reading = await readCaptures(bytes, { kind: 'gzip', mostAtOnce });
      const [first, ...bodies] = bodiesOf(reading);
      expect(first).toContain('first');
      expect(bodies.pop()).toContain('last');
      expect(bodies, `damage at ${at}`).toEqual(all.slice(0, bodies.length));
      expect(reading.damage.map(({ offset }) => offset)).toContain(FIRST.length);
      // Data that comes to its end has a wrong checksum: nobody knows where the damage is.
      if (bodies.length === 0) continue;
      expect(bodies.length).toBeGreaterThanOrEqual(recordsIn(inflatedBytes(member, at) - LOST));
      kept += bodies.length;
    }
    expect(kept).toBeGreaterThan(100);
  });

  it('loses to a cut only what is cut off', async () => {
    const all = bodiesOf(await readCaptures(member, { kind: 'gzip' }));
    for (let length = MEMBER_HEADER + 1; length < member.length; length += every(39)) {
      const reading = await readCaptures(member.subarray(0, length), { kind: 'gzip' });
      const kept = recordsIn(inflatedBytes(member, length));
      expect(bodiesOf(reading), `${length} bytes`).toEqual(all.slice(0, kept));
      const reason = 'the gzip data is damaged or cut short';
      expect(reading.damage).toEqual([{ offset: 0, reason, isCapture: false }]);
    }
  });

  it('loses all records if only its checksum tells that it is damaged', async () => {
    const damaged = Buffer.from(member);
    damaged[damaged.length - 8] = (damaged[damaged.length - 8] as number) ^ 1;
    const reading = await readCaptures(Buffer.concat([FIRST, damaged, LAST]), { kind: 'gzip' });
    expect(reading.captures.map(({ url }) => new URL(url).hostname)).toEqual(['first', 'last']);
    expect(reading.damage).toHaveLength(1);
  });

  it('loses little to damage if it is longer than any window', async () => {
    const filler = recordOf({ type: 'resource', uri: 'https://l/', block: Buffer.alloc(17 << 20) });
    const content = [...RECORDS.slice(0, 3), filler, ...RECORDS.slice(3)];
    const long = gzipSync(Buffer.concat(content), { level: 1 });
    const damaged = Buffer.from(long).fill(0xff, long.length - 60);
    const reading = await readCaptures(Buffer.concat([damaged, LAST]), { kind: 'gzip' });
    const hosts = reading.captures.map(({ url }) => new URL(url).hostname);
    expect(hosts.slice(0, 3)).toEqual(['h0', 'h1', 'h2']);
    expect(hosts.at(-1)).toBe('last');
    expect(new Set(reading.damage.map(({ offset }) => offset))).toEqual(new Set([0]));
  });
});

describe('a damaged zstd frame', () => {
  it('passes on nothing if its checksum is wrong', async () => {
    const [first, second] = RECORDS as [Buffer, Buffer];
    const { h64Raw } = await xxhash();
    const frame = frameOf([rawBlock(first), rawBlock(second, true)]);
    frame[4] = 4;
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(Number(h64Raw(Buffer.concat([first, second])) & 0xffff_ffffn));
    const intact = Buffer.concat([frame, checksum]);
    const { captures } = await readCaptures(intact, { kind: 'zstd' });
    expect(captures).toHaveLength(2);
    // Within the first record, and in the checksum.
    for (let at = 10; at < intact.length; at += at < first.length ? 23 : second.length) {
      const damaged = Buffer.from(intact);
      damaged[at] = (damaged[at] as number) ^ 1;
      const reading = await readCaptures(damaged, { kind: 'zstd' });
      expect(reading.captures, `byte ${at}`).toEqual([]);
      expect(reading.damage[0]).toMatchObject({ offset: 0 });
    }
  });

  it('never makes a record of a block whose end was not read', async () => {
    const [record] = RECORDS as [Buffer];
    const broken = Buffer.from([0xff, 0xff, 0xff]);
    for (const [missing, count] of [
      [0, 1],
      [1, 0],
      [4, 0],
    ] as const) {
      const block = rawBlock(record.subarray(0, record.length - missing));
      const reading = await readCaptures(frameOf([block, broken]), { kind: 'zstd' });
      expect(reading.captures).toHaveLength(count);
      const reason = 'the zstd data is damaged or cut short';
      expect(reading.damage).toEqual([{ offset: 0, reason, isCapture: false }]);
    }
  });
});
