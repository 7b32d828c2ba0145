import { availableParallelism } from 'node:os';
import { docsPage } from '../../errors.js';
import type { ServeOptions } from '../options/command-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { VERDICTS_GROUP } from '../options/option-groups.js';
import { quietOption, servingThreadsOption } from '../options/output-options.js';
import {
  agentsFileOption,
  profileOption,
  readingOptions,
  robotsDirOption,
  servedAgentsOption,
  tableOption,
} from '../options/robots-options.js';
import { servedPartsOption, servedShardsOption } from '../options/shard-options.js';
import { withTokens } from '../options/with-tokens.js';
import { version } from '../version.js';
import type { CommandDefinition } from './definition.js';

export const serveDefinition: CommandDefinition = {
  help: {
    description: 'Answer another program through pipes: columns of URLs in, verdicts out.',
    usage: ['--table <file> [options]', '--robots-dir <dir> [options]'],
    mainOptions: ['--table', '--robots-dir', '--agent', '--threads', '--quiet'],
    examples: [
      'robots-filter serve --table robots.table',
      'robots-filter serve --robots-dir robots/ -a GPTBot,CCBot --threads 1',
    ],
    notes: `
The program writes frames to standard input and reads frames from standard output. A frame has many URLs as Arrow has them: offsets and bytes. The package robots-filter for Python uses this command. To judge URLs from a shell, leave "serve" out. The frames are described in
${docsPage('serve.md')}

Exit status:
    0    standard input has ended
    2    error, also for a frame that is none
    137  a thread failed while others were blocked; the error is on standard error`,
  },
  define(command, finish) {
    command
      .allowExcessArguments()
      .addOption(robotsDirOption())
      .addOption(tableOption())
      .addOption(
        profileOption('A table has the profile that it was compiled with; no other is accepted.'),
      )
      .addOption(servedAgentsOption())
      .addOption(agentsFileOption(VERDICTS_GROUP));
    for (const option of readingOptions()) command.addOption(option);
    command
      .addOption(servedPartsOption())
      .addOption(servedShardsOption())
      .addOption(servingThreadsOption())
      .addOption(quietOption())
      .action(async (options: ServeOptions) => {
        refuseLossyPaths(command.args, options);
        const { serveTable } = await import('../commands/serve.js');
        const asked = await withTokens(options);
        finish(await serveTable(command.args, asked, availableParallelism(), version()));
      });
  },
};
