import { Argument } from 'commander';
import type { RecordsOptions } from '../options/command-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { quietOption } from '../options/output-options.js';
import { kindOption, rowFormatOption, spreadsheetOption } from '../options/report-options.js';
import {
  allowEmptyOption,
  asOfOption,
  columnOptions,
  followLinksOption,
  maxRobotsBytesOption,
  profileOption,
} from '../options/robots-options.js';
import type { CommandDefinition } from './definition.js';

export const recordsDefinition: CommandDefinition = {
  help: {
    description: 'List sitemaps, crawl-delays, preferences and other records beside the rules.',
    usage: ['[options] <path>'],
    mainOptions: ['--kind', '--format', '--quiet'],
    examples: [
      'robots-filter records robots.txt',
      'robots-filter records robots/ --kind sitemap --format csv',
      'robots-filter records robots.table --kind content-usage,content-signal,license',
    ],
    notes: `
A row has the host, the line, the kind, the product tokens of the group, and the value as written and parsed. "parsed" is null where the value has no known meaning. Records that belong to the whole file have no group. None of these records changes a verdict.

Exit status:
    0    the records were written
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  define(command, finish) {
    command
      .addArgument(
        new Argument(
          '<path>',
          'A robots.txt, a directory or file of records as for --robots-dir, or a table; - is standard input.',
        ),
      )
      .addOption(profileOption())
      .addOption(maxRobotsBytesOption())
      .addOption(followLinksOption())
      .addOption(asOfOption());
    for (const option of columnOptions()) command.addOption(option);
    command
      .addOption(allowEmptyOption())
      .addOption(kindOption())
      .addOption(rowFormatOption('ndjson'))
      .addOption(spreadsheetOption())
      .addOption(quietOption())
      .action(async (path: string, options: RecordsOptions) => {
        refuseLossyPaths([path]);
        const { records } = await import('../commands/records.js');
        finish(await records(path, options));
      });
  },
};
