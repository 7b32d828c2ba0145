import type { AuditOptions } from '../options/command-options.js';
import { refuseLossyPaths } from '../options/lossy-paths.js';
import { VERDICTS_GROUP } from '../options/option-groups.js';
import { quietOption } from '../options/output-options.js';
import {
  auditFormatOption,
  auditReportOption,
  hostsOption,
  onlyOption,
  spreadsheetOption,
} from '../options/report-options.js';
import {
  agentOption,
  agentsFileOption,
  profileOption,
  readingOptions,
  robotsDirOption,
  tableOption,
} from '../options/robots-options.js';
import { withTokens } from '../options/with-tokens.js';
import type { CommandDefinition } from './definition.js';

export const auditDefinition: CommandDefinition = {
  help: {
    description: 'Report for each host how much of it each agent may fetch.',
    usage: ['--robots-dir <dir> -a <agents> [options]', '--table <file> -a <agents> [options]'],
    mainOptions: [
      '--robots-dir',
      '--table',
      '--agent',
      '--hosts',
      '--only',
      '--format',
      '--report',
      '--quiet',
    ],
    examples: [
      'robots-filter audit --robots-dir robots/ -a @ai-training',
      'robots-filter audit --table robots.table -a GPTBot --only none --format csv',
      'robots-filter compile --records --robots-dir robots/ -o robots.table',
    ],
    notes: `
A row has a host, an agent, and:
    allowed      all: every URL; none: nothing but /robots.txt; part: neither was proven
    group        the product token whose group decides: the agent's own, or *
    rules        rules that can decide
    root         the verdict on /, and the line of the rule that decides it
    crawl_delay  seconds; sitemaps, preferences, access result and date as the files have them

"all" and "none" are proven from all rules, and not found by asking for one URL.

Exit status:
    0    the report was written
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  define(command, finish) {
    command
      .addOption(robotsDirOption())
      .addOption(tableOption())
      .addOption(profileOption('A table has the profile that it was compiled with.'));
    for (const option of readingOptions()) command.addOption(option);
    command
      .addOption(agentOption())
      .addOption(agentsFileOption(VERDICTS_GROUP))
      .addOption(hostsOption())
      .addOption(onlyOption())
      .addOption(auditFormatOption())
      .addOption(spreadsheetOption())
      .addOption(auditReportOption())
      .addOption(quietOption())
      .action(async (options: AuditOptions) => {
        refuseLossyPaths([], options);
        const { audit } = await import('../commands/audit.js');
        finish(await audit(await withTokens(options)));
      });
  },
};
