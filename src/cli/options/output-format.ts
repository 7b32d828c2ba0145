import type { OutputMode } from '../../kernel/query-settings.js';
import { PARQUET_ENDING } from '../../pipeline/limits.js';
import type { OutputFormat } from '../../pipeline/output/conversion.js';
import { STANDARD_OUTPUT } from '../process/standard-streams.js';
import { usageError } from '../usage-error.js';
import type { FilterOptions } from './command-options.js';

/** The values of `--format`. */
export const FORMATS = [
  'text',
  'ndjson',
  'csv',
  'tsv',
  'parquet',
  'verdicts',
  'mask-ndjson',
] as const;

/** What a name of an output says about its format, by its ending. Other names say nothing. */
const ENDINGS: readonly (readonly [string, OutputFormat])[] = [
  [PARQUET_ENDING, 'parquet'],
  ['.csv', 'csv'],
  ['.tsv', 'tsv'],
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
];
const COMPRESSIONS = ['.gz', '.zst'];

type OutputOptions = Pick<FilterOptions, 'format' | 'output' | 'allowed' | 'denied'>;

/**
 * Names of standard output. If they were paths like others, the file behind standard output would
 * be replaced, and what a shell has written before would be lost.
 */
const STANDARD_OUTPUT_NAMES = [STANDARD_OUTPUT, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'];

/** The file to write; undefined for standard output. */
export function outputFile({ output }: Pick<FilterOptions, 'output'>): string | undefined {
  return STANDARD_OUTPUT_NAMES.includes(output ?? STANDARD_OUTPUT) ? undefined : output;
}

/** What comes out of each record. */
export function outputMode({ allowed, denied, format }: OutputOptions): OutputMode {
  if (allowed === true) return 'allowed';
  if (denied === true) return 'denied';
  return format === 'verdicts' || format === 'mask-ndjson' ? format : 'annotate';
}

/** The format of the records that come out; undefined for that of each input. */
export function outputFormat(options: OutputOptions): OutputFormat | undefined {
  const { format } = options;
  if (format === 'verdicts' || format === 'mask-ndjson') return undefined;
  return format ?? formatOfName(outputFile(options));
}

/** The format that the name of an output stands for, also before the ending of a compression. */
function formatOfName(path: string | undefined): OutputFormat | undefined {
  const name = path?.toLowerCase() ?? '';
  const compression = COMPRESSIONS.find((ending) => name.endsWith(ending)) ?? '';
  const plain = name.slice(0, name.length - compression.length);
  return ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1];
}

/**
 * Checks that the format, the name of the output and what comes out fit each other.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkOutputFormat(options: FilterOptions): void {
  const { format, outputHeader } = options;
  const output = outputFile(options);
  if (format === 'verdicts' || format === 'mask-ndjson') {
    const excluded = [
      ['--allowed', options.allowed],
      ['--denied', options.denied],
      ['--explain', options.explain],
      ['--preferences', options.preferences],
      ['--verdict-field', options.verdictField],
    ] as const;
    const given = excluded.find(([, value]) => value !== undefined && value !== false);
    if (given !== undefined) {
      throw usageError(
        `--format ${format} writes one verdict for each record and nothing else. Leave ${given[0]} out`,
      );
    }
  }
  if (outputHeader === true && format !== 'verdicts') {
    throw usageError(
      '--output-header is for --format verdicts. csv and tsv have a header anyway, other formats have none. Leave it out',
    );
  }
  if (format !== undefined && format !== 'parquet' && formatOfName(output) === 'parquet') {
    throw usageError(
      `--format ${format} writes lines, but -o ${output} is Parquet. Give only one of them, or name another output`,
    );
  }
  if (outputFormat(options) === 'parquet' && COMPRESSIONS.some((end) => output?.endsWith(end))) {
    throw usageError(
      `-o ${output}: the pages of Parquet are compressed already. Leave the last ending of the name out`,
    );
  }
}
