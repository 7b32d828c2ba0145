import { Argument } from 'commander';
import { docsPage } from '../../errors.js';
import type { CapturesOptions } from '../options/command-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { quietOption } from '../options/output-options.js';
import { asOfOption, maxRobotsBytesOption, profileOption } from '../options/robots-options.js';
import { targetsOption } from '../options/shard-options.js';
import type { CommandDefinition } from './definition.js';

export const capturesDefinition: CommandDefinition = {
  help: {
    description: 'Print the captures of robots.txt files in WARC files, for other machines.',
    usage: ['[options] <files...>'],
    mainOptions: ['--targets', '--as-of', '--quiet'],
    examples: [
      'robots-filter captures CC-MAIN-2025-13.warc.gz > part.captures.ndjson',
      'robots-filter compile --robots-dir part.captures.ndjson -o robots.table',
    ],
    notes: `
Each line is a JSON object with the URL, the date, where the capture lies, and what it found: a body, an access result, a redirect, or a reference to an earlier capture. --robots-dir reads the lines from files whose names end in .captures.ndjson, optionally with .gz or .zst after it. The members are described in
${docsPage('sources.md#captures-as-ndjson')}

Exit status:
    0    the captures were written
    2    error`,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('<files...>', 'WARC files, or lists of them that end in .paths.'))
      .addOption(profileOption())
      .addOption(maxRobotsBytesOption())
      .addOption(asOfOption())
      .addOption(targetsOption())
      .addOption(quietOption())
      .action(async (files: string[], options: CapturesOptions) => {
        refuseLossyPaths(files, options);
        const { captures } = await import('../commands/captures.js');
        finish(await captures(files, options));
      });
  },
};
