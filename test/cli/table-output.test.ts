import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeTable } from '../../src/cli/table-output.js';
import { HEADER_OCTETS } from '../../src/compile/format.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { checkTable } from '../../src/compile/table-check.js';
import type { TableLayout } from '../../src/compile/table-layout.js';
import { TableWindow } from '../../src/compile/table-window.js';
import { ReplacementFile } from '../../src/pipeline/replacement-file.js';
import { Random } from '../random.js';

const HOSTS = 2000;

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-table-output-'));
afterAll(() => rmSync(directory, { recursive: true }));

const { signal } = new AbortController();

/**
 * A table of hosts with one and with several authorities, that share files, have long ones, and
 * have none.
 */
function layout(hosts = HOSTS): TableLayout {
  const random = new Random(3);
  const builder = new TableBuilder();
  for (let host = 0; host < hosts; host++) {
    const rules = random.run(['disallow: /a\n', 'allow: /b*c\n', `disallow: /${host}\n`], 1, 9);
    const long = host % 500 === 0 ? `disallow: /${'x'.repeat(20_000)}\n` : '';
    const body = Buffer.from(`user-agent: ${random.pick(['*', 'a', 'b'])}\n${rules}${long}`);
    const port = host % 7 === 0 ? host + 1 : undefined;
    const authority = { scheme: undefined, host: `h${host % 1900}.example`, port };
    const status = host % 11 === 0 ? 404 : undefined;
    // With the number of a line, with the host in it, and with neither.
    const source = [`all.ndjson:${host}`, `cache/${authority.host}.txt`, `one of ${host} files`];
    builder.add(authority, body, { source: random.pick(source), status });
  }
  return builder.layOut();
}

async function written(windowOctets?: number): Promise<Buffer> {
  const path = join(directory, `table-${windowOctets}`);
  const file = await ReplacementFile.create(path);
  await writeTable(layout(), file, signal, windowOctets);
  await file.commit(false);
  return readFileSync(path);
}

describe('a table that is written while it is laid out', () => {
  it.each([1, 64, 1000, 65_536, undefined])(
    'has a file of the same octets as in memory, by windows of %s octets',
    async (octets) => {
      const table = layout().table();
      expect(checkTable(table, 'table').hosts).toBe(1900);
      expect(table.length).toBeGreaterThan(200_000);
      expect((await written(octets)).equals(table)).toBe(true);
    },
  );

  it('goes to a pipe as well', async () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const read = readFile(pipe);
    const file = await ReplacementFile.create(pipe);
    expect(file.isSeekable).toBe(false);
    await writeTable(layout(), file, signal);
    await file.commit(false);
    expect((await read).equals(layout().table())).toBe(true);
  });

  it('has no hosts, or the same robots.txt for all of them', async () => {
    const empty = new TableBuilder();
    const same = new TableBuilder({ profile: 'google' });
    for (let host = 0; host < 500; host++) {
      const authority = { scheme: undefined, host: `h${host}.example`, port: undefined };
      same.add(authority, new Uint8Array(), { source: 'x', status: 404 });
    }
    for (const builder of [empty, same]) {
      const path = join(directory, 'alike');
      const file = await ReplacementFile.create(path);
      const checksum = await writeTable(builder.layOut(), file, signal, 100);
      await file.commit(false);
      const table = readFileSync(path);
      expect(table.equals(builder.build())).toBe(true);
      expect(() => checkTable(table, 'table', checksum + 1)).toThrow('checksum');
      checkTable(table, 'table', checksum);
    }
  });

  it('is given up with its file when the run is interrupted', async () => {
    const interruption = new AbortController();
    const place = mkdtempSync(join(directory, 'interrupted-'));
    const file = await ReplacementFile.create(join(place, 'table'));
    const run = writeTable(layout(), file, interruption.signal, 64);
    interruption.abort(new Error('interrupted'));
    await expect(run).rejects.toThrow('interrupted');
    await file.discard();
    expect(readdirSync(place)).toEqual([]);
    const device = await ReplacementFile.create('/dev/null');
    const late = writeTable(layout(), device, interruption.signal);
    await expect(late).rejects.toThrow('interrupted');
    await device.discard();
  });

  it('fails if the file does', async () => {
    const file = await ReplacementFile.create(join(directory, 'closed'));
    const run = writeTable(layout(), file, signal, 64);
    run.catch(() => {}); // heard below
    await file.discard();
    await expect(run).rejects.toMatchObject({ code: 'output' });
  });
});

describe('a layout', () => {
  it('is written once', () => {
    const once = layout(10);
    once.table();
    expect(once.nextOctets).toBe(0);
    expect(() => once.table()).toThrow('octets were written');
  });

  it('is not written once something was added to what it is of', () => {
    const builder = new TableBuilder();
    const authority = { scheme: undefined, host: 'h.example', port: undefined };
    builder.add(authority, new Uint8Array(), { source: 'x' });
    const early = builder.layOut();
    builder.add(authority, new Uint8Array(1), { source: 'x' });
    expect(() => early.table()).toThrow('has changed');
    builder.layOut().table();
  });

  it('writes nothing into a window without room, and whole pieces into one that has some', () => {
    const pieces = layout();
    const table = layout().table();
    const window = new TableWindow(new Uint8Array(0));
    pieces.fill(window);
    expect(window.end).toBe(0);
    let at = HEADER_OCTETS;
    let windows = 0;
    for (; pieces.nextOctets > 0; windows++) {
      const next = new TableWindow(new Uint8Array(pieces.nextOctets + 100));
      next.moveTo(at);
      pieces.fill(next);
      expect(next.end).toBeGreaterThan(0);
      expect(table.subarray(at, at + next.end)).toEqual(next.written);
      at += next.end;
    }
    expect(at).toBe(table.length);
    expect(windows).toBeGreaterThan(1000);
  });
});
