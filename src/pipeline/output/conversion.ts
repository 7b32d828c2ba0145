import type { Conversion } from '../../kernel/query-settings.js';
import type { InputFormat } from '../input/format.js';

/** What an output can hold. */
export type OutputFormat = 'text' | 'ndjson' | 'csv' | 'tsv' | 'parquet';

/** The format in which the records of an input come out whole, as lines. */
const OWN: Record<InputFormat, OutputFormat> = {
  text: 'text',
  ndjson: 'ndjson',
  json: 'ndjson',
  csv: 'csv',
  tsv: 'tsv',
  parquet: 'ndjson',
};

/** The format in which the records of an input come out. */
export function writtenFormat(input: InputFormat, output: OutputFormat | undefined): OutputFormat {
  return output ?? OWN[input];
}

/**
 * What the kernel writes for the records of an input. Parquet keeps its columns in Parquet, so only
 * the outcomes are needed.
 *
 * @param output `undefined` for the input's own format
 * @returns `undefined` for the records themselves
 */
export function conversionOf(
  input: InputFormat,
  output: OutputFormat | undefined,
): Conversion | undefined {
  if (output === undefined || output === writtenFormat(input, undefined)) return undefined;
  return output === 'parquet' && input === 'parquet' ? 'outcomes' : output;
}
