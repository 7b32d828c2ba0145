import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { expect, onTestFinished, test } from 'vitest';
import { ChunkWriter, encodePlainPage } from '../../src/parquet/chunk-writer.js';
import { RowsWriter } from '../../src/parquet/rows-writer.js';
import { BINARY, I32, list, MAX_VALUES, type ThriftStruct } from '../../src/parquet/thrift.js';
import { openParquet } from './parquet-fixtures.js';

const STEPS = 50_000;

test('rows that are added three at a time come back, from several row groups', async () => {
  const written: Uint8Array[] = [];
  const writer = new RowsWriter({ write: async (bytes) => void written.push(bytes.slice()) }, [
    { name: 'host', type: 'text', nullable: false },
    { name: 'line', type: 'integer', nullable: true },
    { name: 'nothing', type: 'text', nullable: true },
  ]);
  const rowOf = (step: number, row: number): [string, number | undefined, undefined] => [
    `h${step}`,
    row === 1 ? undefined : step + row,
    undefined,
  ];
  for (let step = 0; step < STEPS; step++) {
    for (let row = 0; row < 3; row++) writer.add(rowOf(step, row));
    if (writer.isFull) await writer.writeGroup();
  }
  await writer.finish();
  const bytes = Uint8Array.from(Buffer.concat(written));
  const groups = parquetMetadata(bytes.buffer).row_groups.map(({ num_rows }) => Number(num_rows));
  expect(groups.length).toBe(2);
  expect(groups[0]).toBeLessThan(2 ** 17 + 3);
  const rows = await parquetReadObjects({ file: bytes.buffer });
  expect(rows.length).toBe(3 * STEPS);
  const wrong = rows.filter(({ host, line, nothing }, index) => {
    const [ownHost, ownLine] = rowOf(Math.floor(index / 3), index % 3);
    return (
      host !== ownHost || (line ?? undefined) !== ownLine || (nothing ?? undefined) !== undefined
    );
  });
  expect(wrong).toEqual([]);
});

test('values that are too long for a dictionary come back', async () => {
  const written: Uint8Array[] = [];
  const writer = new RowsWriter({ write: async (bytes) => void written.push(bytes.slice()) }, [
    { name: 'text', type: 'text', nullable: true },
    { name: 'line', type: 'integer', nullable: true },
  ]);
  const texts = Array.from({ length: 17 }, (_, row) =>
    row % 5 === 4 ? undefined : `${row}`.padEnd(5 * 1024 * 1024, '.'),
  );
  const rows = texts.flatMap((text, row) => [
    [text, row],
    [undefined, undefined],
    ...(row % 6 === 0 ? [[texts[3], 7] as const] : []),
  ]);
  for (const row of rows) writer.add(row);
  await writer.finish();
  const bytes = Uint8Array.from(Buffer.concat(written));
  const [column] = parquetMetadata(bytes.buffer).row_groups[0]?.columns ?? [];
  expect(column?.meta_data?.dictionary_page_offset).toBeUndefined();
  const read = await parquetReadObjects({ file: bytes.buffer });
  expect(read.map(({ text, line }) => [text ?? undefined, line ?? undefined])).toEqual(rows);
});

test('what could not be read again is not written', async () => {
  const most = 256 * 1024 * 1024;
  const plain = { number: 0, compress: (input: Uint8Array) => input };
  expect(encodePlainPage(1, new Uint8Array(most), plain).body.length).toBe(most);
  expect(() => encodePlainPage(1, new Uint8Array(most + 1), plain)).toThrow(
    'a page of the Parquet output would have 268435457 bytes, and could not be read again',
  );
  const nowhere = { write: async () => {} };
  const long = new ChunkWriter(nowhere);
  const half: ThriftStruct = new Map([[1, { type: BINARY, value: new Uint8Array(most / 2) }]]);
  long.group(half);
  // The second half brings its own few bytes.
  await expect(long.end(half)).rejects.toThrow('more than 268435456 bytes of metadata');
  expect(() => long.group(half)).toThrow('more than 268435456 bytes of metadata');
  const wide = (length: number): ThriftStruct =>
    new Map([[1, list(I32, new Array<number>(length).fill(0))]]);
  expect(() => new ChunkWriter(nowhere).group(wide(MAX_VALUES))).toThrow(
    'more than 4194304 values',
  );
});

test('metadata of more than 16 MiB are written and read', async () => {
  const place = mkdtempSync(join(tmpdir(), 'robots-filter-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const path = join(place, 'many.parquet');
  // Each row group names its columns.
  const name = 'a'.repeat(200_000);
  const descriptor = openSync(path, 'w');
  const write = async (bytes: Uint8Array) => void writeSync(descriptor, bytes);
  const writer = new RowsWriter({ write }, [{ name, type: 'integer', nullable: false }]);
  for (let group = 0; group < 100; group++) {
    writer.add([group]);
    await writer.writeGroup();
  }
  await writer.finish();
  closeSync(descriptor);
  expect(statSync(path).size).toBeGreaterThan(20_000_000);
  const { footer } = await openParquet(path);
  expect(footer.rows).toBe(100);
  expect(footer.rowGroups.at(-1)?.read().columns[0]?.values).toBe(1);
});
