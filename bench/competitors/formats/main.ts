import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { countRows } from './csv.js';
import { copyParquet, duckdbColumn, extractUrls, writeIndex } from './duckdb.js';
import { hyparquetColumn, ownColumn, type Tools, wasmColumn } from './parquet.js';

// TOOLS TASK PATH [OUTPUT]: does one task with a library that is installed in the directory TOOLS,
// and writes what it has counted. The time is that of the whole process.

const TASKS: Readonly<
  Record<string, (tools: Tools, path: string, output: string) => Promise<object>>
> = {
  own: ownColumn,
  hyparquet: hyparquetColumn,
  'parquet-wasm': wasmColumn,
  duckdb: duckdbColumn,
  'duckdb-copy': copyParquet,
  'duckdb-extract': extractUrls,
  'duckdb-write': writeIndex,
  'csv-parse': countRows,
};

const [directory = '', task = '', path = '', output = ''] = process.argv.slice(2);
const run = TASKS[task];
if (run === undefined) throw new Error(`there is no task ${task}`);
const { resolve } = createRequire(join(directory, 'package.json'));
const tools: Tools = { load: (name) => import(pathToFileURL(resolve(name)).href) };
process.stdout.write(`${JSON.stringify(await run(tools, path, output))}\n`);
