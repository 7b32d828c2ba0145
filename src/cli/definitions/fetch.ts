/** `fetch`: its options, help and action. */

import type { Option } from 'commander';
import { RANGES } from '../../fetch/limits.js';
import { version } from '../../files/package-file.js';
import { GREATEST_PARSING_LIMIT, LEAST_PARSING_LIMIT } from '../../protocol/verdict.js';
import type { FetchOptions } from '../commands/fetch.js';
import {
  type CommandDefinition,
  describedOption,
  maxLineBytesOption,
  numberOption,
  once,
  robotsBytesRange,
  secondsOption,
  shared,
  wholeNumber,
} from '../options.js';

const NOTES = `
A host has one of three access results (RFC 9309 section 2.3.1):
    successful   status 200 to 299: the rules decide
    unavailable  status 300 to 499, or too many redirects: everything is allowed
    unreachable  any other status or a network error: everything is denied

The same command continues where an earlier run was stopped.

Exit status:
    0    the run was completed, whatever the servers answered
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`;

export const fetchDefinition: CommandDefinition = {
  help: {
    description: 'Fetch the robots.txt of every host in a list, and keep them fresh.',
    usage: ['--robots-dir <dir> [options] [files...]', '--robots-dir <dir> --stale [options]'],
    mainOptions: [
      '--robots-dir',
      '--stale',
      '--history',
      '--user-agent',
      '--url-field',
      '--concurrency',
      '--pause',
      '--retries',
      '--max-age',
      '--report',
      '--quiet',
    ],
    examples: [
      "robots-filter fetch --robots-dir robots/ --user-agent 'MyBot/1.0' urls.txt",
      'robots-filter --robots-dir robots/ -a MyBot --allowed urls.txt > frontier.txt',
      'robots-filter fetch --robots-dir robots/ --stale',
      'robots-filter fetch --robots-dir robots/ --report report.ndjson urls.ndjson.gz',
      'robots-filter --fetch --robots-dir robots/ -a MyBot urls.txt',
    ],
    notes: NOTES,
  },
  arguments: [['[files...]', 'URLs or records; - or no file is standard input.']],
  options: () => [
    describedOption(
      'Robots.txt',
      '--robots-dir <dir>',
      'Keep the fetched files in this directory. Required.',
      'Each host gets SCHEME/HOST[_PORT]/robots.txt, and beside it a robots.json with the result of the fetch. Fresh files are not fetched again.',
    ).argParser(once),
    describedOption(
      'Robots.txt',
      '--stale',
      'Fetch the stale files of the directory again.',
      'No input is read.',
      '    robots-filter fetch --robots-dir robots/ --stale',
    ),
    describedOption(
      'Robots.txt',
      '--history',
      'Keep what is replaced, for compile --history.',
      'If a host has another robots.txt than before, or none, or fails, its earlier robots.txt and robots.json go into the directory history beside them. Without this option they are overwritten; what was kept before stays.',
    ),
    shared.profile(
      'With google, 8 MiB of each file are kept, stored copies are fetched again instead of revalidated, and status 429 is a failure.',
    ),
    describedOption(
      'Robots.txt',
      '--max-robots-bytes <n>',
      'Keep only this many bytes of each robots.txt.',
      `${robotsBytesRange}; with --profile google the default is 8 MiB.`,
    ).argParser(wholeNumber(LEAST_PARSING_LIMIT, GREATEST_PARSING_LIMIT, 'bytes')),
    secondsOption(
      'Robots.txt',
      '--max-age <seconds>',
      'Fetch again anything older than this many seconds.',
      RANGES.maxAge,
      ". HTTP's own freshness may end earlier.",
    ),
    shared.unreachableAfter(),
    describedOption(
      'Robots.txt',
      '--on-429 <verdict>',
      'Decide what status 429 means: allow or deny (default: by profile).',
      'The choice is stored, and holds in every profile. Without it, the profile of the command that reads the files decides: google denies everything, the others allow everything. Other statuses from 400 to 499 always allow everything; 500 and above deny everything.',
    ).choices(['allow', 'deny']),
    shared.input(),
    shared.urlField(),
    maxLineBytesOption('Read no line that is longer than this many bytes.', 'is skipped'),
    ...shared.header(),
    ...shared.fetching(),
    ...attemptOptions(),
    describedOption(
      'Output',
      '--report <file>',
      'Write one JSON object per host to this file.',
      'The object has the access result, the status, the error and the number of attempts.',
    ).argParser(once),
    describedOption(
      'Output',
      '--json',
      'Write the totals as one JSON object at the end.',
      'The object goes to standard output, also with --quiet and after a signal. It counts hosts by access result and by error; --report has each host.',
    ),
    ...shared.progress(),
    shared.quiet(),
  ],
  async run(files: readonly string[], options: FetchOptions) {
    const { fetchCommand } = await import('../commands/fetch.js');
    return fetchCommand(files, options, version());
  },
};

/** Options for the attempts of `fetch`, which the filter does not accept. */
const attemptOptions = (): Option[] => [
  numberOption(
    'Fetching',
    '--retries <n>',
    'Try an unreachable host this many times more.',
    RANGES.retries,
    ', after growing pauses.',
  ),
  numberOption(
    'Fetching',
    '--max-redirects <n>',
    'Follow at most this many redirects.',
    RANGES.maxRedirects,
    '. More redirects mean that there is no robots.txt.',
  ),
  secondsOption(
    'Fetching',
    '--connect-timeout <seconds>',
    'Wait this many seconds for a connection.',
    RANGES.connectTimeout,
  ),
  secondsOption(
    'Fetching',
    '--header-timeout <seconds>',
    'Wait this many seconds for the response to begin.',
    RANGES.headerTimeout,
  ),
  secondsOption(
    'Fetching',
    '--body-timeout <seconds>',
    'Wait this many seconds between two pieces of the body.',
    RANGES.bodyTimeout,
  ),
  secondsOption(
    'Fetching',
    '--timeout <seconds>',
    'Spend at most this many seconds on one fetch with its redirects.',
    RANGES.deadline,
  ),
];
