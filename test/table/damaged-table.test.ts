import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { RobotsFilterError } from '../../src/errors.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { HEADER_BYTES } from '../../src/table/format.js';
import { checkTable } from '../../src/table/table-check.js';
import { Table } from '../../src/table.js';

/*
 * Damage by a disk, a copy or an interrupted download. Deliberate changes are another matter,
 * because their author can recompute the checksum.
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
  it('if any of its bytes changes', () => {
    let changes = 0;
    let refused = 0;
    for (let at = 0; at < whole.length; at++) {
      // Every value in the header and at every eighth byte; every single bit elsewhere.
      const isWhole = at < HEADER_BYTES || at % 8 === 0;
      for (let bits = 1; bits < 256; bits = isWhole ? bits + 1 : 2 * bits) {
        changes++;
        try {
          checkTable(changed(at, bits), 'it');
        } catch (error) {
          if (!isRefused(error)) throw error;
          refused++;
        }
      }
    }
    expect(changes).toBeGreaterThan(40 * whole.length);
    expect(refused).toBe(changes);
    checkTable(whole, 'it');
  });

  it('by the library, from a file and from memory, with any byte changed or truncated anywhere', async () => {
    const damaged = Array.from(whole, (_, at) => changed(at, 1 << (at & 7)));
    for (let length = 0; length < whole.length; length++) damaged.push(whole.subarray(0, length));
    for (const bytes of damaged) {
      writeFileSync(path, bytes);
      await expect(Table.open(path)).rejects.toSatisfy(isRefused);
      expect(() => Table.from(bytes)).toThrow(RobotsFilterError);
    }
    writeFileSync(path, whole);
    const table = await Table.open(path);
    expect(table.verdict('http://a.example/a', 'x').verdict).toBe('deny');
  });

  it('by the command line, with exit 2, one line on standard error, and nothing on standard output', async () => {
    writeFileSync(path, whole);
    writeFileSync(join(directory, 'urls'), 'http://a.example/a\n');
    // One process for all bytes; otherwise each byte would start one.
    const program = `
      import { readFileSync, writeFileSync } from 'node:fs';
      import { run } from ${JSON.stringify(new URL('../../src/cli/program.ts', import.meta.url).href)};
      const whole = readFileSync('damaged.table');
      const codes = new Map();
      const tell = async (args) => {
        const code = await run(args);
        codes.set(code, (codes.get(code) ?? 0) + 1);
      };
      for (let at = 0; at < whole.length; at += 8) {
        for (const length of [whole.length, at]) {
          const copy = Buffer.from(whole.subarray(0, length));
          if (length > at) copy[at] ^= 1 << ((at >> 3) & 7);
          writeFileSync('it.table', copy);
          await tell(['inspect', 'it.table']);
          if (at % 64 === 0) await tell(['--table', 'it.table', 'urls']);
        }
      }
      writeFileSync('codes', JSON.stringify([...codes]));
      process.exit(0);
    `;
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', program];
    const options = { cwd: directory, maxBuffer: 1 << 26 };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    const runs = 2 * (Math.ceil(whole.length / 8) + Math.ceil(whole.length / 64));
    expect(stdout).toBe('');
    const lines = stderr.split('\n').slice(0, -1);
    expect(lines).toHaveLength(runs);
    for (const line of lines) expect(line).toMatch(/^robots-filter: it\.table: .*: .*/);
    expect(JSON.parse(readFileSync(join(directory, 'codes'), 'utf8'))).toEqual([[2, runs]]);
  });
});
