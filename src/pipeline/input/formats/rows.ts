import { pipeline } from 'node:stream';
import { COMMA, TAB } from '../../../ascii.js';
import { DEFAULT_MAX_LINE_BYTES } from '../../limits.js';
import type { Chunks } from '../chunks.js';
import { readFirstRow } from '../csv/first-row.js';
import type { Format, Rows, RowsOptions } from '../format.js';

/** Rows with commas between their fields (RFC 4180). Recognised by `rowsFormat` only. */
export const csv: Format = {
  name: 'csv',
  recognise: () => false,
  toRows: (chunks, options) => toRows(chunks, COMMA, options),
};

/** Rows with tabs between their fields, otherwise like CSV. */
export const tsv: Format = {
  name: 'tsv',
  recognise: () => false,
  toRows: (chunks, options) => toRows(chunks, TAB, options),
};

async function toRows(
  chunks: Chunks,
  delimiter: typeof COMMA | typeof TAB,
  options: RowsOptions,
): Promise<Rows> {
  const { RowLines } = await import('../csv/row-lines.js');
  const { header, headerLines, column, rowFields } = await readFirstRow(chunks, delimiter, options);
  const stream = new RowLines({
    delimiter,
    maxRecordBytes: options.maxRecordBytes ?? DEFAULT_MAX_LINE_BYTES,
    linesBefore: headerLines,
  });
  // An error in `chunks` destroys `stream` with that error, so the reader of `stream` gets it.
  pipeline(chunks.stream(), stream, () => {});
  return { stream, column, rowFields, header };
}
