import { describe, expect, test } from 'vitest';
import { entriesWith } from '../../src/parquet/parquet-writer.js';
import { type ThriftStruct, text, textOf } from '../../src/parquet/thrift.js';

const ADDED = [
  { name: 'verdict', type: 'text', nullable: false },
  { name: 'line', type: 'integer', nullable: true },
] as const;
const COLUMNS = ['id', 'url'];
const SPARK = 'org.apache.spark.sql.parquet.row.metadata';

/** The value of an entry after columns have been added; `undefined` if it is left out. */
function extended(key: string, value: string, added: typeof ADDED | [] = ADDED, columns = COLUMNS) {
  const entry: ThriftStruct = new Map([
    [1, text(key)],
    [2, text(value)],
  ]);
  const [left, ...others] = entriesWith([entry], added, columns);
  expect(others).toEqual([]);
  return left && textOf(left, 2);
}

/** An object with this list of fields, spelt as no JSON.stringify would spell it. */
function schema(type: string, fields: string[], rest = ''): string {
  return `{ "type" : "${type}", "fields":[${fields.join(' , ')} ]${rest}}`;
}

const FIELDS = [
  '{"name":"id","type":"long","metadata":{"big":9007199254740993,"fields":[{"name":"]"}]}}',
  '{"name":"url","type":"string"}',
];

describe('entries of metadata that hold a schema', () => {
  test('of Spark and Avro get the added columns; the rest stays byte for byte', () => {
    const spark = schema('struct', FIELDS);
    expect(extended(SPARK, spark)).toBe(
      `${spark.slice(0, -3)},{"name":"verdict","type":"string","nullable":false,"metadata":{}},` +
        '{"name":"line","type":"integer","nullable":true,"metadata":{}}]}',
    );
    const avro = schema('record', FIELDS, ',"doc":"\\"fields\\":[]","aliases":["x"]');
    for (const key of ['parquet.avro.schema', 'avro.schema']) {
      const value = extended(key, avro) ?? '';
      expect(value).toContain('"big":9007199254740993');
      const { fields, ...rest } = JSON.parse(value) as { fields: object[] };
      expect(rest).toEqual({ type: 'record', doc: '"fields":[]', aliases: ['x'] });
      expect(fields.slice(2)).toEqual([
        { name: 'verdict', type: 'string' },
        { name: 'line', type: ['null', 'int'], default: null },
      ]);
    }
  });

  test('are left out if they are stale, damaged, or cannot hold the names', () => {
    const spark = schema('struct', FIELDS);
    expect(extended(SPARK, spark, ADDED, ['id', 'url', 'mime'])).toBeUndefined();
    expect(extended(SPARK, spark, ADDED, ['url', 'id'])).toBeUndefined();
    for (const damaged of ['', '[]', '{', spark.slice(1), '{"type":"struct"}', 'null']) {
      expect(extended(SPARK, damaged), damaged).toBeUndefined();
    }
    const hyphen = { name: 'verdict_Google-Extended', type: 'text', nullable: false } as const;
    const entry: ThriftStruct = new Map([
      [1, text('parquet.avro.schema')],
      [2, text(schema('record', FIELDS))],
    ]);
    expect(entriesWith([entry], [hyphen], COLUMNS)).toEqual([]);
    for (const key of ['ARROW:schema', 'iceberg.schema', 'pig.schema', 'huggingface']) {
      expect(extended(key, spark), key).toBeUndefined();
    }
  });

  test('of pandas keep the index, unless the labels of the columns are no plain texts', () => {
    const pandas = (labels: object[]) =>
      JSON.stringify({ index_columns: ['key'], column_indexes: labels, columns: [] });
    const value = extended('pandas', pandas([{ name: null, pandas_type: 'unicode' }])) ?? '';
    expect(JSON.parse(value)).toMatchObject({
      index_columns: ['key'],
      columns: [
        { name: 'verdict', pandas_type: 'unicode' },
        { name: 'line', pandas_type: 'int32' },
      ],
    });
    const text = { name: null, pandas_type: 'unicode' };
    expect(extended('pandas', pandas([text, text]))).toBeUndefined();
    expect(extended('pandas', pandas([{ name: null, pandas_type: 'int64' }]))).toBeUndefined();
  });

  test('all others stay', () => {
    for (const key of [
      'org.apache.spark.version',
      'org.apache.spark.legacyDateTime',
      'org.apache.spark.legacyINT96',
      'org.apache.spark.timeZone',
      'geo',
      'writer.model.name',
      'writer.time.zone',
      'parquet.proto.class',
      'thrift.descriptor',
      'toString',
      '',
    ]) {
      expect(extended(key, 'x'), key).toBe('x');
    }
  });
});
