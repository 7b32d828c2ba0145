import { Argument } from 'commander';
import type { CheckOptions } from '../options/command-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { VERDICTS_GROUP } from '../options/option-groups.js';
import { quietOption } from '../options/output-options.js';
import { jsonOption } from '../options/report-options.js';
import {
  agentsFileOption,
  maxRobotsBytesOption,
  profileOption,
} from '../options/robots-options.js';
import type { CommandDefinition } from './definition.js';

export const checkDefinition: CommandDefinition = {
  help: {
    description: 'Check URLs against one robots.txt, and tell which rule decides.',
    usage: ['[options] <robots-file> <agent> <url...>'],
    mainOptions: ['--profile', '--max-robots-bytes', '--json', '--quiet'],
    examples: [
      'robots-filter check robots.txt GPTBot https://example.com/private/',
      "robots-filter check robots.txt 'Googlebot-Image>Googlebot' /a /b /c",
      'robots-filter check robots.txt GPTBot - < urls.txt',
      "curl -s https://example.com/robots.txt | robots-filter check - '*' /search",
    ],
    notes: `
Each line of output has VERDICT, URL, REASON and, where a rule decided, LINE, RULE and AGENT, separated by tabs. Warnings about the file's lines go to standard error.

Exit status:
    0  all URLs are allowed
    1  some URL is denied or invalid
    2  error`,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('<robots-file>', 'The robots.txt; - is standard input.'))
      .addArgument(
        new Argument(
          '<agent>',
          "A product token, *, a fallback chain 'A>B', or a User-Agent header.",
        ),
      )
      .addArgument(
        new Argument(
          '<url...>',
          'URLs or paths, whose hosts do not matter; - reads them from standard input, one on each line.',
        ),
      )
      .addOption(profileOption())
      .addOption(maxRobotsBytesOption())
      .addOption(
        jsonOption(
          'An object has the URL, verdict, reason and rule; the crawl-delay and sitemaps; and, where the verdict is allow, the preferences about the use of content.',
        ),
      )
      .addOption(agentsFileOption(VERDICTS_GROUP))
      .addOption(quietOption())
      .action(async (file: string, agent: string, urls: string[], options: CheckOptions) => {
        refuseLossyPaths([file], options);
        const { check } = await import('../commands/check.js');
        finish(await check(file, agent, urls, options));
      });
  },
};
