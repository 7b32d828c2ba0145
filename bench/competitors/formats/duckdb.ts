import { INDEX_COLUMNS } from '../../corpus/index-rows.js';
import type { ColumnCounts, Tools } from './parquet.js';

interface Chunk {
  readonly rowCount: number;
  getColumnVector(index: number): { getItem(row: number): string | null };
}

interface Connection {
  run(sql: string): Promise<{ getRows(): Promise<unknown[][]> }>;
  stream(sql: string): Promise<{ fetchChunk(): Promise<Chunk | null> }>;
}

async function connect(tools: Tools): Promise<Connection> {
  const { DuckDBInstance } = (await tools.load('@duckdb/node-api')) as {
    DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> };
  };
  return await (await DuckDBInstance.create(':memory:')).connect();
}

/** Reads the column with DuckDB, chunk by chunk, each value as a string. */
export async function duckdbColumn(tools: Tools, path: string): Promise<ColumnCounts> {
  const connection = await connect(tools);
  const result = await connection.stream(`SELECT url FROM ${text(path)}`);
  let rows = 0;
  let bytes = 0;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return { rows, bytes };
    const vector = chunk.getColumnVector(0);
    for (let row = 0; row < chunk.rowCount; row++) bytes += vector.getItem(row)?.length ?? 0;
    rows += chunk.rowCount;
  }
}

/** Copies a Parquet file within DuckDB: all columns are decoded and encoded again. */
export async function copyParquet(
  tools: Tools,
  path: string,
  output: string,
): Promise<{ rows: number }> {
  const connection = await connect(tools);
  const { rows } = await copy(connection, `SELECT * FROM ${text(path)}`, output);
  return { rows };
}

/** Writes rows of the index, which come as lines with tabs, to a Parquet file. */
export async function writeIndex(
  tools: Tools,
  _path: string,
  output: string,
): Promise<{ rows: number }> {
  const connection = await connect(tools);
  const types = { text: 'VARCHAR', time: 'TIMESTAMP_MS', integer: 'INTEGER' } as const;
  const columns = INDEX_COLUMNS.map(({ name, type }) => `${text(name)}: ${text(types[type])}`);
  const options = "delim='\t', header=false, quote='', escape='', nullstr='\\N', auto_detect=false";
  const lines = `read_csv('/dev/stdin', ${options}, columns={${columns.join(', ')}})`;
  return await copy(connection, `SELECT * FROM ${lines}`, output);
}

/**
 * Writes the member `url` of each record of NDJSON as CSV with DuckDB, on two threads. The seconds
 * are those of the query, without the start of the process.
 */
export async function extractUrls(
  tools: Tools,
  path: string,
  output: string,
): Promise<{ rows: number; seconds: number }> {
  const connection = await connect(tools);
  await connection.run('SET threads = 2');
  const records = `read_ndjson(${text(path)}, columns = {url: 'VARCHAR'})`;
  const start = process.hrtime.bigint();
  const copied = await connection.run(
    `COPY (SELECT url FROM ${records}) TO ${text(output)} (FORMAT csv, HEADER false)`,
  );
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  return { rows: Number((await copied.getRows())[0]?.[0]), seconds };
}

async function copy(connection: Connection, rows: string, output: string) {
  const options = 'FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880';
  const copied = await connection.run(`COPY (${rows}) TO ${text(output)} (${options})`);
  return { rows: Number((await copied.getRows())[0]?.[0]) };
}

/** A text in SQL. */
function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
