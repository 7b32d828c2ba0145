/** The commands beside the filter. A run of the filter does not load them. */

import type { Command } from 'commander';
import { type AgentsOptions, agents } from './agents.js';
import { SUCCESS, writeOutput } from './console.js';
import { fetchDefinition } from './definitions/fetch.js';
import { shardDefinition } from './definitions/filter.js';
import { checkDefinition, lintDefinition } from './definitions/lint.js';
import { auditDefinition, diffDefinition, recordsDefinition } from './definitions/reports.js';
import {
  capturesDefinition,
  compileDefinition,
  inspectDefinition,
  serveDefinition,
} from './definitions/tables.js';
import {
  type CommandDefinition,
  type CommandDefinitions,
  describedOption,
  shared,
} from './options.js';

const agentsDefinition: CommandDefinition = {
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
  arguments: [['[name]', 'A list (@seo), an agent, an operator (OpenAI), or a User-Agent header.']],
  options: () => [
    describedOption(
      'Output',
      '--json',
      'Print a JSON array, which --agents-file reads.',
      '    robots-filter agents --json > agents.json',
    ),
    shared.agentsFile('Agents'),
  ],
  paths: 0,
  async run([name]: readonly string[], options: AgentsOptions) {
    return agents(name, options);
  },
};

const SHELL_NAMES = ['bash', 'zsh', 'fish', 'powershell'];

const completionDefinition: CommandDefinition = {
  help: {
    description: 'Print completions of commands, options and values for a shell.',
    usage: ['<shell>'],
    mainOptions: [],
    examples: [
      'source <(robots-filter completion bash)',
      'robots-filter completion zsh > ~/.zfunc/_robots-filter',
      'robots-filter completion fish > ~/.config/fish/completions/robots-filter.fish',
      'robots-filter completion powershell | Out-String | Invoke-Expression',
    ],
    notes: `
Put the line for your shell into the file that the shell reads when it starts.

Exit status:
    0  the completions were printed
    2  error`,
  },
  arguments: [['<shell>', 'One of bash, zsh, fish and powershell.', SHELL_NAMES]],
  options: () => [],
  async run([shell = '']: readonly string[], _options: object, command: Command) {
    const { programWords, SHELLS } = await import('./completion.js');
    writeOutput(SHELLS[shell]?.(programWords(command.parent ?? command)) ?? '');
    return SUCCESS;
  },
};

/** The commands in addition to the filter. A run of the filter does not load them. */
export const COMMAND_DEFINITIONS: CommandDefinitions = {
  compile: compileDefinition,
  fetch: fetchDefinition,
  check: checkDefinition,
  lint: lintDefinition,
  agents: agentsDefinition,
  inspect: inspectDefinition,
  audit: auditDefinition,
  records: recordsDefinition,
  diff: diffDefinition,
  shard: shardDefinition,
  captures: capturesDefinition,
  serve: serveDefinition,
  completion: completionDefinition,
};
