import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Table } from '../../src/judge/table.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { HEADER_BYTES } from '../../src/table/format.js';
import { Workplace } from '../cli/command-line.js';
import { every } from '../random/cases.js';

/*
 * Damage by a disk, a copy or an interrupted download: table-check.test.ts changes each bit.
 * Deliberate changes are another matter, because their author can recompute the checksum.
 */

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-'));
const path = join(directory, 'damaged.table');
let whole: Uint8Array;

beforeAll(() => {
  const builder = new TableBuilder();
  const robots = 'user-agent: *\ndisallow: /a\nallow: /*.b$\n\nuser-agent: bot\ndisallow: /*?x=\n';
  for (const host of ['a.example', 'b.example:8080']) {
    const authority = parseAuthority(host);
    if (authority === undefined) throw new Error(host);
    builder.add(authority, Buffer.from(robots), { source: host });
  }
  whole = builder.build();
  expect(whole.length).toBeLessThan(1200);
});

afterAll(() => rmSync(directory, { recursive: true }));

/** The table with other bits at a byte. */
function changed(at: number, bits: number): Uint8Array {
  const copy = whole.slice();
  copy[at] = (copy[at] as number) ^ bits;
  return copy;
}

function isRefused(error: unknown): boolean {
  return error instanceof RobotsFilterError && error.code === 'table';
}

describe('a table is refused', () => {
  it('by the library, from a file and from memory, with any byte changed or truncated anywhere', async () => {
    for (let at = 0; at < whole.length; at++) {
      for (const bytes of [changed(at, 1 << (at & 7)), whole.subarray(0, at)]) {
        expect(() => Table.from(bytes)).toThrow(RobotsFilterError);
        if (at >= HEADER_BYTES && at % every(12) > 0) continue;
        writeFileSync(path, bytes);
        await expect(Table.open(path)).rejects.toSatisfy(isRefused);
      }
    }
    writeFileSync(path, whole);
    const table = await Table.open(path);
    expect(table.verdict('http://a.example/a', 'x').verdict).toBe('deny');
  });

  it('by the command line, with exit 2, one line on standard error, and nothing on standard output', async () => {
    const place = new Workplace();
    place.write('urls', 'http://a.example/a\n');
    for (let at = 0; at < whole.length; at += every(24)) {
      for (const bytes of [changed(at, 1 << ((at >> 4) & 7)), whole.subarray(0, at)]) {
        place.write('it.table', bytes);
        const args = at % 96 === 0 ? ['--table', 'it.table', 'urls'] : ['inspect', 'it.table'];
        const { code, text, stderr } = await place.run(args);
        expect({ code, text }, `${at}`).toEqual({ code: 2, text: '' });
        expect(stderr).toMatch(/^robots-filter: it\.table: [^\n]*: [^\n]*\n$/);
      }
    }
  });
});
