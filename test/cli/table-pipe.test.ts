import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { HEADER_BYTES, HEADER_LENGTH } from '../../src/table/format.js';
import { frameOf, rawBlock } from '../files/zstd-frames.js';
import { type Workplace, workplace } from './command-line.js';

const URLS = 'https://example.com/private/x\nhttps://example.com/a\nhttp://other.example/\n';

describe('a table from a pipe', () => {
  let place: Workplace;
  let table: Buffer;

  beforeEach(async () => {
    place = workplace();
    place.write('urls.txt', URLS);
    const compiled = await place.shell('$rf compile --quiet --robots-dir robots -o hosts.table');
    expect(compiled.code).toBe(0);
    table = readFileSync(join(place.path, 'hosts.table'));
  });

  const judged = (bytes: Uint8Array) => {
    place.write('piped', bytes);
    return place.shell('cat piped | $rf --table /dev/stdin urls.txt');
  };

  it('gives the same verdicts as from a file, however the pipe is split', async () => {
    const expected = await place.shell('$rf --table hosts.table urls.txt');
    expect(expected.text).toMatch(/^deny\t.*\nallow\t.*\nunknown\t.*\n$/);
    expect(await judged(table)).toEqual(expected);
    expect(await place.shell('$rf --table <(cat hosts.table) urls.txt')).toEqual(expected);
    const inPieces = await place.shell(
      `(dd bs=1 count=${HEADER_BYTES - 1}; sleep 0.1; dd bs=100 count=5; sleep 0.1; cat) < hosts.table 2> notes | $rf --table /dev/stdin urls.txt`,
    );
    expect(inPieces).toEqual(expected);
  });

  /** zstd data of raw blocks, each as long as a block may be. */
  const inZstd = (data: Buffer) => {
    const blocks: Buffer[] = [];
    for (let at = 0; at < data.length; at += 131_072) {
      blocks.push(rawBlock(data.subarray(at, at + 131_072), at + 131_072 >= data.length));
    }
    return frameOf(blocks);
  };

  it.each([
    ['gzip', (data: Buffer) => gzipSync(data)],
    ['zstd', inZstd],
  ])('may be compressed, in a file or a pipe: %s', async (name, compress) => {
    const expected = await place.shell('$rf --table hosts.table urls.txt');
    expect(await judged(compress(table))).toEqual(expected);
    place.write('t.table', compress(table));
    expect(await place.shell('$rf --table t.table urls.txt')).toEqual(expected);
    expect((await place.shell('$rf inspect --verify t.table')).code).toBe(0);

    const refusals: [Buffer, string][] = [
      [compress(table).subarray(0, -2), `the ${name} data is damaged or truncated`],
      [compress(table.subarray(0, 300)), 'truncated'],
      [compress(table.subarray(0, 20)), 'truncated within its header'],
      [compress(Buffer.concat([table, Buffer.of(0)])), 'bytes'],
      [compress(Buffer.from('https://example.com/\n')), 'not a table of robots-filter'],
    ];
    for (const [bytes, reason] of refusals) {
      place.write('t.table', bytes);
      const { code, stderr } = await place.shell('$rf --table t.table urls.txt');
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
      expect(stderr).toContain('t.table');
    }
  });

  it('can be inspected', async () => {
    const { code, text } = await place.shell('cat hosts.table | $rf inspect /dev/stdin');
    expect(code).toBe(0);
    expect(text).toMatch(/^hosts +2, with 2 authorities$/m);
  });

  it.each([
    ['nothing', () => Buffer.alloc(0), /: the file is empty/],
    ['something else', () => Buffer.from('user-agent: *\n'), /: not a table of robots-filter/],
    ['more of something else', () => Buffer.alloc(100_000, 1), /: not a table of robots-filter/],
    ['a part of its header', () => table.subarray(0, 300), /: truncated within its header/],
    ['its header', () => table.subarray(0, HEADER_BYTES), /: truncated: 352 bytes of \d+/],
    ['a part', () => table.subarray(0, -1), /: truncated: (\d+) bytes of \d+/],
    ['more', () => Buffer.concat([table, table]), /: bytes follow its end at \d+/],
    ['a header that says 5 bytes', () => saying(5), /: bytes follow its end at 5/],
    ['a header that says 3 GB', () => saying(3e9), /: truncated: \d+ bytes of 3000000000/],
    ['a header that says 4 GiB', () => saying(2 ** 32 - 1), /less than 4 GiB/],
  ])('is refused with a reason, if it is %s', async (_, bytes, reason) => {
    const { code, text, stderr } = await judged(bytes());
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toMatch(/^robots-filter: \/dev\/stdin: [^\n]+\n$/);
    expect(stderr).toMatch(reason);
  });

  it('is rejected if it does not end', async () => {
    for (const [begin, reason] of [
      ['cat hosts.table', /: bytes follow its end at \d+/],
      ['head -c 1000 hosts.table | tail -c +9', /: not a table of robots-filter/],
    ] as const) {
      const line = `(${begin}; cat /dev/zero) | $rf --table /dev/stdin urls.txt`;
      const { code, stderr } = await place.shell(line);
      expect(code).toBe(2);
      expect(stderr).toMatch(reason);
    }
  });

  /** The table with another length in its header. */
  function saying(bytes: number): Buffer {
    const other = Buffer.from(table);
    other.writeUInt32LE(bytes, HEADER_LENGTH);
    return other;
  }
});
