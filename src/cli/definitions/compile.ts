import type { CompileOptions } from '../options/command-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { ROBOTS_GROUP } from '../options/option-groups.js';
import { quietOption, tableOutputOption } from '../options/output-options.js';
import {
  agentsFileOption,
  keptAgentsOption,
  keptRecordsOption,
  profileOption,
  readingOptions,
  robotsDirOption,
} from '../options/robots-options.js';
import { onlyOption, shardsOption } from '../options/shard-options.js';
import { withTokens } from '../options/with-tokens.js';
import type { CommandDefinition } from './definition.js';

export const compileDefinition: CommandDefinition = {
  help: {
    description: 'Compile the robots.txt files of many hosts into a table, which opens at once.',
    usage: [
      '--robots-dir <dir> -o <file> [options]',
      '--robots-dir <dir> --shards <n> -o <dir> [options]',
    ],
    mainOptions: [
      '--robots-dir',
      '--output',
      '--shards',
      '--agent',
      '--profile',
      '--stale',
      '--quiet',
    ],
    examples: [
      'robots-filter compile --robots-dir robots/ -o robots.table',
      'robots-filter compile --robots-dir old.ndjson --robots-dir new/ -o all.table',
      'robots-filter compile --robots-dir robots/ -a GPTBot,CCBot -o small.table',
      'robots-filter --table robots.table -a GPTBot urls.txt',
      'robots-filter compile --robots-dir robots/ --shards 64 -o table/',
    ],
    notes: `
Exit status:
    0    the table was written
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  define(command, finish) {
    command
      .allowExcessArguments()
      .addOption(robotsDirOption())
      .addOption(profileOption('The table answers under this profile only.'))
      .addOption(keptAgentsOption())
      .addOption(keptRecordsOption())
      .addOption(agentsFileOption(ROBOTS_GROUP));
    for (const option of readingOptions()) command.addOption(option);
    command
      .addOption(tableOutputOption())
      .addOption(shardsOption())
      .addOption(onlyOption())
      .addOption(quietOption())
      .action(async (options: CompileOptions) => {
        refuseLossyPaths(command.args, options);
        const { compile } = await import('../commands/compile.js');
        finish(await compile(command.args, await withTokens(options)));
      });
  },
};
