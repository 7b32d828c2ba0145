import { InvalidArgumentError, type Option } from 'commander';
import { RECORD_KINDS, type RecordKind } from '../../protocol/fields.js';
import { usageError } from '../console.js';
import { describedOption, INPUT_GROUP, OUTPUT_GROUP, once } from '../definition.js';
import { ROW_FORMATS, type RowFormat } from '../report/rows.js';

export const auditReportOption = (): Option =>
  describedOption(
    '--report <file>',
    'Write the figures as a page or as data: .html or .json.',
    'The page is one file that loads nothing. It counts hosts for each agent: by what they allow, by whose group decides, by access result and by records, and names the strictest hosts.',
    '    robots-filter audit --table robots.table -a @ai-training --report audit.html > audit.txt',
  )
    .argParser(once)
    .helpGroup(OUTPUT_GROUP);

export const filterReportOption = (): Option =>
  describedOption(
    '--report <file>',
    'Also write a report of the run: .html or .json.',
    'The page is one file that loads nothing. It counts by URL and by host: verdicts and reasons for each agent, what is allowed only because nothing is known, hosts without a robots.txt to rely on, the hosts with most URLs, and the rules that deny most.',
    '    robots-filter --table robots.table -a @ai-training --report r.html urls.txt > verdicts.txt',
  )
    .argParser(once)
    .helpGroup(OUTPUT_GROUP);

export const diffUrlsOption = (): Option =>
  describedOption(
    '--urls <file>',
    'Compare the verdicts on these URLs, one on each line.',
    '- is standard input. Only URLs whose verdicts differ are written, in the order of the file.',
  )
    .argParser(once)
    .helpGroup(INPUT_GROUP);

export const exitCodeOption = (): Option =>
  describedOption('--exit-code', 'End with 1 if there is a difference, for scripts.').helpGroup(
    OUTPUT_GROUP,
  );

const ROWS_DETAIL =
  'table is for people: it shortens long values, and leaves out columns that do not fit the window. csv and ndjson have everything.';

/** @param usual the format without this option */
export const rowFormatOption = (usual: RowFormat): Option =>
  describedOption(
    '--format <format>',
    `Write rows as table, csv or ndjson (default: ${usual}).`,
    ROWS_DETAIL,
  )
    .choices(ROW_FORMATS)
    .helpGroup(OUTPUT_GROUP);

export const spreadsheetOption = (): Option =>
  describedOption(
    '--spreadsheet',
    'Write csv that a spreadsheet opens without running formulas.',
    "Site owners choose many values, and a spreadsheet runs one that begins with =, +, - or @. This option writes an apostrophe before it: '=1+1. Use it with --format csv.",
  ).helpGroup(OUTPUT_GROUP);

/** @throws RobotsFilterError `usage` unless the rows are CSV */
export function checkSpreadsheet({
  spreadsheet,
  format,
}: {
  readonly spreadsheet?: boolean;
  readonly format?: string | undefined;
}): void {
  if (spreadsheet !== true || format === 'csv') return;
  throw usageError('--spreadsheet has no effect without --format csv. Add it, or leave both out');
}

export const totalsOption = (): Option =>
  describedOption(
    '--json',
    'Write the totals as one JSON object at the end.',
    'The object goes to standard output, also with --quiet and after a signal. It counts hosts by access result and by error; --report has each host.',
  ).helpGroup(OUTPUT_GROUP);

export const auditFormatOption = (): Option =>
  describedOption(
    '--format <format>',
    'Write table (default), csv, ndjson, parquet or html.',
    `${ROWS_DETAIL} parquet has the columns of csv. html is one page that loads nothing: the figures of --report, and the first 1,000 rows.`,
    '    robots-filter audit --table robots.table -a @ai-training --format parquet > audit.parquet',
  )
    .choices([...ROW_FORMATS, 'parquet', 'html'])
    .helpGroup(OUTPUT_GROUP);

export const diffFormatOption = (): Option =>
  describedOption(
    '--format <format>',
    'Write table (default), csv, ndjson or html.',
    `${ROWS_DETAIL} html is one page that loads nothing: for each agent how many hosts have changed and how, and the first 1,000 rows.`,
  )
    .choices([...ROW_FORMATS, 'html'])
    .helpGroup(OUTPUT_GROUP);

/** @param detail what an object holds */
export const jsonOption = (detail: string): Option =>
  describedOption('--json', 'Write JSON, one object on each line.', detail).helpGroup(OUTPUT_GROUP);

export const hostsOption = (): Option =>
  describedOption(
    '--hosts <file>',
    'Report only these hosts, one on each line.',
    'A line has a host, HOST:PORT or a URL; - is standard input. A host without a robots.txt is "unknown".',
  )
    .argParser(once)
    .helpGroup(INPUT_GROUP);

export const onlyOption = (): Option =>
  describedOption(
    '--only <extent>',
    'Report only hosts that allow: all, part or none.',
    'all: the agent may fetch every URL. none: it may fetch nothing but /robots.txt. Both are proven from the rules. part: neither was proven. unknown: hosts of --hosts without a robots.txt.',
  )
    .choices(['all', 'part', 'none', 'unknown'])
    .helpGroup(OUTPUT_GROUP);

export const kindOption = (): Option =>
  describedOption(
    '--kind <kind,…>',
    'Report only these kinds of records (default: all).',
    `Repeatable; commas separate several kinds: ${RECORD_KINDS.join(', ')}.`,
    '    robots-filter records robots/ --kind sitemap,crawl-delay',
  )
    .argParser(collectKinds)
    .helpGroup(OUTPUT_GROUP);

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
