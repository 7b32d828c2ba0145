import { decompress } from 'fzstd';
import xxhash from 'xxhash-wasm';
import { charactersOf } from '../../oracle/bytes.js';
import { encodeZstd, prepareZstdEncoder } from '../../src/files/zstd/encoder.js';
import { FrameScanner, UnsupportedZstdError, ZstdError } from '../../src/files/zstd/frames.js';
import { type ArchiveCompression, readArchive } from '../../src/warc/archive.js';
import { CaptureReader } from '../../src/warc/capture-reader.js';
import type { Capture } from '../../src/warc/captures.js';
import { DICTIONARY, framesWith, rawFrameNaming } from '../../test/files/zstd-dictionary.js';
import { frameOf, rawBlock, repeatBlock, skippable } from '../../test/files/zstd-frames.js';
import { Random } from '../../test/random/random.js';
import { recordOf, responseOf } from '../../test/warc/warc-bytes.js';
import { agree, Fault } from '../fault.js';
import type { Target } from '../target.js';

/** Lengths of the pieces in which an input is read, besides the whole. */
const PIECES = [7, 100];

/** Places at which an input that is read without damage is cut, and at which a bit is changed. */
const CUTS = 3;
const CHANGES = 8;

/** Content of all blocks of an input beyond which it is read once only, in bytes. */
const MUCH = 256 * 1024;

/** Bytes after those that a read fills: a capture that no file has. */
const CANARY = encodeUrl('http://canary/robots.txt');

const URIS = ['http://a/robots.txt', 'https://b:8080/robots.txt', 'http://a/1', 'dns:a'];
const STORED = charactersOf(skippable(DICTIONARY, 13));
const NAMED = charactersOf(rawFrameNaming(recordAt('http://n/robots.txt', '/n')));

await prepareZstdEncoder();
const { h64Raw } = await xxhash();
const WITH_DICTIONARY = (
  await framesWith(
    DICTIONARY,
    ['a', 'b', 'c'].map((host) => recordAt(`http://${host}/robots.txt`, `/path${host}`)),
  )
).map(charactersOf);

/** What a reading found. */
interface Reading {
  /** Each capture, without its offset. */
  readonly captures: readonly string[];
  readonly offsets: readonly number[];
  /** The offset and the reason of each damage, and of what is broken. */
  readonly damage: readonly string[];
}

/** What is known of the frames of an input that holds nothing else. */
interface Frames {
  readonly starts: ReadonlySet<number>;
  readonly ends: ReadonlySet<number>;
  readonly areChecked: boolean;
  readonly needDictionary: boolean;
}

/**
 * The reader of WARC files in zstd. An input is the bytes of one file. Another library decompresses
 * it, and the reader of plain files must find the same captures in that. A file that is cut or
 * changed never has a capture that it had not before, and what it lacks is named.
 */
export const target: Target = {
  name: 'warc-zstd',
  summary: 'the reader of WARC files in zstd, against another decoder',
  maxBytes: 3000,
  seeds: [
    frames(recordAt('http://a/robots.txt', '/1'), recordAt('http://a/robots.txt', '/2')),
    charactersOf(frameOf([rawBlock(recordAt('http://a/robots.txt', '/1'), true)])).repeat(2),
    // The record ends, and its frame does not.
    charactersOf(frameOf([rawBlock(recordAt('http://a/robots.txt', '/1'))])),
    // A frame that is much longer than what it is decoded from.
    charactersOf(frameOf([repeatBlock(10, 131_072), repeatBlock(10, 1, true)])),
    `${STORED}${WITH_DICTIONARY.join('')}`,
    `${STORED}${NAMED}${charactersOf(encodeZstd(recordAt('http://a/robots.txt', '/')))}`,
    STORED,
    charactersOf(skippable(encodeZstd(DICTIONARY), 13)) + NAMED,
    NAMED,
  ],
  dictionary: ['\x28\xb5\x2f\xfd', '\x5d\x2a\x4d\x18', '\x01\x00\x00', '\x00\x38', 'WARC/1.0\r\n'],
  generate: (random) => {
    let text = random.chance(0.2) ? STORED : '';
    for (let left = random.between(1, 5); left > 0; left--) text += piece(random);
    return text;
  },
  piece,
  check: () => async (input) => {
    const bytes = Buffer.from(input);
    const framing = framesOf(bytes);
    const whole = await readingOf(bytes, 'zstd');
    if (whole === undefined || contentOf(bytes) > MUCH) return;
    for (const length of PIECES) {
      if (length >= bytes.length) break;
      const inPieces = await readingOf(bytes, 'zstd', length);
      agree(`read ${length} at a time`, JSON.stringify(inPieces), JSON.stringify(whole));
    }
    if (whole.damage.length > 0) return;
    if (framing === undefined) throw new Fault('bytes that are no frames pass without damage');
    for (const offset of whole.offsets) {
      if (!framing.starts.has(offset)) throw new Fault(`no frame begins at ${offset}`);
    }
    if (!framing.needDictionary) await compareWithPlain(bytes, whole);
    const random = new Random(bytes.reduce((sum, byte) => (31 * sum + byte) >>> 0, 1));
    for (let left = CUTS; left > 0; left--) {
      await checkCut(bytes, random.between(0, bytes.length), { whole, framing });
    }
    for (let left = framing.areChecked ? CHANGES : 0; left > 0; left--) {
      await checkChange(bytes, random.between(0, 8 * bytes.length - 1), whole);
    }
  },
};

function recordAt(uri: string, path: string, type = 'response'): Buffer {
  const block = responseOf(200, `user-agent: *\ndisallow: ${path}\n`);
  return recordOf({ type, uri, block });
}

function encodeUrl(uri: string): Buffer {
  return frameOf([rawBlock(recordAt(uri, '/'), true)]);
}

/** Frames with checksums. */
function frames(...contents: readonly Buffer[]): string {
  return contents.map((content) => charactersOf(encodeZstd(content))).join('');
}

/** A frame of raw blocks, which have their content as it is, with a checksum. */
function stored(...contents: readonly Buffer[]): string {
  const last = contents.length - 1;
  const frame = frameOf(contents.map((content, index) => rawBlock(content, index === last)));
  frame[4] = 4;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(Number(h64Raw(Buffer.concat(contents)) & 0xffff_ffffn));
  return charactersOf(Buffer.concat([frame, checksum]));
}

function piece(random: Random): string {
  const record = recordAt(
    random.pick(URIS),
    random.pick(['/', '/x\r\n\r\nWARC/1.0\r\n', '/'.repeat(200)]),
    random.pick(['response', 'response', 'request', 'revisit']),
  );
  const at = random.between(0, record.length);
  switch (random.between(0, 8)) {
    case 0:
      return charactersOf(skippable('xyz', random.between(0, 15)));
    case 1:
      return random.chance(0.3) ? random.pick([...WITH_DICTIONARY, NAMED]) : frames(record);
    case 2:
      return charactersOf(
        frameOf([rawBlock(record.subarray(0, at)), rawBlock(record.subarray(at), true)]),
      );
    case 3:
      return frames(record.subarray(0, at), record.subarray(at));
    case 4:
      return frames(Buffer.concat([record, recordAt('http://z/robots.txt', '/z')]));
    case 5:
      return stored(record, recordAt('http://z/robots.txt', '/z'));
    default:
      return random.chance(0.5)
        ? frames(record)
        : stored(record.subarray(0, at), record.subarray(at));
  }
}

/** The frames of an input; `undefined` if it holds other bytes, or is cut short. */
function framesOf(bytes: Uint8Array): Frames | undefined {
  const scanner = new FrameScanner(DICTIONARY.readUInt32LE(4));
  const starts = new Set<number>();
  const ends = new Set<number>([0]);
  let areChecked = true;
  try {
    for (const _unit of scanner.scan(bytes)) {
      starts.add(scanner.frameOffset);
      if (!scanner.isBetween) continue;
      ends.add(scanner.position);
      areChecked &&= scanner.hasChecksum;
    }
    scanner.end();
  } catch (error) {
    if (!(error instanceof ZstdError)) throw error;
    return undefined;
  }
  const needDictionary = charactersOf(bytes).startsWith('\x5d\x2a\x4d\x18');
  return { starts, ends: ends.add(bytes.length), areChecked, needDictionary };
}

/** The content that the blocks of an input may have, in bytes, as far as they are intact. */
function contentOf(bytes: Uint8Array): number {
  const scanner = new FrameScanner(DICTIONARY.readUInt32LE(4));
  let content = 0;
  try {
    // A block that is not stored may have 128 KiB of content.
    for (const unit of scanner.scan(bytes))
      content += ((unit[0] ?? 0) & 6) === 0 ? unit.length : 131_072;
  } catch (error) {
    if (!(error instanceof ZstdError)) throw error;
  }
  return content;
}

/** Reads an archive; `undefined` if its zstd data is not supported. */
async function readingOf(
  bytes: Buffer,
  kind: ArchiveCompression,
  mostAtOnce = Number.POSITIVE_INFINITY,
): Promise<Reading | undefined> {
  const captures: string[] = [];
  const offsets: number[] = [];
  const damage: string[] = [];
  const reader = new CaptureReader(
    {
      asOf: Number.POSITIVE_INFINITY,
      profile: 'rfc9309',
      maxBodyBytes: 512_000,
      targets: new Set(),
      robots: true,
      onLeftOut: () => {},
    },
    {
      capture: (capture) => {
        captures.push(textOf(capture));
        offsets.push(capture.offset);
      },
      damage: (offset, reason) => damage.push(`${offset}: ${reason}`),
      broken: (offset, _url, reason) => damage.push(`${offset}: ${reason}`),
    },
  );
  let reads = 0;
  const source = {
    length: bytes.length,
    async read(offset: number, buffer: Buffer): Promise<number> {
      if (++reads > 100 * bytes.length + 1000) throw new Fault('the file is read without end');
      const end = Math.min(bytes.length, offset + Math.min(buffer.length, mostAtOnce));
      const count = offset >= end ? 0 : bytes.copy(buffer, 0, offset, end);
      CANARY.copy(buffer, count);
      return count;
    },
  };
  try {
    await readArchive(source, kind, reader);
  } catch (error) {
    if (!(error instanceof UnsupportedZstdError)) throw error;
    return undefined;
  }
  return { captures, offsets, damage };
}

function textOf({ url, date, payloadDigest, outcome }: Capture): string {
  const told = outcome.kind === 'body' ? { ...outcome, body: charactersOf(outcome.body) } : outcome;
  return JSON.stringify([url, date, payloadDigest, told]);
}

/** Compares captures with those of the plain file that another library makes of the input. */
async function compareWithPlain(bytes: Buffer, whole: Reading): Promise<void> {
  const content = bytes.length === 0 ? bytes : Buffer.from(decompress(bytes));
  const plain = await readingOf(content, 'none');
  // Where a record goes on in a frame that begins with a record, nobody knows which one counts.
  if (plain === undefined || plain.damage.length > 0) return;
  agree('captures of the plain file', whole.captures.join('\n'), plain.captures.join('\n'));
}

/** A file that is cut has the captures that end before the cut, and names what it lacks. */
async function checkCut(
  bytes: Buffer,
  length: number,
  { whole, framing }: { readonly whole: Reading; readonly framing: Frames },
): Promise<void> {
  const cut = await readingOf(bytes.subarray(0, length), 'zstd');
  if (cut === undefined) return;
  const { captures, damage } = cut;
  const kept = whole.captures.slice(0, captures.length);
  agree(`captures of ${length} bytes`, captures.join('\n'), kept.join('\n'));
  const ended = whole.offsets.filter((offset) =>
    whole.offsets.some((next) => next > offset && next <= length),
  );
  if (captures.length < ended.length)
    throw new Fault(`a cut at ${length} costs captures before it`);
  const isLoss = captures.length < whole.captures.length && !framing.ends.has(length);
  if (isLoss && damage.length === 0)
    throw new Fault(`a cut at ${length} costs captures without a word`);
}

/** A file with a changed bit has no other captures, and names what it lacks. */
async function checkChange(bytes: Buffer, bit: number, whole: Reading): Promise<void> {
  const changed = Buffer.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
  const reading = await readingOf(changed, 'zstd');
  if (reading === undefined) return;
  let at = 0;
  for (const capture of reading.captures) {
    at = whole.captures.indexOf(capture, at) + 1;
    if (at === 0) throw new Fault(`bit ${bit} makes a capture: ${capture}`);
  }
  if (reading.captures.length < whole.captures.length && reading.damage.length === 0) {
    throw new Fault(`bit ${bit} costs captures without a word`);
  }
}
