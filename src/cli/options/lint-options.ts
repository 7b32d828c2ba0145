import { InvalidArgumentError, type Option } from 'commander';
import { docsPage } from '../../errors.js';
import { LINT_RULE_NAMES, type LintRuleName, SEVERITIES } from '../../lint/rules.js';
import { nearest } from '../../nearest.js';
import { describedOption } from './described-option.js';
import { INPUT_GROUP, MESSAGES_GROUP, OUTPUT_GROUP } from './option-groups.js';
import { once, wholeNumber } from './option-values.js';

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
