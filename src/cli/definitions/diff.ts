import { Argument } from 'commander';
import type { DiffOptions } from '../options/command-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { VERDICTS_GROUP } from '../options/option-groups.js';
import { quietOption } from '../options/output-options.js';
import {
  diffFormatOption,
  diffUrlsOption,
  exitCodeOption,
  spreadsheetOption,
} from '../options/report-options.js';
import {
  agentOption,
  agentsFileOption,
  profileOption,
  readingOptions,
} from '../options/robots-options.js';
import { withTokens } from '../options/with-tokens.js';
import type { CommandDefinition } from './definition.js';

const SIDE = 'A robots.txt, a directory or file of records as for --robots-dir, or a table.';

export const diffDefinition: CommandDefinition = {
  help: {
    description: 'Compare two sets of robots.txt files by what they allow.',
    usage: ['[options] <old> <new>'],
    mainOptions: ['--agent', '--urls', '--format', '--exit-code', '--quiet'],
    examples: [
      'robots-filter diff robots-2025/ robots-2026/ -a @ai-training',
      'robots-filter diff old.table new.table -a GPTBot,CCBot --format csv',
      'robots-filter diff old/robots.txt new/robots.txt --exit-code',
      'robots-filter diff old.table new.table -a GPTBot --urls urls.txt',
      'robots-filter diff old/robots.txt new/robots.txt --urls urls.txt',
    ],
    notes: `
A row has a host, an agent, and:
    change    added or removed: the host has come or gone; extent: how much it allows has changed; rules: it allows a part before and after, but not the same
    old, new  all: every URL; none: nothing but /robots.txt; part: neither was proven
    path      a path whose verdict has changed, and the rules that decide it, with their lines

Files that differ only in their text are left out: an order, a comment, a rule that never decides. The comparison covers every path of a URL.
Where too many wildcard rules overlap for that, a host without a path that differs has no row, and is counted as not fully compared.

With --urls a row has a URL, an agent, the verdicts of both sides, and the rules that decide them. A single robots.txt judges the URLs of every host.

Exit status:
    0    the comparison was written
    1    there is a difference, with --exit-code
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('<old>', SIDE))
      .addArgument(new Argument('<new>', 'The same, to compare with.'))
      .addOption(profileOption('A table has the profile that it was compiled with.'));
    for (const option of readingOptions()) command.addOption(option);
    command
      .addOption(agentOption())
      .addOption(agentsFileOption(VERDICTS_GROUP))
      .addOption(diffUrlsOption())
      .addOption(diffFormatOption())
      .addOption(spreadsheetOption())
      .addOption(exitCodeOption())
      .addOption(quietOption())
      .action(async (old: string, next: string, options: DiffOptions) => {
        refuseLossyPaths([old, next], options);
        const { diff } = await import('../commands/diff.js');
        finish(await diff(old, next, await withTokens(options)));
      });
  },
};
