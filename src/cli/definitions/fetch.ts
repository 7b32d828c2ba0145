import { Argument } from 'commander';
import type { FetchOptions } from '../options/command-options.js';
import {
  attemptOptions,
  maxAgeOption,
  on429Option,
  refreshStaleOption,
  reportOption,
  sharedFetchOptions,
  storeOption,
} from '../options/fetch-options.js';
import {
  headerOptions,
  inputOption,
  maxReadLineOption,
  urlFieldOption,
} from '../options/input-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { progressOptions, quietOption } from '../options/output-options.js';
import { totalsOption } from '../options/report-options.js';
import {
  maxFetchedBytesOption,
  profileOption,
  unreachableAfterOption,
} from '../options/robots-options.js';
import { version } from '../version.js';
import type { CommandDefinition } from './definition.js';

const NOTES = `
A host has one of three access results (RFC 9309 section 2.3.1):
    successful   status 200 to 299: the rules decide
    unavailable  status 300 to 499, or too many redirects: everything is allowed
    unreachable  any other status or a network error: everything is denied

The same command continues where an earlier run was stopped.

Exit status:
    0    the run was completed, whatever the servers answered
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`;

export const fetchDefinition: CommandDefinition = {
  help: {
    description: 'Fetch the robots.txt of every host in a list, and keep them fresh.',
    usage: ['--robots-dir <dir> [options] [files...]', '--robots-dir <dir> --stale [options]'],
    mainOptions: [
      '--robots-dir',
      '--stale',
      '--user-agent',
      '--url-field',
      '--concurrency',
      '--pause',
      '--retries',
      '--max-age',
      '--report',
      '--quiet',
    ],
    examples: [
      "robots-filter fetch --robots-dir robots/ --user-agent 'MyBot/1.0' urls.txt",
      'robots-filter --robots-dir robots/ -a MyBot --allowed urls.txt > frontier.txt',
      'robots-filter fetch --robots-dir robots/ --stale',
      'robots-filter fetch --robots-dir robots/ --report report.ndjson urls.ndjson.gz',
      'robots-filter --fetch --robots-dir robots/ -a MyBot urls.txt',
    ],
    notes: NOTES,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('[files...]', 'URLs or records; - or no file is standard input.'))
      .addOption(storeOption())
      .addOption(refreshStaleOption())
      .addOption(
        profileOption(
          'With google, 8 MiB of each file are kept, and stored copies are fetched again instead of revalidated.',
        ),
      )
      .addOption(maxFetchedBytesOption())
      .addOption(maxAgeOption())
      .addOption(unreachableAfterOption())
      .addOption(on429Option())
      .addOption(inputOption())
      .addOption(urlFieldOption())
      .addOption(maxReadLineOption());
    for (const option of headerOptions()) command.addOption(option);
    for (const option of [...sharedFetchOptions(), ...attemptOptions()]) command.addOption(option);
    command.addOption(reportOption()).addOption(totalsOption());
    for (const option of progressOptions()) command.addOption(option);
    command.addOption(quietOption()).action(async (files: string[], options: FetchOptions) => {
      refuseLossyPaths(files, options);
      const { fetchCommand } = await import('../commands/fetch.js');
      finish(await fetchCommand(files, options, version()));
    });
  },
};
