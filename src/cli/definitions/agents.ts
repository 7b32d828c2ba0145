import { Argument } from 'commander';
import type { AgentsOptions } from '../options/command-options.js';
import { describedOption } from '../options/described-option.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { OUTPUT_GROUP } from '../options/option-groups.js';
import { agentsFileOption } from '../options/robots-options.js';
import type { CommandDefinition } from './definition.js';

export const agentsDefinition: CommandDefinition = {
  help: {
    description: 'Print the known agents: all, those of a list or an operator, or one.',
    usage: ['[options] [name]'],
    mainOptions: ['--json', '--agents-file'],
    examples: [
      'robots-filter agents',
      'robots-filter agents @ai-training',
      'robots-filter agents GPTBot',
      "robots-filter agents 'Mozilla/5.0 (compatible; GPTBot/1.2)'",
      'robots-filter --robots-dir robots/ -a @ai-training urls.txt',
    ],
    notes: `
Each line of output has LIST, TOKEN, OPERATOR, PUBLISHED NAME, DATE, SOURCE and DESCRIPTION, separated by tabs. On a terminal the lines are columns that fit the window, and a single agent has a line for each field. The token is what a user-agent line with the published name yields (RFC 9309 section 2.2.1): MJ for MJ12bot.

Exit status:
    0  the agents were printed
    2  error, or no agent has the name`,
  },
  define(command, finish) {
    command
      .addArgument(
        new Argument(
          '[name]',
          'A list (@seo), an agent, an operator (OpenAI), or a User-Agent header.',
        ),
      )
      .addOption(
        describedOption(
          '--json',
          'Print a JSON array, which --agents-file reads.',
          '    robots-filter agents --json > agents.json',
        ).helpGroup(OUTPUT_GROUP),
      )
      .addOption(agentsFileOption('Agents'))
      .action(async (name: string | undefined, options: AgentsOptions) => {
        refuseLossyPaths([], options);
        const { agents } = await import('../commands/agents.js');
        finish(await agents(name, options));
      });
  },
};
