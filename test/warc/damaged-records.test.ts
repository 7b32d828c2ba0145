import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { rawFrame } from '../files/zstd-frames.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { readCaptures } from './read-captures.js';
import { captureOf, recordOf, responseOf, robotsOf } from './warc-bytes.js';

/** Forms of archives: how a record is stored, and how the file is read. */
const FORMS = {
  none: (record: Buffer) => record,
  gzip: (record: Buffer) => gzipSync(record),
  zstd: (record: Buffer) => rawFrame(record),
} as const;

type Form = keyof typeof FORMS;

const KINDS = ['flip', 'garbage', 'cut', 'zeros', 'insertion'] as const;

type Kind = (typeof KINDS)[number];

function urlOf(index: number): string {
  return `https://h${index}.example/robots.txt`;
}

function bodyOf(index: number): string {
  return `${robotsOf(`/${index}`)}\r\n\r\n# ${'\n'.repeat(index % 3)}${'x'.repeat(index * 7)}\n`;
}

/** A capture, sometimes with a record of another type before it. */
function recordsOf(random: Random, index: number): Buffer[] {
  const body = bodyOf(index);
  const block = responseOf(200, body, { 'Content-Length': `${body.length}` });
  const capture = captureOf(urlOf(index), block, {
    version: random.pick(['WARC/1.0', 'WARC/1.1']),
  });
  const request = recordOf({ type: 'request', uri: urlOf(index), block: 'GET / HTTP/1.1\r\n\r\n' });
  return random.chance(0.3) ? [request, capture] : [capture];
}

/** The bytes of a record with damage; `undefined` where the damage would not be noticeable. */
function damaged(random: Random, kind: Kind, bytes: Buffer): Buffer | undefined {
  const at = random.between(1, bytes.length - 1);
  const noise = (length: number): Buffer =>
    Buffer.from(Array.from({ length }, () => random.between(0, 255)));
  const copy = Buffer.from(bytes);
  // One URL is as good as another.
  const uri = bytes.indexOf('https://');
  const isInUrl = uri >= 0 && at >= uri && at <= bytes.indexOf('.txt', uri) + 4;
  if (isInUrl && (kind === 'flip' || kind === 'insertion')) return undefined;
  switch (kind) {
    case 'flip':
      copy[at] = (copy[at] as number) ^ (1 << random.between(0, 7));
      return copy;
    case 'zeros':
      return copy.fill(0, at, Math.min(at + 20, copy.length));
    case 'cut':
      return copy.subarray(0, at);
    case 'insertion':
      return Buffer.concat([copy.subarray(0, at), noise(random.between(1, 50)), copy.subarray(at)]);
    case 'garbage':
      return noise(bytes.length);
  }
}

describe.each(Object.keys(FORMS) as Form[])('one damaged record of a file (%s)', (form) => {
  it.each(KINDS)('costs its own capture at most, and is named: %s', async (kind) => {
    let lost = 0;
    for (let seed = 1; seed <= cases(24); seed++) {
      const random = new Random(seed);
      const records: { readonly bytes: Buffer; readonly url: string }[] = [];
      for (let index = 0; index < 6; index++) {
        for (const record of recordsOf(random, index)) {
          records.push({ bytes: FORMS[form](record), url: urlOf(index) });
        }
      }
      const hit = random.between(0, records.length - 1);
      const victim = records[hit] as { bytes: Buffer; url: string };
      const bytes = damaged(random, kind, victim.bytes);
      if (bytes === undefined) continue;
      const file = records.map((record, index) => (index === hit ? bytes : record.bytes));
      const mostAtOnce = random.pick([7, 100, 1 << 20]);
      const reading = await readCaptures(Buffer.concat(file), { kind: form, mostAtOnce });
      const found = new Map(reading.captures.map(({ url, body }) => [url, body]));
      const message = `${form}, ${kind}, seed ${seed}, record ${hit}`;
      for (let index = 0; index < 6; index++) {
        if (urlOf(index) !== victim.url)
          expect(found.get(urlOf(index)), message).toBe(bodyOf(index));
      }
      if (found.has(victim.url)) continue;
      lost++;
      const start = Buffer.concat(file.slice(0, hit)).length;
      expect(reading.damage.length + reading.broken.length, message).toBeGreaterThan(0);
      expect(
        reading.damage.every(({ offset }) => offset >= start),
        message,
      ).toBe(true);
    }
    expect(lost).toBeGreaterThan(form !== 'gzip' && kind === 'flip' ? 3 : 8);
  });
});
