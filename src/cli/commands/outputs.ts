/** Where a command writes: which file, in which format, and which files it must not replace. */

import { realpathSync, statSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { printableJson } from '../../base/control-characters.js';
import type { RobotsFilterError } from '../../base/errors.js';
import { COMPRESSION_ENDINGS, compressorFor, isCompressedName } from '../../files/compression.js';
import {
  findExactStatus,
  isSameFile,
  isTerminal,
  pathWithoutLinks,
  STANDARD_INPUT,
} from '../../files/openings.js';
import type { ReplacementFile } from '../../files/replacement.js';
import { isShardedTable, isTable } from '../../judge/read-table.js';
import type { OutputMode } from '../../kernel/query-settings.js';
import { PARQUET_ENDING } from '../../pipeline/bad-record.js';
import type { OpenInput } from '../../pipeline/input/open.js';
import type { CompressedFile } from '../../pipeline/output/compressed-file.js';
import type { AskedFormat, OutputFormat } from '../../pipeline/output/rows.js';
import { STANDARD_OUTPUT, usageError } from '../console.js';
import type { FilterOptions } from '../options.js';
import type { ReportFigures } from '../report/report-page.js';
import { STANDARD_OUTPUT_DESCRIPTOR } from '../text.js';
import { isHidden, type NamedInput } from './inputs.js';

/** The endings of names that say that an output has this format, the usual one first. */
const ENDINGS_OF: Readonly<Record<OutputFormat, readonly string[]>> = {
  text: [],
  ndjson: ['.ndjson', '.jsonl'],
  csv: ['.csv'],
  tsv: ['.tsv'],
  parquet: [PARQUET_ENDING],
  warc: ['.warc', '.warc.wet', '.warc.wat'],
};
const ENDINGS = (Object.keys(ENDINGS_OF) as OutputFormat[]).flatMap((format) =>
  ENDINGS_OF[format].map((ending) => [ending, format] as const),
);

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

/** The directory that gets one output for each input; undefined if all inputs have one output. */
export function outputDirectory({ output }: Pick<FilterOptions, 'output'>): string | undefined {
  return output?.endsWith('/') === true || output?.endsWith(sep) === true ? output : undefined;
}

/** What comes out of each record. */
export function outputMode({ allowed, denied, format }: OutputOptions): OutputMode {
  if (allowed === true) return 'allowed';
  if (denied === true) return 'denied';
  return format === 'verdicts' || format === 'mask-ndjson' ? format : 'annotate';
}

/** The format of the records that come out; undefined for that of each input, as lines. */
export function outputFormat(options: OutputOptions): AskedFormat | undefined {
  const { format } = options;
  if (format === 'verdicts' || format === 'mask-ndjson') return undefined;
  if (format !== undefined) return format;
  return outputDirectory(options) === undefined ? formatOfName(outputFile(options)) : 'own';
}

/**
 * Refuses --verdict-field if text comes out of the only input. Others may have members.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkVerdictField(
  input: Pick<OpenInput, 'name' | 'format' | 'isBlank'>,
  options: FilterOptions,
  inputs: number,
): void {
  if (options.verdictField === undefined || inputs > 1 || input.isBlank) return;
  const { format } = input;
  const written = outputFormat(options) ?? 'own';
  const isText = written === 'own' ? format === 'text' || format === 'log' : written === 'text';
  if (!isText) return;
  throw usageError(
    '--verdict-field names a member or column, and the output is text, which has none. Leave it out, or add --format ndjson',
  );
}

/** Whether the records of WARC inputs are copied to the output. */
export function copiesRecords(options: OutputOptions): boolean {
  const format = outputFormat(options);
  return (format === 'warc' || format === 'own') && isChoice(options);
}

/** Whether some records come out, unchanged. */
function isChoice(options: OutputOptions): boolean {
  const mode = outputMode(options);
  return mode === 'allowed' || mode === 'denied';
}

/**
 * Refuses WARC as an output of verdicts.
 *
 * @param what names the output: `-o out.warc.gz`
 * @throws RobotsFilterError `usage`
 */
export function refuseVerdictsInWarc(options: OutputOptions, what: string): void {
  if (isChoice(options)) return;
  throw usageError(
    `${what} is WARC, whose records have no verdicts. Add --allowed or --denied to copy records; for verdicts use --format ndjson`,
  );
}

/** The format that the name of an output stands for, also before the ending of a compression. */
function formatOfName(path: string | undefined): OutputFormat | undefined {
  const plain = withoutCompression(path?.toLowerCase() ?? '');
  return ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1];
}

/** A name without the ending of its compression. */
function withoutCompression(name: string): string {
  const lower = name.toLowerCase();
  const ending = COMPRESSION_ENDINGS.findLast((each) => lower.endsWith(each)) ?? '';
  return name.slice(0, name.length - ending.length);
}

/** Endings of inputs that stand for no format of an output. */
const OTHER_ENDINGS = ['.txt', '.json'];

/**
 * The name of an input with the ending that its output's format has: `a.csv.gz` becomes
 * `a.ndjson.gz`. Without a format, and where the ending is right, the name stays.
 */
export function nameForFormat(name: string, format: FilterOptions['format']): string {
  if (format === undefined || formatOfName(name) === format) return name;
  const plain = withoutCompression(name);
  const old = [...ENDINGS.map(([ending]) => ending), ...OTHER_ENDINGS].find((ending) =>
    plain.toLowerCase().endsWith(ending),
  );
  const stem = plain.slice(0, plain.length - (old?.length ?? 0));
  const written = format === 'mask-ndjson' ? 'ndjson' : format;
  const ending = ENDINGS.find(([, each]) => each === written)?.[0] ?? '.txt';
  return `${stem}${ending}${format === 'parquet' ? '' : name.slice(plain.length)}`;
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
      ['--crawl-delay', options.crawlDelay],
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
  const ofName = formatOfName(output);
  if (format !== undefined && format !== ofName && (ofName === 'parquet' || ofName === 'warc')) {
    const what = format === 'parquet' ? 'Parquet' : format === 'warc' ? 'WARC' : 'lines';
    throw usageError(
      `--format ${format} writes ${what}, but -o ${output} is ${ofName === 'warc' ? 'WARC' : 'Parquet'}. Give only one of them, or name another output`,
    );
  }
  if (outputFormat(options) === 'warc') {
    refuseVerdictsInWarc(options, format === 'warc' ? '--format warc' : `-o ${output}`);
  }
  if (outputFormat(options) === 'parquet' && isCompressedName(output ?? '')) {
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

type ReadOptions = Pick<FilterOptions, 'table' | 'robotsDir' | 'agentsFile'>;

/** The table, or the caches, that decide the verdicts. */
export function robotsSources({ table, robotsDir = [] }: ReadOptions): NamedSource[] {
  if (table !== undefined) return [{ option: '--table', path: table }];
  return robotsDir.map((path) => ({ option: '--robots-dir', path }));
}

/** What a command reads beside its inputs, and no output may replace. */
export function filesToKeep(options: ReadOptions): NamedSource[] {
  const { agentsFile } = options;
  const agents = agentsFile === undefined ? [] : [{ option: '--agents-file', path: agentsFile }];
  return [...robotsSources(options), ...agents];
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
  if (outputDirectory({ output }) !== undefined) {
    refuseInSource(name, output, sources);
    return;
  }
  const replaced = realPathOf(output);
  if (replaced === undefined || !statSync(replaced).isFile()) return;
  for (const { option, path } of sources) {
    const source = realPathOf(path); // Reading the path later gives the error.
    if (source === undefined) continue;
    if (source === replaced) throw refusal(name, `${output} would replace ${option} ${path}`);
    const directory = source.endsWith(sep) ? source : `${source}${sep}`;
    if (replaced.startsWith(directory) && (!isTable(replaced) || isTable(source))) {
      throw refusal(name, `${output} would replace a file in ${option} ${path}`);
    }
  }
  if (isShardedTable(dirname(replaced)) && isTable(replaced)) {
    throw refusal(name, `${output} is a part of the table in shards ${dirname(output)}`);
  }
}

/**
 * Refuses a directory of shards that is a source, or that holds one: it would be replaced whole.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseSourceInShards(output: string, sources: readonly NamedSource[]): void {
  const replaced = realPathOf(output);
  if (replaced === undefined) return;
  for (const { option, path } of sources) {
    const source = realPathOf(path); // Reading the path later gives the error.
    // A directory that is no table is not replaced.
    if (source === undefined || !isTable(source)) continue;
    if (source !== replaced && !source.startsWith(`${replaced}${sep}`)) continue;
    throw refusal('-o', `${output} would replace ${option} ${path}`);
  }
}

/** @throws RobotsFilterError `usage` for a directory of outputs in a source directory */
function refuseInSource(name: string, output: string, sources: readonly NamedSource[]): void {
  for (const { option, path } of sources) {
    if (namesBelow(path, output) === undefined) continue;
    throw refusal(name, `${output} lies in ${option} ${path}, and the next run would read it`);
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

/**
 * Refuses an output in a directory of inputs, because the next run would read the output.
 *
 * @param output a file, or a directory with a slash at the end
 * @throws RobotsFilterError `usage`
 */
export function refuseOutputInInputs(output: string, inputs: readonly NamedInput[]): void {
  const isFile = !output.endsWith('/');
  if (isFile && !output.toLowerCase().endsWith(PARQUET_ENDING)) return;
  const directories = new Set(inputs.flatMap(({ directory }) => directory ?? []));
  for (const directory of directories) {
    const below = namesBelow(directory, output);
    if (below === undefined || below.some(isHidden)) continue;
    throw usageError(
      `-o ${output} lies in ${directory}, which is an input, and the next run would read it. Name a place outside of ${directory}`,
    );
  }
}

/** The names that lead from a directory to a path; undefined if the path lies elsewhere. */
function namesBelow(directory: string, path: string): string[] | undefined {
  const names = relative(pathWithoutLinks(directory), pathWithoutLinks(path)).split(sep);
  return names[0] === '..' ? undefined : names;
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

/**
 * Refuses Parquet or WARC on a terminal.
 *
 * @param place how standard output is written to a file
 * @throws RobotsFilterError `usage`
 */
export function refuseOnTerminal(format: 'Parquet' | 'WARC', place: string): void {
  if (!isTerminal(STANDARD_OUTPUT_DESCRIPTOR)) return;
  throw usageError(`${format} is not for terminals. Write it to a file: ${place}`);
}

/** Forms of a report, by the ending of its file. */
type ReportForm = 'html' | 'json';

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
 * Checks the file of a report beside rows on standard output.
 *
 * @param sources the robots.txt files that are read, and what else no report may replace
 * @param lists files of hosts or URLs that are read
 * @throws RobotsFilterError `usage`
 */
export function checkReportFile(
  report: string,
  sources: readonly NamedSource[],
  lists: readonly (string | undefined)[],
): void {
  reportForm(report);
  refuseStandardOutputAsReport(report);
  refuseInputAsReport(
    report,
    lists.flatMap((list) => list ?? []),
  );
  refuseSourceAsOutput('--report', report, sources);
}

/**
 * Refuses a name that promises compression.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseCompressedReport(report: string): void {
  if (!isCompressedName(report)) return;
  throw usageError(
    `--report ${report}: this report is written without compression. Leave the last ending of the name out`,
  );
}

/** The text of a report in the form that its name asks for. */
export async function reportText(path: string, figures: ReportFigures): Promise<string> {
  if (reportForm(path) === 'json') return `${printableJson(figures)}\n`;
  const { reportPage } = await import('../report/report-page.js');
  return reportPage(figures);
}

/** Writes a report, whole or not at all. */
export async function writeReport(path: string, figures: ReportFigures): Promise<void> {
  const { replaceFile } = await import('../../files/replacement.js');
  await replaceFile(path, Buffer.from(await reportText(path, figures)));
}

/**
 * The compressor of an output, by the ending of its name; `undefined` if it is not compressed.
 */
export async function outputCompressor(
  path: string,
): Promise<((file: ReplacementFile) => CompressedFile) | undefined> {
  if (!isCompressedName(path)) return undefined;
  const { CompressedFile } = await import('../../pipeline/output/compressed-file.js');
  const compressor = await compressorFor(path);
  return compressor && ((file) => new CompressedFile(compressor, file));
}
