import { createReadStream } from 'node:fs';
import type { Transform } from 'node:stream';
import type { Tools } from './parquet.js';

interface CsvParse {
  parse(options: object): Transform;
}

/** Parses a CSV or TSV file with csv-parse, row by row, and counts rows and bytes of `url`. */
export async function countRows(
  tools: Tools,
  path: string,
): Promise<{ rows: number; bytes: number }> {
  const { parse } = (await tools.load('csv-parse')) as CsvParse;
  const delimiter = path.endsWith('.tsv') ? '\t' : ',';
  const parser = parse({ delimiter, columns: false, from_line: 2 });
  let rows = 0;
  let bytes = 0;
  const records = createReadStream(path, { highWaterMark: 1 << 20 }).pipe(parser);
  for await (const record of records as AsyncIterable<string[]>) {
    rows++;
    bytes += record[1]?.length ?? 0;
  }
  return { rows, bytes };
}
