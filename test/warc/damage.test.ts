import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { frameOf, rawBlock, rawFrame, skippable } from '../files/zstd-frames.js';
import { cases, every } from '../random/cases.js';
import { Random } from '../random/random.js';
import { type CaptureReading, readCaptures } from './read-captures.js';
import { captureOf, framesOf, membersOf, recordOf, responseOf, robotsOf } from './warc-bytes.js';

/** The hosts of captures, in order. */
function hostsOf({ captures }: CaptureReading): string[] {
  return captures.map(({ url }) => new URL(url).hostname);
}

function urlOf(host: string): string {
  return `https://${host}/robots.txt`;
}

/** A capture whose body is told by its host. */
function captureAt(host: string, body = robotsOf(`/${host}`)): Buffer {
  return captureOf(urlOf(host), responseOf(200, body, { 'Content-Length': `${body.length}` }));
}

/** A frame of raw blocks, each as long as a block may be. */
function longFrame(content: Buffer): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < content.length; at += 131_072) {
    const part = content.subarray(at, at + 131_072);
    blocks.push(rawBlock(part, at + part.length === content.length));
  }
  return frameOf(blocks);
}

const request = (host: string): Buffer =>
  recordOf({ type: 'request', uri: urlOf(host), block: `GET /robots.txt HTTP/1.1\r\n\r\n` });

const RECORDS = ['a', 'b', 'c', 'd', 'e'].map((host) => captureAt(host));

describe('zeros between the members of a file', () => {
  it.each([1, 100, 300_000])('cost no capture: %i of them', async (zeros) => {
    const members = RECORDS.map((record) => gzipSync(record));
    const [first = Buffer.alloc(0), ...others] = members;
    for (const mostAtOnce of [100, 1 << 20]) {
      const bytes = Buffer.concat([first, Buffer.alloc(zeros), ...others]);
      const reading = await readCaptures(bytes, { kind: 'gzip', mostAtOnce });
      expect(hostsOf(reading)).toEqual(['a', 'b', 'c', 'd', 'e']);
      const padded = Buffer.concat([...members, Buffer.alloc(zeros)]);
      expect(hostsOf(await readCaptures(padded, { kind: 'gzip', mostAtOnce }))).toHaveLength(5);
    }
  });
});

describe('the pieces of a file', () => {
  it('do not matter, whatever their length', async () => {
    const random = new Random(1);
    const records = Array.from({ length: 30 }, (_, index) => {
      const body = `#${random.run(['WARC/1.0\r\n', '\n', 'x', '\r\n\r\n'], 0, 60)}`;
      return random.chance(0.3)
        ? request(`h${index}`)
        : captureOf(urlOf(`h${index}`), responseOf(200, body), {
            lineEnd: random.pick(['\r\n', '\n']),
            version: random.pick(['WARC/1.0', 'WARC/1.1', 'WARC/0.18']),
          });
    });
    const plain = Buffer.concat(records);
    const whole = await readCaptures(plain);
    expect(whole.damage).toEqual([]);
    expect(whole.captures.length).toBeGreaterThan(10);
    const offsets = new Map<number, number>();
    let plainOffset = 0;
    let memberOffset = 0;
    for (const record of records) {
      offsets.set(plainOffset, memberOffset);
      plainOffset += record.length;
      memberOffset += gzipSync(record).length;
    }
    const inMembers = {
      ...whole,
      captures: whole.captures.map((capture) => ({
        ...capture,
        offset: offsets.get(capture.offset),
      })),
    };
    for (const mostAtOnce of [1, 2, 3, 5, 7, 11, 64, 333, plain.length - 1, plain.length]) {
      expect(await readCaptures(plain, { mostAtOnce })).toEqual(whole);
      for (const frames of [framesOf(records), rawFrame(plain)]) {
        expect(await readCaptures(frames, { mostAtOnce, kind: 'zstd' })).toMatchObject({
          damage: [],
          captures: whole.captures.map(({ url, body }) => ({ url, body })),
        });
      }
      const members = membersOf(records);
      expect(await readCaptures(members, { mostAtOnce, kind: 'gzip' })).toEqual(inMembers);
      const one = gzipSync(plain);
      expect(await readCaptures(one, { mostAtOnce, kind: 'gzip' })).toMatchObject({
        damage: [],
        captures: whole.captures.map(({ url, body }) => ({ url, body })),
      });
    }
  });

  it('may be members that are no whole records', async () => {
    const plain = Buffer.concat(RECORDS);
    for (const length of [10, 100, 1000]) {
      const members: Buffer[] = [];
      for (let at = 0; at < plain.length; at += length) {
        members.push(gzipSync(plain.subarray(at, at + length)));
      }
      const reading = await readCaptures(Buffer.concat(members), { kind: 'gzip' });
      expect(reading.damage).toEqual([]);
      expect(hostsOf(reading)).toEqual(['a', 'b', 'c', 'd', 'e']);
    }
  });

  it('may be longer than any buffer', async () => {
    const random = new Random(2);
    const noise = Buffer.from(Array.from({ length: 100_000 }, () => random.between(0, 255)));
    // Longer than a window, than the longest window, and than the longest content.
    for (const length of [262_143, 262_144, 262_145, 17_000_000]) {
      const block = Buffer.alloc(length);
      for (let at = 0; at < length; at += noise.length) noise.copy(block, at);
      const large = recordOf({ type: 'resource', uri: 'https://l.example/video', block });
      const records = [captureAt('a'), large, captureAt('b')];
      for (const [bytes, kind] of [
        [Buffer.concat(records), 'none'],
        [membersOf(records), 'gzip'],
        [gzipSync(Buffer.concat(records), { level: 1 }), 'gzip'],
        [longFrame(Buffer.concat(records)), 'zstd'],
      ] as const) {
        const reading = await readCaptures(bytes, { kind });
        expect(reading.damage, `${length} ${kind}`).toEqual([]);
        expect(hostsOf(reading), `${length} ${kind}`).toEqual(['a', 'b']);
      }
    }
  });

  it('may be zeros after the last member', async () => {
    const bytes = Buffer.concat([membersOf(RECORDS), Buffer.alloc(1000)]);
    const reading = await readCaptures(bytes, { kind: 'gzip' });
    expect(reading.damage).toEqual([]);
    expect(hostsOf(reading)).toHaveLength(5);
  });
});

describe('damage', () => {
  it('of a member costs its record, and is named by its offset', async () => {
    const members = RECORDS.map((record) => gzipSync(record));
    const random = new Random(3);
    for (let round = 0; round < cases(80); round++) {
      const index = random.between(0, 4);
      const damaged = members.map((member) => Buffer.from(member));
      const victim = damaged[index] as Buffer;
      // The header of a member has bytes that mean nothing, such as its time.
      const at = random.pick([0, 1, 2, random.between(10, victim.length - 1)]);
      victim[at] = (victim[at] as number) ^ random.between(1, 255);
      const offset = Buffer.concat(damaged.slice(0, index)).length;
      const reading = await readCaptures(Buffer.concat(damaged), { kind: 'gzip' });
      const others = ['a', 'b', 'c', 'd', 'e'].filter((_, other) => other !== index);
      expect(hostsOf(reading), `byte ${at} of member ${index}`).toEqual(others);
      expect(reading.damage.map((each) => each.offset)).toContain(offset);
    }
  });

  it('of a plain record costs that record', async () => {
    for (const [name, change] of [
      ['longer', (length: number) => length + 5],
      ['much longer', (length: number) => length + 300],
      ['beyond the file', (length: number) => length + 1_000_000],
      ['shorter', (length: number) => length - 7],
      ['no number', () => Number.NaN],
    ] as const) {
      const block = responseOf(200, robotsOf('/c'));
      const damaged = captureOf(urlOf('c'), block, {
        fields: { 'Content-Length': String(change(block.length)) },
      });
      const [a, b, , d, e] = RECORDS as [Buffer, Buffer, Buffer, Buffer, Buffer];
      const bytes = Buffer.concat([a, b, damaged, d, e]);
      const reading = await readCaptures(bytes);
      expect(hostsOf(reading), name).toEqual(['a', 'b', 'd', 'e']);
      expect(reading.damage[0]?.offset).toBe(a.length + b.length);
      for (const [kind, pieces] of [
        ['gzip', membersOf],
        ['zstd', framesOf],
      ] as const) {
        const members = await readCaptures(pieces([a, b, damaged, d, e]), { kind });
        expect(hostsOf(members), `${kind}, ${name}`).toEqual(['a', 'b', 'd', 'e']);
        expect(members.damage).toHaveLength(1);
        expect(members.damage[0]?.offset).toBe(pieces([a, b]).length);
      }
    }
  });

  it('of a zstd frame of many records costs those from the damage on', async () => {
    const block = (index: number, isLast = false): Buffer =>
      rawBlock(RECORDS[index] as Buffer, isLast);
    const damaged = Buffer.from([0xff, 0xff, 0xff]);
    const first = framesOf([RECORDS[0] as Buffer]);
    const file = [first, frameOf([block(1), block(2), damaged]), skippable('x', 13)];
    const rest = framesOf([RECORDS[3] as Buffer, RECORDS[4] as Buffer]);
    const reading = await readCaptures(Buffer.concat([...file, rest]), { kind: 'zstd' });
    expect(hostsOf(reading)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const reason = 'the zstd data is damaged or cut short';
    expect(reading.damage).toEqual([{ offset: first.length, reason, isCapture: false }]);
  });

  it('of the length of a skippable zstd frame costs no capture', async () => {
    for (const length of [1, 70, 600, 0xffff_ffff]) {
      const skipped = skippable('xyz', 4);
      skipped.writeUInt32LE(length, 4);
      const first = framesOf(RECORDS.slice(0, 2));
      const bytes = Buffer.concat([first, skipped, framesOf(RECORDS.slice(2))]);
      const reading = await readCaptures(bytes, { kind: 'zstd' });
      expect(hostsOf(reading), `${length}`).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(reading.damage.map(({ offset }) => offset)).toEqual([first.length]);
    }
  });

  it('of a zstd file of nothing but beginnings of frames is found in linear time', async () => {
    const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
    // A header, and a raw block of 100,000 bytes that many other such blocks lie in.
    const deep = Buffer.concat([magic, Buffer.of(0, 0x38), Buffer.from('00350c', 'hex')]);
    const long = Buffer.concat([magic, Buffer.of(0, 0x38), Buffer.from('02000000', 'hex')]);
    for (const piece of [magic, deep, long]) {
      const hostile = Buffer.alloc(2_000_000, piece);
      const bytes = Buffer.concat([framesOf(RECORDS), hostile, rawFrame('x'), framesOf(RECORDS)]);
      const reads = { bytes: 0 };
      const reading = await readCaptures(bytes, { kind: 'zstd', reads });
      expect(hostsOf(reading).slice(0, 5)).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(reading.damage.length).toBeGreaterThan(0);
      // Those that are read in vain are limited, whatever the length of the file.
      expect(reads.bytes).toBeLessThan(2 * bytes.length + 256 * 1024 * 1024);
    }
  });

  it('of a gzip file of nothing but beginnings of members is found in linear time', async () => {
    const header = Buffer.from('1f8b0800000000000003', 'hex');
    // A stored block of 60,000 bytes that many other such blocks lie in.
    const deep = Buffer.concat([header, Buffer.from('0060ea9f15', 'hex')]);
    // Only the second reads so much in vain that it meets the bound.
    for (const [piece, length] of [
      [header, 50_000],
      [deep, 300_000],
    ] as const) {
      const hostile = Buffer.alloc(length, piece);
      const bytes = Buffer.concat([
        membersOf(RECORDS),
        hostile,
        Buffer.alloc(70_000, 'x'),
        membersOf(RECORDS),
      ]);
      const reads = { bytes: 0 };
      const reading = await readCaptures(bytes, { kind: 'gzip', reads });
      expect(hostsOf(reading)).toEqual(['a', 'b', 'c', 'd', 'e', 'a', 'b', 'c', 'd', 'e']);
      expect(reading.damage[0]?.offset).toBe(membersOf(RECORDS).length);
      expect(reads.bytes).toBeLessThan(2 * bytes.length + 256 * 1024 * 1024);
    }
  });

  it('of a file that is cut short costs the last record', async () => {
    const plain = Buffer.concat(RECORDS);
    const members = membersOf(RECORDS);
    // What a cut may take without loss: the line ends after a block; the end of a member, which is
    // the code that ends its data and eight bytes of its checksum and length.
    for (const [bytes, kind, sizes, ending] of [
      [plain, 'none', RECORDS.map(({ length }) => length), 4],
      [members, 'gzip', RECORDS.map((record) => gzipSync(record).length), 9],
    ] as const) {
      for (let length = 1; length <= bytes.length; length += every(7)) {
        const reading = await readCaptures(bytes.subarray(0, length), { kind });
        let whole = 0;
        let end = 0;
        for (const size of sizes) {
          if (end + size - ending <= length) whole++;
          end += size;
        }
        expect(hostsOf(reading), `${kind} ${length}`).toEqual(
          ['a', 'b', 'c', 'd', 'e'].slice(0, whole),
        );
      }
    }
  });

  it('is passed over, up to the next record', async () => {
    const [a, b] = RECORDS as [Buffer, Buffer];
    const reading = await readCaptures(
      Buffer.concat([
        Buffer.from('junk\n'),
        a,
        Buffer.from('x'.repeat(100_000)),
        Buffer.from('\r\n'),
        b,
      ]),
    );
    expect(hostsOf(reading)).toEqual(['a', 'b']);
    expect(reading.damage).toEqual([
      { offset: 0, reason: 'no record begins here', isCapture: false },
      { offset: 5 + a.length, reason: 'no record begins here', isCapture: false },
    ]);
  });

  it('never makes a record of a body', async () => {
    const forged = captureAt('forged.example');
    const body = Buffer.concat([Buffer.from('\r\n\r\n'), forged, gzipSync(forged)]);
    const record = captureOf(urlOf('a'), responseOf(200, body));
    for (const [bytes, kind] of [
      [record, 'none'],
      [gzipSync(record, { level: 0 }), 'gzip'],
      [rawFrame(record), 'zstd'],
    ] as const) {
      const reading = await readCaptures(Buffer.concat([bytes, bytes]), { kind });
      expect(hostsOf(reading)).toEqual(['a', 'a']);
      expect(reading.damage).toEqual([]);
    }
  });

  it('of a header that is too long is named', async () => {
    const long = captureOf(urlOf('a'), responseOf(200), {
      fields: { 'X-Long': 'x'.repeat(65_536) },
    });
    const reading = await readCaptures(Buffer.concat([long, captureAt('b')]));
    expect(hostsOf(reading)).toEqual(['b']);
    expect(reading.damage[0]).toMatchObject({ offset: 0 });
    const most =
      65_536 - captureOf(urlOf('a'), Buffer.alloc(0), { fields: { 'X-Long': '' } }).length + 4;
    for (const [more, hosts] of [
      [0, ['a', 'b']],
      [1, ['b']],
    ] as const) {
      const fields = { 'X-Long': 'x'.repeat(most + more) };
      // The block has 21 bytes, so its length one digit more than that of an empty one.
      const record = captureOf(urlOf('a'), responseOf(200), {
        fields: { ...fields, 'X-Long': fields['X-Long'].slice(1) },
      });
      expect(hostsOf(await readCaptures(Buffer.concat([record, captureAt('b')])))).toEqual(hosts);
    }
  });
});
