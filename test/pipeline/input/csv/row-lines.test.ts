import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { COMMA, LF } from '../../../../src/base/ascii.js';
import { ROW_MARK_BYTES, ROW_MARKED, ROW_REFUSED } from '../../../../src/kernel/layout.js';
import { fieldsOfRow } from '../../../../src/pipeline/input/columns.js';
import { PIECE_BYTES, RowLines } from '../../../../src/pipeline/input/row-lines.js';

/** The lines that an input in chunks of `size` bytes yields. */
async function linesOf(input: Buffer, size: number, maxRecordBytes = 1000): Promise<Buffer> {
  const stream = new RowLines({ delimiter: COMMA, maxRecordBytes, linesBefore: 0 });
  const parts: Buffer[] = [];
  stream.on('data', (part) => parts.push(part));
  for (let at = 0; at < input.length; at += size) stream.write(input.subarray(at, at + size));
  stream.end();
  await once(stream, 'end');
  return Buffer.concat(parts);
}

/** The row of a line that `RowLines` has made, with its newlines; `undefined` for a refused one. */
function rowOfLine(line: Buffer): Buffer | undefined {
  if (line.length < ROW_MARK_BYTES) return line;
  if (line[0] === ROW_REFUSED) return undefined;
  if (line[0] !== ROW_MARKED) return line;
  const standIn = line[1];
  return line.subarray(ROW_MARK_BYTES).map((byte) => (byte === standIn ? LF : byte)) as Buffer;
}

/** The rows of lines, as they stood in the input; `undefined` for refused ones. */
function rowsOf(lines: Buffer): (string | undefined)[] {
  const rows: (string | undefined)[] = [];
  for (let start = 0; start < lines.length; ) {
    const found = lines.indexOf('\n', start);
    const end = found < 0 ? lines.length : found;
    if (end > start) rows.push(rowOfLine(lines.subarray(start, end))?.toString('latin1'));
    start = end + 1;
  }
  return rows;
}

const ROWS = [
  'a,b',
  '"a\nb",c',
  '\x01"b",\x02',
  '\x02',
  '"a""\n\n""b"\r',
  'x"y,z"',
  '"a"b"\r',
  '","',
  '""',
  '"\xff\xfe\n"',
  ',,',
];

describe('rows as lines', () => {
  const input = Buffer.from(`${ROWS.join('\n')}\n`, 'latin1');

  it.each([1, 2, 3, 5, 8, 13, 1000])('are the same in chunks of %i bytes', async (size) => {
    const lines = await linesOf(input, size);
    expect(rowsOf(lines)).toEqual(ROWS);
    const count = (bytes: Buffer) => bytes.filter((byte) => byte === 0x0a).length;
    expect(count(lines)).toBe(count(input));
  });

  it('are the same wherever a piece of a chunk ends', async () => {
    for (let shift = 0; shift <= input.length; shift++) {
      const first = 'b'.repeat(PIECE_BYTES - 1 - shift);
      const all = Buffer.concat([Buffer.from(`${first}\n`), input]);
      const lines = await linesOf(all, all.length, PIECE_BYTES);
      expect(rowsOf(lines)).toEqual([first, ...ROWS]);
    }
  });

  it('pass as they are without newlines in fields, and the last row gets one', async () => {
    const plain = 'a,b\n"c",d\r\n\ne"f,g';
    for (const size of [1, 4, 100]) {
      expect((await linesOf(Buffer.from(plain), size)).toString()).toBe(`${plain}\n`);
    }
  });

  it('are refused where a quoted field has no end', async () => {
    for (const size of [1, 4, 100]) {
      const lines = await linesOf(Buffer.from('a\n"b\nc,'), size);
      expect(rowsOf(lines)).toEqual(['a', undefined]);
      expect(lines.subarray(3).includes('b')).toBe(true);
    }
  });

  it('are refused where every byte occurs in one', async () => {
    const all = Buffer.concat([
      Buffer.from('"'),
      Buffer.from(Array.from({ length: 256 }, (_, byte) => (byte === 0x22 ? 0x20 : byte))),
      Buffer.from('"\n'),
    ]);
    expect(rowsOf(await linesOf(all, 50))).toEqual([undefined]);
  });

  it('that are too long hold no newline, and the next row is as it was', async () => {
    const input = Buffer.from(`"${'\n'.repeat(20)}"\nnext\n`);
    for (const size of [1, 7, 100]) {
      const lines = await linesOf(input, size, 10);
      expect(lines.indexOf('\n')).toBeGreaterThan(20);
      expect(lines.toString('latin1').endsWith(`${'\n'.repeat(21)}next\n`)).toBe(true);
    }
  });

  it.each([
    ['', ['']],
    ['a', ['a']],
    ['a,\r\n', ['a', '']],
    [',', ['', '']],
    ['"a,""b""",c\n', ['a,"b"', 'c']],
    ['"a"b,c', ['ab', 'c']],
    ['"open,', ['open,']],
    ['"",""', ['', '']],
    ['a"b,"c"', ['a"b', 'c']],
  ])('%j has the fields %j', (row, fields) => {
    expect(fieldsOfRow(Buffer.from(row), COMMA)).toEqual(fields);
  });
});
