import { InvalidArgumentError, type Option } from 'commander';
import { docsPage } from '../../base/errors.js';
import { nearest } from '../../base/nearest.js';
import type { PartRange } from '../../judge/table-memory.js';
import { LINT_RULE_NAMES, type LintRuleName, SEVERITIES } from '../../lint/rules.js';
import { MAX_SHARDS } from '../../table/places.js';
import {
  describedOption,
  INPUT_GROUP,
  MESSAGES_GROUP,
  nonEmpty,
  OUTPUT_GROUP,
  once,
  ROBOTS_GROUP,
  wholeNumber,
} from '../definition.js';

const RULES_GROUP = 'Rules';
const MOST_WARNINGS = 1_000_000_000;

/** Adds the rules of one option, separated by commas, to those of earlier ones. */
function collectRules(list: string, earlier: readonly LintRuleName[] = []): LintRuleName[] {
  const names = list.split(',').map((name) => name.trim());
  return [...earlier, ...names.map(ruleOf)];
}

function ruleOf(name: string): LintRuleName {
  const rule = LINT_RULE_NAMES.find((each) => each === name);
  if (rule !== undefined) return rule;
  const meant = nearest(name, LINT_RULE_NAMES);
  throw new InvalidArgumentError(
    `There is no rule ${name}. ${meant === undefined ? `${docsPage('lint.md')} has all rules.` : `Did you mean ${meant}?`}`,
  );
}

/** The options that choose rules. */
export const ruleOptions = (): Option[] =>
  [
    describedOption(
      '--enable <rule,…>',
      'Also report these rules, which are opinions.',
      '    --enable trailing-slash,assets-denied',
    ).argParser(collectRules),
    describedOption('--disable <rule,…>', 'Do not report these rules.').argParser(collectRules),
    describedOption('--opinions', 'Report all opinions too.'),
    describedOption(
      '--severity <least>',
      'Report findings from this severity on (default: note).',
      'The severities are error, warning and note.',
    ).choices(SEVERITIES),
  ].map((option) => option.helpGroup(RULES_GROUP));

export const lintFormatOption = (): Option =>
  describedOption(
    '--format <format>',
    'Write text, json, sarif or summary (default: text).',
    'json is a JSON object for each finding on a line of its own. sarif is SARIF 2.1.0, which code hosts show. summary has RULE, SEVERITY, FINDINGS and FILES, separated by tabs.',
  )
    .choices(['text', 'json', 'sarif', 'summary'])
    .helpGroup(OUTPUT_GROUP);

export const maxWarningsOption = (): Option =>
  describedOption(
    '--max-warnings <n>',
    'Fail if there are more warnings than this.',
    'Errors always fail. Without this option warnings do not.',
    '    --max-warnings 0',
  )
    .argParser(wholeNumber(0, MOST_WARNINGS))
    .helpGroup(MESSAGES_GROUP);

export const lintUrlsOption = (): Option =>
  describedOption(
    '--urls <file>',
    'Lint only the hosts of these URLs, one on each line.',
    '- is standard input. The robots.txt files come from the arguments: nothing is fetched. Hosts without one are counted.',
    '    robots-filter fetch --robots-dir robots urls.txt',
    '    robots-filter lint robots --urls urls.txt',
  )
    .argParser(once)
    .helpGroup(INPUT_GROUP);

export const fixOption = (): Option =>
  describedOption(
    '--fix',
    'Change the files where no verdict changes by it.',
    'The findings that remain are reported. Only files that are named one by one are changed.',
  ).helpGroup(OUTPUT_GROUP);

export const shardsOption = (): Option =>
  describedOption(
    '--shards <n>',
    'Divide the table by host into this many shards.',
    `1 to ${MAX_SHARDS}. -o names a directory: part-00000.table and so on, and manifest.json. Memory is needed for one shard for each thread, and disk for the robots.txt files once more. --table takes the directory.`,
    '    robots-filter compile --robots-dir robots/ --shards 64 -o table/',
  )
    .argParser(wholeNumber(1, MAX_SHARDS))
    .helpGroup(OUTPUT_GROUP);

export const onlyShardOption = (): Option =>
  describedOption(
    '--only <shard>',
    'Write only this shard of --shards, or only the manifest.',
    'The number of a shard, from 0, writes its table into the directory, which may be there already. "manifest" reads no robots.txt: it writes manifest.json for tables that are all there. So several machines can compile one table.',
    '    robots-filter compile --robots-dir all.ndjson --shards 64 --only 7 -o table/',
  )
    .argParser((text) => (text === 'manifest' ? text : wholeNumber(0, MAX_SHARDS - 1)(text)))
    .helpGroup(OUTPUT_GROUP);

export const targetsOption = (): Option =>
  describedOption(
    '--targets <file>',
    'Print only the captures of the URLs in this file, none of robots.txt files.',
    'One canonical URL in each line, such as those that redirects lead to, and that are "left-out" without this option.',
  )
    .argParser(once)
    .helpGroup(ROBOTS_GROUP);

export const servedShardsOption = (): Option =>
  describedOption(
    '--shards <n>',
    'Answer the shard of each host, of this many, and no verdicts.',
    `1 to ${MAX_SHARDS}. No table is needed.`,
  )
    .argParser(wholeNumber(1, MAX_SHARDS))
    .helpGroup(OUTPUT_GROUP);

export const servedPartsOption = (): Option =>
  describedOption(
    '--parts <first-last>',
    'Open only these shards of a table in shards.',
    'Two numbers from 0, such as 0-15. Do not ask about URLs of hosts in other shards: their verdicts would be unknown.',
  )
    .argParser(partRange)
    .helpGroup(ROBOTS_GROUP);

function partRange(text: string): PartRange {
  const [first = '', last = first, ...more] = text.split('-');
  const number = wholeNumber(0, MAX_SHARDS - 1);
  const range = { first: number(first), last: number(last) };
  if (more.length === 0 && range.first <= range.last) return range;
  throw new InvalidArgumentError('Give the first and the last shard, such as 0-15.');
}

export const ofOption = (): Option =>
  describedOption(
    '--of <n>',
    'Divide hosts into this many shards. Required.',
    `1 to ${MAX_SHARDS}: the number that "robots-filter compile --shards" was given.`,
  )
    .argParser(wholeNumber(1, MAX_SHARDS))
    .helpGroup(OUTPUT_GROUP);

export const shardFieldOption = (): Option =>
  describedOption(
    '--field <name>',
    'Give the added JSON member or column this name.',
    'Default: shard.',
  )
    .argParser(nonEmpty)
    .default('shard')
    .helpGroup(OUTPUT_GROUP);
