/** Options of outputs: format, place, compression, threads. */

import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { InvalidArgumentError, type Option } from 'commander';
import type { RobotsFilterError } from '../../base/errors.js';
import { compressorFor } from '../../files/compression.js';
import { findExactStatus, isSameFile, STANDARD_INPUT } from '../../files/openings.js';
import type { ReplacementFile } from '../../files/replacement.js';
import type { OutputMode } from '../../kernel/query.js';
import { MAX_THREADS, PARQUET_ENDING } from '../../pipeline/bad-record.js';
import type { CompressedFile } from '../../pipeline/output/compressed-file.js';
import type { OutputFormat } from '../../pipeline/output/rows.js';
import { STANDARD_OUTPUT, usageError } from '../console.js';
import {
  describedOption,
  MESSAGES_GROUP,
  nonEmpty,
  OUTPUT_GROUP,
  once,
  PERFORMANCE_GROUP,
  VERDICTS_GROUP,
  wholeNumber,
} from '../definition.js';
import { COLOUR_CHOICES, STANDARD_OUTPUT_DESCRIPTOR } from '../text.js';
import type { FilterOptions } from './command-options.js';
import { beginsAsTable } from './robots-source.js';

/** Maximum of --top: more hosts than a table can hold. */
const MAX_TOP = 1_000_000_000;

export const unknownOption = (): Option =>
  describedOption(
    '--unknown <verdict>',
    'Decide URLs of unknown hosts: allow, deny or unknown.',
    'A host is unknown if there is no robots.txt for its scheme, host and port. Default: unknown.',
  )
    .choices(['allow', 'deny', 'unknown'])
    .default('unknown')
    .helpGroup(VERDICTS_GROUP);

export const explainOption = (): Option =>
  describedOption(
    '--explain',
    'Add the reason, and the rule with its line and file.',
    'Text gets five more columns for each agent: REASON, LINE, RULE, AGENT and SOURCE. JSON gets the members "reason" and "rule", or "reasons" and "rules" with several agents.',
  ).helpGroup(VERDICTS_GROUP);

export const preferencesOption = (): Option =>
  describedOption(
    '--preferences',
    'Add what robots.txt says about the use of content (experimental).',
    'Where the verdict is allow, the preferences for the URL and the agent are added as JSON: Content-Usage, Content-Signal and License. They never change a verdict. JSON gets the member "preferences", other formats a column for each agent. A table must have been compiled with --records.',
  )
    .conflicts(['allowed', 'denied', 'statsBy'])
    .helpGroup(VERDICTS_GROUP);

export const allowedOption = (): Option =>
  describedOption(
    '--allowed',
    'Write only the records that every agent may fetch.',
    'They come out unchanged, or with another --format as URLs. Unknown and invalid records are left out; see --unknown.',
    '    robots-filter --robots-dir robots/ -a GPTBot --allowed urls.txt > frontier.txt',
  )
    .conflicts('denied')
    .helpGroup(OUTPUT_GROUP);

export const deniedOption = (): Option =>
  describedOption(
    '--denied',
    'Write only the records that some agent may not fetch.',
    'They come out unchanged, or with another --format as URLs. Unknown and invalid records are left out; see --unknown.',
  ).helpGroup(OUTPUT_GROUP);

export const verdictFieldOption = (): Option =>
  describedOption(
    '--verdict-field <name>',
    'Give the added JSON member or Parquet column this name.',
    'Default: verdict, or verdicts with several agents. In Parquet output the agents are added to the name: NAME_GPTBot.',
  )
    .argParser(nonEmpty)
    .helpGroup(OUTPUT_GROUP);

export const formatOption = (): Option =>
  describedOption(
    '--format <format>',
    'Write this format (default: that of the input).',
    `One of ${FORMATS.join(', ')}. If it is not the format of the input, a record becomes its URL and its verdicts; with --allowed or --denied, its URL. verdicts and mask-ndjson have no URLs: one line for each record, in the order of the input, and an empty line for a blank one. verdicts are words, with commas between those of several agents. mask-ndjson is {"allowed":true} if every agent may fetch the URL, and {"allowed":false} otherwise.`,
    '    robots-filter --robots-dir robots/ --allowed --format text crawl.ndjson > frontier.txt',
    '    robots-filter --robots-dir robots/ --format mask-ndjson -o allowed.gz crawl.ndjson.zst',
  )
    .choices(FORMATS)
    .helpGroup(OUTPUT_GROUP);

export const outputHeaderOption = (): Option =>
  describedOption(
    '--output-header',
    'Begin --format verdicts with a line that names the agents.',
    'Rows of csv and tsv have a header without this option.',
  ).helpGroup(OUTPUT_GROUP);

export const outputOption = (): Option =>
  describedOption(
    '-o, --output <file>',
    'Write to this file (default: standard output).',
    'The file is replaced when the run is complete, or not at all. It may be one of the inputs. A name in .gz or .zst is written compressed. If it ends in .parquet, .csv, .tsv, .ndjson or .jsonl, perhaps before .gz or .zst, it says the format, unless --format does.',
  )
    .argParser(once)
    .helpGroup(OUTPUT_GROUP);

export const tableOutputOption = (): Option =>
  describedOption(
    '-o, --output <file>',
    'Write the table to this file. Required.',
    'The file is replaced when the table is complete, or not at all. A name in .gz or .zst is written compressed, from a table that is whole in memory.',
  )
    .argParser(once)
    .helpGroup(OUTPUT_GROUP);

export const threadsOption = (): Option =>
  describedOption(
    '--threads <n>',
    'Judge on this many threads (default: one per core).',
    `1 to ${MAX_THREADS}. Without this option, small inputs are judged on the main thread.`,
  )
    .argParser(wholeNumber(1, MAX_THREADS))
    .helpGroup(PERFORMANCE_GROUP);

export const servingThreadsOption = (): Option =>
  describedOption(
    '--threads <n>',
    'Judge on this many threads (default: up to 4).',
    `1 to ${MAX_THREADS}. By default one for each core, at most 4. With 1, the main thread reads, judges and writes.`,
  )
    .argParser(wholeNumber(1, MAX_THREADS))
    .helpGroup(PERFORMANCE_GROUP);

/** `--stats` or `--stats=json`: `completeStats` keeps the next word from becoming the format. */
export const statsOption = (): Option => {
  const option = describedOption(
    '--stats [format]',
    'Print counts, throughput, time and memory at the end.',
    '--stats prints lines for people, --stats=json one JSON object. Both go to standard error, also with --quiet.',
  )
    .argParser(statsFormat)
    .helpGroup(MESSAGES_GROUP);
  option.flags = '--stats[=json]';
  return option;
};

function statsFormat(text: string): 'text' | 'json' {
  if (text === 'text' || text === 'json') return text;
  throw new InvalidArgumentError('Use --stats or --stats=json.');
}

/**
 * Turns `--stats` into `--stats=text`. Otherwise commander would take the next word, an input, as
 * its value.
 */
export function completeStats(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((argument, index) =>
    argument === '--stats' && (end < 0 || index < end) ? '--stats=text' : argument,
  );
}

export const countOptions = (): Option[] => [
  describedOption(
    '--stats-by <key>',
    'Write counts by host, agent, rule or reason in place of the records.',
    'The counts go to standard output, as a table for people; --format csv and --format ndjson write rows. A row without a host has the records of unknown hosts and those without a URL; by rule, those that no rule decided.',
    '    robots-filter --table robots.table -a GPTBot --stats-by host --top 20 urls.txt',
  )
    .choices(['host', 'agent', 'rule', 'reason'])
    .conflicts(['allowed', 'denied', 'output', 'explain', 'verdictField', 'outputHeader'])
    .helpGroup(OUTPUT_GROUP),
  describedOption(
    '--top <n>',
    'With --stats-by, write only the n most frequent of each agent.',
    '1 or more. Default: all.',
  )
    .argParser(wholeNumber(1, MAX_TOP, 'rows'))
    .helpGroup(OUTPUT_GROUP),
];

export const progressOptions = (): Option[] =>
  [
    describedOption(
      '--progress',
      'Show progress even if standard error is not a terminal.',
      'By default progress is shown on a terminal, as one line that is overwritten, unless records go to the terminal or into a pipe.',
    ),
    describedOption('--no-progress', 'Show no progress.'),
  ].map((option) => option.helpGroup(MESSAGES_GROUP));

export const colourOption = (): Option =>
  describedOption(
    '--color <when>',
    'Write colours: auto, always or never.',
    'auto, the default, colours what goes to a terminal, unless NO_COLOR is set. always writes text for people as to a terminal, for a pager.',
    '    robots-filter --robots-dir robots/ --explain --color always urls.txt | less -RS',
  )
    .choices(COLOUR_CHOICES)
    .default('auto')
    .helpGroup(MESSAGES_GROUP);

export const quietOption = (): Option =>
  describedOption('-q, --quiet', 'Write only errors to standard error.').helpGroup(MESSAGES_GROUP);

/** The values of `--format`. */
const FORMATS = ['text', 'ndjson', 'csv', 'tsv', 'parquet', 'verdicts', 'mask-ndjson'] as const;

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

/** An option that names a source of a command, with its path. */
export interface NamedSource {
  readonly option: string;
  readonly path: string;
}

/**
 * Refuses an output that would replace a source, or a file in a source directory. A table there may
 * be replaced, because it is not read as a robots.txt.
 *
 * @param name the option that names the output
 * @throws RobotsFilterError `usage`
 */
export function refuseSourceAsOutput(
  name: string,
  output: string,
  sources: readonly NamedSource[],
): void {
  const replaced = realPathOf(output);
  if (replaced === undefined || !statSync(replaced).isFile()) return;
  for (const { option, path } of sources) {
    const source = realPathOf(path); // Reading the path later gives the error.
    if (source === undefined) continue;
    if (source === replaced) throw refusal(name, `${output} would replace ${option} ${path}`);
    const directory = source.endsWith(sep) ? source : `${source}${sep}`;
    if (replaced.startsWith(directory) && !beginsAsTable(replaced)) {
      throw refusal(name, `${output} would replace a file in ${option} ${path}`);
    }
  }
}

/**
 * Refuses a report that would replace the file behind standard output, whatever its name: the
 * output would be lost.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseStandardOutputAsReport(report: string): void {
  if (isOneFile(report, STANDARD_OUTPUT_DESCRIPTOR)) {
    throw refusal('--report', `${report} would replace the file behind standard output`);
  }
}

/**
 * Refuses a report that would replace an input, whatever its name.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseInputAsReport(report: string, inputs: readonly string[]): void {
  for (const input of inputs) {
    if (input === STANDARD_INPUT && isOneFile(report, 0)) {
      throw refusal('--report', `${report} would replace the file behind standard input`);
    }
    if (input !== STANDARD_INPUT && isOneFile(report, input)) {
      throw refusal('--report', `${report} would replace the input ${input}`);
    }
  }
}

function isOneFile(path: string, other: string | number): boolean {
  const [a, b] = [path, other].map(findExactStatus);
  return a !== undefined && b !== undefined && isSameFile(a, b);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function refusal(name: string, conflict: string): RobotsFilterError {
  return usageError(`${name} ${conflict}. Name another file`);
}

/** Forms of a report, by the ending of its file. */
export type ReportForm = 'html' | 'json';

/**
 * The form that the name of a report asks for.
 *
 * @throws RobotsFilterError `usage` for another ending
 */
export function reportForm(path: string): ReportForm {
  const name = path.toLowerCase();
  if (name.endsWith('.html') || name.endsWith('.htm')) return 'html';
  if (name.endsWith('.json')) return 'json';
  throw usageError(
    `--report ${JSON.stringify(path)} has another ending than .html and .json. Use --report report.html, or --report report.json`,
  );
}

/**
 * The compressor of an output, by the ending of its name; `undefined` if it is not compressed.
 */
export async function outputCompressor(
  path: string,
): Promise<((file: ReplacementFile) => CompressedFile) | undefined> {
  if (!path.endsWith('.gz') && !path.endsWith('.zst')) return undefined;
  const { CompressedFile } = await import('../../pipeline/output/compressed-file.js');
  const compressor = await compressorFor(path);
  return compressor && ((file) => new CompressedFile(compressor, file));
}
