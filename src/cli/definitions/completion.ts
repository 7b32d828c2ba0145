import { Argument } from 'commander';
import { SUCCESS } from '../exit-codes.js';
import { writeOutput } from '../process/standard-streams.js';
import type { CommandDefinition } from './definition.js';

const SHELL_NAMES = ['bash', 'zsh', 'fish', 'powershell'];

export const completionDefinition: CommandDefinition = {
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
  define(command, finish) {
    command
      .addArgument(
        new Argument('<shell>', 'One of bash, zsh, fish and powershell.').choices(SHELL_NAMES),
      )
      .action(async (shell: string) => {
        const [{ programWords }, { SHELLS }] = await Promise.all([
          import('../completion/command-words.js'),
          import('../completion/shells.js'),
        ]);
        writeOutput(SHELLS[shell]?.(programWords(command.parent ?? command)) ?? '');
        finish(SUCCESS);
      });
  },
};
