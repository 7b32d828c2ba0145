import type { Option } from 'commander';
import { maxBytesRange } from '../../fetch/limits.js';
import { MAX_BYTES, MIN_BYTES } from '../../protocol/parsing-limits.js';
import { PROFILES } from '../../protocol/profile.js';
import { formatNumber } from '../report/numbers.js';
import { collectAgents } from './agents.js';
import { describedOption } from './described-option.js';
import { ROBOTS_GROUP, VERDICTS_GROUP } from './option-groups.js';
import {
  collect,
  describeRange,
  fieldPathOnce,
  moment,
  once,
  wholeNumber,
} from './option-values.js';

const MAX_DAYS = 36_500;

export const robotsDirOption = (): Option =>
  describedOption(
    '--robots-dir <dir>',
    'Read robots.txt from a directory, records or WARCs.',
    'A directory may contain HOST, HOST.txt, HOST-robots.txt, HOST.robots.txt, HOST/robots.txt, any of these below http/, https/ or ftp/, files of records, and WARC files. HOST may have a port: HOST:PORT or HOST_PORT.',
    'The name of a file of records ends in .ndjson or .jsonl, optionally with .gz or .zst after it. Each line is a JSON object with "host" or "url", and "robots", "robots_base64" or "status".',
    'The name of a WARC file ends in .warc, and that of a list of WARC files in .paths, optionally with .gz or .zst after it. The latest capture of each robots.txt counts, and redirects are resolved.',
    'A .parquet file has a robots.txt in each row, with columns such as domain and content; --host-column and --robots-column name others.',
    'Repeatable; later directories override earlier ones. A file with an explicit scheme wins, whatever the order.',
    '    --robots-dir base.ndjson.gz --robots-dir newer/',
  )
    .argParser(collect)
    .helpGroup(ROBOTS_GROUP);

export const tableOption = (): Option =>
  describedOption(
    '--table <file>',
    'Read a table that "robots-filter compile" wrote.',
    'The table replaces --robots-dir and opens at once, however many hosts it has. A table in shards is named by its directory.',
    '    --table robots.table',
  )
    .argParser(once)
    .helpGroup(ROBOTS_GROUP);

/** @param details further paragraphs: the meaning of the profile for one command */
export const profileOption = (...details: string[]): Option =>
  describedOption(
    '--profile <profile>',
    'Read robots.txt under this profile (default: rfc9309).',
    'rfc9309 follows RFC 9309. google decides as the program google/robotstxt does. draft-koster-rep-00 follows the draft of 2019.',
    ...details,
  )
    .choices(PROFILES)
    .helpGroup(ROBOTS_GROUP);

const robotsBytesRange = describeRange(maxBytesRange('rfc9309'), 'bytes');

export const maxRobotsBytesOption = (): Option =>
  describedOption(
    '--max-robots-bytes <n>',
    'Read only this many bytes of each robots.txt.',
    `${robotsBytesRange}. The rest is ignored. The google profile has no limit and ignores this option.`,
  )
    .argParser(wholeNumber(MIN_BYTES, MAX_BYTES, 'bytes'))
    .helpGroup(ROBOTS_GROUP);

export const maxFetchedBytesOption = (): Option =>
  describedOption(
    '--max-robots-bytes <n>',
    'Keep only this many bytes of each robots.txt.',
    `${robotsBytesRange}; with --profile google the default is 8 MiB.`,
  )
    .argParser(wholeNumber(MIN_BYTES, MAX_BYTES, 'bytes'))
    .helpGroup(ROBOTS_GROUP);

export const followLinksOption = (): Option =>
  describedOption(
    '--follow-links',
    'Follow symbolic links that lead out of the robots directory.',
    'Without this option such links are skipped with a warning.',
  ).helpGroup(ROBOTS_GROUP);

export const allowEmptyOption = (): Option =>
  describedOption(
    '--allow-empty',
    'Go on if there is no robots.txt at all.',
    'Without this option a source or table without hosts is an error: every URL would be unknown.',
  ).helpGroup(ROBOTS_GROUP);

export const staleUseOption = (): Option =>
  describedOption(
    '--stale <use>',
    'Choose for stale files: use or unknown (default: use).',
    'A file that was fetched more than 24 hours ago is stale. "use" uses it and counts it in a warning; "unknown" makes its host unknown.',
  )
    .choices(['use', 'unknown'])
    .helpGroup(ROBOTS_GROUP);

export const asOfOption = (): Option =>
  describedOption(
    '--as-of <date>',
    'Use only captures of WARC files up to this date or time (UTC).',
    'The date is in ISO 8601: 2025-03-10, which includes that day, or 2025-03-10T12:00:00Z. For each robots.txt the latest of these captures counts.',
  )
    .argParser(moment)
    .helpGroup(ROBOTS_GROUP);

export const columnOptions = (): Option[] =>
  [
    describedOption(
      '--host-column <name>',
      'Read the hosts of Parquet robots.txt from this column.',
      'The column holds hosts, HOST:PORT, or URLs of a root or a robots.txt. Default: host, domain or hostname, or url for URLs. Dots descend into groups.',
    ),
    describedOption(
      '--robots-column <name>',
      'Read the bodies of Parquet robots.txt from this column.',
      'The column holds text or bytes. Default: robots, robots_txt, content or body. Dots descend into groups.',
      '    --robots-dir set.parquet --host-column site --robots-column text',
    ),
    describedOption(
      '--status-column <name>',
      'Read the status codes of Parquet robots.txt from this column.',
      'The column holds whole numbers of any type, or text such as 503. Default: status, status_code or fetch_status. Dots descend into groups.',
    ),
  ].map((option) => option.argParser(fieldPathOnce).helpGroup(ROBOTS_GROUP));

export const unreachableAfterOption = (): Option =>
  describedOption(
    '--unreachable-after <days>',
    'Stop denying hosts that were unreachable for this many days.',
    `0 to ${formatNumber(MAX_DAYS)} days (default: 30). From then on the last good copy of the robots.txt decides; without a copy, everything is allowed.`,
  )
    .argParser(wholeNumber(0, MAX_DAYS, 'days'))
    .helpGroup(ROBOTS_GROUP);

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

export const keptRecordsOption = (): Option =>
  describedOption(
    '--records',
    'Keep sitemaps, crawl-delays, preferences and dates, too.',
    'For "robots-filter records" and "robots-filter audit" on the table. Verdicts and the speed of look-ups stay the same; the table grows by some 60 bytes a host.',
  ).helpGroup(ROBOTS_GROUP);

export const agentOption = (): Option =>
  describedOption(
    '-a, --agent <token,…>',
    'Judge for these product tokens (default: *).',
    'Repeatable; commas separate several agents, each of which gets a verdict. A>B is a fallback chain: the first token that has a group decides. @NAME is a list of known agents ("robots-filter agents" prints them). A whole User-Agent header stands for the known agent in it.',
    "    --agent GPTBot,CCBot --agent 'Googlebot-Image>Googlebot' --agent @ai-training",
  )
    .argParser(collectAgents)
    .helpGroup(VERDICTS_GROUP);

export const inspectedAgentOption = (): Option =>
  describedOption(
    '-a, --agent <token,…>',
    'Show what the host says to these agents.',
    'With a host only; shows the groups that decide for them. Repeatable; commas separate several agents, and A>B is a fallback chain.',
    '    robots-filter inspect robots.table example.com --agent GPTBot',
  )
    .argParser(collectAgents)
    .helpGroup(VERDICTS_GROUP);

export const keptAgentsOption = (): Option =>
  describedOption(
    '-a, --agent <token,…>',
    'Keep only the groups of these product tokens, and of *.',
    'Repeatable; commas separate several agents, and A>B is a fallback chain. @NAME is a list of known agents. The table is smaller and refuses other agents.',
    '    --agent GPTBot,CCBot --agent @ai-training',
  )
    .argParser(collectAgents)
    .helpGroup(ROBOTS_GROUP);

export const servedAgentsOption = (): Option =>
  describedOption(
    '-a, --agent <token,…>',
    'Judge requests without agents for these (default: *).',
    'Repeatable; commas separate several agents. With --robots-dir only the groups of these agents and of * are kept, and requests for others are refused.',
    '    robots-filter serve --robots-dir robots/ --agent GPTBot,CCBot',
  )
    .argParser(collectAgents)
    .helpGroup(VERDICTS_GROUP);

/** @param group the heading in `--help` */
export const agentsFileOption = (group: string): Option =>
  describedOption(
    '--agents-file <file>',
    'Read the lists of known agents from this file.',
    'The file replaces the built-in lists. It is a JSON array of objects with "token" and "purpose" (the name of its list), and optionally "published", "operator", "description", "source" and "date".',
    '    robots-filter agents --json > agents.json',
  )
    .argParser(once)
    .helpGroup(group);
