import { InvalidArgumentError, type Option } from 'commander';
import { RANGES, type Range, userAgentFault } from '../../fetch/limits.js';
import {
  describedOption,
  describeRange,
  FETCHING_GROUP,
  OUTPUT_GROUP,
  once,
  ROBOTS_GROUP,
  wholeNumber,
} from '../definition.js';

const MILLISECONDS_PER_SECOND = 1000;

/** Makes an option for a whole number. Its detail begins with the range; `then` follows. */
function numberOption(flags: string, summary: string, range: Range, then = '.'): Option {
  return describedOption(flags, summary, `${describeRange(range)}${then}`).argParser(
    wholeNumber(range.least, range.most),
  );
}

/** Makes an option for a time. The range is in milliseconds, the user's value in seconds. */
function secondsOption(flags: string, summary: string, range: Range, then = '.'): Option {
  const seconds = {
    least: Math.ceil(range.least / MILLISECONDS_PER_SECOND),
    most: Math.floor(range.most / MILLISECONDS_PER_SECOND),
    standard: range.standard / MILLISECONDS_PER_SECOND,
  };
  return describedOption(flags, summary, `${describeRange(seconds, 'seconds')}${then}`).argParser(
    wholeNumber(seconds.least, seconds.most, 'seconds'),
  );
}

/** Parses a User-Agent header. A header that cannot be sent is refused before any work. */
function userAgent(text: string): string {
  const fault = userAgentFault(text);
  if (fault === undefined) return text;
  throw new InvalidArgumentError(fault);
}

/** The filter's option for fetching. The options of `sharedFetchOptions` belong to it. */
export const fetchOption = (): Option =>
  describedOption(
    '--fetch',
    'Fetch the robots.txt of unknown hosts first.',
    'The files go into the first --robots-dir. The input is read twice; a pipe is copied to a temporary file.',
    'Options of fetch apply with --fetch: see robots-filter fetch --help. These are --user-agent, --concurrency, --per-address, --pause, --allow-private and --ca.',
    "    robots-filter --fetch --robots-dir robots/ --user-agent 'MyBot/1.0' -a MyBot urls.txt",
  ).helpGroup(FETCHING_GROUP);

/** Options of `fetch` that the filter accepts with `--fetch`. */
export const sharedFetchOptions = (): Option[] =>
  [
    describedOption(
      '--user-agent <text>',
      'Send this User-Agent header; include your product token.',
      'Default: robots-filter/VERSION.',
      "    --user-agent 'MyBot/1.0 (+https://example.com/bot)'",
    ).argParser(userAgent),
    numberOption(
      '--concurrency <n>',
      'Fetch this many robots.txt files at a time.',
      RANGES.concurrency,
    ),
    numberOption(
      '--per-address <n>',
      'Open at most this many connections to one IP address.',
      RANGES.perAddress,
    ),
    secondsOption(
      '--pause <seconds>',
      'Wait this many seconds between two requests to one host.',
      RANGES.pause,
      '. Redirects count as requests.',
    ),
    describedOption(
      '--allow-private',
      'Connect to private, loopback and link-local addresses too.',
      'Without this option, such addresses are refused, and their hosts count as unreachable.',
    ),
    describedOption('--ca <file>', 'Trust the certificates in this PEM file too.').argParser(once),
  ].map((option) => option.helpGroup(FETCHING_GROUP));

export const storeOption = (): Option =>
  describedOption(
    '--robots-dir <dir>',
    'Keep the fetched files in this directory. Required.',
    'Each host gets SCHEME/HOST[_PORT]/robots.txt, and beside it a robots.json with the result of the fetch. Fresh files are not fetched again.',
  )
    .argParser(once)
    .helpGroup(ROBOTS_GROUP);

export const refreshStaleOption = (): Option =>
  describedOption(
    '--stale',
    'Fetch the stale files of the directory again.',
    'No input is read.',
    '    robots-filter fetch --robots-dir robots/ --stale',
  ).helpGroup(ROBOTS_GROUP);

export const maxAgeOption = (): Option =>
  secondsOption(
    '--max-age <seconds>',
    'Fetch again anything older than this many seconds.',
    RANGES.maxAge,
    ". HTTP's own freshness may end earlier.",
  ).helpGroup(ROBOTS_GROUP);

export const on429Option = (): Option =>
  describedOption(
    '--on-429 <verdict>',
    'Decide what status 429 means: allow or deny (default: allow).',
    'Other statuses from 400 to 499 always allow everything; 500 and above deny everything.',
  )
    .choices(['allow', 'deny'])
    .helpGroup(ROBOTS_GROUP);

/** Options for the attempts of `fetch`, which the filter does not accept. */
export const attemptOptions = (): Option[] =>
  [
    numberOption(
      '--retries <n>',
      'Try an unreachable host this many times more.',
      RANGES.retries,
      ', after growing pauses.',
    ),
    numberOption(
      '--max-redirects <n>',
      'Follow at most this many redirects.',
      RANGES.maxRedirects,
      '. More redirects mean that there is no robots.txt.',
    ),
    secondsOption(
      '--connect-timeout <seconds>',
      'Wait this many seconds for a connection.',
      RANGES.connectTimeout,
    ),
    secondsOption(
      '--header-timeout <seconds>',
      'Wait this many seconds for the response to begin.',
      RANGES.headerTimeout,
    ),
    secondsOption(
      '--body-timeout <seconds>',
      'Wait this many seconds between two pieces of the body.',
      RANGES.bodyTimeout,
    ),
    secondsOption(
      '--timeout <seconds>',
      'Spend at most this many seconds on one fetch with its redirects.',
      RANGES.deadline,
    ),
  ].map((option) => option.helpGroup(FETCHING_GROUP));

export const reportOption = (): Option =>
  describedOption(
    '--report <file>',
    'Write one JSON object per host to this file.',
    'The object has the access result, the status, the error and the number of attempts.',
  )
    .argParser(once)
    .helpGroup(OUTPUT_GROUP);
