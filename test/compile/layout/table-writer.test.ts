import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TableChunk } from '../../../src/compile/host-records.js';
import { type TableLayout, writeTable } from '../../../src/compile/table-layout.js';
import { ReplacementFile } from '../../../src/files/replacement.js';
import { checkTable } from '../../../src/judge/table-memory.js';
import { HEADER_BYTES } from '../../../src/table/format.js';
import { Random } from '../../random/random.js';
import { GrowingContents } from '../contents.js';

const HOSTS = 2000;

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-table-output-'));
afterAll(() => rmSync(directory, { recursive: true }));

const { signal } = new AbortController();

/**
 * A table of hosts with one and with several authorities; the hosts share files, have long files,
 * or have none.
 */
function layout(hosts = HOSTS): TableLayout {
  const random = new Random(3);
  const contents = new GrowingContents();
  for (let host = 0; host < hosts; host++) {
    const rules = random.run(['disallow: /a\n', 'allow: /b*c\n', `disallow: /${host}\n`], 1, 9);
    const long = host % 500 === 0 ? `disallow: /${'x'.repeat(20_000)}\n` : '';
    const body = Buffer.from(`user-agent: ${random.pick(['*', 'a', 'b'])}\n${rules}${long}`);
    const port = host % 7 === 0 ? host + 1 : undefined;
    const authority = { scheme: undefined, host: `h${host % 1900}.example`, port };
    const status = host % 11 === 0 ? 404 : undefined;
    // Sources with a line number, with the host, and with neither.
    const source = [`all.ndjson:${host}`, `cache/${authority.host}.txt`, `one of ${host} files`];
    contents.add(authority, body, { source: random.pick(source), status });
  }
  return contents.layOut();
}

async function written(chunkBytes?: number): Promise<Buffer> {
  const path = join(directory, `table-${chunkBytes}`);
  const file = await ReplacementFile.create(path);
  await writeTable(layout(), file, signal, chunkBytes);
  await file.commit(false);
  return readFileSync(path);
}

describe('a table that is written while it is laid out', () => {
  it.each([1, 64, 1000, 65_536, undefined])(
    'has the same bytes in a file as in memory, in chunks of %s bytes',
    async (bytes) => {
      const table = layout().table();
      expect(checkTable(table, 'table').hosts).toBe(1900);
      expect(table.length).toBeGreaterThan(200_000);
      expect((await written(bytes)).equals(table)).toBe(true);
    },
  );

  it('can be written to a pipe', async () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const read = readFile(pipe);
    const file = await ReplacementFile.create(pipe);
    expect(file.isSeekable).toBe(false);
    await writeTable(layout(), file, signal);
    await file.commit(false);
    expect((await read).equals(layout().table())).toBe(true);
  });

  it('may have no hosts, or one robots.txt for all hosts', async () => {
    const empty = new GrowingContents();
    const same = new GrowingContents({ profile: 'google' });
    for (let host = 0; host < 500; host++) {
      const authority = { scheme: undefined, host: `h${host}.example`, port: undefined };
      same.add(authority, new Uint8Array(), { source: 'x', status: 404 });
    }
    for (const contents of [empty, same]) {
      const path = join(directory, 'alike');
      const file = await ReplacementFile.create(path);
      const checksum = await writeTable(contents.layOut(), file, signal, 100);
      await file.commit(false);
      const table = readFileSync(path);
      expect(table.equals(contents.layOut().table())).toBe(true);
      expect(() => checkTable(table, 'table', checksum + 1)).toThrow('checksum');
      checkTable(table, 'table', checksum);
    }
  });

  it('is abandoned with its file when the run is interrupted', async () => {
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

  it('fails if the file fails', async () => {
    const file = await ReplacementFile.create(join(directory, 'closed'));
    const run = writeTable(layout(), file, signal, 64);
    run.catch(() => {}); // checked below
    await file.discard();
    await expect(run).rejects.toMatchObject({ code: 'output' });
  });
});

describe('a layout', () => {
  it('can be written only once', () => {
    const once = layout(10);
    once.table();
    expect(once.nextBytes).toBe(0);
    expect(() => once.table()).toThrow('was written before');
  });

  it('cannot be written after its contents have changed', () => {
    const contents = new GrowingContents();
    const authority = { scheme: undefined, host: 'h.example', port: undefined };
    contents.add(authority, new Uint8Array(), { source: 'x' });
    const early = contents.layOut();
    contents.add(authority, new Uint8Array(1), { source: 'x' });
    expect(() => early.table()).toThrow('have changed');
    contents.layOut().table();
  });

  it('writes nothing into a chunk without room, and only whole pieces into a chunk with room', () => {
    const pieces = layout();
    const table = layout().table();
    const chunk = new TableChunk(new Uint8Array(0));
    pieces.fill(chunk);
    expect(chunk.end).toBe(0);
    let at = HEADER_BYTES;
    let chunks = 0;
    for (; pieces.nextBytes > 0; chunks++) {
      // Memory is not zero: a chunk is used again.
      const next = new TableChunk(new Uint8Array(pieces.nextBytes + 100).fill(0xa5));
      next.moveTo(at);
      pieces.fill(next);
      expect(next.end).toBeGreaterThan(0);
      expect(next.written.equals(table.subarray(at, at + next.end))).toBe(true);
      at += next.end;
    }
    expect(at).toBe(table.length);
    expect(chunks).toBeGreaterThan(1000);
  });
});
