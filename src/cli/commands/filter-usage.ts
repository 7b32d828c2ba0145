/** Checks that the options of the filter and of `shard` fit each other, before the work begins. */

import { existsSync, statSync } from 'node:fs';
import { isDigits } from '../../base/characters.js';
import { docsPage } from '../../base/errors.js';
import { isStandardInput, STANDARD_INPUT } from '../../files/openings.js';
import { memberConflict } from '../../pipeline/filter.js';
import type { Saying } from '../../pipeline/output/record-sayings.js';
import type { Agent } from '../../protocol/agent.js';
import { parseAgents } from '../agents.js';
import { shellWords, usageError } from '../console.js';
import { checkSpreadsheet, type FilterOptions, usesOf } from '../options.js';
import type { CountsLayout } from '../report/run-counts.js';
import { checkUrlField, refuseSecondStandardInput } from './inputs.js';
import {
  checkOutputFormat,
  filesToKeep,
  outputDirectory,
  outputFile,
  outputFormat,
  outputMode,
  refuseInputAsReport,
  refuseSourceAsOutput,
  refuseStandardOutputAsReport,
  reportForm,
} from './outputs.js';
import { checkChoices, checkRobotsSource } from './robots-source.js';

/**
 * Checks that the filter's options fit each other and the files, before the work begins.
 *
 * @returns the agents; undefined with `--table`, whose profile decides how agents are read
 * @throws RobotsFilterError `usage`
 */
export async function checkFilterUsage(
  files: readonly string[],
  options: FilterOptions,
): Promise<readonly Agent[] | undefined> {
  refuseSharedStandardInput(files, options);
  checkRobotsSource(files, options);
  await checkChoices(options.robotsDir, options);
  checkUrlField(options);
  checkTimes(options);
  checkAgentField(options);
  checkLog(options);
  checkUses(options);
  refuseAdditions(options);
  checkAddedMembers(options);
  checkOutputFormat(options);
  const output = outputFile(options);
  if (output !== undefined) {
    refuseDirectoryAsFile(output);
    refuseSourceAsOutput('-o', output, filesToKeep(options));
  }
  await checkReport(files, options, output);
  const { table, profile = 'rfc9309' } = options;
  // Records may name any agent, so the groups of all are kept.
  if (table !== undefined || options.agentField !== undefined) return undefined;
  return parseAgents(options.agent, profile);
}

/** @throws RobotsFilterError `usage` if URLs and robots.txt files would share standard input */
function refuseSharedStandardInput(files: readonly string[], { robotsDir = [] }: FilterOptions) {
  refuseSecondStandardInput(robotsDir);
  const shared = robotsDir.find(isStandardInput);
  if (shared === undefined || (files.length > 0 && !files.some(isStandardInput))) return;
  throw usageError(
    `--robots-dir ${shared} reads standard input, and so would the URLs. Name a file of URLs, or name the robots.txt files: --robots-dir <(command)`,
  );
}

/**
 * Checks what is asked of histories, and that nothing else asks for another time.
 *
 * @throws RobotsFilterError `usage`
 */
function checkTimes(options: FilterOptions): void {
  const { timeField, inForce, maxAge, asOf, input, urlField } = options;
  const hasTime = timeField !== undefined || asOf !== undefined;
  if (timeField !== undefined && asOf !== undefined) {
    throw usageError('--time-field and --as-of both say for which time to judge. Leave one out');
  }
  if (inForce === 'at' && !hasTime) {
    throw usageError(
      '--in-force at needs a time. Add --time-field NAME for that of each record, or --as-of DATE',
    );
  }
  if (inForce !== undefined && inForce !== 'at' && hasTime) {
    const time = timeField === undefined ? '--as-of' : '--time-field';
    throw usageError(`--in-force ${inForce} asks for no time, and ${time} does. Leave one out`);
  }
  if (maxAge !== undefined && !hasTime) {
    throw usageError(
      '--max-age needs a time, from which the age is counted. Add --time-field NAME for that of each record, or --as-of DATE',
    );
  }
  const option = timeField !== undefined ? '--time-field' : `--in-force ${inForce}`;
  if (timeField === undefined && inForce !== 'ever') return;
  if (timeField !== undefined && input === 'text') {
    throw usageError(
      '--time-field has no effect on text: each line is a URL. Use --input ndjson or csv, or --as-of DATE for all URLs',
    );
  }
  if (timeField?.join('.') === urlField.join('.')) {
    throw usageError(
      `--time-field and --url-field both name ${urlField.join('.')}. Name the member with the time`,
    );
  }
  if (options.fetch === true) {
    throw usageError(
      `--fetch fetches what is in force now, and ${option} asks for others. Leave one out`,
    );
  }
  const [saying] = sayingsOf(options);
  if (saying !== undefined) {
    throw usageError(
      `${sayingOption(saying)} reads the newest robots.txt alone, and ${option} asks for others. Leave one out, or ${sayingOfATime(saying)}`,
    );
  }
}

/**
 * Checks that nothing is asked for agents that are named beforehand, if records name theirs.
 *
 * @throws RobotsFilterError `usage`
 */
function checkAgentField(options: FilterOptions): void {
  const { agentField, urlField, timeField, input } = options;
  if (agentField === undefined) return;
  if (input === 'text') {
    throw usageError(
      '--agent-field has no effect on text: each line is a URL. Use --input ndjson or csv, or name the agent: --agent GPTBot',
    );
  }
  for (const [option, path] of [
    ['--url-field', urlField],
    ['--time-field', timeField],
  ] as const) {
    if (path?.join('.') !== agentField.join('.')) continue;
    throw usageError(
      `--agent-field and ${option} both name ${path.join('.')}. Name the member with the User-Agent`,
    );
  }
  const others = [
    ['--agent', options.agent, 'both say for whom to judge. Leave one out'],
    ['--use', options.use, 'do not go together yet: name the agent with --agent'],
    ['--preferences', options.preferences, 'do not go together yet: name the agent with --agent'],
    ['--crawl-delay', options.crawlDelay, 'do not go together yet: name the agent with --agent'],
  ] as const;
  for (const [option, value, reason] of others) {
    if (value === undefined || value === false) continue;
    throw usageError(`--agent-field and ${option} ${reason}`);
  }
}

/** The fields of the lines of a log, as --agent-field and --time-field name them. */
export const LOG_AGENT = 'agent';
const LOG_TIME = 'time';

/**
 * Checks what is asked of the log of a web server, which has two fields and no others.
 *
 * @throws RobotsFilterError `usage`
 */
function checkLog(options: FilterOptions): void {
  const { input, host, urlField, agentField, timeField, header } = options;
  if (input !== 'log') {
    if (host === undefined) return;
    throw usageError(
      '--host has no effect without --input log. Add it, or leave --host out: URLs have their hosts',
    );
  }
  if (options.fetch === true) {
    throw usageError(
      '--fetch does not read logs. Fetch the robots.txt of the server first: echo https://HOST/ | robots-filter fetch --robots-dir DIR',
    );
  }
  for (const [option, path, name] of [
    ['--agent-field', agentField, LOG_AGENT],
    ['--time-field', timeField, LOG_TIME],
  ] as const) {
    if (path === undefined || path.join('.') === name) continue;
    throw usageError(`the lines of a log have no ${path.join('.')}. Use ${option} ${name}`);
  }
  if (urlField.join('.') !== 'url' || header !== undefined) {
    throw usageError(
      `${header === undefined ? '--url-field' : '--header'} has no effect on --input log. Leave it out`,
    );
  }
}

/**
 * Checks what is asked about uses.
 *
 * @throws RobotsFilterError `usage`
 */
function checkUses(options: FilterOptions): void {
  const uses = usesOf(options);
  const { requireGrant = false, allowed = false, denied = false, format, statsBy } = options;
  if (requireGrant && uses.length === 0) {
    throw usageError(
      '--require-grant has no effect without --use. Add --use train, or leave it out',
    );
  }
  const chooses = allowed || denied || format === 'mask-ndjson' || options.exitCode === true;
  if (requireGrant && !chooses) {
    throw usageError(
      '--require-grant has no effect where all records come out. Add --allowed, or leave it out',
    );
  }
  if (uses.length > 0 && statsBy === 'rule') {
    throw usageError(
      '--use has no effect with --stats-by rule, which counts rules. Use --stats-by agent, host or reason, or leave --use out',
    );
  }
}

/** What is asked for beside verdicts, in the order of the columns. */
export function sayingsOf({ preferences, crawlDelay }: FilterOptions): Saying[] {
  return [
    ...(preferences === true ? (['preferences'] as const) : []),
    ...(crawlDelay === true ? (['crawl_delay'] as const) : []),
  ];
}

/** The option that asks for a saying. */
export function sayingOption(saying: Saying): string {
  return saying === 'preferences' ? '--preferences' : '--crawl-delay';
}

/** What to type for what captures say that are not the newest. */
export function sayingOfATime(saying: Saying): string {
  const what = saying === 'preferences' ? 'preferences' : 'crawl-delay';
  return `for the ${what} of one time type: robots-filter compile --records --robots-dir DIR --as-of DATE -o FILE, and then use --table FILE ${sayingOption(saying)}`;
}

/** @throws RobotsFilterError `usage` for a directory without the slash that asks for its outputs */
function refuseDirectoryAsFile(output: string): void {
  if (output.endsWith('/') || statSync(output, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return;
  }
  throw usageError(
    `-o ${output}: is a directory. Type -o ${output}/ for one output for each input, or name a file in it`,
  );
}

/**
 * Refuses options that add to records, where the records pass unchanged.
 *
 * @throws RobotsFilterError `usage`
 */
function refuseAdditions(options: FilterOptions): void {
  const { allowed, denied, explain, verdictField } = options;
  if (allowed !== true && denied !== true) return;
  const passing = allowed === true ? '--allowed' : '--denied';
  const remedy =
    explain === true
      ? `Without ${passing}, --explain says why beside each verdict`
      : 'Leave it out';
  for (const [option, value] of [
    ['--explain', explain],
    ['--verdict-field', verdictField],
  ] as const) {
    if (value === undefined || value === false) continue;
    throw usageError(
      `${option} has no effect with ${passing}, which passes records unchanged. ${remedy}`,
    );
  }
}

/**
 * Checks the options of `shard`, as `checkFilterUsage` those of the filter.
 *
 * @returns the number of shards
 * @throws RobotsFilterError `usage`
 */
export function checkShardUsage(
  files: readonly string[],
  shards: number | undefined,
  options: FilterOptions,
): number {
  if (shards === undefined) {
    // It may have come as an argument.
    const [first = ''] = files;
    const isNumber = isDigits(first) && !existsSync(first);
    const lists = isNumber ? files.slice(1) : files;
    const named = lists.length === 0 ? 'urls.txt' : shellWords(lists);
    throw usageError(
      `shard needs the number of shards. Type: robots-filter shard --of ${isNumber ? first : 64} ${named}`,
    );
  }
  const written = outputFormat(options);
  if (written === 'parquet' || written === 'warc') {
    throw usageError(
      `shard does not write ${written === 'warc' ? 'WARC' : 'Parquet'}. Name another output, or compute the shard where the data is: ${docsPage('shards.md')}`,
    );
  }
  if (outputDirectory(options) !== undefined) {
    throw usageError(
      `shard has one output, and -o ${options.output} is a directory. Name a file in it, and run it once for each input`,
    );
  }
  checkUrlField(options);
  checkAddedMembers(options, '--field');
  return shards;
}

/**
 * How counts are written in place of the records; undefined if the records are wanted.
 *
 * @throws RobotsFilterError `usage` for a format that counts do not have
 */
export function countsLayout({
  statsBy,
  top,
  format,
  spreadsheet = false,
}: FilterOptions): CountsLayout | undefined {
  if (statsBy === undefined) {
    if (spreadsheet) {
      throw usageError(
        '--spreadsheet is for the counts of --stats-by: records keep their bytes. Leave it out, and import the records as text',
      );
    }
    if (top === undefined) return undefined;
    throw usageError(
      `--top has no effect without --stats-by. Add --stats-by host, or leave it out`,
    );
  }
  if (format !== undefined && format !== 'csv' && format !== 'ndjson') {
    throw usageError(
      `--stats-by cannot write ${format}. Use --format csv or --format ndjson, or leave it out for a table`,
    );
  }
  checkSpreadsheet({ spreadsheet, format });
  return { by: statsBy, top, format: format ?? 'table', spreadsheet };
}

/** @throws RobotsFilterError `usage` for a report without a form, or in place of another file */
async function checkReport(
  files: readonly string[],
  options: FilterOptions,
  output: string | undefined,
): Promise<void> {
  const { report } = options;
  if (report === undefined) return;
  reportForm(report);
  if (output === undefined) {
    refuseStandardOutputAsReport(report);
  } else {
    const { replacedPath } = await import('../../files/replacement.js');
    if ((await replacedPath(output)) === (await replacedPath(report))) {
      throw usageError(`--report ${report} and -o ${output} are one file. Name another file`);
    }
  }
  refuseInputAsReport(report, files.length === 0 ? [STANDARD_INPUT] : files);
  refuseSourceAsOutput('--report', report, filesToKeep(options));
}

/**
 * Checks that no record comes out with two members of one name.
 *
 * @param option the option that names the added member
 * @param dated whether the explanations have the time of the version
 * @throws RobotsFilterError `usage`
 */
export function checkAddedMembers(
  options: FilterOptions,
  option = '--verdict-field',
  dated = false,
): void {
  const { input, urlField, agentField, verdictField } = options;
  const { explain = false, strict = false } = options;
  const conflict = memberConflict(
    {
      urlField,
      agentField,
      verdictField,
      explain,
      dated,
      strict,
      addedSayings: sayingsOf(options),
      uses: usesOf(options),
      outputFormat: outputFormat(options),
    },
    outputMode(options) === 'annotate' ? input : undefined,
  );
  switch (conflict?.with) {
    case 'explanation':
      throw usageError(
        `${option} ${conflict.member} is a member that --explain adds. Choose another name`,
      );
    case 'use':
      throw usageError(
        `${option} ${conflict.member} is the member that --use adds. Choose another name`,
      );
    case 'preferences':
    case 'crawl_delay':
      throw usageError(
        `${option} ${conflict.member} is the member that ${sayingOption(conflict.with)} adds. Choose another name`,
      );
    case 'bad line':
      throw usageError(
        `${option} ${conflict.member} is a member that is added to records that are not objects. Choose another name`,
      );
    case 'url':
      throw usageError(
        `${conflict.member} is both the added member and the member with the URL. Choose another name for one of them (${option}, --url-field)`,
      );
  }
}
