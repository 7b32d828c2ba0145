import { type BasicType, type ColumnSource, parquetWriteFile } from 'hyparquet-writer';
import { INDEX_COLUMNS, type IndexColumn } from '../corpus/index-rows.js';
import type { IndexWriter } from './index-store.js';

const TYPES: Readonly<Record<IndexColumn['type'], BasicType>> = {
  text: 'STRING',
  time: 'TIMESTAMP',
  integer: 'INT32',
};

/** Rows of a group. */
const ROW_GROUP = 10_000;

/** Writes a small index with hyparquet-writer: all rows lie in memory. */
export const SNAPPY_INDEX: IndexWriter = {
  codec: 'snappy',
  async write(filename, rows) {
    const columns = INDEX_COLUMNS.map(() => [] as (string | number | Date | null)[]);
    for (const { values } of rows) {
      for (const [index, { type }] of INDEX_COLUMNS.entries()) {
        const value = values[index] ?? null;
        const isTime = type === 'time' && value !== null;
        columns[index]?.push(isTime ? new Date(value) : value);
      }
    }
    const columnData: ColumnSource[] = INDEX_COLUMNS.map(({ name, type }, index) => ({
      name,
      type: TYPES[type],
      data: columns[index] ?? [],
      nullable: true,
    }));
    parquetWriteFile({ filename, columnData, rowGroupSize: ROW_GROUP });
  },
};
