import { availableParallelism } from 'node:os';
import { Argument } from 'commander';
import { version } from '../files/package-file.js';
import { filter } from './commands/filter.js';
import { type CommandDefinition, VERDICTS_GROUP } from './definition.js';
import { type FilterOptions, withTokens } from './options/command-options.js';
import { fetchOption, sharedFetchOptions } from './options/fetch-options.js';
import {
  headerOptions,
  inputOption,
  maxJudgedLineOption,
  strictOption,
  urlFieldOption,
} from './options/input-options.js';
import {
  allowedOption,
  countOptions,
  deniedOption,
  explainOption,
  formatOption,
  outputHeaderOption,
  outputOption,
  preferencesOption,
  progressOptions,
  quietOption,
  statsOption,
  threadsOption,
  unknownOption,
  verdictFieldOption,
} from './options/output-options.js';
import { filterReportOption, spreadsheetOption } from './options/report-options.js';
import {
  agentOption,
  agentsFileOption,
  profileOption,
  readingOptions,
  refuseLossyPaths,
  robotsDirOption,
  tableOption,
} from './options/robots-source.js';

const NOTES = `
Each record gets one verdict for each agent:
    allow    the agent may fetch the URL
    deny     the agent may not fetch the URL
    unknown  there is no robots.txt for the URL's scheme, host and port
    invalid  the record has no http, https or ftp URL

Text comes out as VERDICT, tab, URL. JSON records come out unchanged, with "verdict" as the last member; rows of csv and tsv with a column "verdict" at the end. Another --format has the URL and its verdicts. Records keep their order. Standard output carries data only; messages go to standard error.

Exit status:
    0    the run was completed, whatever the verdicts
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)

A file that is named like a command is written ./compile. Options stand after a command.`;

/** The filter itself, which has no name. */
export const filterDefinition: CommandDefinition = {
  help: {
    description: 'Check each URL in a list against robots.txt (RFC 9309).',
    usage: ['--robots-dir <dir> [options] [files...]', '--table <file> [options] [files...]'],
    mainOptions: [
      '--robots-dir',
      '--table',
      '--fetch',
      '--agent',
      '--url-field',
      '--allowed',
      '--denied',
      '--unknown',
      '--explain',
      '--output',
    ],
    examples: [
      'robots-filter --robots-dir robots/ -a GPTBot urls.txt',
      'robots-filter --robots-dir robots/ -a GPTBot --allowed crawl.ndjson.gz',
      "zcat crawl.gz | robots-filter --robots-dir robots/ -a 'GPTBot,*' --explain",
      'robots-filter compile --robots-dir robots/ -o robots.table',
      'robots-filter --table robots.table --url-field request.url crawl.ndjson',
    ],
    notes: NOTES,
  },
  define(program, finish) {
    program
      .addArgument(
        new Argument('[files...]', 'URLs or records to check; - or no file is standard input.'),
      )
      .addOption(robotsDirOption())
      .addOption(tableOption())
      .addOption(
        profileOption('A table has the profile that it was compiled with; no other is accepted.'),
      );
    for (const option of readingOptions()) program.addOption(option);
    program.addOption(fetchOption());
    for (const option of sharedFetchOptions()) program.addOption(option.hideHelp());
    program
      .addOption(agentOption())
      .addOption(agentsFileOption(VERDICTS_GROUP))
      .addOption(unknownOption())
      .addOption(explainOption())
      .addOption(preferencesOption())
      .addOption(inputOption())
      .addOption(urlFieldOption());
    for (const option of headerOptions()) program.addOption(option);
    program
      .addOption(maxJudgedLineOption())
      .addOption(strictOption())
      .addOption(allowedOption())
      .addOption(deniedOption())
      .addOption(verdictFieldOption())
      .addOption(formatOption())
      .addOption(outputHeaderOption())
      .addOption(outputOption())
      .addOption(threadsOption())
      .addOption(statsOption());
    for (const option of countOptions()) program.addOption(option);
    program.addOption(spreadsheetOption()).addOption(filterReportOption());
    for (const option of progressOptions()) program.addOption(option);
    program.addOption(quietOption()).action(async (files: string[], given: FilterOptions) => {
      refuseLossyPaths(files, given);
      const options = await withTokens(given);
      if (options.fetch === true) {
        const { fetchAndFilter } = await import('./commands/fetch-unknown.js');
        finish(await fetchAndFilter(files, options, availableParallelism(), version()));
        return;
      }
      finish(await filter(files, options, availableParallelism()));
    });
  },
};
