import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ColumnChunk } from '../../src/parquet/footer.js';
import type { PlainValues } from '../../src/parquet/page-values.js';
import { ParquetFile } from '../../src/parquet/parquet-file.js';
import { encodeThrift, ThriftReader, type ThriftStruct } from '../../src/parquet/thrift.js';

/** The files that fixtures/parquet/make.py wrote: the same rows in each. */
export const FIXTURES = [
  'v1-none',
  'v1-snappy',
  'v1-gzip',
  'v1-zstd',
  'v1-lz4',
  'v1-brotli',
  'v2-zstd',
  'v2-none',
  'pages',
  'delta',
  'checksums',
  'checksums-v2',
  'duckdb',
  'empty-groups',
];

/** A row of the fixtures, as JSON has it. */
export interface FixtureRow {
  readonly url: string | null;
  readonly id: number;
  readonly status: number | null;
  readonly fetch_time: string;
  readonly price: string;
  readonly flag: boolean | null;
  readonly ratio: number;
  readonly digest: readonly number[];
  readonly mime: string | null;
  readonly tags: readonly (string | null)[] | null;
  readonly request: { readonly url: string | null; readonly n: number } | null;
}

/** The path of a fixture. */
export function fixturePath(name: string): string {
  return join('fixtures', 'parquet', name);
}

/** The rows of all fixtures. */
export function fixtureRows(): FixtureRow[] {
  const text = readFileSync(fixturePath('rows.ndjson'), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as FixtureRow);
}

/** Opens a file, until the test has finished. */
export async function openParquet(path: string): Promise<ParquetFile> {
  const descriptor = openSync(path, 'r');
  onTestFinished(() => closeSync(descriptor));
  return ParquetFile.open(descriptor, path);
}

/** The values of a chunk as bytes; `null` where the column is null. Repeated columns are flat. */
export async function chunkValues(
  file: ParquetFile,
  chunk: ColumnChunk,
): Promise<(Buffer | null)[]> {
  const { maxDefinition } = chunk.leaf;
  const output: (Buffer | null)[] = [];
  let dictionary: Buffer[] = [];
  for await (const page of file.pages(chunk)) {
    if (page.kind === 'dictionary') {
      dictionary = listed(page.values);
      continue;
    }
    const { values, definitions, entries } = page;
    const present =
      values.kind === 'indices'
        ? [...values.indices].map((index) => dictionary[index] as Buffer)
        : listed(values);
    let next = 0;
    for (let entry = 0; entry < entries; entry++) {
      const isNull = definitions !== undefined && definitions[entry] !== maxDefinition;
      output.push(isNull ? null : (present[next++] as Buffer));
    }
  }
  return output;
}

function listed(values: PlainValues): Buffer[] {
  switch (values.kind) {
    case 'byte arrays': {
      const { bytes, starts, ends } = values;
      return [...starts].map((start, index) => Buffer.from(bytes.subarray(start, ends[index])));
    }
    case 'fixed': {
      const { bytes, width } = values;
      return Array.from({ length: bytes.length / width }, (_, index) =>
        Buffer.from(bytes.subarray(index * width, (index + 1) * width)),
      );
    }
    case 'booleans':
      return [...values.values].map((value) => Buffer.of(value));
  }
}

/** The values of a column in all row groups. */
export async function columnValues(file: ParquetFile, name: string): Promise<(Buffer | null)[]> {
  const [leaf] = file.leavesAt(name.split('.'));
  if (leaf === undefined) throw new Error(`no column ${name}`);
  const index = file.footer.leaves.indexOf(leaf);
  const output: (Buffer | null)[] = [];
  for (const group of file.footer.rowGroups) {
    output.push(...(await chunkValues(file, group.read().columns[index] as ColumnChunk)));
  }
  return output;
}

/** The file with a changed footer. */
export function withFooter(sound: Buffer, change: (fields: ThriftStruct) => void): Buffer {
  const length = sound.readUInt32LE(sound.length - 8);
  const start = sound.length - 8 - length;
  const fields = new ThriftReader(sound, start, 0).struct();
  change(fields);
  return sealed(sound.subarray(0, start), encodeThrift(fields));
}

/** A file of pages and a footer. */
export function sealed(pages: Buffer, footer: Uint8Array): Buffer {
  const tail = Buffer.from('....PAR1');
  tail.writeUInt32LE(footer.length);
  return Buffer.concat([pages, footer, tail]);
}
