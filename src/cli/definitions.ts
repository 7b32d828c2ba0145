/** The commands beside the filter: their arguments, options and help. */

import { availableParallelism } from 'node:os';
import { Argument } from 'commander';
import { docsPage } from '../base/errors.js';
import { version } from '../files/package-file.js';
import { SUCCESS, writeOutput } from './console.js';
import {
  type CommandDefinition,
  type CommandDefinitions,
  describedOption,
  OUTPUT_GROUP,
  ROBOTS_GROUP,
  TABLE_GROUP,
  VERDICTS_GROUP,
} from './definition.js';
import {
  type AgentsOptions,
  type AuditOptions,
  type CapturesOptions,
  type CheckOptions,
  type CompileOptions,
  type DiffOptions,
  type FetchOptions,
  type InspectOptions,
  type LintOptions,
  type RecordsOptions,
  type ServeOptions,
  type ShardOptions,
  withTokens,
} from './options/command-options.js';
import {
  attemptOptions,
  maxAgeOption,
  on429Option,
  refreshStaleOption,
  reportOption,
  sharedFetchOptions,
  storeOption,
} from './options/fetch-options.js';
import {
  headerOptions,
  inputOption,
  maxJudgedLineOption,
  maxReadLineOption,
  strictOption,
  urlFieldOption,
} from './options/input-options.js';
import {
  fixOption,
  lintFormatOption,
  lintUrlsOption,
  maxWarningsOption,
  ofOption,
  onlyShardOption,
  ruleOptions,
  servedPartsOption,
  servedShardsOption,
  shardFieldOption,
  shardsOption,
  targetsOption,
} from './options/lint-options.js';
import {
  outputOption,
  progressOptions,
  quietOption,
  servingThreadsOption,
  tableOutputOption,
  threadsOption,
} from './options/output-options.js';
import {
  auditFormatOption,
  auditReportOption,
  diffFormatOption,
  diffUrlsOption,
  exitCodeOption,
  hostsOption,
  jsonOption,
  kindOption,
  onlyOption,
  rowFormatOption,
  spreadsheetOption,
  totalsOption,
} from './options/report-options.js';
import {
  agentOption,
  agentsFileOption,
  allowEmptyOption,
  asOfOption,
  columnOptions,
  followLinksOption,
  inspectedAgentOption,
  keptAgentsOption,
  keptRecordsOption,
  maxFetchedBytesOption,
  maxRobotsBytesOption,
  profileOption,
  readingOptions,
  refuseLossyPaths,
  robotsDirOption,
  servedAgentsOption,
  tableOption,
  unreachableAfterOption,
} from './options/robots-source.js';

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
  define(command, finish) {
    command
      .addArgument(
        new Argument(
          '[name]',
          'A list (@seo), an agent, an operator (OpenAI), or a User-Agent header.',
        ),
      )
      .addOption(
        describedOption(
          '--json',
          'Print a JSON array, which --agents-file reads.',
          '    robots-filter agents --json > agents.json',
        ).helpGroup(OUTPUT_GROUP),
      )
      .addOption(agentsFileOption('Agents'))
      .action(async (name: string | undefined, options: AgentsOptions) => {
        refuseLossyPaths([], options);
        const { agents } = await import('./commands/agents.js');
        finish(await agents(name, options));
      });
  },
};

const auditDefinition: CommandDefinition = {
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
        const { audit } = await import('./commands/audit.js');
        finish(await audit(await withTokens(options)));
      });
  },
};

const capturesDefinition: CommandDefinition = {
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
        const { captures } = await import('./commands/captures.js');
        finish(await captures(files, options));
      });
  },
};

const checkDefinition: CommandDefinition = {
  help: {
    description: 'Check URLs against one robots.txt, and tell which rule decides.',
    usage: ['[options] <robots-file> <agent> <url...>'],
    mainOptions: ['--profile', '--max-robots-bytes', '--json', '--quiet'],
    examples: [
      'robots-filter check robots.txt GPTBot https://example.com/private/',
      "robots-filter check robots.txt 'Googlebot-Image>Googlebot' /a /b /c",
      'robots-filter check robots.txt GPTBot - < urls.txt',
      "curl -s https://example.com/robots.txt | robots-filter check - '*' /search",
    ],
    notes: `
Each line of output has VERDICT, URL, REASON and, where a rule decided, LINE, RULE and AGENT, separated by tabs. Warnings about the file's lines go to standard error.

Exit status:
    0  all URLs are allowed
    1  some URL is denied or invalid
    2  error`,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('<robots-file>', 'The robots.txt; - is standard input.'))
      .addArgument(
        new Argument(
          '<agent>',
          "A product token, *, a fallback chain 'A>B', or a User-Agent header.",
        ),
      )
      .addArgument(
        new Argument(
          '<url...>',
          'URLs or paths, whose hosts do not matter; - reads them from standard input, one on each line.',
        ),
      )
      .addOption(profileOption())
      .addOption(maxRobotsBytesOption())
      .addOption(
        jsonOption(
          'An object has the URL, verdict, reason and rule; the crawl-delay and sitemaps; and, where the verdict is allow, the preferences about the use of content.',
        ),
      )
      .addOption(agentsFileOption(VERDICTS_GROUP))
      .addOption(quietOption())
      .action(async (file: string, agent: string, urls: string[], options: CheckOptions) => {
        refuseLossyPaths([file], options);
        const { check } = await import('./commands/check.js');
        finish(await check(file, agent, urls, options));
      });
  },
};

const compileDefinition: CommandDefinition = {
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
      .addOption(onlyShardOption())
      .addOption(quietOption())
      .action(async (options: CompileOptions) => {
        refuseLossyPaths(command.args, options);
        const { compile } = await import('./commands/compile.js');
        finish(await compile(command.args, await withTokens(options)));
      });
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
  define(command, finish) {
    command
      .addArgument(
        new Argument('<shell>', 'One of bash, zsh, fish and powershell.').choices(SHELL_NAMES),
      )
      .action(async (shell: string) => {
        const [{ programWords }, { SHELLS }] = await Promise.all([
          import('./completion.js'),
          import('./completion.js'),
        ]);
        writeOutput(SHELLS[shell]?.(programWords(command.parent ?? command)) ?? '');
        finish(SUCCESS);
      });
  },
};

const SIDE = 'A robots.txt, a directory or file of records as for --robots-dir, or a table.';

const diffDefinition: CommandDefinition = {
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
        const { diff } = await import('./commands/diff.js');
        finish(await diff(old, next, await withTokens(options)));
      });
  },
};

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

const fetchDefinition: CommandDefinition = {
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
      const { fetchCommand } = await import('./commands/fetch.js');
      finish(await fetchCommand(files, options, version()));
    });
  },
};

const inspectDefinition: CommandDefinition = {
  help: {
    description: 'Show what a table contains, or the groups and rules of one host.',
    usage: ['[options] <table> [host]'],
    mainOptions: ['--agent', '--json', '--verify'],
    examples: [
      'robots-filter inspect robots.table',
      'robots-filter inspect robots.table example.com',
      'robots-filter inspect robots.table example.com -a GPTBot --json',
      'robots-filter inspect robots.table https://example.com:8443',
      'robots-filter inspect --verify theirs.table',
    ],
    notes: `
Exit status:
    0  the table was printed
    2  error, or the table is damaged`,
  },
  define(command, finish) {
    command
      .addArgument(new Argument('<table>', 'A table that "robots-filter compile" wrote.'))
      .addArgument(new Argument('[host]', 'A host, HOST:PORT or a URL.'))
      .addOption(
        describedOption(
          '--verify',
          'Check every byte first. Use it for tables of others.',
          'This proves that no look-up can read outside the table or run without end. The verdicts remain those of its maker.',
          '    robots-filter inspect --verify theirs.table && robots-filter --table theirs.table urls.txt',
        ).helpGroup(TABLE_GROUP),
      )
      .addOption(inspectedAgentOption())
      .addOption(agentsFileOption(VERDICTS_GROUP))
      .addOption(
        jsonOption(
          'Without a host, one object has the totals. With a host, an object for each scheme and port has its access result, records, groups and rules.',
        ),
      )
      .action(async (table: string, host: string | undefined, options: InspectOptions) => {
        refuseLossyPaths([table], options);
        const { inspect } = await import('./commands/inspect.js');
        finish(await inspect(table, host, await withTokens(options)));
      });
  },
};

const lintDefinition: CommandDefinition = {
  help: {
    description: 'Find what is wrong in robots.txt files, and how to mend it.',
    usage: ['[options] <files...>'],
    mainOptions: [
      '--urls',
      '--format',
      '--enable',
      '--disable',
      '--opinions',
      '--severity',
      '--max-warnings',
      '--fix',
      '--quiet',
    ],
    examples: [
      'robots-filter lint robots.txt',
      'robots-filter lint --max-warnings 0 public/robots.txt',
      'robots-filter lint --format sarif robots.txt > robots.sarif',
      'robots-filter lint --format summary robots/ crawl.ndjson.gz crawl.warc.gz',
      'robots-filter lint robots/ --urls urls.txt',
      'curl -s https://example.com/robots.txt | robots-filter lint -',
    ],
    notes: `
Each finding has the place, the severity, a rule and the fix. There is an example of every rule in
${docsPage('lint.md')}

Exit status:
    0  there is no error, and no more warnings than --max-warnings
    1  there are errors, or more warnings
    2  the command failed, or could not read one of the files`,
  },
  define(command, finish) {
    command.addArgument(
      new Argument(
        '<files...>',
        'Robots.txt files; directories, files of records and WARC files as for --robots-dir; - is standard input.',
      ),
    );
    for (const option of ruleOptions()) command.addOption(option);
    command
      .addOption(agentsFileOption('Agents'))
      .addOption(lintUrlsOption())
      .addOption(followLinksOption())
      .addOption(asOfOption())
      .addOption(allowEmptyOption())
      .addOption(lintFormatOption())
      .addOption(fixOption())
      .addOption(maxWarningsOption())
      .addOption(quietOption())
      .action(async (files: string[], options: LintOptions) => {
        refuseLossyPaths(files, options);
        const { lint } = await import('./commands/lint.js');
        finish(await lint(files, options, version()));
      });
  },
};

const recordsDefinition: CommandDefinition = {
  help: {
    description: 'List sitemaps, crawl-delays, preferences and other records beside the rules.',
    usage: ['[options] <path>'],
    mainOptions: ['--kind', '--format', '--quiet'],
    examples: [
      'robots-filter records robots.txt',
      'robots-filter records robots/ --kind sitemap --format csv',
      'robots-filter records robots.table --kind content-usage,content-signal,license',
    ],
    notes: `
A row has the host, the line, the kind, the product tokens of the group, and the value as written and parsed. "parsed" is null where the value has no known meaning. Records that belong to the whole file have no group. None of these records changes a verdict.

Exit status:
    0    the records were written
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  define(command, finish) {
    command
      .addArgument(
        new Argument(
          '<path>',
          'A robots.txt, a directory or file of records as for --robots-dir, or a table; - is standard input.',
        ),
      )
      .addOption(profileOption())
      .addOption(maxRobotsBytesOption())
      .addOption(followLinksOption())
      .addOption(asOfOption());
    for (const option of columnOptions()) command.addOption(option);
    command
      .addOption(allowEmptyOption())
      .addOption(kindOption())
      .addOption(rowFormatOption('ndjson'))
      .addOption(spreadsheetOption())
      .addOption(quietOption())
      .action(async (path: string, options: RecordsOptions) => {
        refuseLossyPaths([path]);
        const { records } = await import('./commands/records.js');
        finish(await records(path, options));
      });
  },
};

const serveDefinition: CommandDefinition = {
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
        const { serveTable } = await import('./commands/serve.js');
        const asked = await withTokens(options);
        finish(await serveTable(command.args, asked, availableParallelism(), version()));
      });
  },
};

const shardDefinition: CommandDefinition = {
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
      const { shard } = await import('./commands/filter.js');
      finish(await shard(files, options, availableParallelism()));
    });
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
