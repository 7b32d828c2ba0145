import { VARIANT } from '../competitors/competitor.js';
import type { Figure } from '../measure/statistics.js';
import {
  type CaseRecord,
  type GrowthRecord,
  IN_ANY_ORDER,
  type LibraryRecord,
  type LoadRecord,
  type RealRecord,
  type ResultRecord,
  type ThroughputRecord,
} from './record.js';

/** The newest record of each kind, if there is one. */
export interface Records {
  readonly throughput: ThroughputRecord | undefined;
  readonly growth: GrowthRecord | undefined;
  readonly real: RealRecord | undefined;
  readonly load: LoadRecord | undefined;
  readonly warc: CaseRecord | undefined;
  readonly formats: CaseRecord | undefined;
  readonly jobs: CaseRecord | undefined;
  readonly library?: LibraryRecord | undefined;
}

/** The figures that a page may name: a table, or a few words in a line. */
const FIGURES: Readonly<Record<string, (records: Records, id: string) => string | undefined>> = {
  machine: ({ throughput }) => throughput && machineTable(throughput),
  throughput: ({ throughput }) => throughput && throughputTable(throughput),
  ratios: ({ throughput }) => throughput && ratioTable(throughput),
  libraries: ({ throughput }) => throughput && libraryTable(throughput),
  growth: ({ growth }) => growth && growthTable(growth),
  real: ({ real }) => real && realTable(real),
  load: ({ load }) => load && loadText(load),
  warc: ({ warc }) => warc && caseTable(warc, 'captures'),
  'warc-ratios': ({ warc }) => warc && ratioTable(warc),
  formats: ({ formats }) => formats && caseTable(formats, 'URLs'),
  'formats-ratios': ({ formats }) => formats && ratioTable(formats),
  jobs: ({ jobs }) => jobs && caseTable(jobs, 'records'),
  'jobs-ratios': ({ jobs }) => jobs && ratioTable(jobs),
  question: ({ library }, id) => library && questionText(library, id),
  compile: ({ throughput }) => throughput && compileText(resultOf(throughput, 'compile')),
  rate: ({ throughput }, id) => throughput && rateText(throughput, id),
};

const BLOCK = /(<!-- figures: ([a-z-]+)(?: ([a-z0-9-]+))? -->)([\s\S]*?)(<!-- \/figures -->)/g;

/**
 * A Markdown page with its figures taken from the records: the text between `<!-- figures: NAME
 * -->` and `<!-- /figures -->` is replaced. Figures without a record are unchanged.
 *
 * @throws RangeError for an unknown name
 */
export function withFigures(page: string, records: Records): string {
  return page.replace(
    BLOCK,
    (all, start: string, name: string, id: string | undefined, old, end) => {
      const figure = FIGURES[name];
      if (figure === undefined) throw new RangeError(`unknown figures ${name}`);
      const text = figure(records, id ?? '');
      if (text === undefined) return all;
      return String(old).includes('\n') ? `${start}\n\n${text}\n\n${end}` : `${start}${text}${end}`;
    },
  );
}

/** Million questions a second, of a library's objects in any order. */
function questionText({ library }: LibraryRecord, id: string): string | undefined {
  const found = library.find(
    (row) => row.library.toLowerCase() === id && row.what === IN_ANY_ORDER,
  );
  return found && (found.questions / found.median / 1e6).toFixed(2);
}

function machineTable({ machine, date, corpus, ...record }: ThroughputRecord): string {
  const { hosts, rules, urls } = corpus;
  return table(
    ['machine', ''],
    [
      ['processor', `${machine.processor}, ${machine.cores} cores`],
      ['memory', `${(machine.memoryBytes / 2 ** 30).toFixed(0)} GiB`],
      ['Node', machine.node.replace(/^v/, '')],
      [
        'robots-filter',
        `${record.package.version}, commit ${machine.commit}, ${date.slice(0, 10)}`,
      ],
      ['input', `${count(hosts)} generated hosts with ${count(rules)} rules; ${count(urls)} URLs`],
    ],
  );
}

function throughputTable(record: ThroughputRecord): string {
  const isTimed = ({ id, kind, records }: ResultRecord) =>
    (kind === 'ours' && records > 1 && id !== 'compile') || FLOORS.includes(id);
  const rows = record.results
    .filter(isTimed)
    .map((result) => [
      result.id,
      `\`${result.name}\``,
      result.bytes === 0 ? '' : `${Math.round(result.bytes / result.records)} B`,
      spreadText(result, 2),
      rateText(record, result.id),
    ]);
  return table(['case', 'command', 'a record', 'seconds', 'million records/s'], rows);
}

const FLOORS = ['md5-text', 'md5-short', 'md5-index', 'md5-nested', 'wc', 'cat-wc'];

function ratioTable({ ratios }: Pick<CaseRecord, 'ratios'>): string {
  const rows = ratios
    .filter(({ id }) => id !== 'compile')
    .map((row) => [row.what, spreadText(row, row.median >= 20 ? 0 : 2), row.unit]);
  return table(['what', 'median (least–greatest)', ''], rows);
}

function libraryTable(record: ThroughputRecord): string {
  const libraries = record.results.filter(
    ({ id, kind }) => kind === 'competitor' && !VARIANT.test(id),
  );
  const rows = libraries
    .toSorted((a, b) => b.records / b.median - a.records / a.median)
    .map(({ id, name }) => [
      name,
      rateText(record, id),
      PARSES_EACH_URL.includes(id) ? 'for each URL' : 'once',
      differencesText(record, name),
    ]);
  return table(
    ['library', 'million URLs/s', 'parses a file', 'verdicts that differ, in 100,000'],
    rows,
  );
}

const PARSES_EACH_URL = ['fast-robotstxt', 'robotstxt', 'grobotstxt'];

function differencesText({ differences }: ThroughputRecord, name: string): string {
  const compared = differences.find((each) => each.name === name);
  if (compared === undefined) return '–';
  const differing = compared.differences.reduce((sum, { count }) => sum + count, 0);
  return count(Math.round((differing / compared.urls) * 100_000));
}

function growthTable({ growth }: GrowthRecord): string | undefined {
  const rows = growth?.steps.map((step) => [
    count(step.hosts),
    `${(step.tableBytes / 1e6).toFixed(1)} MB`,
    `${step.openSeconds.toFixed(2)} s`,
    step.nanoseconds.toFixed(0),
    `${step.compileSeconds.toFixed(1)} s`,
  ]);
  const header = ['hosts', 'table', 'one URL', 'ns a URL after opening', 'compiled in'];
  return rows && table(header, rows);
}

function realTable({ results }: RealRecord): string {
  const rows = results.map((result) => [
    result.id,
    count(result.records),
    spreadText(result, 2),
    result.id.startsWith('compile') ? '' : (result.records / result.median / 1e6).toFixed(1),
  ]);
  return table(['what', 'records', 'seconds', 'million URLs/s'], rows);
}

/** The cases of a record with their sizes, rates and memory; then where they were measured. */
function caseTable(record: CaseRecord, unit: string): string {
  const { results, machine, date, notMeasured } = record;
  const rows = results
    .filter(({ records }) => records > 0)
    .map((result) => {
      const { id, name, kind, records, bytes, median, peakBytes } = result;
      return [
        id,
        `\`${name}\``,
        count(records),
        spreadText(result, 2),
        (records / median / 1e6).toFixed(2),
        (bytes / median / 1e6).toFixed(0),
        peakBytes === undefined || kind === 'floor' ? '' : (peakBytes / 1e6).toFixed(0),
      ];
    });
  const header = ['case', 'command', unit, 'seconds', `million ${unit}/s`, 'MB/s', 'peak MB'];
  const { processor, cores, node, commit } = machine;
  const place = `${processor}, ${cores} cores, Node ${node.replace(/^v/, '')}, commit ${commit}, ${date.slice(0, 10)}.`;
  const missing = notMeasured.map((line) => `Not measured: ${line}.`);
  return `${table(header, rows)}\n\n${[place, ...missing].join(' ')}`;
}

function loadText({ records, seconds, peakBytes }: LoadRecord): string {
  const peak =
    peakBytes === undefined ? '' : `, with ${(peakBytes / 1e6).toFixed(0)} MB at the peak`;
  return `${count(records)} records through a pipe came out complete and in order, compared byte by byte, in ${seconds.toFixed(0)} s${peak}.`;
}

function compileText(result: ResultRecord): string {
  const rate = count(Math.round(result.records / result.median / 100) * 100);
  return `\`compile\` reads ${count(result.records)} robots.txt files as NDJSON in ${spreadText(result, 1)} s (${rate} files/s).`;
}

function resultOf({ results }: ThroughputRecord, id: string): ResultRecord {
  const result = results.find((each) => each.id === id);
  if (result === undefined) throw new RangeError(`the record has no case ${id}`);
  return result;
}

function rateText(record: ThroughputRecord, id: string): string {
  const { records, median } = resultOf(record, id);
  const millions = records / median / 1e6;
  return millions.toFixed(millions < 0.995 ? 2 : 1);
}

/** A median with the minimum and the maximum in brackets. */
function spreadText({ median, least, greatest }: Figure, digits: number): string {
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${greatest.toFixed(digits)})`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}
