import type { Option } from 'commander';
import { DEFAULT_MAX_LINE_BYTES, GREATEST_MAX_LINE_BYTES } from '../../pipeline/bad-record.js';
import type { OpenInput, OpenInputOptions } from '../../pipeline/input/open.js';
import { usageError } from '../console.js';
import {
  describedOption,
  describeRange,
  fieldPath,
  INPUT_GROUP,
  wholeNumber,
} from '../definition.js';
import type { InputOptions } from './command-options.js';

const lineBytesRange = describeRange(
  { least: 1, most: GREATEST_MAX_LINE_BYTES, standard: DEFAULT_MAX_LINE_BYTES },
  'bytes',
);

export const inputOption = (): Option =>
  describedOption(
    '--input <format>',
    'Read this format: auto, text, ndjson, json, csv, tsv or parquet (default: auto).',
    'text has one URL per line. ndjson has one JSON object per line. json is an array, or objects one after another. csv and tsv have rows with commas or tabs between their fields (RFC 4180). parquet has the URL in a column, and its rows come out as NDJSON. auto recognises the format by its first bytes, as it does gzip and zstd; a file called .csv or .tsv is also recognised by its name.',
  )
    .choices(['auto', 'text', 'ndjson', 'json', 'csv', 'tsv', 'parquet'])
    .default('auto')
    .helpGroup(INPUT_GROUP);

export const urlFieldOption = (): Option =>
  describedOption(
    '--url-field <name>',
    'Read the URL from this member or column (default: url).',
    'Dots descend into nested objects, and into groups of Parquet columns. Quotes keep the dots of a name. For csv and tsv it is the name of a column, or its number from 1; by default the column is recognised.',
    `    --url-field request.url\n    --url-field '"request.url"'`,
  )
    .argParser(fieldPath)
    .default(['url'])
    .helpGroup(INPUT_GROUP);

export const headerOptions = (): Option[] =>
  [
    describedOption(
      '--header',
      'Treat the first row of csv and tsv as a header.',
      'By default a first row without a URL is a header.',
    ),
    describedOption('--no-header', 'Treat the first row of csv and tsv as a record.'),
  ].map((option) => option.helpGroup(INPUT_GROUP));

export const maxJudgedLineOption = (): Option =>
  maxLineBytesOption('Judge no line that is longer than this many bytes.', 'is invalid');

export const maxReadLineOption = (): Option =>
  maxLineBytesOption('Read no line that is longer than this many bytes.', 'is skipped');

function maxLineBytesOption(summary: string, fate: string): Option {
  return describedOption(
    '--max-line-bytes <n>',
    summary,
    `${lineBytesRange}. A longer line ${fate}.`,
  )
    .argParser(wholeNumber(1, GREATEST_MAX_LINE_BYTES, 'bytes'))
    .default(DEFAULT_MAX_LINE_BYTES)
    .helpGroup(INPUT_GROUP);
}

export const strictOption = (): Option =>
  describedOption(
    '--strict',
    'Stop at the first invalid record with exit status 2.',
    'Without this option invalid records come out with the verdict invalid, and the first ten are named on standard error.',
  ).helpGroup(INPUT_GROUP);

type UrlFieldOptions = Pick<InputOptions, 'input' | 'urlField'>;

/** Whether --url-field names a member other than the default. */
function isGiven({ urlField }: UrlFieldOptions): boolean {
  return urlField.join('.') !== 'url';
}

/** The column that --url-field names in rows; undefined for the default. */
export function columnOption(options: UrlFieldOptions): string | undefined {
  return isGiven(options) ? options.urlField.join('.') : undefined;
}

/**
 * Refuses --url-field with --input text, which has no members.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlField(options: UrlFieldOptions): void {
  if (options.input !== 'text' || !isGiven(options)) return;
  throw usageError(
    '--url-field has no effect on text: each line is a URL. Leave it out, or use --input ndjson instead of --input text',
  );
}

/**
 * Refuses --url-field if the only input turned out to be text. Among several inputs, others may
 * have the member.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlFieldOf(
  input: Pick<OpenInput, 'name' | 'format' | 'isBlank'>,
  options: UrlFieldOptions,
  inputs: number,
): void {
  if (input.format !== 'text' || input.isBlank || inputs > 1 || !isGiven(options)) return;
  throw usageError(
    `${input.name} is text, one URL per line, and --url-field has no effect on it. Leave it out, or use --input ndjson if its lines are objects`,
  );
}

/** How the options of a command say that inputs are opened. */
export function openOptions(options: InputOptions): Omit<OpenInputOptions, 'taken'> {
  const { input: format, maxLineBytes: maxRecordBytes, header, urlField } = options;
  return { format, maxRecordBytes, header, column: columnOption(options), urlField };
}
