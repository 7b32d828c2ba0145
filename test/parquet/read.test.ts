import { describe, expect, it } from 'vitest';
import type { ColumnChunk } from '../../src/parquet/footer.js';
import {
  chunkValues,
  columnValues,
  FIXTURES,
  type FixtureRow,
  fixturePath,
  fixtureRows,
  openParquet,
} from './parquet-fixtures.js';

/** The columns, and what their bytes mean in JSON. */
const COLUMNS: [string, (row: FixtureRow) => unknown, (bytes: Buffer) => unknown][] = [
  ['url', ({ url }) => url, String],
  ['id', ({ id }) => id, (bytes) => Number(bytes.readBigInt64LE())],
  ['status', ({ status }) => status, (bytes) => bytes.readInt32LE()],
  ['flag', ({ flag }) => flag, (bytes) => bytes[0] === 1],
  ['ratio', ({ ratio }) => ratio, (bytes) => bytes.readDoubleLE()],
  ['digest', ({ digest }) => digest, (bytes) => [...bytes]],
  ['mime', ({ mime }) => mime, String],
  ['request.url', ({ request }) => request?.url ?? null, String],
  ['request.n', ({ request }) => request?.n ?? null, (bytes) => bytes.readInt32LE()],
];

describe('a Parquet file', () => {
  it.each(FIXTURES)('%s: every column has the values that were written', async (name) => {
    const file = await openParquet(fixturePath(`${name}.parquet`));
    const rows = fixtureRows();
    expect(file.footer.rows).toBe(rows.length);
    for (const [column, expected, decode] of COLUMNS) {
      const values = await columnValues(file, column);
      const decoded = values.map((value) => (value === null ? null : decode(value)));
      expect(decoded, column).toEqual(rows.map(expected));
    }
    const times = await columnValues(file, 'fetch_time');
    const first = times[0]?.readBigInt64LE() ?? 0n;
    // DuckDB keeps microseconds where it is given milliseconds.
    const unit = (times[1]?.readBigInt64LE() ?? 0n) - first;
    expect([1n, 1000n]).toContain(unit);
    expect(times.map((time) => time?.readBigInt64LE())).toEqual(
      rows.map((_, index) => first + BigInt(index) * unit),
    );
  });

  it.each(FIXTURES)('%s: a repeated column has its levels', async (name) => {
    const file = await openParquet(fixturePath(`${name}.parquet`));
    const index = file.footer.leaves.findIndex(({ path }) => path[0] === 'tags');
    expect(file.footer.leaves[index]).toMatchObject({ maxRepetition: 1, maxDefinition: 3 });
    const tags: (string | null)[][] = [];
    for (const group of file.footer.rowGroups) {
      const chunk = group.read().columns[index] as ColumnChunk;
      const values = await chunkValues(file, chunk);
      for await (const page of file.pages(chunk)) {
        if (page.kind === 'dictionary') continue;
        for (let entry = 0; entry < page.entries; entry++) {
          if (page.repetitions?.[entry] === 0) tags.push([]);
          const value = values.shift();
          // Level 2: a null in the list. Below there is no element.
          if ((page.definitions?.[entry] ?? 0) >= 2) tags.at(-1)?.push(value?.toString() ?? null);
        }
      }
    }
    expect(tags).toEqual(fixtureRows().map((row) => row.tags ?? []));
  });
});
