import { Argument } from 'commander';
import { docsPage } from '../../errors.js';
import type { LintOptions } from '../options/command-options.js';
import {
  fixOption,
  lintFormatOption,
  lintUrlsOption,
  maxWarningsOption,
  ruleOptions,
} from '../options/lint-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { quietOption } from '../options/output-options.js';
import {
  agentsFileOption,
  allowEmptyOption,
  asOfOption,
  followLinksOption,
} from '../options/robots-options.js';
import { version } from '../version.js';
import type { CommandDefinition } from './definition.js';

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
  define(command, finish) {
    command.addArgument(
      new Argument(
        '<files...>',
        'Robots.txt files; directories, files of records and WARC files as for --robots-dir; - is standard input.',
      ),
    );
    for (const option of ruleOptions()) command.addOption(option);
    command
      .addOption(agentsFileOption('Agents'))
      .addOption(lintUrlsOption())
      .addOption(followLinksOption())
      .addOption(asOfOption())
      .addOption(allowEmptyOption())
      .addOption(lintFormatOption())
      .addOption(fixOption())
      .addOption(maxWarningsOption())
      .addOption(quietOption())
      .action(async (files: string[], options: LintOptions) => {
        refuseLossyPaths(files, options);
        const { lint } = await import('../commands/lint.js');
        finish(await lint(files, options, version()));
      });
  },
};
