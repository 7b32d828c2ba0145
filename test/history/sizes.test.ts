import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PartMerger } from '../../src/compile/part-merger.js';
import { TableContents } from '../../src/compile/table-contents.js';
import { type TableLayout, writeTable } from '../../src/compile/table-layout.js';
import { FIRST_BODY, PartBuilder } from '../../src/compile/table-part.js';
import { ReplacementFile } from '../../src/files/replacement.js';
import { Table, tableIn, tableMemory } from '../../src/judge/table.js';
import { tableAt } from '../../src/judge/table-memory.js';
import {
  ENTRY_BYTES_DATED,
  HISTORY_VERSION_BYTES,
  HISTORY_VERSIONS,
  HOST_SEVERAL_NAME,
} from '../../src/table/format.js';

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-sizes-'));
afterAll(() => rmSync(directory, { recursive: true }));

const FIRST_TIME = 1_000_000_000;
const { signal } = new AbortController();

/** Bytes of the record of a host with one authority. */
function recordBytes(host: string, versions: number): number {
  const fixed = HOST_SEVERAL_NAME + host.length + ENTRY_BYTES_DATED + HISTORY_VERSIONS;
  return fixed + HISTORY_VERSION_BYTES * versions;
}

/**
 * Hosts with these numbers of versions, one each second, which deny `/0`, `/1` and `/2` by turns.
 */
function contentsOf(hosts: Readonly<Record<string, number>>): TableContents {
  const options = { history: true };
  const contents = new TableContents(options);
  const part = new PartBuilder(options, { key: contents.key });
  for (const turn of [0, 1, 2]) {
    part.addBody(Buffer.from(`User-agent: *\nDisallow: /${turn}\n`), 'it');
  }
  const merger = new PartMerger(contents);
  const taken = part.take();
  merger.receive(taken);
  merger.add(taken);
  for (const [host, versions] of Object.entries(hosts)) {
    const authority = { scheme: undefined, host, port: undefined };
    for (let version = 0; version < versions; version++) {
      const body = merger.body(FIRST_BODY + (version % 3));
      const date = 1000 * (FIRST_TIME + version);
      contents.addEntry(authority, { body, bodyBytes: 27, source: `f:${version}`, date });
    }
  }
  return contents;
}

async function written(of: TableLayout, chunkBytes?: number): Promise<Buffer> {
  const path = join(directory, 't');
  const file = await ReplacementFile.create(path);
  await writeTable(of, file, signal, chunkBytes);
  await file.commit(false);
  return readFileSync(path);
}

/** Asks for the rules of a host in its first, its last and some other versions. */
async function expectAnswers(
  bytes: Uint8Array,
  hosts: Readonly<Record<string, number>>,
): Promise<void> {
  const table = Table.from(bytes);
  await table.verify();
  for (const [host, versions] of Object.entries(hosts)) {
    for (const at of [-1, 0, 1, versions >> 1, versions - 2, versions - 1, versions]) {
      const then = tableIn(tableAt(tableMemory(table), FIRST_TIME + at), 'then');
      const denied = [0, 1, 2].filter(
        (turn) => then.verdict(`https://${host}/${turn}`, 'bot').verdict === 'deny',
      );
      const version = Math.min(at, versions - 1);
      expect(denied, `${host} at ${at}`).toEqual(version < 0 ? [] : [version % 3]);
      const { reason, rule } = then.verdict(`https://${host}/${version % 3}`, 'bot');
      if (version < 0) expect(reason).toBe('before-first-capture');
      else expect(rule).toMatchObject({ line: 2, source: `f:${version}` });
    }
  }
}

describe('a host with a long history', () => {
  it('fills a piece of the file, with more versions than 16 bits count', async () => {
    const host = 'abcd.example';
    const versions = 66_000;
    const hosts = { 'a.example': 2, [host]: versions, 'z.example': 3 };
    const contents = contentsOf(hosts);
    const table = contents.layOut().table();
    const chunk = recordBytes(host, versions);
    expect((await written(contents.layOut(), chunk)).equals(table)).toBe(true);
    await expectAnswers(table, hosts);
  });

  it('fills a small piece, with one byte more or less, wherever its neighbours lie', async () => {
    const hosts = { 'a.example': 7, 'b.example': 50, 'c.example': 49, 'd.example': 1 };
    const contents = contentsOf(hosts);
    const table = contents.layOut().table();
    await expectAnswers(table, hosts);
    const bytes = recordBytes('b.example', 50);
    for (const chunk of [-64, -20, -1, 0, 1, 20, 64].map((more) => bytes + more)) {
      expect((await written(contents.layOut(), chunk)).equals(table), `${chunk}`).toBe(true);
    }
  });
});
