import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { frameOf, rawBlock, rawFrame } from '../files/zstd-frames.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { type CaptureReading, readCaptures } from './read-captures.js';
import { captureOf, recordOf, responseOf, robotsOf } from './warc-bytes.js';

/** The forms of a file, and what becomes of the bytes of each member in them. */
const FORMS = {
  none: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => gzipSync(bytes),
  stored: (bytes: Buffer) => gzipSync(bytes, { level: 0 }),
  zstd: (bytes: Buffer) => frameFor(bytes),
} as const;

type Form = keyof typeof FORMS;

/** A frame of blocks that are as long as they may be. */
function frameFor(content: Buffer): Buffer {
  if (content.length <= 131_072) return rawFrame(content);
  const blocks: Buffer[] = [];
  for (let at = 0; at < content.length; at += 131_072) {
    const part = content.subarray(at, at + 131_072);
    blocks.push(rawBlock(part, at + part.length === content.length));
  }
  return frameOf(blocks);
}

function record(host: string, path = '/'): Buffer {
  const body = robotsOf(path);
  const fields = { 'Content-Length': `${body.length}` };
  return captureOf(`https://${host}/robots.txt`, responseOf(200, body, fields));
}

/** Bytes of a member: records by their hosts, and junk. */
interface Member {
  readonly bytes: Buffer;
  /** The hosts of its records. */
  readonly hosts: readonly string[];
  /** Whether it begins with junk, or ends in junk. */
  readonly junk: 'begins' | 'ends' | 'none';
}

const junk = (bytes: Buffer | string): Member => ({
  bytes: Buffer.from(bytes as string),
  hosts: [],
  junk: 'begins',
});
const whole = (host: string): Member => ({ bytes: record(host), hosts: [host], junk: 'none' });

/** Reads members as a file, and compares the captures, and the offsets of what was lost. */
async function compare(members: readonly Member[], form: Form, mostAtOnce?: number) {
  const stored = members.map(({ bytes }) => FORMS[form](bytes));
  const kind = form === 'stored' ? 'gzip' : form;
  const reading = await readCaptures(Buffer.concat(stored), {
    kind,
    ...(mostAtOnce === undefined ? {} : { mostAtOnce }),
  });
  const places: number[] = [];
  let at = 0;
  let isLost = false;
  for (const [index, member] of members.entries()) {
    if (member.junk === 'begins' && !isLost) places.push(at);
    if (member.junk === 'ends') {
      const place = at + (form === 'none' ? member.bytes.lastIndexOf('\r\n') + 2 : 0);
      places.push(place);
    }
    if (member.bytes.length > 0) {
      isLost = member.junk === 'ends' || (member.junk === 'begins' && member.hosts.length === 0);
    }
    at += stored[index]?.length ?? 0;
  }
  const message = `${form}: ${members.map(({ bytes }) => bytes.length)}`;
  expect(hostsOf(reading), message).toEqual(members.flatMap(({ hosts }) => hosts));
  expect(
    reading.damage.map(({ offset }) => offset),
    message,
  ).toEqual(places);
  return places.length;
}

function hostsOf({ captures }: CaptureReading): string[] {
  return captures.map(({ url }) => new URL(url).hostname);
}

describe.each(Object.keys(FORMS) as Form[])('what is no record in a file (%s)', (form) => {
  const [a, b, c] = ['a', 'b', 'c'].map(whole) as [Member, Member, Member];
  const after = { ...junk(Buffer.concat([Buffer.from('hello\r\n'), record('d')])), hosts: ['d'] };
  const before: Member = {
    bytes: Buffer.concat([record('d'), Buffer.from('hello')]),
    hosts: ['d'],
    junk: 'ends',
  };

  it.each<[string, Member[]]>([
    ['in the middle', [a, b, junk('hello'), c]],
    ['at the start', [junk('hello'), a, b]],
    ['at the end', [a, b, junk('hello')]],
    ['at both ends', [junk('hello\r\n'), a, junk('hello')]],
    ['alone', [junk('hello')]],
    ['several times', [a, junk('x\r\n'), b, junk('y\r\n'), c]],
    ['several at a time', [a, junk('x\r\n'), junk('y\r\n'), b]],
    ['before a record in a member', [a, after, b]],
    ['after a record in a member', [a, before, b]],
    ['like the beginning of a record', [a, junk('WARC/'), b, junk('W'), c]],
    ['longer than a window', [a, junk(`${'x'.repeat(300_000)}\r\n`), b]],
    ['of one byte', [a, junk('x'), b]],
  ])('costs nothing else: %s', async (_name, members) => {
    await compare(members, form);
    await compare(members, form, 100);
  });
});

describe('members at the edge of a window', () => {
  it.each([-1, 0, 1])('are told apart: %i bytes beyond', async (beyond) => {
    const edge = 256 * 1024 + beyond;
    const head = gzipSync(record('a'));
    const filler = (length: number): Buffer =>
      recordOf({ type: 'resource', uri: 'https://f/page', block: Buffer.alloc(length, 'x') });
    // A stored block holds at most 65,535 bytes, and five more tell its length.
    const fillers = [60_000, 60_000, 60_000, 60_000].map((length) => stored(filler(length)));
    const left = edge - Buffer.concat([head, ...fillers]).length;
    const last = stored(filler(left - stored(filler(10_000)).length + 10_000));
    const start = Buffer.concat([head, ...fillers, last]);
    expect(start.length).toBe(edge);
    for (const junk of ['hello', 'x'.repeat(30)]) {
      const bytes = Buffer.concat([start, gzipSync(junk), gzipSync(record('b'))]);
      const reading = await readCaptures(bytes, { kind: 'gzip' });
      expect(hostsOf(reading)).toEqual(['a', 'b']);
      expect(reading.damage.map(({ offset }) => offset)).toEqual([edge]);
    }
  });

  const stored = (bytes: Buffer): Buffer => gzipSync(bytes, { level: 0 });
});

describe('bytes that are no gzip data', () => {
  it.each([1, 300, 2000])('cost nothing else: %i at each place between members', async (length) => {
    const junk = Buffer.alloc(length, 'y1o');
    const members = [...'abcde'].map((host) => gzipSync(record(host)));
    const bytes = Buffer.concat(members.flatMap((member) => [member, junk]));
    const reading = await readCaptures(bytes, { kind: 'gzip' });
    expect(hostsOf(reading)).toEqual([...'abcde']);
    expect(reading.damage.length).toBeGreaterThanOrEqual(5);
  });
});

describe('members that no records begin', () => {
  const records = [...'abcdefghij'].map((host) => record(host));
  const plain = Buffer.concat(records);

  /** Cuts bytes into members or frames of a length. */
  const cut = (bytes: Buffer, length: number, store: (part: Buffer) => Buffer): Buffer[] => {
    const members: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += length) {
      members.push(store(bytes.subarray(at, at + length)));
    }
    return members;
  };

  it.each(['gzip', 'zstd'] as const)('lose what is damaged, and no more (%s)', async (kind) => {
    const length = 333;
    for (const damage of ['none', 'junk between records', 'a member', 'junk between members']) {
      const junked = Buffer.concat([
        ...records.slice(0, 4),
        Buffer.from('hello\r\n'),
        ...records.slice(4),
      ]);
      const members = cut(damage === 'junk between records' ? junked : plain, length, FORMS[kind]);
      const hit = members[4] as Buffer;
      if (damage === 'a member') hit.fill(0xff, 4, hit.length);
      if (damage === 'junk between members') members.splice(4, 0, Buffer.from('hello'));
      const reading = await readCaptures(Buffer.concat(members), { kind });
      const isLost = (index: number): boolean => {
        if (!damage.includes('member')) return false;
        const [start, end] = [index, index + 1].map(
          (count) => Buffer.concat(records.slice(0, count)).length,
        ) as [number, number];
        const damaged = damage === 'a member' ? 5 * length : 4 * length;
        // A zstd frame that does not end like a record is lost if the frame after it is damaged.
        return start < damaged && end > (kind === 'zstd' ? 3 : 4) * length;
      };
      const left = [...'abcdefghij'].filter((_, index) => !isLost(index));
      expect(left.length, damage).toBeGreaterThan(damage.includes('member') ? 5 : 9);
      expect(hostsOf(reading), damage).toEqual(left);
      expect(reading.damage.length > 0, damage).toBe(damage !== 'none');
    }
  });
});

describe('a record whose length is wrong', () => {
  it('makes no record of its body, if it has a member of its own', async () => {
    const forged = record('forged.example');
    const block = responseOf(200, Buffer.concat([Buffer.from('#\r\n\r\n'), forged]));
    const wrong = captureOf('https://a/robots.txt', block, { fields: { 'Content-Length': '30' } });
    for (const [kind, store] of [
      ['gzip', FORMS.gzip],
      ['zstd', FORMS.zstd],
    ] as const) {
      const bytes = Buffer.concat([wrong, record('b')].map(store));
      const reading = await readCaptures(bytes, { kind });
      expect(hostsOf(reading)).toEqual(['b']);
      expect(reading.damage).toMatchObject([{ offset: 0, isCapture: true }]);
    }
  });
});

describe('random files of records and junk', () => {
  it.each(Object.keys(FORMS) as Form[])('lose the junk alone (%s)', async (form) => {
    let lost = 0;
    let several = 0;
    for (let seed = 1; seed <= cases(40); seed++) {
      const random = new Random(seed);
      const members = Array.from({ length: random.between(1, 12) }, (_, index): Member => {
        const host = `h${index}`;
        const noise = `j${random.run(['hello', 'WARC', '\r\n', '\x1f\x8b\x08\0', ': '], 1, 9)}x\r\n`;
        switch (random.between(0, 5)) {
          case 0:
            return junk(noise);
          case 1:
            return { ...junk(Buffer.concat([Buffer.from(noise), record(host)])), hosts: [host] };
          case 2:
            // Without a line end, the next record of a plain file would be a part of its line.
            return {
              bytes: Buffer.concat([record(host), Buffer.from('hello')]),
              hosts: [host],
              junk: 'ends',
            };
          default:
            return whole(host);
        }
      });
      several += members.some(({ bytes }) => bytes.length < 60) ? 1 : 0;
      lost += await compare(members, form, random.pick([undefined, 7, 100, 1000]));
    }
    expect(lost).toBeGreaterThan(60);
    expect(several).toBeGreaterThan(10);
  });
});
