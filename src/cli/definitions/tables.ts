/** The commands that make, show and serve tables: `compile`, `captures`, `inspect` and `serve`. */

import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import { docsPage } from '../../base/errors.js';
import { version } from '../../files/package-file.js';
import type { PartRange } from '../../judge/table-memory.js';
import { MAX_THREADS } from '../../pipeline/bad-record.js';
import { MAX_SHARDS } from '../../table/places.js';
import { collectAgents, withTokens } from '../agents.js';
import type { CapturesOptions } from '../commands/captures.js';
import type { CompileOptions } from '../commands/compile.js';
import type { InspectOptions } from '../commands/inspect.js';
import type { ServeOptions } from '../commands/serve.js';
import { type CommandDefinition, describedOption, once, shared, wholeNumber } from '../options.js';

/** What stands in place of --robots-dir and --table. */
const PATHS =
  'Directories, files of records and captures as for --robots-dir, and tables, in place of that option and of --table.';

export const compileDefinition: CommandDefinition = {
  help: {
    description: 'Compile the robots.txt files of many hosts into a table, which opens at once.',
    usage: ['<path...> -o <file> [options]', '<path...> --shards <n> -o <dir> [options]'],
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
      'robots-filter compile robots/ -o robots.table',
      'robots-filter compile old.ndjson new/ -o all.table',
      'robots-filter compile robots/ -a GPTBot,CCBot -o small.table',
      'robots-filter --table robots.table -a GPTBot urls.txt',
      'robots-filter compile robots/ --shards 64 -o table/',
    ],
    notes: `
Exit status:
    0    the table was written
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  arguments: [['[path...]', PATHS]],
  options: () => [
    shared.robotsDir(),
    shared.profile('The table answers under this profile only.'),
    describedOption(
      'Robots.txt',
      '-a, --agent <token,…>',
      'Keep only the groups of these product tokens, and of *.',
      'Repeatable; commas separate several agents, and A:B is a fallback chain. @NAME is a list of known agents. The table is smaller and refuses other agents.',
      '    --agent GPTBot,CCBot --agent @ai-training',
    ).argParser(collectAgents),
    describedOption(
      'Robots.txt',
      '--records',
      'Keep sitemaps, crawl-delays, preferences and dates, too.',
      'For "robots-filter records" and "robots-filter audit" on the table. Verdicts and the speed of look-ups stay the same; the table grows by some 60 bytes a host.',
    ),
    describedOption(
      'Robots.txt',
      '--signals',
      'Keep what robots.txt says about uses, for --use (experimental).',
      'That is Content-Usage and Content-Signal. Verdicts stay the same; only hosts with such lines take more bytes.',
    ),
    describedOption(
      'Robots.txt',
      '--history',
      'Keep every dated robots.txt of a host, each from its date on.',
      'Then --as-of asks the table for what was in force at a date, and without --as-of the newest counts. Dates come from captures of WARC files, from fetch, from the member or column "fetched" of records, and from directories that are named by a date, such as 2024-05-01/HOST; files without a date are left out. Files that follow one another with the same rules are one version, of 20 bytes.',
      '    robots-filter compile --history --robots-dir robotstxt.paths.gz -o history.table',
    ),
    shared.agentsFile('Robots.txt'),
    ...shared.reading(true),
    describedOption(
      'Output',
      '-o, --output <file>',
      'Write the table to this file. Required.',
      'The file is replaced when the table is complete, or not at all. A name in .gz or .zst is written compressed, from a table that is whole in memory.',
    ).argParser(once),
    describedOption(
      'Output',
      '--shards <n>',
      'Divide the table by host into this many shards.',
      `1 to ${MAX_SHARDS}. -o names a directory: part-00000.table and so on, and manifest.json. Memory is needed for one shard for each thread, and disk for the robots.txt files once more. --table takes the directory.`,
      '    robots-filter compile robots/ --shards 64 -o table/',
    ).argParser(wholeNumber(1, MAX_SHARDS)),
    describedOption(
      'Output',
      '--only <shard>',
      'Write only this shard of --shards, or only the manifest.',
      'The number of a shard, from 0, writes its table into the directory, which may be there already. "manifest" reads no robots.txt: it writes manifest.json for tables that are all there. So several machines can compile one table.',
      '    robots-filter compile --robots-dir all.ndjson --shards 64 --only 7 -o table/',
    ).argParser((text) => (text === 'manifest' ? text : wholeNumber(0, MAX_SHARDS - 1)(text))),
    shared.quiet(),
  ],
  async run(files: readonly string[], options: CompileOptions) {
    const { compile } = await import('../commands/compile.js');
    return compile(files, await withTokens(options));
  },
};

export const capturesDefinition: CommandDefinition = {
  help: {
    description: 'Print the captures of robots.txt files in WARC files, for other machines.',
    usage: ['[options] <files...>'],
    mainOptions: ['--targets', '--as-of', '--quiet'],
    examples: [
      'robots-filter captures CC-MAIN-2025-13.warc.gz > part.captures.ndjson',
      'curl https://a.example/c.warc | robots-filter captures - > r.captures.ndjson',
      'robots-filter compile --robots-dir part.captures.ndjson -o robots.table',
    ],
    notes: `
Each line is a JSON object with the URL, the date, where the capture lies, and what it found: a body, an access result, a redirect, or a reference to an earlier capture. --robots-dir reads the lines from files whose names end in .captures.ndjson, optionally with .gz or .zst after it. The members are described in
${docsPage('sources.md#captures-as-ndjson')}

Exit status:
    0    the captures were written
    2    error`,
  },
  arguments: [
    ['<files...>', 'WARC files, lists of them that end in .paths, or - for standard input.'],
  ],
  options: () => [
    shared.profile(),
    shared.maxRobotsBytes(),
    shared.asOf(),
    describedOption(
      'Robots.txt',
      '--targets <file>',
      'Print only the captures of the URLs in this file.',
      'Those of robots.txt files are left out. The file has one canonical URL in each line, such as those that redirects lead to, and that are "left-out" without this option.',
    ).argParser(once),
    shared.quiet(),
  ],
  async run(files: readonly string[], options: CapturesOptions) {
    const { captures } = await import('../commands/captures.js');
    return captures(files, options);
  },
};

export const inspectDefinition: CommandDefinition = {
  help: {
    description: 'Show what a table contains, or the groups and rules of one host.',
    usage: ['[options] <path> [host]'],
    mainOptions: ['--agent', '--history', '--json', '--verify', '--quiet'],
    examples: [
      'robots-filter inspect robots.table',
      'robots-filter inspect robots.table example.com',
      'robots-filter inspect robots/ example.com -a GPTBot --json',
      'robots-filter inspect robots.table https://example.com:8443',
      'robots-filter inspect --verify theirs.table',
    ],
    notes: `
Exit status:
    0  the table, or what was asked of it, was printed
    2  error, or the table is damaged`,
  },
  arguments: [
    [
      '<path>',
      'A table; a directory, file of records or captures as for --robots-dir; or one robots.txt, - for standard input.',
    ],
    ['[host]', 'A host, HOST:PORT or a URL.'],
  ],
  options: () => [
    shared.profile('A table has the profile that it was compiled with.'),
    ...shared.reading(true),
    describedOption(
      'Table',
      '--verify',
      'Check every byte first. Use it for tables of others.',
      'This proves that no look-up can read outside the table or run without end. The verdicts remain those of its maker.',
      '    robots-filter inspect --verify theirs.table && robots-filter --table theirs.table urls.txt',
    ),
    describedOption(
      'Verdicts',
      '-a, --agent <token,…>',
      'Show what the host says to these agents.',
      'With a host only; shows the groups that decide for them. Repeatable; commas separate several agents, and A:B is a fallback chain.',
      '    robots-filter inspect robots.table example.com --agent GPTBot',
    ).argParser(collectAgents),
    shared.agentsFile('Verdicts'),
    describedOption(
      'Table',
      '--history',
      'List every robots.txt of the host, with its date.',
      'A table must have been compiled with --history; other files need dates. Each line has the time from which on the robots.txt is in force, what came of fetching it, and where it is from; with --agent a line for each agent follows.',
      '    robots-filter inspect history.table example.com --history --agent GPTBot',
    ).conflicts('asOf'),
    shared.json(
      'Without a host, one object has the totals. With a host, an object for each scheme and port has its access result, records, groups and rules.',
    ),
    shared.quiet(),
  ],
  paths: 1,
  async run([path = '', host]: readonly string[], options: InspectOptions) {
    const { inspect } = await import('../commands/inspect.js');
    return inspect(path, host, await withTokens(options));
  },
};

export const serveDefinition: CommandDefinition = {
  help: {
    description: 'Answer another program through pipes: columns of URLs in, verdicts out.',
    usage: ['<path...> [options]'],
    mainOptions: ['--table', '--robots-dir', '--agent', '--threads', '--quiet'],
    examples: [
      'robots-filter serve robots.table',
      'robots-filter serve robots/ -a GPTBot,CCBot --threads 1',
    ],
    notes: `
The program writes frames to standard input and reads frames from standard output. A frame has many URLs as Arrow has them: offsets and bytes. The package robots-filter for Python uses this command. To judge URLs from a shell, leave "serve" out. The frames are described in
${docsPage('serve.md')}

Exit status:
    0    standard input has ended
    2    error, also for a frame that is none
    137  a thread failed while others were blocked; the error is on standard error`,
  },
  arguments: [['[path...]', PATHS]],
  options: () => [
    shared.robotsDir(),
    shared.table(),
    shared.profile('A table has the profile that it was compiled with; no other is accepted.'),
    describedOption(
      'Verdicts',
      '-a, --agent <token,…>',
      'Judge requests without agents for these (default: *).',
      'Repeatable; commas separate several agents. With --robots-dir only the groups of these agents and of * are kept, and requests for others are refused.',
      '    robots-filter serve robots/ --agent GPTBot,CCBot',
    ).argParser(collectAgents),
    shared.agentsFile('Verdicts'),
    ...shared.reading(),
    describedOption(
      'Robots.txt',
      '--parts <first-last>',
      'Open only these shards of a table in shards.',
      'Two numbers from 0, such as 0-15. Do not ask about URLs of hosts in other shards: their verdicts would be unknown.',
    ).argParser(partRange),
    describedOption(
      'Output',
      '--shards <n>',
      'Answer the shard of each host, of this many, and no verdicts.',
      `1 to ${MAX_SHARDS}. No table is needed.`,
    ).argParser(wholeNumber(1, MAX_SHARDS)),
    describedOption(
      'Performance',
      '--threads <n>',
      'Judge on this many threads (default: up to 4).',
      `1 to ${MAX_THREADS}. By default one for each core, at most 4. With 1, the main thread reads, judges and writes.`,
    ).argParser(wholeNumber(1, MAX_THREADS)),
    shared.quiet(),
  ],
  async run(files: readonly string[], options: ServeOptions) {
    const { serveTable } = await import('../commands/serve.js');
    const asked = await withTokens(options);
    return serveTable(files, asked, availableParallelism(), version());
  },
};

function partRange(text: string): PartRange {
  const [first = '', last = first, ...more] = text.split('-');
  const number = wholeNumber(0, MAX_SHARDS - 1);
  const range = { first: number(first), last: number(last) };
  if (more.length === 0 && range.first <= range.last) return range;
  throw new InvalidArgumentError('Give the first and the last shard, such as 0-15.');
}
