import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { HEADER_LENGTH, HEADER_OCTETS } from '../../src/compile/format.js';
import { type Workplace, workplace } from './command-line.js';

const URLS = 'https://example.com/private/x\nhttps://example.com/a\nhttp://other.example/\n';

describe('a table that comes from a pipe', () => {
  let place: Workplace;
  let table: Buffer;

  beforeEach(async () => {
    place = workplace();
    place.write('urls.txt', URLS);
    const compiled = await place.shell('$rf compile --quiet --robots-dir robots -o hosts.table');
    expect(compiled.code).toBe(0);
    table = readFileSync(join(place.path, 'hosts.table'));
  });

  const judged = (octets: Uint8Array) => {
    place.write('piped', octets);
    return place.shell('cat piped | $rf --table /dev/stdin urls.txt');
  };

  it('says what it says as a file, however it is cut to pieces', async () => {
    const expected = await place.shell('$rf --table hosts.table urls.txt');
    expect(expected.text).toMatch(/^deny\t.*\nallow\t.*\nunknown\t.*\n$/);
    expect(await judged(table)).toEqual(expected);
    expect(await place.shell('$rf --table <(cat hosts.table) urls.txt')).toEqual(expected);
    const inPieces = await place.shell(
      `(dd bs=1 count=${HEADER_OCTETS - 1}; sleep 0.1; dd bs=100 count=5; sleep 0.1; cat) < hosts.table 2> notes | $rf --table /dev/stdin urls.txt`,
    );
    expect(inPieces).toEqual(expected);
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
    ['its header', () => table.subarray(0, HEADER_OCTETS), /: truncated: 352 octets of \d+/],
    ['a part', () => table.subarray(0, -1), /: truncated: (\d+) octets of \d+/],
    ['more', () => Buffer.concat([table, table]), /: octets follow its end at \d+/],
    ['a header that says 5 octets', () => saying(5), /: octets follow its end at 5/],
    ['a header that says 3 GB', () => saying(3e9), /: truncated: \d+ octets of 3000000000/],
    ['a header that says 4 GiB', () => saying(2 ** 32 - 1), /less than 4 GiB/],
  ])('is refused with a reason, if it is %s', async (_, octets, reason) => {
    const { code, text, stderr } = await judged(octets());
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toMatch(/^robots-filter: \/dev\/stdin: [^\n]+\n$/);
    expect(stderr).toMatch(reason);
  });

  it('is refused where it has no end', async () => {
    for (const [begin, reason] of [
      ['cat hosts.table', /: octets follow its end at \d+/],
      ['head -c 1000 hosts.table | tail -c +9', /: not a table of robots-filter/],
    ] as const) {
      const line = `(${begin}; cat /dev/zero) | $rf --table /dev/stdin urls.txt`;
      const { code, stderr } = await place.shell(line);
      expect(code).toBe(2);
      expect(stderr).toMatch(reason);
    }
  });

  /** The table, whose header says another length. */
  function saying(octets: number): Buffer {
    const other = Buffer.from(table);
    other.writeUInt32LE(octets, HEADER_LENGTH);
    return other;
  }
});
