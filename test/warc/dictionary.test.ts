import { describe, expect, it } from 'vitest';
import { UnsupportedZstdError } from '../../src/files/zstd/frames.js';
import { readRecordAt } from '../../src/warc/archive.js';
import { DICTIONARY, frameNaming, framesWith, rawFrameNaming } from '../files/zstd-dictionary.js';
import { rawFrame, repeatBlock, skippable } from '../files/zstd-frames.js';
import { type CaptureReading, readCaptures, sourceOf } from './read-captures.js';
import { captureOf, responseOf, robotsOf } from './warc-bytes.js';

const HOSTS = ['a', 'b', 'c', 'd', 'e'];
const RECORDS = HOSTS.map((host) =>
  captureOf(`https://${host}/robots.txt`, responseOf(200, robotsOf(`/${host}`))),
);
const FRAMES = await framesWith(DICTIONARY, RECORDS);
const STORED = skippable(DICTIONARY, 13);

const read = (parts: readonly Uint8Array[], mostAtOnce?: number): Promise<CaptureReading> =>
  readCaptures(Buffer.concat(parts), {
    kind: 'zstd',
    ...(mostAtOnce === undefined ? {} : { mostAtOnce }),
  });

function hostsOf({ captures }: CaptureReading): string[] {
  return captures.map(({ url }) => new URL(url).hostname);
}

describe('a zstd file with a dictionary of its own', () => {
  it('is read, whether the dictionary is compressed or not', async () => {
    const { captures } = await readCaptures(Buffer.concat(RECORDS));
    for (const stored of [STORED, skippable(rawFrame(DICTIONARY), 13)]) {
      const offsets = FRAMES.map((_, index) =>
        [stored, ...FRAMES.slice(0, index)].reduce((sum, { length }) => sum + length, 0),
      );
      const expected = captures.map((capture, index) => ({ ...capture, offset: offsets[index] }));
      for (const mostAtOnce of [1, 7, 1 << 20]) {
        const reading = await read([stored, ...FRAMES], mostAtOnce);
        expect(reading).toMatchObject({ captures: expected, damage: [] });
      }
    }
    // The frames do need it.
    await expect(read(FRAMES)).rejects.toThrow('a dictionary is needed');
    const other = Buffer.from(STORED).fill(9, 12, 16);
    await expect(read([other, ...FRAMES])).rejects.toThrow('another dictionary is needed');
  });

  it('may hold frames without a content size, and frames that need no dictionary', async () => {
    const [a, b, c] = RECORDS as [Buffer, Buffer, Buffer];
    const reading = await read([STORED, rawFrameNaming(a), rawFrame(b), rawFrameNaming(c)]);
    expect(reading).toMatchObject({ damage: [] });
    expect(hostsOf(reading)).toEqual(['a', 'b', 'c']);
  });

  it('may have a dictionary without a number, of any bytes', async () => {
    const plain = Buffer.from(RECORDS[0] as Buffer);
    const frames = await framesWith(plain, RECORDS);
    const reading = await read([skippable(rawFrame(plain), 13), ...frames]);
    expect(reading).toMatchObject({ damage: [] });
    expect(hostsOf(reading)).toEqual(HOSTS);
  });

  it('can be read at the offset of a record', async () => {
    const bytes = Buffer.concat([STORED, ...FRAMES]);
    const offset = STORED.length + (FRAMES[0] as Buffer).length;
    const blocks: string[] = [];
    await readRecordAt(sourceOf(bytes), 'zstd', offset, {
      wanted: () => 1000,
      take: ({ block }) => blocks.push(block.toString('latin1')),
      damage: () => {},
      settle: () => undefined,
    });
    expect(blocks).toEqual([responseOf(200, robotsOf('/b')).toString('latin1')]);
  });

  it('loses to damage the frames that it hits, and names them', async () => {
    for (let index = 0; index < FRAMES.length; index++) {
      const frames = FRAMES.map((frame) => Buffer.from(frame));
      (frames[index] as Buffer)[0] = 0;
      const reading = await read([STORED, ...frames]);
      expect(hostsOf(reading)).toEqual(HOSTS.filter((_, other) => other !== index));
      // The length of the skippable frame could be what is wrong.
      const offset = index === 0 ? 0 : Buffer.concat([STORED, ...frames.slice(0, index)]).length;
      expect(reading.damage.map((damage) => damage.offset)).toEqual([offset]);
    }
    const bytes = Buffer.concat([STORED, ...FRAMES]);
    const ends = FRAMES.map((_, index) =>
      [STORED, ...FRAMES.slice(0, index + 1)].reduce((sum, { length }) => sum + length, 0),
    );
    for (let length = STORED.length; length <= bytes.length; length += 5) {
      const reading = await read([bytes.subarray(0, length)]);
      const whole = ends.filter((end) => end <= length).length;
      expect(hostsOf(reading), `${length}`).toEqual(HOSTS.slice(0, whole));
      const isWhole = length === STORED.length || ends.includes(length);
      expect(reading.damage).toHaveLength(isWhole ? 0 : 1);
    }
  });

  it('loses a frame of more than 64 MiB of content, and names it', async () => {
    const blocks = (count: number): Buffer[] =>
      Array.from({ length: count }, (_, index) => repeatBlock(10, 131_072, index === count - 1));
    const [first, second] = FRAMES as [Buffer, Buffer];
    const parts = (count: number): Buffer[] => [STORED, first, frameNaming(blocks(count)), second];
    for (const [count, reasons] of [
      [512, []],
      [513, ['a frame with a dictionary has more than 64 MiB of content']],
    ] as const) {
      const reading = await read(parts(count));
      expect(hostsOf(reading)).toEqual(['a', 'b']);
      expect(reading.damage.map(({ reason }) => reason)).toEqual(
        reasons.map((reason) => `the zstd frame is not supported: ${reason}`),
      );
    }
  });

  it('is refused if the dictionary cannot be read', async () => {
    const long = skippable(Buffer.concat([DICTIONARY, Buffer.alloc(16 << 20)]), 13);
    const damaged = skippable(rawFrame(DICTIONARY).fill(0xff, 6, 9), 13);
    for (const [stored, reason] of [
      [long, 'its dictionary is longer than 16 MiB'],
      [damaged, 'its dictionary cannot be decompressed'],
      [STORED.subarray(0, -1), 'its dictionary is cut short'],
    ] as const) {
      const reading = read(stored.length < STORED.length ? [stored] : [stored, ...FRAMES]);
      await expect(reading).rejects.toThrow(reason);
      await expect(reading).rejects.toThrow(UnsupportedZstdError);
    }
  });
});
