/**
 * What commands are defined with: definitions, parsers of values, and the options that several
 * commands have. An option of one command stands in its definition.
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatFieldPath, MOST_DAYS, parseFieldPath } from '../base/arguments.js';
import { isDigits } from '../base/characters.js';
import {
  maxBytesRange,
  PROXY_EXAMPLE,
  parseProxyUrl,
  RANGES,
  type Range,
  userAgentFault,
} from '../fetch/limits.js';
import type { RecordFormat, Server } from '../kernel/query-settings.js';
import { DEFAULT_MAX_LINE_BYTES, GREATEST_MAX_LINE_BYTES } from '../pipeline/bad-record.js';
import type { StaleUse } from '../pipeline/compile/compile-cache.js';
import type { OutputFormat } from '../pipeline/output/rows.js';
import { parseUses, type Use } from '../protocol/uses.js';
import {
  GREATEST_PARSING_LIMIT,
  LEAST_PARSING_LIMIT,
  PROFILES,
  type Profile,
} from '../protocol/verdict.js';
import { type AskedAgentOptions, collectAgents } from './agents.js';
import { type COMMAND_NAMES, usageError } from './console.js';
import type { CountKey } from './report/run-counts.js';
import { formatNumber } from './text.js';

/** The texts of `-h` and `--help` about a command, apart from its options. */
export interface HelpTexts {
  /** One imperative sentence that describes the command. */
  readonly description: string;
  /** Ways to call the command, without the program's name. */
  readonly usage: readonly string[];
  /** Long names of the options that `-h` shows, in its order. */
  readonly mainOptions: readonly string[];
  readonly examples: readonly string[];
  /** Paragraphs at the end of `--help`; a line that starts with white space is not wrapped. */
  readonly notes: string;
}

/** A command: its help, its arguments and options, and what it does. */
export interface CommandDefinition {
  readonly help: HelpTexts;
  readonly arguments: readonly (readonly [
    name: string,
    description: string,
    choices?: readonly string[],
  ])[];
  /** Whether `run` refuses further words itself, because it knows what was meant. */
  readonly allowsExcess?: boolean;
  /** Number of arguments that name files; all without it. */
  readonly paths?: number;
  /** The options in the order of the help. */
  readonly options: () => readonly Option[];
  /**
   * Runs the command.
   *
   * @param words the arguments
   * @returns the exit code
   */
  run(words: readonly string[], options: object, command: Command): Promise<number>;
}

/** The definition of each command, by its name. */
export type CommandDefinitions = Readonly<
  Record<(typeof COMMAND_NAMES)[number], CommandDefinition>
>;

/** Headings of the options in `--help`. */
type OptionGroup =
  | 'Robots.txt'
  | 'Fetching'
  | 'Table'
  | 'Agents'
  | 'Rules'
  | 'Input'
  | 'Verdicts'
  | 'Output'
  | 'Performance'
  | 'Messages';

/**
 * Makes an option with its help text. `-h` shows the summary, and `--help` the details too. A
 * detail that starts with white space is an example and is not wrapped.
 *
 * @param group the heading in `--help`
 */
export function describedOption(
  group: OptionGroup,
  flags: string,
  summary: string,
  ...details: string[]
): Option {
  return new Option(flags, [summary, ...details].join('\n\n')).helpGroup(group);
}

/** The first line of a description, which `-h` shows. */
export function summaryOf({ description }: Option): string {
  return description.split('\n', 1)[0] ?? '';
}

/**
 * Makes a parser of decimal whole numbers, whose error names both bounds.
 *
 * @param unit the unit of the number, such as `bytes`
 */
export function wholeNumber(least: number, most: number, unit?: string): (text: string) => number {
  const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`;
  return (text) => {
    const value = Number(text);
    if (isDigits(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(
      `Give ${what} from ${formatNumber(least)} to ${formatNumber(most)}, without commas.`,
    );
  };
}

/** Formats a range of whole numbers for help: `1 to 4,096 (default: 64)`. */
function describeRange(
  { least, most, standard }: Readonly<Record<'least' | 'most' | 'standard', number>>,
  unit?: string,
): string {
  const noun = unit === undefined ? '' : ` ${unit}`;
  return `${formatNumber(least)} to ${formatNumber(most)}${noun} (default: ${formatNumber(standard)})`;
}

/** Parses a value that must not be empty. */
export function nonEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Give a value that is not empty.');
}

/**
 * Parses an option that names a source or a destination. A second value is refused, because it
 * would silently replace the first.
 */
export function once(text: string, earlier: string | undefined): string {
  if (earlier !== undefined) {
    throw new InvalidArgumentError(`It was already given as ${earlier}. Give it once.`);
  }
  return nonEmpty(text);
}

/** Parses an option that may be repeated. */
function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, nonEmpty(value)];
}

/** Parses an option that may be repeated, each with several values between commas. */
function collectList(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...text.split(',').map((part) => nonEmpty(part.trim()))];
}

/** Parses `train=TOKEN`, which may be repeated for other uses. */
function collectPolicyToken(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals <= 0 || equals === text.length - 1) {
    throw new InvalidArgumentError('Give a use and a product token: train=TOKEN.');
  }
  const use = text.slice(0, equals).trim();
  if (Object.hasOwn(earlier, use)) {
    throw new InvalidArgumentError(`It was already given for ${use}. Give it once.`);
  }
  return { ...earlier, [use]: text.slice(equals + 1).trim() };
}

/**
 * Parses a number of days: `90d`.
 *
 * @param remedy what to say of any other text
 */
export function days(text: string, remedy: string): number {
  if (text.endsWith('d')) return wholeNumber(1, MOST_DAYS, 'days')(text.slice(0, -1));
  throw new InvalidArgumentError(remedy);
}

/** Reads the path of a member or column (arguments.ts). */
function fieldPath(text: string): string[] {
  const keys = parseFieldPath(text);
  if (keys !== undefined) return keys;
  throw new InvalidArgumentError(
    `Give a name, such as url, or a path with dots, such as request.url. A name with dots of its own is quoted: '"request.url"'.`,
  );
}

/** As `fieldPath`, for an option that is given once. */
export function fieldPathOnce(text: string, earlier: readonly string[] | undefined): string[] {
  once(text, earlier && formatFieldPath(earlier));
  return fieldPath(text);
}

/** Lengths of the dates and times that `moment` reads, without fractions of a second. */
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const MINUTE_LENGTH = 'YYYY-MM-DDThh:mm'.length;
const SECOND_LENGTH = 'YYYY-MM-DDThh:mm:ss'.length;

/**
 * Parses an ISO 8601 date or time in UTC.
 *
 * @returns milliseconds since 1970; the last one of a day, minute or second
 */
function moment(text: string): number {
  const plain = text.endsWith('Z') && text.length > DAY_LENGTH + 1 ? text.slice(0, -1) : text;
  const [whole = '', fraction] = plain.split('.');
  const time = Date.parse(plain.length === DAY_LENGTH ? plain : `${plain}Z`);
  // Date.parse accepts more than ISO 8601, and moves 30 February to March.
  const isDate = hasForm(whole, fraction) && !Number.isNaN(time);
  if (!isDate || !new Date(time).toISOString().startsWith(whole)) {
    throw new InvalidArgumentError(
      'Give a date or time in UTC, such as 2025-03-10 or 2025-03-10T12:00:00Z.',
    );
  }
  if (fraction !== undefined) return time;
  const span =
    whole.length === DAY_LENGTH ? 86_400_000 : whole.length === MINUTE_LENGTH ? 60_000 : 1000;
  return time + span - 1;
}

/** Makes an option for a time of a table with histories, as `--as-of` is. */
export function momentOption(flags: string, summary: string): Option {
  return describedOption(
    'Robots.txt',
    flags,
    summary,
    'The date is in ISO 8601, as for --as-of. The table must have been compiled with --history. Without this option the newest robots.txt files count.',
  ).argParser(moment);
}

/** Whether a text is YYYY-MM-DD, YYYY-MM-DDThh:mm or YYYY-MM-DDThh:mm:ss with digits. */
function hasForm(whole: string, fraction: string | undefined): boolean {
  const { length } = whole;
  if (length !== DAY_LENGTH && length !== MINUTE_LENGTH && length !== SECOND_LENGTH) return false;
  if (fraction !== undefined && (length !== SECOND_LENGTH || !isDigits(fraction))) return false;
  return [...whole].every((character, at) => {
    const expected = 'dddd-dd-ddTdd:dd:dd'[at];
    return expected === 'd' ? isDigits(character) : character === expected;
  });
}

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
  readonly dateColumn?: readonly string[];
  /** Number of days. */
  readonly unreachableAfter?: number;
}

export const robotsBytesRange = describeRange(maxBytesRange('rfc9309'), 'bytes');

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
  /** A URL, `env` or `none`. */
  readonly proxy?: string;
  readonly proxyForward?: boolean;
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

/** Values of `--proxy` that are no URLs. */
export const PROXY_WORDS: readonly string[] = ['env', 'none'];

/**
 * Parses a proxy. The errors are no `InvalidArgumentError`, whose message would show a password.
 *
 * @throws RobotsFilterError `usage`
 */
function proxyUrl(text: string, earlier: string | undefined): string {
  if (earlier !== undefined) throw usageError('--proxy was given twice. Give it once');
  if (PROXY_WORDS.includes(text)) return text;
  const url = parseProxyUrl(text);
  if (typeof url === 'string') {
    throw usageError(`--proxy: ${url}. Give a URL, ${PROXY_EXAMPLE}; or env, or none`);
  }
  if (url.username === '' && url.password === '') return text;
  throw usageError(
    '--proxy has a name or password, which other users of this machine could see. Put the URL into HTTPS_PROXY and HTTP_PROXY instead, and use --proxy env',
  );
}

// ---- Inputs

/** Options of all commands that read URLs. */
export interface InputOptions {
  readonly input: 'auto' | RecordFormat;
  /** Whether rows begin with a header; undefined to find out. */
  readonly header?: boolean;
  readonly urlField: readonly string[];
  readonly maxLineBytes: number;
}

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

// ---- Uses of content

/** Options of all commands that answer about uses. */
export interface UseOptions {
  readonly use?: readonly string[];
  /** Product tokens by use. */
  readonly policyToken?: Readonly<Record<string, string>>;
}

/**
 * The uses about which is asked.
 *
 * @throws RobotsFilterError `usage` as `parseUses`
 */
export function usesOf({ use = [], policyToken }: UseOptions): Use[] {
  return parseUses(use, policyToken);
}

// ---- The options of the filter, as commander gives them

export interface FilterOptions
  extends RobotsOptions,
    FetchingOptions,
    InputOptions,
    RowOptions,
    UseOptions {
  readonly fetch?: boolean;
  readonly table?: string;
  readonly host?: Server;
  readonly agentField?: readonly string[];
  readonly timeField?: readonly string[];
  readonly inForce?: 'at' | 'latest' | 'ever';
  /** Number of days. */
  readonly maxAge?: number;
  readonly verdictField?: string;
  readonly format?: OutputFormat | 'verdicts' | 'mask-ndjson';
  readonly outputHeader?: boolean;
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly unknown: 'allow' | 'deny' | 'unknown';
  readonly explain?: boolean;
  readonly preferences?: boolean;
  readonly crawlDelay?: boolean;
  readonly requireGrant?: boolean;
  readonly exitCode?: boolean;
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

/** The formats that every command reads that judges or lists URLs. */
const INPUTS: readonly string[] = [
  'text',
  'ndjson',
  'json',
  'csv',
  'tsv',
  'parquet',
  'cdx',
  'cdxj',
  'warc',
];

const LOG_INPUT =
  'log is that of a web server, in the combined format of Apache httpd and nginx: the agent of each line counts unless --agent names one, and --time-field time is the time of the line. Name the server with --host, or begin each line with it, as vhost_combined does.';

// ---- The options that several commands have

/** Makers of the options that several commands have. */
export const shared = {
  robotsDir: (): Option =>
    describedOption(
      'Robots.txt',
      '--robots-dir <dir>',
      'Read robots.txt from a directory, records or WARCs.',
      'A directory may contain HOST, HOST.txt, HOST-robots.txt, HOST.robots.txt, HOST/robots.txt, any of these below http/, https/ or ftp/, files of records, and WARC files. HOST may have a port: HOST:PORT or HOST_PORT.',
      'The name of a file of records ends in .ndjson or .jsonl, optionally with .gz or .zst after it. Each line is a JSON object with "host" or "url", and "robots", "robots_base64" or "status".',
      'The name of a WARC file ends in .warc, and that of a list of WARC files in .paths, optionally with .gz or .zst after it. The latest capture of each robots.txt counts, and redirects are resolved.',
      'A pipe, or - for standard input, may hold records, WARC records, or what captures prints; the first bytes tell.',
      'A .parquet file has a robots.txt in each row, with columns such as domain and content; --host-column and --robots-column name others.',
      'compile reads tables, too, as if they were the files that they were made of.',
      'Repeatable; later directories override earlier ones. A file with an explicit scheme wins, whatever the order.',
      '    --robots-dir base.ndjson.gz --robots-dir newer/',
    ).argParser(collect),

  table: (): Option =>
    describedOption(
      'Robots.txt',
      '--table <file>',
      'Read a table that "robots-filter compile" wrote.',
      'The table replaces --robots-dir and opens at once, however many hosts it has. A table in shards is named by its directory.',
      '    --table robots.table',
    ).argParser(once),

  /** @param details further paragraphs: the meaning of the profile for one command */
  profile: (...details: string[]): Option =>
    describedOption(
      'Robots.txt',
      '--profile <profile>',
      'Read robots.txt under this profile (default: rfc9309).',
      'rfc9309 follows RFC 9309. google decides as the program google/robotstxt does, and takes status 429 for a server error. draft-koster-rep-00 follows the draft of 2019.',
      ...details,
    ).choices(PROFILES),

  maxRobotsBytes: (): Option =>
    describedOption(
      'Robots.txt',
      '--max-robots-bytes <n>',
      'Read only this many bytes of each robots.txt.',
      `${robotsBytesRange}. The rest is ignored. The google profile has no limit and ignores this option.`,
    ).argParser(wholeNumber(LEAST_PARSING_LIMIT, GREATEST_PARSING_LIMIT, 'bytes')),

  followLinks: (): Option =>
    describedOption(
      'Robots.txt',
      '--follow-links',
      'Follow symbolic links that lead out of the robots directory.',
      'Without this option such links are skipped with a warning.',
    ),

  allowEmpty: (): Option =>
    describedOption(
      'Robots.txt',
      '--allow-empty',
      'Go on if there is no robots.txt at all.',
      'Without this option a source or table without hosts is an error: every URL would be unknown.',
    ),

  staleUse: (): Option =>
    describedOption(
      'Robots.txt',
      '--stale <use>',
      'Choose for stale files: use or unknown (default: use).',
      'A file that was fetched more than 24 hours ago is stale. "use" uses it and counts it in a warning; "unknown" makes its host unknown.',
    ).choices(['use', 'unknown']),

  asOf: (): Option =>
    describedOption(
      'Robots.txt',
      '--as-of <date>',
      'Answer for this date or time (UTC), from older captures.',
      'The date is in ISO 8601: 2025-03-10, which includes that day, or 2025-03-10T12:00:00Z. Of captures in WARC files, for each robots.txt the latest up to this time counts. A table must have been compiled with --history; an authority without a robots.txt up to this time is unknown.',
    ).argParser(moment),

  columns: (): Option[] =>
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
    ].map((option) => option.argParser(fieldPathOnce)),

  dateColumn: (): Option =>
    describedOption(
      'Robots.txt',
      '--date-column <name>',
      'Read when Parquet robots.txt were fetched from this column.',
      'For a table that keeps dates. The column holds TIMESTAMP, DATE, INT96, numbers or text, in the forms that --time-field reads. Default: fetched or fetch_time. Dots descend into groups.',
      '    --robots-dir set.parquet --date-column crawled_at',
    ).argParser(fieldPathOnce),

  unreachableAfter: (): Option =>
    describedOption(
      'Robots.txt',
      '--unreachable-after <days>',
      'Stop denying hosts that were unreachable for this many days.',
      `0 to ${formatNumber(MOST_DAYS)} days (default: 30; 12 hours in the google profile). From then on the last good copy of the robots.txt decides; without a copy, everything is allowed.`,
    ).argParser(wholeNumber(0, MOST_DAYS, 'days')),

  /**
   * How robots.txt files are read: the options of all commands that compile them.
   *
   * @param keepsDates whether the command may use the dates of files
   */
  reading: (keepsDates = false): Option[] => [
    shared.maxRobotsBytes(),
    shared.followLinks(),
    shared.staleUse(),
    shared.asOf(),
    shared.unreachableAfter(),
    ...shared.columns(),
    ...(keepsDates ? [shared.dateColumn()] : []),
    shared.allowEmpty(),
  ],

  agent: (): Option =>
    describedOption(
      'Verdicts',
      '-a, --agent <token,…>',
      'Judge for these product tokens (default: *).',
      'Repeatable; commas separate several agents, each of which gets a verdict. A:B is a fallback chain: the first token that has a group decides. A: is a crawler that disregards the groups of *. @NAME is a list of known agents ("robots-filter agents" prints them). A whole User-Agent header stands for the known agent in it.',
      '    --agent GPTBot,CCBot --agent Googlebot-Image:Googlebot --agent @ai-training',
    ).argParser(collectAgents),

  /**
   * What is asked about the use of content.
   *
   * @param group the heading in `--help`
   * @param details further paragraphs: what the command says about uses
   */
  uses: (group: OptionGroup, ...details: string[]): Option[] => [
    describedOption(
      group,
      '--use <use,…>',
      'Say whether this use is granted: train (experimental).',
      'granted: some signal says yes, and none says no. refused: some signal says no. unstated: none says either. Signals are Content-Usage and Content-Signal; --policy-token adds another. They never change a verdict. A key of a signal, such as train-ai, is a use too.',
      ...details,
    ).argParser(collectList),
    describedOption(
      group,
      '--policy-token <use=token>',
      'Count the groups of this product token as a signal, too.',
      'For draft-kelley-aipref-training-preference-signal. A group that denies a URL refuses the use, one that allows it grants the use, and the groups of * do not count. Repeatable for other uses.',
      '    --use train --policy-token train=TOKEN',
    ).argParser(collectPolicyToken),
  ],

  /** @param group the heading in `--help` */
  agentsFile: (group: OptionGroup): Option =>
    describedOption(
      group,
      '--agents-file <file>',
      'Read the lists of known agents from this file.',
      'The file replaces the built-in lists. It is a JSON array of objects with "token" and "purpose" (the name of its list), and optionally "published", "operator", "description", "source" and "date".',
      '    robots-filter agents --json > agents.json',
    ).argParser(once),

  /** Options of `fetch` that the filter accepts with `--fetch`. */
  fetching: (): Option[] => [
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
    describedOption(
      'Fetching',
      '--proxy <url>',
      'Fetch through this proxy, or with env through those of the environment.',
      'The URL of an http or https proxy. env reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, also in lower case; a name and password belong there. none uses no proxy, and no message mentions that there is one. The proxy looks up the names of hosts, so only the proxy can refuse private addresses. ftp does not go through a proxy.',
      '    --proxy http://proxy.example:3128',
    ).argParser(proxyUrl),
    describedOption(
      'Fetching',
      '--proxy-forward',
      'Let the proxy forward requests to http hosts.',
      'By default the proxy opens a tunnel to every host, also for http. Some proxies do so for https alone. Without a tunnel, a refusal by the proxy may look like an answer of the host, and allow everything.',
    ),
  ],

  /** @param log whether logs of web servers are read */
  input: (log = false): Option => {
    const formats = log ? [...INPUTS, 'log'] : INPUTS;
    return describedOption(
      'Input',
      '--input <format>',
      `Read this format: ${formats.join(', ')} (default: auto).`,
      'text has one URL per line. ndjson has one JSON object per line. json is an array, or objects one after another. csv and tsv have rows with commas or tabs between their fields (RFC 4180). parquet has the URL in a column, and its rows come out as NDJSON. cdx is the index of an archive in columns: its header, " CDX N b a …", says which is the URL (a) and which the time (b). cdxj is such an index with a key, a time and a JSON object on each line. warc has records with a WARC-Target-URI, which come out as NDJSON. auto recognises the format by its first bytes, as it does gzip and zstd; a file called .csv or .tsv is also recognised by its name.',
      ...(log ? [LOG_INPUT] : []),
    )
      .choices(['auto', ...formats])
      .default('auto');
  },

  urlField: (): Option =>
    describedOption(
      'Input',
      '--url-field <name>',
      'Read the URL from this member or column (default: url).',
      'Dots descend into nested objects, and into groups of Parquet columns. Quotes keep the dots of a name. For csv and tsv it is the name of a column, or its number from 1; by default the column is recognised. For cdx it is a letter of the header or a number; by default a.',
      `    --url-field request.url\n    --url-field '"request.url"'`,
    )
      .argParser(fieldPath)
      .default(['url']),

  header: (): Option[] => [
    describedOption(
      'Input',
      '--header',
      'Treat the first row of csv and tsv as a header.',
      'By default a first row without a URL is a header. In cdx, that is a first line that begins with " CDX ".',
    ),
    describedOption('Input', '--no-header', 'Treat the first row of csv and tsv as a record.'),
  ],

  spreadsheet: (): Option =>
    describedOption(
      'Output',
      '--spreadsheet',
      'Write csv that a spreadsheet opens without running formulas.',
      "Site owners choose many values, and a spreadsheet runs one that begins with =, +, - or @. This option writes an apostrophe before it: '=1+1. Use it with --format csv.",
    ),

  /** @param detail what an object holds */
  json: (detail: string): Option =>
    describedOption('Output', '--json', 'Write JSON, one object on each line.', detail),

  progress: (): Option[] => [
    describedOption(
      'Messages',
      '--progress',
      'Show progress even if standard error is not a terminal.',
      'By default progress is shown on a terminal, as one line that is overwritten, unless records go to the terminal or into a pipe.',
    ),
    describedOption('Messages', '--no-progress', 'Show no progress.'),
  ],

  quiet: (): Option =>
    describedOption('Messages', '-q, --quiet', 'Write only errors to standard error.'),
};
