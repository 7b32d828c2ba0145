import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TableOutput } from '../../src/cli/table-output.js';
import { HEADER_OCTETS } from '../../src/compile/format.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { ReplacementFile } from '../../src/pipeline/replacement-file.js';
import { Random } from '../random.js';

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-table-output-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('a table that is written while it is laid out', () => {
  it('has a file of the same octets, and nothing in it before it is final but its header', async () => {
    const path = join(directory, 'table');
    const file = await ReplacementFile.create(path);
    const output = new TableOutput(file);
    // Larger than two pieces.
    const table = Buffer.alloc(40_000_001);
    for (let end = HEADER_OCTETS; end < table.length; end += 1_000_003) {
      table.fill(1 + (end % 251), table.indexOf(0, HEADER_OCTETS), end);
      output.laidOut(table, end);
    }
    table.fill(7, table.indexOf(0, HEADER_OCTETS));
    table.fill(9, 0, HEADER_OCTETS);
    await output.finish(table);
    await file.commit(false);
    expect(readFileSync(path).equals(table)).toBe(true);
  });

  it('goes to a device in one piece', async () => {
    const file = await ReplacementFile.create('/dev/null');
    expect(file.isSeekable).toBe(false);
    const output = new TableOutput(file);
    const table = new Uint8Array(40_000_000);
    output.laidOut(table, table.length);
    await output.finish(table);
    await file.commit(false);
  });

  it('is never said to be laid out further than it is', () => {
    const random = new Random(3);
    const builder = new TableBuilder();
    for (let host = 0; host < 2000; host++) {
      const rules = random.run(['disallow: /a\n', 'allow: /b*c\n', `disallow: /${host}\n`], 1, 9);
      const body = Buffer.from(`user-agent: ${random.pick(['*', 'a', 'b'])}\n${rules}`);
      const authority = { scheme: undefined, host: `h${host % 1900}.example`, port: undefined };
      builder.add(authority, body, { source: `${host}` });
    }
    const early: Buffer[] = [];
    let laidOut = HEADER_OCTETS;
    const table = builder.build(undefined, (octets, end) => {
      expect(end).toBeGreaterThanOrEqual(laidOut);
      early.push(Buffer.from(octets.subarray(laidOut, end)));
      laidOut = end;
    });
    expect(laidOut).toBeGreaterThan(0.9 * table.length);
    expect(Buffer.concat(early).equals(table.subarray(HEADER_OCTETS, laidOut))).toBe(true);
  });
});
