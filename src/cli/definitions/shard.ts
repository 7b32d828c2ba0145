import { availableParallelism } from 'node:os';
import { Argument } from 'commander';
import { docsPage } from '../../errors.js';
import type { ShardOptions } from '../options/command-options.js';
import {
  headerOptions,
  inputOption,
  maxJudgedLineOption,
  strictOption,
  urlFieldOption,
} from '../options/input-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import {
  outputOption,
  progressOptions,
  quietOption,
  threadsOption,
} from '../options/output-options.js';
import { ofOption, shardFieldOption } from '../options/shard-options.js';
import type { CommandDefinition } from './definition.js';

export const shardDefinition: CommandDefinition = {
  help: {
    description: 'Add to each record the shard of its host.',
    usage: ['--of <n> [options] [files...]'],
    mainOptions: ['--of', '--url-field', '--field', '--output', '--quiet'],
    examples: [
      'robots-filter shard --of 64 urls.txt',
      'robots-filter shard --of 64 --url-field request.url crawl.ndjson.gz',
    ],
    notes: `
The shard of a host is the CRC-32 of its canonical form, modulo the number of shards. All schemes and ports of a host have one shard. The same in Spark SQL, Python and DuckDB:
${docsPage('shards.md')}

Text comes out as SHARD, tab, URL. JSON records come out with "shard" as the last member; rows of csv and tsv with a column "shard" at the end. A record without a valid URL has no shard: an empty field, or null. Records keep their order.

Exit status:
    0    the run was completed
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('[files...]', 'URLs or records; - or no file is standard input.'))
      .addOption(ofOption())
      .addOption(inputOption())
      .addOption(urlFieldOption());
    for (const option of headerOptions()) command.addOption(option);
    command
      .addOption(maxJudgedLineOption())
      .addOption(strictOption())
      .addOption(shardFieldOption())
      .addOption(outputOption())
      .addOption(threadsOption());
    for (const option of progressOptions()) command.addOption(option);
    command.addOption(quietOption()).action(async (files: string[], options: ShardOptions) => {
      refuseLossyPaths(files, options);
      const { shard } = await import('../commands/shard.js');
      finish(await shard(files, options, availableParallelism()));
    });
  },
};
