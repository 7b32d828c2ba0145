import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { RowsWriter } from '../../src/parquet/rows-writer.js';

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
