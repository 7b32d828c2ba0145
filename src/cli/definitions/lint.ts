/** `lint` and `check`, for the authors of robots.txt files: their options and help. */

import { InvalidArgumentError, type Option } from 'commander';
import { docsPage } from '../../base/errors.js';
import { nearest } from '../../base/nearest.js';
import { version } from '../../files/package-file.js';
import { LINT_RULE_NAMES, type LintRuleName, SEVERITIES } from '../../lint/rules.js';
import type { CheckOptions } from '../commands/check-lines.js';
import type { LintOptions } from '../commands/lint.js';
import { type CommandDefinition, describedOption, once, shared, wholeNumber } from '../options.js';

export const lintDefinition: CommandDefinition = {
  help: {
    description: 'Find what is wrong in robots.txt files, and how to mend it.',
    usage: ['[options] <files...>'],
    mainOptions: [
      '--urls',
      '--format',
      '--enable',
      '--disable',
      '--opinions',
      '--severity',
      '--max-warnings',
      '--fix',
      '--quiet',
    ],
    examples: [
      'robots-filter lint robots.txt',
      'robots-filter lint --max-warnings 0 public/robots.txt',
      'robots-filter lint --format sarif robots.txt > robots.sarif',
      'robots-filter lint --format summary robots/ crawl.ndjson.gz crawl.warc.gz',
      'robots-filter lint robots/ --urls urls.txt',
      'curl -s https://example.com/robots.txt | robots-filter lint -',
    ],
    notes: `
Each finding has the place, the severity, a rule and the fix. There is an example of every rule in
${docsPage('lint.md')}

Exit status:
    0  there is no error, and no more warnings than --max-warnings
    1  there are errors, or more warnings
    2  the command failed, or could not read one of the files`,
  },
  arguments: [
    [
      '<files...>',
      'Robots.txt files; directories, files of records and WARC files as for --robots-dir; - is standard input.',
    ],
  ],
  options: () => [
    ...ruleOptions(),
    shared.agentsFile('Agents'),
    describedOption(
      'Input',
      '--urls <file>',
      'Lint only the hosts of these URLs, one on each line.',
      '- is standard input. The robots.txt files come from the arguments: nothing is fetched. Hosts without one are counted.',
      '    robots-filter fetch --robots-dir robots urls.txt',
      '    robots-filter lint robots --urls urls.txt',
    ).argParser(once),
    shared.followLinks(),
    shared.asOf(),
    shared.allowEmpty(),
    describedOption(
      'Output',
      '--format <format>',
      'Write text, json, sarif or summary (default: text).',
      'json is a JSON object for each finding on a line of its own. sarif is SARIF 2.1.0, which code hosts show. summary has RULE, SEVERITY, FINDINGS and FILES, separated by tabs.',
    ).choices(['text', 'json', 'sarif', 'summary']),
    describedOption(
      'Output',
      '--fix',
      'Change the files where no verdict changes by it.',
      'The findings that remain are reported. Only files that are named one by one are changed.',
    ),
    describedOption(
      'Messages',
      '--max-warnings <n>',
      'Fail if there are more warnings than this.',
      'Errors always fail. Without this option warnings do not.',
      '    --max-warnings 0',
    ).argParser(wholeNumber(0, MOST_WARNINGS)),
    shared.quiet(),
  ],
  async run(files: readonly string[], options: LintOptions) {
    const { lint } = await import('../commands/lint.js');
    return lint(files, options, version());
  },
};

export const checkDefinition: CommandDefinition = {
  help: {
    description: 'Check single URLs, and tell which rule decides.',
    usage: ['[options] <path> -a <agents> <url...>', '[options] <path> <agent> <url...>'],
    mainOptions: ['--agent', '--urls', '--history', '--use', '--profile', '--json', '--quiet'],
    examples: [
      'robots-filter check robots.txt -a GPTBot https://example.com/private/',
      'robots-filter check robots.txt -a GPTBot,bingbot /a /b',
      'robots-filter check robots.table -a @ai-training - < urls.txt',
      'curl -s https://example.com/robots.txt | robots-filter check - /search',
      'robots-filter check --history h.table -a GPTBot https://example.com/',
    ],
    notes: `
Each line of output has VERDICT, URL, REASON and, where a rule decided, LINE, RULE and AGENT, separated by tabs. With several agents each URL has a line for each of them, with the agent before the URL. Where the robots.txt files are those of many hosts, SOURCE follows AGENT. Warnings about the lines of one robots.txt go to standard error.

One robots.txt judges URLs and paths of any host. A directory, a file of records or captures, and a table judge whole URLs, each by the robots.txt of its host.

Exit status:
    0  all URLs are allowed
    1  some URL is denied, invalid or unknown, or a use of --use is refused
    2  error`,
  },
  arguments: [
    [
      '<path>',
      'A robots.txt, - for standard input; a directory, file of records or captures as for --robots-dir; or a table.',
    ],
    ['[agent]', 'The agents, as for --agent, which may stand here in place of the option.'],
    ['[url...]', 'URLs, or paths; - reads them from standard input, one on each line.'],
  ],
  options: () => [
    shared.profile(),
    ...shared.reading(),
    describedOption(
      'Robots.txt',
      '--history',
      'Ask each robots.txt of the host, oldest first.',
      'SINCE and UNTIL follow the URL. UNTIL is empty for the newest robots.txt, which decides the exit status. A table must have been compiled with --history; other files need dates.',
    ).conflicts('asOf'),
    shared.agent(),
    describedOption(
      'Input',
      '--urls <file>',
      'Check the URLs of this file, one on each line.',
      '- is standard input. They follow the URLs of the arguments.',
    ).argParser(once),
    ...shared.uses(
      'Verdicts',
      'The answer follows the verdict, and REASON, LINE, SIGNAL and AGENT follow the other columns. --json has the members "use", "use_reason" and "signal", or objects of several uses.',
      '    robots-filter check --use train robots.txt -a GPTBot /art/',
    ),
    shared.json(
      'An object has the URL, verdict, reason and rule; the crawl-delay and sitemaps; and, where the verdict is allow, the preferences about the use of content.',
    ),
    shared.agentsFile('Verdicts'),
    shared.quiet(),
  ],
  paths: 1,
  async run(words: readonly string[], options: CheckOptions) {
    const { check } = await import('../commands/check.js');
    return check(words, options);
  },
};

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
const ruleOptions = (): Option[] => [
  describedOption(
    'Rules',
    '--enable <rule,…>',
    'Also report these rules, which are opinions.',
    '    --enable trailing-slash,assets-denied',
  ).argParser(collectRules),
  describedOption('Rules', '--disable <rule,…>', 'Do not report these rules.').argParser(
    collectRules,
  ),
  describedOption('Rules', '--opinions', 'Report all opinions too.'),
  describedOption(
    'Rules',
    '--severity <least>',
    'Report findings from this severity on (default: note).',
    'The severities are error, warning and note.',
  ).choices(SEVERITIES),
];
