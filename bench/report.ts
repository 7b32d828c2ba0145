import type { Machine } from './machine.js';
import { median } from './measure.js';
import type { Scenario } from './scenarios.js';

/** All times of one scenario. */
export interface Result {
  readonly scenario: Scenario;
  readonly seconds: readonly number[];
  readonly peakOctets: number | undefined;
}

/** A row of a printed table: the first cell is set flush left, the others flush right. */
type Row = readonly string[];

const HEADER: Row = [
  'command',
  'median s',
  'min–max s',
  'million URLs/s',
  'GB/s',
  '× today',
  '× md5sum',
  'peak MB',
];

/** The figures of one form of input, as lines of text. */
export function tableOf(input: 'text' | 'ndjson', results: readonly Result[]): string {
  const own = results.filter(({ scenario }) => scenario.input === input);
  const today = own.find(({ scenario }) => scenario.kind === 'today');
  const yardstick = own.find(({ scenario }) => scenario.name.startsWith('md5sum'));
  const rows = own.map((result): Row => {
    const { scenario, seconds, peakOctets } = result;
    return [
      `${scenario.kind.padEnd(5)} ${scenario.name}`,
      median(seconds).toFixed(3),
      `${Math.min(...seconds).toFixed(3)}–${Math.max(...seconds).toFixed(3)}`,
      (linesPerSecond(result) / 1e6).toFixed(2),
      (scenario.octets / median(seconds) / 1e9).toFixed(2),
      today === undefined ? '' : (linesPerSecond(result) / linesPerSecond(today)).toFixed(1),
      yardstick === undefined
        ? ''
        : (linesPerSecond(result) / linesPerSecond(yardstick)).toFixed(2),
      peakOctets === undefined ? '' : (peakOctets / 1e6).toFixed(0),
    ];
  });
  return aligned([[`${input}: ${HEADER[0]}`, ...HEADER.slice(1)], ...rows]);
}

function linesPerSecond({ scenario, seconds }: Result): number {
  return scenario.lines / median(seconds);
}

function aligned(rows: readonly Row[]): string {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths?.[column] ?? 0;
          return column === 0 ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function describe(machine: Machine): string {
  const { processor, cores, memoryOctets, system, node, commit, command } = machine;
  const memory = `${(memoryOctets / 2 ** 30).toFixed(0)} GiB`;
  return `${processor}, ${cores} cores, ${memory}, ${system}, Node ${node}, commit ${commit}\n${command}`;
}

/** The same as JSON, to be kept in bench/record. */
export function recordOf(
  machine: Machine,
  corpus: unknown,
  results: readonly Result[],
  single: unknown,
): string {
  const figures = results.map(({ scenario, seconds, peakOctets }) => ({
    kind: scenario.kind,
    input: scenario.input,
    name: scenario.name,
    lines: scenario.lines,
    octets: Math.round(scenario.octets),
    medianSeconds: median(seconds),
    seconds,
    peakOctets,
  }));
  const record = { date: new Date().toISOString(), machine, corpus, single, figures };
  return `${JSON.stringify(record, null, 2)}\n`;
}
