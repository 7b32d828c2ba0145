/** The options that several commands have. An option of one command stands in its definition. */

import { InvalidArgumentError, type Option } from 'commander';
import { maxBytesRange, RANGES, type Range, userAgentFault } from '../../fetch/limits.js';
import type { RecordFormat } from '../../kernel/query.js';
import { DEFAULT_MAX_LINE_BYTES, GREATEST_MAX_LINE_BYTES } from '../../pipeline/bad-record.js';
import type { StaleUse } from '../../pipeline/compile/compile-cache.js';
import type { OutputFormat } from '../../pipeline/output/rows.js';
import { MAX_BYTES, MIN_BYTES, PROFILES, type Profile } from '../../protocol/verdict.js';
import { type AskedAgentOptions, collectAgents } from '../agents.js';
import { usageError } from '../console.js';
import {
  collect,
  describedOption,
  describeRange,
  fieldPath,
  fieldPathOnce,
  moment,
  type OptionGroup,
  once,
  wholeNumber,
} from '../definition.js';
import type { CountKey } from '../report/run-counts.js';
import { formatNumber } from '../text.js';

// ---- Robots.txt files

/** Options of all commands that read robots.txt files. */
export interface ProfileOptions {
  readonly profile?: Profile;
  readonly maxRobotsBytes?: number;
  readonly quiet?: boolean;
}

/** Options of all commands that read a set of robots.txt files, or a table. */
export interface SourceOptions {
  /** Whether the set or table may have no hosts. */
  readonly allowEmpty?: boolean;
}

/** Options of all commands that compile robots.txt files. */
export interface RobotsOptions extends ProfileOptions, AskedAgentOptions, SourceOptions {
  readonly robotsDir?: readonly string[];
  readonly followLinks?: boolean;
  readonly stale?: StaleUse;
  /** A time in milliseconds since 1970. */
  readonly asOf?: number;
  readonly hostColumn?: readonly string[];
  readonly robotsColumn?: readonly string[];
  readonly statusColumn?: readonly string[];
  /** Number of days. */
  readonly unreachableAfter?: number;
}

export const robotsDirOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--robots-dir <dir>',
    'Read robots.txt from a directory, records or WARCs.',
    'A directory may contain HOST, HOST.txt, HOST-robots.txt, HOST.robots.txt, HOST/robots.txt, any of these below http/, https/ or ftp/, files of records, and WARC files. HOST may have a port: HOST:PORT or HOST_PORT.',
    'The name of a file of records ends in .ndjson or .jsonl, optionally with .gz or .zst after it. Each line is a JSON object with "host" or "url", and "robots", "robots_base64" or "status".',
    'The name of a WARC file ends in .warc, and that of a list of WARC files in .paths, optionally with .gz or .zst after it. The latest capture of each robots.txt counts, and redirects are resolved.',
    'A .parquet file has a robots.txt in each row, with columns such as domain and content; --host-column and --robots-column name others.',
    'Repeatable; later directories override earlier ones. A file with an explicit scheme wins, whatever the order.',
    '    --robots-dir base.ndjson.gz --robots-dir newer/',
  ).argParser(collect);

export const tableOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--table <file>',
    'Read a table that "robots-filter compile" wrote.',
    'The table replaces --robots-dir and opens at once, however many hosts it has. A table in shards is named by its directory.',
    '    --table robots.table',
  ).argParser(once);

/** @param details further paragraphs: the meaning of the profile for one command */
export const profileOption = (...details: string[]): Option =>
  describedOption(
    'Robots.txt',
    '--profile <profile>',
    'Read robots.txt under this profile (default: rfc9309).',
    'rfc9309 follows RFC 9309. google decides as the program google/robotstxt does. draft-koster-rep-00 follows the draft of 2019.',
    ...details,
  ).choices(PROFILES);

export const robotsBytesRange = describeRange(maxBytesRange('rfc9309'), 'bytes');

export const maxRobotsBytesOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--max-robots-bytes <n>',
    'Read only this many bytes of each robots.txt.',
    `${robotsBytesRange}. The rest is ignored. The google profile has no limit and ignores this option.`,
  ).argParser(wholeNumber(MIN_BYTES, MAX_BYTES, 'bytes'));

export const followLinksOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--follow-links',
    'Follow symbolic links that lead out of the robots directory.',
    'Without this option such links are skipped with a warning.',
  );

export const allowEmptyOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--allow-empty',
    'Go on if there is no robots.txt at all.',
    'Without this option a source or table without hosts is an error: every URL would be unknown.',
  );

const staleUseOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--stale <use>',
    'Choose for stale files: use or unknown (default: use).',
    'A file that was fetched more than 24 hours ago is stale. "use" uses it and counts it in a warning; "unknown" makes its host unknown.',
  ).choices(['use', 'unknown']);

export const asOfOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--as-of <date>',
    'Use only captures of WARC files up to this date or time (UTC).',
    'The date is in ISO 8601: 2025-03-10, which includes that day, or 2025-03-10T12:00:00Z. For each robots.txt the latest of these captures counts.',
  ).argParser(moment);

export const columnOptions = (): Option[] =>
  [
    describedOption(
      'Robots.txt',
      '--host-column <name>',
      'Read the hosts of Parquet robots.txt from this column.',
      'The column holds hosts, HOST:PORT, or URLs of a root or a robots.txt. Default: host, domain or hostname, or url for URLs. Dots descend into groups.',
    ),
    describedOption(
      'Robots.txt',
      '--robots-column <name>',
      'Read the bodies of Parquet robots.txt from this column.',
      'The column holds text or bytes. Default: robots, robots_txt, content or body. Dots descend into groups.',
      '    --robots-dir set.parquet --host-column site --robots-column text',
    ),
    describedOption(
      'Robots.txt',
      '--status-column <name>',
      'Read the status codes of Parquet robots.txt from this column.',
      'The column holds whole numbers of any type, or text such as 503. Default: status, status_code or fetch_status. Dots descend into groups.',
    ),
  ].map((option) => option.argParser(fieldPathOnce));

const MAX_DAYS = 36_500;

export const unreachableAfterOption = (): Option =>
  describedOption(
    'Robots.txt',
    '--unreachable-after <days>',
    'Stop denying hosts that were unreachable for this many days.',
    `0 to ${formatNumber(MAX_DAYS)} days (default: 30). From then on the last good copy of the robots.txt decides; without a copy, everything is allowed.`,
  ).argParser(wholeNumber(0, MAX_DAYS, 'days'));

/** How robots.txt files are read: the options of all commands that compile them. */
export const readingOptions = (): Option[] => [
  maxRobotsBytesOption(),
  followLinksOption(),
  staleUseOption(),
  asOfOption(),
  unreachableAfterOption(),
  ...columnOptions(),
  allowEmptyOption(),
];

export const agentOption = (): Option =>
  describedOption(
    'Verdicts',
    '-a, --agent <token,…>',
    'Judge for these product tokens (default: *).',
    'Repeatable; commas separate several agents, each of which gets a verdict. A>B is a fallback chain: the first token that has a group decides. @NAME is a list of known agents ("robots-filter agents" prints them). A whole User-Agent header stands for the known agent in it.',
    "    --agent GPTBot,CCBot --agent 'Googlebot-Image>Googlebot' --agent @ai-training",
  ).argParser(collectAgents);

/** @param group the heading in `--help` */
export const agentsFileOption = (group: OptionGroup): Option =>
  describedOption(
    group,
    '--agents-file <file>',
    'Read the lists of known agents from this file.',
    'The file replaces the built-in lists. It is a JSON array of objects with "token" and "purpose" (the name of its list), and optionally "published", "operator", "description", "source" and "date".',
    '    robots-filter agents --json > agents.json',
  ).argParser(once);

// ---- Fetching

/** Options of all commands that fetch. */
export interface FetchingOptions extends ProfileOptions {
  readonly concurrency?: number;
  readonly perAddress?: number;
  /** Number of seconds, as in all times below. */
  readonly pause?: number;
  readonly userAgent?: string;
  readonly allowPrivate?: boolean;
  readonly ca?: string;
  /** Number of days. */
  readonly unreachableAfter?: number;
  readonly progress?: boolean;
}

const MILLISECONDS_PER_SECOND = 1000;

/** Makes an option for a whole number. Its detail begins with the range; `then` follows. */
export function numberOption(
  group: OptionGroup,
  flags: string,
  summary: string,
  range: Range,
  then = '.',
): Option {
  return describedOption(group, flags, summary, `${describeRange(range)}${then}`).argParser(
    wholeNumber(range.least, range.most),
  );
}

/** Makes an option for a time. The range is in milliseconds, the user's value in seconds. */
export function secondsOption(
  group: OptionGroup,
  flags: string,
  summary: string,
  range: Range,
  then = '.',
): Option {
  const seconds = {
    least: Math.ceil(range.least / MILLISECONDS_PER_SECOND),
    most: Math.floor(range.most / MILLISECONDS_PER_SECOND),
    standard: range.standard / MILLISECONDS_PER_SECOND,
  };
  return describedOption(
    group,
    flags,
    summary,
    `${describeRange(seconds, 'seconds')}${then}`,
  ).argParser(wholeNumber(seconds.least, seconds.most, 'seconds'));
}

/** Parses a User-Agent header. A header that cannot be sent is refused before any work. */
function userAgent(text: string): string {
  const fault = userAgentFault(text);
  if (fault === undefined) return text;
  throw new InvalidArgumentError(fault);
}

/** Options of `fetch` that the filter accepts with `--fetch`. */
export const sharedFetchOptions = (): Option[] => [
  describedOption(
    'Fetching',
    '--user-agent <text>',
    'Send this User-Agent header; include your product token.',
    'Default: robots-filter/VERSION.',
    "    --user-agent 'MyBot/1.0 (+https://example.com/bot)'",
  ).argParser(userAgent),
  numberOption(
    'Fetching',
    '--concurrency <n>',
    'Fetch this many robots.txt files at a time.',
    RANGES.concurrency,
  ),
  numberOption(
    'Fetching',
    '--per-address <n>',
    'Open at most this many connections to one IP address.',
    RANGES.perAddress,
  ),
  secondsOption(
    'Fetching',
    '--pause <seconds>',
    'Wait this many seconds between two requests to one host.',
    RANGES.pause,
    '. Redirects count as requests.',
  ),
  describedOption(
    'Fetching',
    '--allow-private',
    'Connect to private, loopback and link-local addresses too.',
    'Without this option, such addresses are refused, and their hosts count as unreachable.',
  ),
  describedOption(
    'Fetching',
    '--ca <file>',
    'Trust the certificates in this PEM file too.',
  ).argParser(once),
];

// ---- Inputs

/** Options of all commands that read URLs. */
export interface InputOptions {
  readonly input: 'auto' | RecordFormat;
  /** Whether rows begin with a header; undefined to find out. */
  readonly header?: boolean;
  readonly urlField: readonly string[];
  readonly maxLineBytes: number;
}

export const inputOption = (): Option =>
  describedOption(
    'Input',
    '--input <format>',
    'Read this format: auto, text, ndjson, json, csv, tsv or parquet (default: auto).',
    'text has one URL per line. ndjson has one JSON object per line. json is an array, or objects one after another. csv and tsv have rows with commas or tabs between their fields (RFC 4180). parquet has the URL in a column, and its rows come out as NDJSON. auto recognises the format by its first bytes, as it does gzip and zstd; a file called .csv or .tsv is also recognised by its name.',
  )
    .choices(['auto', 'text', 'ndjson', 'json', 'csv', 'tsv', 'parquet'])
    .default('auto');

export const urlFieldOption = (): Option =>
  describedOption(
    'Input',
    '--url-field <name>',
    'Read the URL from this member or column (default: url).',
    'Dots descend into nested objects, and into groups of Parquet columns. Quotes keep the dots of a name. For csv and tsv it is the name of a column, or its number from 1; by default the column is recognised.',
    `    --url-field request.url\n    --url-field '"request.url"'`,
  )
    .argParser(fieldPath)
    .default(['url']);

export const headerOptions = (): Option[] => [
  describedOption(
    'Input',
    '--header',
    'Treat the first row of csv and tsv as a header.',
    'By default a first row without a URL is a header.',
  ),
  describedOption('Input', '--no-header', 'Treat the first row of csv and tsv as a record.'),
];

const lineBytesRange = describeRange(
  { least: 1, most: GREATEST_MAX_LINE_BYTES, standard: DEFAULT_MAX_LINE_BYTES },
  'bytes',
);

export function maxLineBytesOption(summary: string, fate: string): Option {
  return describedOption(
    'Input',
    '--max-line-bytes <n>',
    summary,
    `${lineBytesRange}. A longer line ${fate}.`,
  )
    .argParser(wholeNumber(1, GREATEST_MAX_LINE_BYTES, 'bytes'))
    .default(DEFAULT_MAX_LINE_BYTES);
}

// ---- Reports and messages

/** Options of all commands that write rows. */
export interface RowOptions {
  /** Whether CSV is made safe for spreadsheets. */
  readonly spreadsheet?: boolean;
}

export const ROWS_DETAIL =
  'table is for people: it shortens long values, and leaves out columns that do not fit the window. csv and ndjson have everything.';

export const spreadsheetOption = (): Option =>
  describedOption(
    'Output',
    '--spreadsheet',
    'Write csv that a spreadsheet opens without running formulas.',
    "Site owners choose many values, and a spreadsheet runs one that begins with =, +, - or @. This option writes an apostrophe before it: '=1+1. Use it with --format csv.",
  );

/** @throws RobotsFilterError `usage` unless the rows are CSV */
export function checkSpreadsheet({
  spreadsheet,
  format,
}: {
  readonly spreadsheet?: boolean;
  readonly format?: string | undefined;
}): void {
  if (spreadsheet !== true || format === 'csv') return;
  throw usageError('--spreadsheet has no effect without --format csv. Add it, or leave both out');
}

/** @param detail what an object holds */
export const jsonOption = (detail: string): Option =>
  describedOption('Output', '--json', 'Write JSON, one object on each line.', detail);

export const progressOptions = (): Option[] => [
  describedOption(
    'Messages',
    '--progress',
    'Show progress even if standard error is not a terminal.',
    'By default progress is shown on a terminal, as one line that is overwritten, unless records go to the terminal or into a pipe.',
  ),
  describedOption('Messages', '--no-progress', 'Show no progress.'),
];

export const quietOption = (): Option =>
  describedOption('Messages', '-q, --quiet', 'Write only errors to standard error.');

// ---- The options of the filter, as commander gives them

export interface FilterOptions extends RobotsOptions, FetchingOptions, InputOptions, RowOptions {
  readonly fetch?: boolean;
  readonly table?: string;
  readonly verdictField?: string;
  readonly format?: OutputFormat | 'verdicts' | 'mask-ndjson';
  readonly outputHeader?: boolean;
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly unknown: 'allow' | 'deny' | 'unknown';
  readonly explain?: boolean;
  readonly preferences?: boolean;
  readonly strict?: boolean;
  readonly output?: string;
  readonly threads?: number;
  readonly stats?: 'text' | 'json';
  readonly statsBy?: CountKey;
  readonly report?: string;
  readonly top?: number;
}

/** Options of `shard`, which filters without a table. */
export interface ShardOptions extends InputOptions {
  /** Number of shards. */
  readonly of?: number;
  readonly field: string;
  readonly strict?: boolean;
  readonly output?: string;
  readonly threads?: number;
  readonly progress?: boolean;
  readonly quiet?: boolean;
}
