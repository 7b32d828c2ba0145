import { openAsBlob, openSync } from 'node:fs';
import { textColumn } from '../../../src/parquet/columns.js';
import type { ColumnChunk } from '../../../src/parquet/footer.js';
import type { ByteArrays } from '../../../src/parquet/page-values.js';
import { ParquetFile } from '../../../src/parquet/parquet-file.js';

/** Libraries that were installed for the benchmark. */
export interface Tools {
  load(name: string): Promise<unknown>;
}

/** What a reader has seen of the column: every reader has to see the same. */
export interface ColumnCounts {
  readonly rows: number;
  /** Bytes of all values. */
  readonly bytes: number;
}

const COLUMN = 'url';

/** Reads the column with this project's reader: the bytes of each value lie in a page. */
export async function ownColumn(_tools: Tools, path: string): Promise<ColumnCounts> {
  const file = await ParquetFile.open(openSync(path, 'r'), path);
  const leaf = textColumn(file, [COLUMN], '--url-field');
  const index = file.footer.leaves.indexOf(leaf);
  let rows = 0;
  let bytes = 0;
  for (const group of file.footer.rowGroups) {
    let dictionary: ByteArrays | undefined;
    for await (const page of file.pages(group.read().columns[index] as ColumnChunk)) {
      if (page.kind === 'dictionary') {
        dictionary = page.values as ByteArrays;
        continue;
      }
      const { values } = page;
      const indices = values.kind === 'indices' ? values.indices : undefined;
      const { starts, ends } = (indices === undefined ? values : dictionary) as ByteArrays;
      for (let row = 0; row < page.entries; row++) {
        const place = indices === undefined ? row : (indices[row] as number);
        bytes += (ends[place] as number) - (starts[place] as number);
      }
      rows += page.entries;
    }
  }
  return { rows, bytes };
}

interface Hyparquet {
  parquetRead(options: object): Promise<void>;
  parquetMetadataAsync(file: unknown): Promise<{ row_groups: { num_rows: bigint }[] }>;
  asyncBufferFromFile(path: string): Promise<unknown>;
}

/** Reads the column with hyparquet, with its own decompressors, as byte arrays without strings. */
export async function hyparquetColumn(tools: Tools, path: string): Promise<ColumnCounts> {
  const hyparquet = (await tools.load('hyparquet')) as Hyparquet;
  const { compressors } = (await tools.load('hyparquet-compressors')) as { compressors: object };
  const file = await hyparquet.asyncBufferFromFile(path);
  const metadata = await hyparquet.parquetMetadataAsync(file);
  let rows = 0;
  let bytes = 0;
  let rowStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    await hyparquet.parquetRead({
      file,
      metadata,
      compressors,
      columns: [COLUMN],
      rowStart,
      rowEnd,
      parsers: { stringFromBytes: (value: Uint8Array) => value },
      onChunk({ columnData }: { columnData: ArrayLike<Uint8Array> }) {
        rows += columnData.length;
        for (let row = 0; row < columnData.length; row++) bytes += columnData[row]?.length ?? 0;
      },
    });
    rowStart = rowEnd;
  }
  return { rows, bytes };
}

interface ParquetWasm {
  ParquetFile: {
    fromFile(blob: Blob): Promise<{ stream(options: object): Promise<ReadableStream<WasmBatch>> }>;
  };
}

interface WasmBatch {
  readonly numRows: number;
  intoIPCStream(): Uint8Array;
}

/**
 * Reads the column with parquet-wasm, as Arrow batches that leave its memory as IPC. The values of
 * a batch lie in one buffer of the message, whose size is counted: it is padded, and has offsets.
 */
export async function wasmColumn(tools: Tools, path: string): Promise<{ rows: number }> {
  const { ParquetFile: WasmFile } = (await tools.load('parquet-wasm')) as ParquetWasm;
  const file = await WasmFile.fromFile(await openAsBlob(path));
  let rows = 0;
  for await (const batch of await file.stream({ columns: [COLUMN], batchSize: 65_536 })) {
    rows += batch.numRows;
    batch.intoIPCStream();
  }
  return { rows };
}
