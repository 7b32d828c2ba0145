import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import {
  CHUNK,
  COLUMN,
  FILE,
  GROUP,
  MAX_ROW_GROUPS,
  ROW_GROUPS,
} from '../../src/parquet/footer.js';
import { HEADER } from '../../src/parquet/pages.js';
import {
  encodeThrift,
  i32,
  i64,
  list,
  listOf,
  MAX_VALUES,
  structOf,
  type ThriftField,
  ThriftReader,
  type ThriftStruct,
  type ThriftValue,
} from '../../src/parquet/thrift.js';
import { every } from '../random/cases.js';
import {
  columnValues,
  FIXTURES,
  fixturePath,
  openParquet,
  sealed,
  withFooter as withChangedFooter,
} from './parquet-fixtures.js';

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-'));
const path = join(directory, 'f.parquet');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Reads all columns; returns the error if that is refused. Any other error fails the test. */
async function refusal(bytes: Uint8Array): Promise<string | undefined> {
  try {
    writeFileSync(path, bytes);
    const file = await openParquet(path);
    for (const { path } of file.footer.leaves) await columnValues(file, path.join('.'));
    return undefined;
  } catch (error) {
    if (!(error instanceof RobotsFilterError)) throw error;
    expect(error.code).toBe('input');
    expect(error.message).toContain('f.parquet: this Parquet file cannot be read at byte ');
    return error.message;
  }
}

const SOUND = readFileSync(fixturePath('v1-none.parquet'));

/** The file with a changed footer. */
function withFooter(change: (fields: ThriftStruct) => void, sound = SOUND): Buffer {
  return withChangedFooter(sound, change);
}

function valuesOf(fields: ThriftStruct, id: number): ThriftValue[] {
  return (fields.get(id) as { value: { values: ThriftValue[] } }).value.values;
}

/** The first chunk of the first row group, and its metadata. */
function firstChunk(fields: ThriftStruct): { chunk: ThriftStruct; metadata: ThriftStruct } {
  const [group] = valuesOf(fields, FILE.rowGroups) as ThriftStruct[];
  const [chunk] = valuesOf(group as ThriftStruct, GROUP.columns) as ThriftStruct[];
  const metadata = chunk?.get(CHUNK.metadata)?.value as ThriftStruct;
  return { chunk: chunk as ThriftStruct, metadata };
}

/** Changes fields of the metadata of the first chunk. */
function changed(
  id: number,
  field: ThriftField,
  ...more: number[]
): (fields: ThriftStruct) => void {
  return (fields) => {
    const { metadata } = firstChunk(fields);
    for (const each of [id, ...more]) metadata.set(each, field);
  };
}

describe('a hostile Parquet file', () => {
  it('is read if its footer is only written again', async () => {
    for (const name of FIXTURES) {
      const sound = readFileSync(fixturePath(`${name}.parquet`));
      expect(await refusal(withFooter(() => {}, sound)), name).toBeUndefined();
    }
  });

  it('cut off anywhere is refused', async () => {
    for (let length = 0; length < SOUND.length; length += 97) {
      expect(await refusal(SOUND.subarray(0, length)), String(length)).toBeDefined();
    }
    expect(await refusal(SOUND.subarray(0, -1))).toContain('does not end with PAR1');
    expect(await refusal(SOUND.subarray(0, 11))).toContain('too short');
  });

  it('with any byte changed is read or refused, and nothing else happens', async () => {
    let refused = 0;
    for (const name of ['v1-snappy', 'delta', 'v1-lz4', 'v1-zstd']) {
      const sound = readFileSync(fixturePath(`${name}.parquet`));
      for (let at = 0; at < sound.length; at += every(450)) {
        for (const value of [0x00, 0xff, (sound[at] as number) ^ 1]) {
          const damaged = Buffer.from(sound);
          damaged[at] = value;
          if ((await refusal(damaged)) !== undefined) refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(40);
  });

  it('with any bit of a page changed is refused if its pages have checksums', async () => {
    for (const name of ['checksums', 'checksums-v2']) {
      const sound = readFileSync(fixturePath(`${name}.parquet`));
      const footer = sound.length - 8 - sound.readUInt32LE(sound.length - 8);
      let mismatches = 0;
      for (let at = 4; at < footer; at += every(75)) {
        const damaged = Buffer.from(sound);
        damaged[at] = (sound[at] as number) ^ (1 << (at % 8));
        const message = await refusal(damaged);
        if (message?.includes('checksum is wrong')) mismatches++;
      }
      expect(mismatches, name).toBeGreaterThan(15);
    }
  });

  it.each<[string, (fields: ThriftStruct) => void, string]>([
    [
      'a chunk beyond the data',
      changed(COLUMN.dictionaryPage, i64(10 ** 12), COLUMN.dataPage),
      'outside of the data',
    ],
    ['a chunk in the magic bytes', changed(COLUMN.dataPage, i64(-1)), 'outside of the data'],
    ['a chunk of 2^40 bytes', changed(COLUMN.compressedBytes, i64(2 ** 40)), 'outside of'],
    ['a size beyond 2^53', changed(COLUMN.compressedBytes, i64(2 ** 62)), 'out of range'],
    ['a negative number of values', changed(COLUMN.values, i64(-3)), 'out of range'],
    ['more values than there are', changed(COLUMN.values, i64(2 ** 40)), 'too early'],
    ['fewer values than there are', changed(COLUMN.values, i64(2)), 'more values than'],
    ['an unknown codec', changed(COLUMN.codec, i32(77)), 'number 77'],
    ['another codec', changed(COLUMN.codec, i32(2)), 'gzip data is damaged'],
    [
      'a column in another file',
      (fields) => firstChunk(fields).chunk.set(CHUNK.path, { type: 8, value: Buffer.from('x') }),
      'another file',
    ],
    [
      'columns that overlap',
      (fields) => {
        const groups = valuesOf(fields, FILE.rowGroups);
        const [group] = groups;
        for (let copies = 0; copies < 9; copies++) groups.push(group as ThriftStruct);
      },
      'overlap',
    ],
    ['rows that do not add up', (fields) => fields.set(FILE.rows, i64(9)), '9 rows'],
    [
      'a missing column',
      (fields) =>
        valuesOf(
          (valuesOf(fields, FILE.rowGroups) as ThriftStruct[])[0] as ThriftStruct,
          GROUP.columns,
        ).pop(),
      'columns, but the schema',
    ],
    ['no schema', (fields) => fields.set(FILE.schema, list(12, [])), 'schema is empty'],
    [
      'a schema without an end',
      (fields) => (valuesOf(fields, FILE.schema) as ThriftStruct[])[0]?.set(5, i32(2 ** 31 - 1)),
      'lacks elements',
    ],
    [
      'a schema with an element to spare',
      (fields) => (valuesOf(fields, FILE.schema) as ThriftStruct[])[0]?.set(5, i32(1)),
      'to spare',
    ],
    ['a footer without fields', (fields) => fields.clear(), 'field 1 of FileMetaData'],
    [
      'neither row groups nor rows',
      (fields) => {
        fields.set(FILE.rows, i64(0)).delete(FILE.rowGroups);
      },
      'field 4 of FileMetaData is missing',
    ],
    [
      'row groups that are no list',
      (fields) => fields.set(FILE.rows, i64(0)).set(FILE.rowGroups, i64(0)),
      'a list of structures is missing',
    ],
    [
      'a row group without columns or rows',
      (fields) => {
        fields.set(FILE.rows, i64(0));
        for (const group of valuesOf(fields, FILE.rowGroups) as ThriftStruct[]) {
          group.set(GROUP.rows, i64(0)).delete(GROUP.columns);
        }
      },
      'field 1 of RowGroup is missing',
    ],
    [
      'a chunk without its offset',
      (fields) => firstChunk(fields).chunk.delete(CHUNK.offset),
      'field 2 of ColumnChunk is missing',
    ],
    [
      'a column without a type',
      (fields) => firstChunk(fields).metadata.delete(COLUMN.type),
      'field 1 of ColumnMetaData is missing',
    ],
    [
      'a schema without a name',
      (fields) => (valuesOf(fields, FILE.schema) as ThriftStruct[])[0]?.delete(4),
      'the schema has no name',
    ],
  ])('with %s is refused', async (_name, change, message) => {
    expect(await refusal(withFooter(change))).toContain(message);
  });

  it.each<[string, number[], string]>([
    ['a list of 2^31 elements', [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07], 'truncated'],
    ['a text of 2^31 bytes', [0x68, 0xff, 0xff, 0xff, 0xff, 0x07], 'truncated'],
    ['an endless integer', [0x36, ...new Array(60).fill(0xff)], 'longer than ten'],
    ['structures in structures', new Array(5000).fill(0x1c), '32 deep'],
    ['lists in lists', [0x19, ...new Array(5000).fill(0x19)], '32 deep'],
    ['an unknown type', [0x1d], 'unknown type 13'],
  ])('whose footer has %s is refused', async (_name, footer, message) => {
    const bytes = sealed(Buffer.from('PAR1pages'), Uint8Array.from(footer));
    expect(await refusal(bytes)).toContain(message);
  });

  it('whose footer ends early is refused, with the place; zeros may follow', async () => {
    const at = SOUND.length - 8 - SOUND.readUInt32LE(SOUND.length - 8);
    const footer = SOUND.subarray(at, -8);
    const followed = (...bytes: number[]) =>
      refusal(sealed(SOUND.subarray(0, at), Buffer.concat([footer, Uint8Array.from(bytes)])));
    expect(await followed(0, 0, 0)).toBeUndefined();
    expect(await followed(0, 0x16)).toContain(
      `at byte ${SOUND.length - 8}: the metadata end before`,
    );
    // One byte ends the metadata after a number of rows that has become 0, before the row groups.
    const lost = Buffer.from(SOUND);
    const rows = Uint8Array.of(0x16, 26, 0x19);
    const place = lost.indexOf(rows, at);
    expect(lost.indexOf(rows, place + 1)).toBe(-1);
    lost.set([0x16, 0, 0], place);
    expect(await refusal(lost)).toContain('field 4 of FileMetaData is missing');
  });

  it('whose footer is too long, or longer than the file, is refused', async () => {
    // Files with holes: the metadata are zeros, of which the first ends the structure.
    const most = 256 * 1024 * 1024;
    for (const [length, message] of [
      [most, 'field 1 of FileMetaData is missing'],
      [most + 1, 'the limit of 256 MiB'],
    ] as const) {
      const tail = sealed(Buffer.alloc(0), Buffer.alloc(0));
      tail.writeUInt32LE(length);
      writeFileSync(path, 'PAR1');
      truncateSync(path, 4 + length);
      appendFileSync(path, tail);
      await expect(openParquet(path)).rejects.toThrow(message);
    }
    const claim = Buffer.from(SOUND);
    claim.writeUInt32LE(0xffffffff, claim.length - 8);
    expect(await refusal(claim)).toContain('claim 4294967295 bytes');
    expect(await refusal(Buffer.concat([Buffer.from('PARE'), SOUND.subarray(4)]))).toContain(
      'encrypted',
    );
  });

  it('has no more values at a time, and no more row groups, than fit into memory', async () => {
    const listOfZeros = (count: number) => {
      const head = Buffer.from([0x0c | 0xf0, 0, 0, 0, 0]);
      let rest = count;
      for (let at = 1; at < 5; at++, rest >>= 7) head[at] = (rest & 127) | (at < 4 ? 128 : 0);
      return Buffer.concat([head, Buffer.alloc(count)]);
    };
    const read = (field: number, count: number) => {
      const bytes = Buffer.concat([Buffer.of((field << 4) | 9), listOfZeros(count), Buffer.of(0)]);
      return () => new ThriftReader(bytes, 0, 0).struct(ROW_GROUPS);
    };
    expect(read(5, MAX_VALUES - 1)().size).toBe(1);
    expect(read(5, MAX_VALUES)).toThrow('more than 4194304 values at a time');
    expect(listOf(read(4, MAX_ROW_GROUPS)(), 4)?.values.length).toBe(MAX_ROW_GROUPS);
    expect(read(4, MAX_ROW_GROUPS + 1)).toThrow('1000001 structures, more than 1000000');
  });

  /** The file with a changed header of its first page: the dictionary of `url`. */
  async function withPage(change: (header: ThriftStruct) => void): Promise<string | undefined> {
    const { metadata } = firstChunk(
      new ThriftReader(SOUND, SOUND.length - 8 - SOUND.readUInt32LE(SOUND.length - 8), 0).struct(),
    );
    const start = metadata.get(COLUMN.dictionaryPage)?.value as number;
    const reader = new ThriftReader(SOUND, start, 0);
    const header = reader.struct();
    header.set(HEADER.compressedBytes, i32(40)).set(HEADER.bytes, i32(40));
    change(header);
    const page = encodeThrift(header);
    // The page goes before the footer, and what follows it there is cut off.
    const body = SOUND.subarray(reader.at, reader.at + 40);
    const footer = SOUND.length - 8 - SOUND.readUInt32LE(SOUND.length - 8);
    const moved = Buffer.concat([SOUND.subarray(0, footer), page, body]);
    const fields = new ThriftReader(SOUND, footer, 0).struct();
    const chunk = firstChunk(fields).metadata;
    chunk.set(COLUMN.dictionaryPage, i64(footer));
    chunk.set(COLUMN.dataPage, i64(footer));
    chunk.set(COLUMN.compressedBytes, i64(page.length + body.length));
    return refusal(sealed(moved, encodeThrift(fields)));
  }

  it.each<[string, (header: ThriftStruct) => void, string]>([
    ['2 GiB, uncompressed', (header) => header.set(HEADER.bytes, i32(2 ** 31 - 1)), '256 MiB'],
    ['a negative size', (header) => header.set(HEADER.bytes, i32(-1)), 'out of range'],
    [
      '2 GiB, compressed',
      (header) => header.set(HEADER.compressedBytes, i32(2 ** 31 - 1)),
      'beyond its column',
    ],
    [
      'a dictionary of 2^31 values',
      (header) => {
        structOf(header, HEADER.dictionary)?.set(1, i32(2 ** 31 - 1));
      },
      'out of range',
    ],
    [
      'a dictionary of more values than bytes',
      (header) => {
        structOf(header, HEADER.dictionary)?.set(1, i32(2 ** 24));
      },
      'truncated',
    ],
    [
      'data of 2^31 values',
      (header) => {
        header.set(HEADER.type, i32(0));
        header.set(HEADER.data, {
          type: 12,
          value: new Map([
            [1, i32(2 ** 31 - 1)],
            [2, i32(0)],
            [3, i32(3)],
          ]),
        });
      },
      '16777216 are read',
    ],
    [
      'an unknown kind',
      (header) => {
        header.set(HEADER.type, i32(9));
      },
      'header is incomplete',
    ],
  ])('with a page of %s is refused', async (_name, change, message) => {
    expect(await withPage(change)).toContain(message);
  });
});
