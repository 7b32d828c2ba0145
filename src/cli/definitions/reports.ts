/** The commands that write rows about many hosts: `audit`, `diff` and `records`. */

import { InvalidArgumentError, type Option } from 'commander';
import { RECORD_KINDS, type RecordKind } from '../../protocol/fields.js';
import { withTokens } from '../agents.js';
import type { AuditOptions } from '../commands/audit.js';
import type { DiffOptions } from '../commands/diff.js';
import type { RecordsOptions } from '../commands/records.js';
import {
  type CommandDefinition,
  days,
  describedOption,
  momentOption,
  once,
  ROWS_DETAIL,
  shared,
} from '../options.js';
import type { Period } from '../report/history-figures.js';
import { ROW_FORMATS, type RowFormat } from '../report/rows.js';

/** Parses a period: `month`, or a number of days, `30d`. */
function period(text: string): Period {
  if (text === 'month') return text;
  return days(text, 'Give month, or a number of days such as 30d.');
}

export const auditDefinition: CommandDefinition = {
  help: {
    description: 'Report for each host how much of it each agent may fetch.',
    usage: ['<path...> -a <agents> [options]'],
    mainOptions: [
      '--robots-dir',
      '--table',
      '--agent',
      '--hosts',
      '--only',
      '--use',
      '--format',
      '--report',
      '--quiet',
    ],
    examples: [
      'robots-filter audit robots/ -a @ai-training',
      'robots-filter audit robots.table -a GPTBot --only none --format csv',
      'robots-filter compile --records robots/ -o robots.table',
    ],
    notes: `
A row has a host, an agent, and:
    allowed      all: every URL; none: nothing but /robots.txt; part: neither was proven
    group        the product token whose group decides: the agent's own, or *
    rules        rules that can decide
    use          with --use: what the host says about it on every path that the agent may fetch, and the signals that say so
    root         the verdict on /, and the line of the rule that decides it
    crawl_delay  seconds; sitemaps, preferences, access result and date as the files have them

"all" and "none" are proven from all rules, and not found by asking for one URL.

Exit status:
    0    the report was written
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  arguments: [
    [
      '[path...]',
      'Directories, files of records and captures as for --robots-dir, in place of that option; a table, in place of --table; or one robots.txt, - for standard input.',
    ],
  ],
  options: () => [
    shared.robotsDir(),
    shared.table(),
    shared.profile('A table has the profile that it was compiled with.'),
    ...shared.reading(true),
    shared.agent(),
    shared.agentsFile('Verdicts'),
    ...shared.uses(
      'Verdicts',
      'The columns "use" and "use_signal" follow "allowed"; of several uses each has its own: use_train. "part" means: paths have different answers, or neither was proven. Nothing is said where the agent may fetch nothing. A table must have been compiled with --signals.',
      '    robots-filter audit robots/ -a @ai-training --use train',
    ),
    describedOption(
      'Input',
      '--hosts <file>',
      'Report only these hosts, one on each line.',
      'A line has a host, HOST:PORT or a URL; - is standard input. A host without a robots.txt is "unknown".',
    ).argParser(once),
    describedOption(
      'Output',
      '--only <extent>',
      'Report only hosts that allow: all, part or none.',
      'all: the agent may fetch every URL. none: it may fetch nothing but /robots.txt. Both are proven from the rules. part: neither was proven. unknown: hosts of --hosts without a robots.txt.',
    ).choices(['all', 'part', 'none', 'unknown']),
    describedOption(
      'Robots.txt',
      '--history',
      'Count hosts through time, from all robots.txt files with dates.',
      'A row has a time, an agent, and how many hosts then allowed all, part or none, or were unknown. A table must have been compiled with --history; robots.txt files of --robots-dir need dates.',
      '    robots-filter audit history.table -a @ai-training --history --format csv',
    ),
    describedOption(
      'Robots.txt',
      '--every <period>',
      'With --history: a row for each month (default), or every 30d.',
      'month, or a number of days with d: 1d to 36500d.',
    ).argParser(period),
    describedOption(
      'Input',
      '--urls <file>',
      'With --history: count these URLs, one on each line, not hosts.',
      'A row has a time, an agent, and how many of the URLs were then allow, deny, unknown or invalid. - is standard input.',
      '    robots-filter audit history.table -a @ai-training --history --urls urls.txt',
    ).argParser(once),
    describedOption(
      'Output',
      '--format <format>',
      'Write rows as table (default), csv, ndjson or parquet.',
      `${ROWS_DETAIL} parquet has the columns of csv. Beside --report rows are written only if this option asks for them.`,
      '    robots-filter audit robots.table -a @ai-training --format parquet > audit.parquet',
    ).choices([...ROW_FORMATS, 'parquet']),
    shared.spreadsheet(),
    describedOption(
      'Output',
      '--report <file>',
      'Write figures, not rows: a page .html, or data .json.',
      'The page is one file that loads nothing. It counts hosts, and distinct robots.txt files, by what they forbid each agent, and names the files that many hosts share and those that treat agents differently. With --history it has a line through time for each agent.',
      '    robots-filter audit robots.table -a @ai-training --report audit.html',
    ).argParser(once),
    shared.quiet(),
  ],
  async run(paths: readonly string[], options: AuditOptions) {
    const { audit } = await import('../commands/audit.js');
    return audit(paths, await withTokens(options));
  },
};

const SIDE = 'A robots.txt, a directory or file of records as for --robots-dir, or a table.';

export const diffDefinition: CommandDefinition = {
  help: {
    description: 'Compare two sets of robots.txt files by what they allow.',
    usage: ['[options] <old> <new>', '[options] <table> --from <date> [--to <date>]'],
    mainOptions: ['--agent', '--use', '--urls', '--format', '--report', '--exit-code', '--quiet'],
    examples: [
      'robots-filter diff robots-2025/ robots-2026/ -a @ai-training',
      'robots-filter diff old.table new.table -a GPTBot,CCBot --format csv',
      'robots-filter diff old/robots.txt new/robots.txt --exit-code',
      'robots-filter diff old.table new.table -a GPTBot --urls urls.txt',
      'robots-filter diff history.table --from 2024-12-31 --to 2025-12-31',
    ],
    notes: `
A row has a host, an agent, and:
    change    added or removed: the host has come or gone; extent: how much it allows has changed; rules: it allows a part before and after, but not the same
    old, new  all: every URL; none: nothing but /robots.txt; part: neither was proven
    path      a path whose verdict has changed, and the rules that decide it, with their lines

With --use a row with the change "use" says that the answer about a use has changed where the agent may fetch on both sides. old and new are what audit says of the whole host, path is a path whose answer has changed, and the signals stand in place of the rules.

Files that differ only in their text are left out: an order, a comment, a rule that never decides. The comparison covers every path of a URL.
Where too many wildcard rules overlap for that, a host without a path that differs has no row, and is counted as not fully compared.

With --urls a row has a URL, an agent, the verdicts of both sides, and the rules that decide them. A single robots.txt judges the URLs of every host.

Exit status:
    0    the comparison was written
    1    there is a difference, with --exit-code
    2    error
    130  interrupted (SIGTERM 143, SIGHUP 129)`,
  },
  arguments: [
    ['<old>', SIDE],
    ['[new]', 'The same, to compare with. Without it --from and --to name two times of one table.'],
  ],
  options: () => [
    shared.profile('A table has the profile that it was compiled with.'),
    ...shared.reading(),
    shared.agent(),
    shared.agentsFile('Verdicts'),
    ...shared.uses(
      'Verdicts',
      'Changes of the answer get rows of their own, with the use in the column "use". With --urls: URLs that may be fetched on both sides, with other answers. Tables must have been compiled with --signals.',
      '    robots-filter diff robots-2025/ robots-2026/ -a @ai-training --use train',
    ),
    momentOption('--from <date>', 'Compare from this date or time (UTC): the old side as it was.'),
    momentOption('--to <date>', 'Compare up to this date or time (UTC): the new side as it was.'),
    describedOption(
      'Input',
      '--urls <file>',
      'Compare the verdicts on these URLs, one on each line.',
      '- is standard input. Only URLs whose verdicts differ are written, in the order of the file.',
    ).argParser(once),
    describedOption(
      'Output',
      '--format <format>',
      'Write rows as table (default), csv or ndjson.',
      `${ROWS_DETAIL} Beside --report rows are written only if this option asks for them.`,
    ).choices(ROW_FORMATS),
    shared.spreadsheet(),
    describedOption(
      'Output',
      '--report <file>',
      'Write figures, not rows: a page .html, or data .json.',
      'The page is one file that loads nothing. It counts for each agent the hosts where it is shut out, let in, or may fetch less or more, and shows the changes of most hosts with the old and the new rule.',
      '    robots-filter diff robots-2025/ robots-2026/ -a @ai-training --report diff.html',
    ).argParser(once),
    describedOption('Output', '--exit-code', 'End with 1 if there is a difference, for scripts.'),
    shared.quiet(),
  ],
  async run([old = '', next]: readonly string[], options: DiffOptions) {
    const { diff } = await import('../commands/diff.js');
    return diff(old, next, await withTokens(options));
  },
};

export const recordsDefinition: CommandDefinition = {
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
  arguments: [
    [
      '<path>',
      'A robots.txt, a directory or file of records as for --robots-dir, or a table; - is standard input.',
    ],
  ],
  options: () => [
    shared.profile(),
    shared.maxRobotsBytes(),
    shared.followLinks(),
    shared.asOf(),
    ...shared.columns(),
    shared.allowEmpty(),
    describedOption(
      'Output',
      '--kind <kind,…>',
      'Report only these kinds of records (default: all).',
      `Repeatable; commas separate several kinds: ${RECORD_KINDS.join(', ')}.`,
      '    robots-filter records robots/ --kind sitemap,crawl-delay',
    ).argParser(collectKinds),
    rowFormatOption('ndjson'),
    shared.spreadsheet(),
    shared.quiet(),
  ],
  async run([path = '']: readonly string[], options: RecordsOptions) {
    const { records } = await import('../commands/records.js');
    return records(path, options);
  },
};

function collectKinds(list: string, earlier: readonly RecordKind[] = []): RecordKind[] {
  const kinds = list.split(',').map((name) => {
    const kind = RECORD_KINDS.find((each) => each === name.trim().toLowerCase());
    if (kind !== undefined) return kind;
    throw new InvalidArgumentError(
      `There is no kind ${JSON.stringify(name)}. Use ${RECORD_KINDS.join(', ')}.`,
    );
  });
  return [...earlier, ...kinds];
}

/** @param usual the format without this option */
const rowFormatOption = (usual: RowFormat): Option =>
  describedOption(
    'Output',
    '--format <format>',
    `Write rows as table, csv or ndjson (default: ${usual}).`,
    ROWS_DETAIL,
  ).choices(ROW_FORMATS);
