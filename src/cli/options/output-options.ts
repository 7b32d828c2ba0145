import { InvalidArgumentError, type Option } from 'commander';
import { MAX_THREADS } from '../../pipeline/limits.js';
import { COLOUR_CHOICES } from '../report/colour.js';
import { describedOption } from './described-option.js';
import {
  MESSAGES_GROUP,
  OUTPUT_GROUP,
  PERFORMANCE_GROUP,
  VERDICTS_GROUP,
} from './option-groups.js';
import { nonEmpty, once, wholeNumber } from './option-values.js';
import { FORMATS } from './output-format.js';

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
