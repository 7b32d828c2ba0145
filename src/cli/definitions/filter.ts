/** The filter, which has no name, and `shard`: their options, help and actions. */

import { availableParallelism } from 'node:os';
import { InvalidArgumentError, type Option } from 'commander';
import { docsPage } from '../../base/errors.js';
import { version } from '../../files/package-file.js';
import type { Server } from '../../kernel/query-settings.js';
import { MAX_THREADS } from '../../pipeline/bad-record.js';
import { DEFAULT_PORTS, formatAuthority, parseAuthority } from '../../protocol/authority.js';
import { MAX_SHARDS } from '../../table/places.js';
import { withTokens } from '../agents.js';
import { filter, filterCopying, shard } from '../commands/filter.js';
import { LOG_AGENT } from '../commands/filter-usage.js';
import { outputFormat } from '../commands/outputs.js';
import {
  type CommandDefinition,
  days,
  describedOption,
  type FilterOptions,
  fieldPathOnce,
  maxLineBytesOption,
  nonEmpty,
  once,
  type ShardOptions,
  shared,
  wholeNumber,
} from '../options.js';

const NOTES = `
Each record gets one verdict for each agent:
    allow    the agent may fetch the URL
    deny     the agent may not fetch the URL
    unknown  there is no robots.txt for the URL's scheme, host and port
    invalid  the record has no http, https or ftp URL

Text comes out as VERDICT, tab, URL. JSON records come out as they are, those of arrays one on each line, with "verdict" as the last member; rows of csv, tsv and cdx with a column "verdict" at the end. Another --format has the URL and its verdicts. Records keep their order. Standard output carries data only; messages go to standard error.

Exit status:
    0    the run was completed, whatever the verdicts
    1    with --exit-code: something is not allowed, or nothing came out
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)

A file that is named like a command is written ./compile. Options stand after a command.`;

/** The filter itself, which has no name. */
export const filterDefinition: CommandDefinition = {
  help: {
    description: 'Check each URL in a list against robots.txt (RFC 9309).',
    usage: ['--robots-dir <dir> [options] [files...]', '--table <file> [options] [files...]'],
    mainOptions: [
      '--robots-dir',
      '--table',
      '--fetch',
      '--agent',
      '--url-field',
      '--allowed',
      '--denied',
      '--unknown',
      '--explain',
      '--output',
    ],
    examples: [
      'robots-filter --robots-dir robots/ -a GPTBot urls.txt',
      'robots-filter --robots-dir robots/ -a GPTBot --allowed crawl.ndjson.gz',
      "zcat crawl.gz | robots-filter --robots-dir robots/ -a 'GPTBot,*' --explain",
      'robots-filter compile --robots-dir robots/ -o robots.table',
      'robots-filter --table robots.table --url-field request.url crawl.ndjson',
    ],
    notes: NOTES,
  },
  arguments: [['[files...]', 'URLs or records to check; - or no file is standard input.']],
  options: () => [
    shared.robotsDir(),
    shared.table(),
    shared.profile('A table has the profile that it was compiled with; no other is accepted.'),
    ...shared.reading(true),
    describedOption(
      'Fetching',
      '--fetch',
      'Fetch the robots.txt of unknown hosts first.',
      'The files go into the first --robots-dir. The input is read twice; a pipe is copied to a temporary file.',
      'Options of fetch apply with --fetch: see robots-filter fetch --help. These are --user-agent, --concurrency, --per-address, --pause, --allow-private, --ca, --proxy and --proxy-forward.',
      "    robots-filter --fetch --robots-dir robots/ --user-agent 'MyBot/1.0' -a MyBot urls.txt",
    ),
    ...shared.fetching().map((option) => option.hideHelp()),
    shared.agent(),
    shared.agentsFile('Verdicts'),
    describedOption(
      'Verdicts',
      '--agent-field <name>',
      'Judge each record for the crawler in this member or column.',
      'The value is a User-Agent header, or a product token. The known crawler that it names first counts, otherwise the first product that is not a browser. A record that names none is judged for *. A client can send any User-Agent: the value tells what it claims to be.',
      '--explain adds the crawler as "judged_as". --stats-by agent and --report count by crawler. Only for formats with fields; not with --agent, --use, --preferences and --crawl-delay.',
      '    robots-filter --table robots.table --agent-field user_agent --stats-by agent log.ndjson',
    ).argParser(fieldPathOnce),
    describedOption(
      'Verdicts',
      '--unknown <verdict>',
      'Decide URLs of unknown hosts: allow, deny or unknown.',
      'A host is unknown if there is no robots.txt for its scheme, host and port. Default: unknown.',
    )
      .choices(['allow', 'deny', 'unknown'])
      .default('unknown'),
    describedOption(
      'Verdicts',
      '--time-field <name>',
      'Judge each record for its own time, in this member or column.',
      'The robots.txt that was in force at that time counts: the newest that is not later. The table must have been compiled with --history; robots.txt files of --robots-dir need dates. Before the first one, the verdict is unknown. A record without a time is invalid.',
      'Times are RFC 3339 or ISO 8601, with or without a zone (then UTC), 14 digits or their first 12, 10 or 8, 10/Oct/2000:13:55:36 -0700, or a number: from 100,000,000 on seconds since 1970, from 100,000,000,000 on milliseconds. In Parquet also TIMESTAMP, DATE and INT96, and a partition of the path. timestamp is the column b of CDX, the time before the object of CDXJ, and the WARC-Date of WARC; in a log, time is that of the line.',
      '    robots-filter --table history.table --time-field fetch_time -a GPTBot crawl.parquet',
    ).argParser(fieldPathOnce),
    describedOption(
      'Verdicts',
      '--in-force <when>',
      'Choose the robots.txt that counts: at, latest or ever.',
      'at: the one in force at the time of --time-field or --as-of, and the default with them. latest: the newest, the default without them. ever: a URL is denied if any robots.txt of its authority denies it; --explain names the newest that does. Only for robots.txt files with dates, as for --time-field.',
    ).choices(['at', 'latest', 'ever']),
    describedOption(
      'Verdicts',
      '--max-age <days>',
      'Ignore a robots.txt last found longer ago than this: 90d.',
      'With --time-field or --as-of, from whose time the age is counted: 1d to 36500d. Where the robots.txt is older, the verdict is unknown. The age ends at the last time that the same rules were found before; if they were found after it, too, they are not old.',
    ).argParser((text) => days(text, 'Give a number of days, such as 90d.')),
    describedOption(
      'Verdicts',
      '--explain',
      'Add the reason, and the rule with its line and file.',
      'Text gets five more columns for each agent: REASON, LINE, RULE, AGENT and SOURCE. JSON gets the members "reason" and "rule", or "reasons" and "rules" with several agents. With histories, a column VERSION or a member "version" ("versions") has the time from which the robots.txt was in force.',
    ),
    describedOption(
      'Verdicts',
      '--preferences',
      'Add what robots.txt says about the use of content (experimental).',
      'Where the verdict is allow, the preferences for the URL and the agent are added as JSON: Content-Usage, Content-Signal and License. They never change a verdict. JSON gets the member "preferences", other formats a column for each agent. A table must have been compiled with --records.',
    ).conflicts(['allowed', 'denied', 'statsBy']),
    describedOption(
      'Verdicts',
      '--crawl-delay',
      "Add the seconds of the agent's Crawl-delay.",
      'Where the verdict is allow, the Crawl-delay of the group of the agent is added: a number, the greatest if there are several. A line that is no number counts for nothing. JSON gets the member "crawl_delay", other formats a column for each agent. A table must have been compiled with --records. The delay never changes a verdict.',
    ).conflicts(['allowed', 'denied', 'statsBy']),
    ...shared.uses(
      'Verdicts',
      'Where the verdict is allow, text gets the answer after the verdict, JSON the member "use", and rows a column of that name; with several agents or uses "use" is an object, and each answer has a column. --explain adds the signal with its line. --allowed passes what is not refused. A table must have been compiled with --signals.',
      '    robots-filter --table robots.table -a GPTBot --use train,search --explain urls.txt',
    ),
    describedOption(
      'Verdicts',
      '--require-grant',
      'With --use, treat a use that is not granted as refused.',
      'For --allowed, --denied and --format mask-ndjson. Without this option, --allowed passes what is unstated, too.',
      '    robots-filter --table robots.table --use train --require-grant --allowed urls.txt',
    ),
    shared.input(true),
    shared.urlField(),
    describedOption(
      'Input',
      '--host <name>',
      'With --input log, the server whose log it is.',
      'HOST, HOST:PORT or a URL without a path. Without a scheme it is https, or http if there is a port other than 443. Without this option, the first field of each line is HOST or HOST:PORT.',
      '    robots-filter --table robots.table --input log --host shop.example access.log',
    ).argParser(serverOf),
    ...shared.header(),
    maxJudgedLineOption(),
    strictOption(),
    describedOption(
      'Output',
      '--allowed',
      'Write only the records that every agent may fetch.',
      'They come out unchanged, or with another --format as URLs. Unknown and invalid records are left out; see --unknown.',
      '    robots-filter --robots-dir robots/ -a GPTBot --allowed urls.txt > frontier.txt',
    ).conflicts('denied'),
    describedOption(
      'Output',
      '--denied',
      'Write only the records that some agent may not fetch.',
      'They come out unchanged, or with another --format as URLs. Unknown and invalid records are left out; see --unknown.',
    ),
    describedOption(
      'Output',
      '--verdict-field <name>',
      'Give the added JSON member or Parquet column this name.',
      'Default: verdict, or verdicts with several agents. In Parquet output the agents are added to the name: NAME_GPTBot.',
    ).argParser(nonEmpty),
    describedOption(
      'Output',
      '--format <format>',
      'Write this format (default: that of the input).',
      `One of ${FORMAT_CHOICES.join(', ')}. If it is not the format of the input, a record becomes its URL and its verdicts; with --allowed or --denied, its URL. verdicts and mask-ndjson have no URLs: one line for each record, in the order of the input, and an empty line for a blank one. verdicts are words, with commas between those of several agents. mask-ndjson is {"allowed":true} if every agent may fetch the URL, and {"allowed":false} otherwise. warc copies the records of WARC files that --allowed or --denied chooses.`,
      '    robots-filter --robots-dir robots/ --allowed --format text crawl.ndjson > frontier.txt',
      '    robots-filter --robots-dir robots/ --format mask-ndjson -o allowed.gz crawl.ndjson.zst',
    ).choices(FORMAT_CHOICES),
    describedOption(
      'Output',
      '--output-header',
      'Begin --format verdicts with a line that names the agents.',
      'Rows of csv and tsv have a header without this option.',
    ),
    outputsOption(),
    exitCodeOption(),
    threadsOption(),
    statsOption(),
    ...countOptions(),
    shared.spreadsheet(),
    describedOption(
      'Output',
      '--report <file>',
      'Also write a report of the run: .html or .json.',
      'The page is one file that loads nothing. It counts by URL, by host and by distinct robots.txt what each agent may fetch and what that rests on, and shows the hosts with most URLs and the rules that deny most.',
      '    robots-filter --table robots.table -a @ai-training --report r.html urls.txt > verdicts.txt',
    ).argParser(once),
    ...shared.progress(),
    shared.quiet(),
  ],
  async run(files: readonly string[], given: FilterOptions) {
    const options = await withTokens(withLogAgents(given));
    if (options.fetch === true) {
      const { fetchAndFilter } = await import('../commands/fetch-unknown.js');
      return fetchAndFilter(files, options, availableParallelism(), version());
    }
    const run = outputFormat(options) === 'warc' ? filterCopying : filter;
    return run(files, options, availableParallelism());
  },
};

export const shardDefinition: CommandDefinition = {
  help: {
    description: 'Add to each record the shard of its host.',
    usage: ['--of <n> [options] [files...]'],
    mainOptions: ['--of', '--url-field', '--field', '--output', '--quiet'],
    examples: [
      'robots-filter shard --of 64 urls.txt',
      'robots-filter shard --of 64 --url-field request.url crawl.ndjson.gz',
    ],
    notes: `
The shard of a host is the CRC-32 of its canonical form, modulo the number of shards. All schemes and ports of a host have one shard. The same in Spark SQL, Python and DuckDB:
${docsPage('shards.md')}

Text comes out as SHARD, tab, URL. JSON records come out with "shard" as the last member; rows of csv, tsv and cdx with a column "shard" at the end. A record without a valid URL has no shard: an empty field, or null; in cdx -. Records keep their order.

Exit status:
    0    the run was completed
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  arguments: [['[files...]', 'URLs or records; - or no file is standard input.']],
  options: () => [
    describedOption(
      'Output',
      '--of <n>',
      'Divide hosts into this many shards. Required.',
      `1 to ${MAX_SHARDS}: the number that "robots-filter compile --shards" was given.`,
    ).argParser(wholeNumber(1, MAX_SHARDS)),
    shared.input(),
    shared.urlField(),
    ...shared.header(),
    maxJudgedLineOption(),
    strictOption(),
    describedOption(
      'Output',
      '--field <name>',
      'Give the added JSON member or column this name.',
      'Default: shard.',
    )
      .argParser(nonEmpty)
      .default('shard'),
    outputOption(),
    threadsOption(),
    ...shared.progress(),
    shared.quiet(),
  ],
  async run(files: readonly string[], options: ShardOptions) {
    return shard(files, options, availableParallelism());
  },
};

// ---- Options of the filter

/** The server that --host names. */
function serverOf(text: string, earlier: Server | undefined): Server {
  const url = once(text, earlier && formatAuthority(earlier));
  const authority = parseAuthority(url);
  if (authority === undefined) {
    throw new InvalidArgumentError('Use HOST, HOST:PORT or https://HOST, without a path.');
  }
  const { host, port, scheme = port === undefined || port === 443 ? 'https' : 'http' } = authority;
  return { scheme, host, port: port === DEFAULT_PORTS[scheme] ? undefined : port };
}

/** In logs, each line names its agent. Unless --agent asks for others, that is the one. */
function withLogAgents(options: FilterOptions): FilterOptions {
  const isAsked = options.agent !== undefined || options.agentField !== undefined;
  return options.input === 'log' && !isAsked ? { ...options, agentField: [LOG_AGENT] } : options;
}

const maxJudgedLineOption = (): Option =>
  maxLineBytesOption('Judge no line that is longer than this many bytes.', 'is invalid');

const strictOption = (): Option =>
  describedOption(
    'Input',
    '--strict',
    'Stop at the first invalid record with exit status 2.',
    'Without this option invalid records come out with the verdict invalid, and the first ten are named on standard error.',
  );

/** The values of `--format`. */
const FORMAT_CHOICES = Object.keys({
  text: true,
  ndjson: true,
  csv: true,
  tsv: true,
  parquet: true,
  warc: true,
  verdicts: true,
  'mask-ndjson': true,
} satisfies Record<NonNullable<FilterOptions['format']>, true>);

const OUTPUT_FILE =
  'A file is replaced when it is complete, or not at all. It may be one of the inputs. A name in .gz or .zst is written compressed. If it ends in .parquet, .csv, .tsv, .ndjson, .jsonl or .warc, perhaps before .gz or .zst, it says the format, unless --format does.';

const outputOption = (): Option =>
  describedOption(
    'Output',
    '-o, --output <file>',
    'Write to this file (default: standard output).',
    OUTPUT_FILE,
  ).argParser(once);

const exitCodeOption = (): Option =>
  describedOption(
    'Output',
    '-e, --exit-code',
    'End with 1 unless every URL is allowed, for scripts.',
    'With --allowed or --denied: end with 1 if no record came out, as grep does. With --use, a URL whose use is refused is not allowed; with --require-grant, one whose use is not granted. Errors end with 2.',
    '    robots-filter -e --table robots.table -a GPTBot urls.txt > verdicts.txt && echo allowed',
  );

const outputsOption = (): Option =>
  describedOption(
    'Output',
    '-o, --output <file>',
    'Write to a file, or with DIR/ one for each input.',
    `Default: standard output. ${OUTPUT_FILE} A name that ends in a slash is a directory for one output for each input, with the input's name, partitions, format and compression; outputs that are complete stay there if the run ends early.`,
    '    robots-filter --robots-dir robots/ -o filtered/ --allowed index/',
  ).argParser(once);

const threadsOption = (): Option =>
  describedOption(
    'Performance',
    '--threads <n>',
    'Judge on this many threads (default: one per core).',
    `1 to ${MAX_THREADS}. Without this option, small inputs are judged on the main thread.`,
  ).argParser(wholeNumber(1, MAX_THREADS));

/** `--stats` or `--stats=json`: `completeStats` keeps the next word from becoming the format. */
const statsOption = (): Option => {
  const option = describedOption(
    'Messages',
    '--stats [format]',
    'Print counts, throughput, time and memory at the end.',
    '--stats prints lines for people, --stats=json one JSON object. Both go to standard error, also with --quiet.',
  ).argParser(statsFormat);
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

/** Maximum of --top: more hosts than a table can hold. */
const MAX_TOP = 1_000_000_000;

const countOptions = (): Option[] => [
  describedOption(
    'Output',
    '--stats-by <key>',
    'Write counts by host, agent, rule or reason in place of the records.',
    'The counts go to standard output, as a table for people; --format csv and --format ndjson write rows. A row without a host has the records of unknown hosts and those without a URL; by rule, those that no rule decided. Where times are asked for, the column version has the time from which the robots.txt of a rule was in force.',
    '    robots-filter --table robots.table -a GPTBot --stats-by host --top 20 urls.txt',
  )
    .choices(['host', 'agent', 'rule', 'reason'])
    .conflicts(['allowed', 'denied', 'output', 'explain', 'verdictField', 'outputHeader']),
  describedOption(
    'Output',
    '--top <n>',
    'With --stats-by, write only the n most frequent of each agent.',
    '1 or more. Default: all.',
  ).argParser(wholeNumber(1, MAX_TOP, 'rows')),
];
