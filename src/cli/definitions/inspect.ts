import { Argument } from 'commander';
import type { InspectOptions } from '../options/command-options.js';
import { describedOption } from '../options/described-option.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { TABLE_GROUP, VERDICTS_GROUP } from '../options/option-groups.js';
import { jsonOption } from '../options/report-options.js';
import { agentsFileOption, inspectedAgentOption } from '../options/robots-options.js';
import { withTokens } from '../options/with-tokens.js';
import type { CommandDefinition } from './definition.js';

export const inspectDefinition: CommandDefinition = {
  help: {
    description: 'Show what a table contains, or the groups and rules of one host.',
    usage: ['[options] <table> [host]'],
    mainOptions: ['--agent', '--json', '--verify'],
    examples: [
      'robots-filter inspect robots.table',
      'robots-filter inspect robots.table example.com',
      'robots-filter inspect robots.table example.com -a GPTBot --json',
      'robots-filter inspect robots.table https://example.com:8443',
      'robots-filter inspect --verify theirs.table',
    ],
    notes: `
Exit status:
    0  the table was printed
    2  error, or the table is damaged`,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('<table>', 'A table that "robots-filter compile" wrote.'))
      .addArgument(new Argument('[host]', 'A host, HOST:PORT or a URL.'))
      .addOption(
        describedOption(
          '--verify',
          'Check every byte first. Use it for tables of others.',
          'This proves that no look-up can read outside the table or run without end. The verdicts remain those of its maker.',
          '    robots-filter inspect --verify theirs.table && robots-filter --table theirs.table urls.txt',
        ).helpGroup(TABLE_GROUP),
      )
      .addOption(inspectedAgentOption())
      .addOption(agentsFileOption(VERDICTS_GROUP))
      .addOption(
        jsonOption(
          'Without a host, one object has the totals. With a host, an object for each scheme and port has its access result, records, groups and rules.',
        ),
      )
      .action(async (table: string, host: string | undefined, options: InspectOptions) => {
        refuseLossyPaths([table], options);
        const { inspect } = await import('../commands/inspect.js');
        finish(await inspect(table, host, await withTokens(options)));
      });
  },
};
