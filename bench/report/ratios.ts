import { PLACES, SHAPES, type ShapeName } from '../corpus/shapes.js';
import type { Result } from '../measure/runs.js';
import { type Figure, figureOf } from '../measure/statistics.js';

/** The figures of one whole run. */
export interface RunFigures {
  seconds(id: string): number;
  /** Records in a second. */
  rate(id: string): number;
}

/** A figure that a reader can compare between machines: one case relative to another. */
export interface Ratio {
  readonly id: string;
  readonly what: string;
  /** Cases that must be run. */
  readonly needs: readonly string[];
  readonly unit: string;
  value(run: RunFigures): number;
}

/** The rows of bench:throughput. */
export const RATIOS: readonly Ratio[] = [
  timeRatio('text', 'text file', 'text', 'md5-text', 'md5sum of the file'),
  ...(Object.keys(SHAPES) as ShapeName[]).flatMap((shape) =>
    PLACES.map((place) => {
      const what = `${SHAPES[shape].meanBytes} B records, the URL ${place}`;
      const id = `${shape}-${place}`;
      return timeRatio(id, what, id, `md5-${shape}`, 'md5sum of the file');
    }),
  ),
  timeRatio('pipe', 'cat f.ndjson | …', 'pipe', 'md5-short', 'md5sum of the file'),
  timeRatio('pipes', 'cat f.ndjson | … | cat', 'pipes', 'md5-short', 'md5sum of the file'),
  timeRatio('gzip', '434 B records, compressed with gzip', 'gzip', 'gunzip', 'gzip -dc'),
  timeRatio('strict', '434 B records with --strict', 'strict', 'allowed', 'without'),
  timeRatio('sorted', 'text sorted by host', 'sorted', 'text', 'shuffled'),
  timeRatio('agents', 'two agents', 'agents', 'short-first', 'one agent'),
  timeRatio('explain', '--explain', 'explain', 'short-first', 'without'),
  timeRatio('one-thread', 'text on one thread', 'one-thread', 'text', 'all threads'),
  {
    id: 'today',
    what: '108 B records, against readline + JSON.parse + robots-parser',
    needs: ['short-first', 'robots-parser-ndjson'],
    unit: 'times as fast',
    value: (run) => run.rate('short-first') / run.rate('robots-parser-ndjson'),
  },
  timeRatio(
    'duckdb',
    '434 B records, against DuckDB writing only their URLs',
    'index-middle',
    'duckdb-extract',
    'DuckDB',
  ),
  {
    id: 'rows-today',
    what: '434 B records, against readline + JSON.parse + robots-parser',
    needs: ['index-middle', 'robots-parser-index'],
    unit: 'times as fast',
    value: (run) => run.rate('index-middle') / run.rate('robots-parser-index'),
  },
  {
    id: 'hosts',
    what: 'text with a million hosts, after opening the table',
    needs: ['text', 'text-one', 'million-text', 'million-one'],
    unit: '× 5,000 hosts',
    value: (run) =>
      timeForEach(run, 'million-text', 'million-one') / timeForEach(run, 'text', 'text-one'),
  },
  {
    id: 'opening',
    what: 'opening and checking a table of a million hosts',
    needs: ['million-one', 'small-one', 'md5-table'],
    unit: '× md5sum of the table',
    value: (run) =>
      (run.seconds('million-one') - run.seconds('small-one')) / run.seconds('md5-table'),
  },
  {
    id: 'compile',
    what: 'compiling the robots.txt files of a million hosts',
    needs: ['compile'],
    unit: 'files/s',
    value: (run) => run.rate('compile'),
  },
  timeRatio('start-up', 'one URL with a small table', 'small-one', 'node', 'node -e 0'),
];

/** Seconds for each record, without the start and without opening the table. */
function timeForEach(run: RunFigures, whole: string, first: string): number {
  const seconds = run.seconds(whole) - run.seconds(first);
  return seconds / (run.rate(whole) * run.seconds(whole));
}

/** The time of one case in times of another's. */
export function timeRatio(
  id: string,
  what: string,
  over: string,
  under: string,
  unit: string,
): Ratio {
  return {
    id,
    what,
    needs: [over, under],
    unit: `× ${unit}`,
    value: (run) => run.seconds(over) / run.seconds(under),
  };
}

/** A ratio with its values over all whole runs. */
export interface RatioRow extends Figure {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
}

/** Computes a ratio in each whole run: the median and the spread are those of the ratio. */
export function ratioRow({ id, what, unit, value }: Ratio, results: readonly Result[]): RatioRow {
  return { id, what, unit, ...figureOf(inEachRun(results, value)) };
}

/** @throws RangeError if a case that `value` asks for was not run */
export function inEachRun(
  results: readonly Result[],
  value: (run: RunFigures) => number,
): number[] {
  const byId = new Map(results.map((result) => [result.case.id, result]));
  const runs = Math.max(0, ...results.map(({ seconds }) => seconds.length));
  return Array.from({ length: runs }, (_, run) => {
    const secondsOf = (id: string): number => {
      const seconds = byId.get(id)?.seconds[run];
      if (seconds === undefined) throw new RangeError(`no case ${id} was run`);
      return seconds;
    };
    const recordsOf = (id: string) => byId.get(id)?.case.records ?? 0;
    return value({ seconds: secondsOf, rate: (id) => recordsOf(id) / secondsOf(id) });
  });
}

/** The largest memory of a filter run, beyond the table. */
export function peakMemory(results: readonly Result[]): { bytes: number; id: string } | undefined {
  const filters = results.filter((result) => {
    return result.case.kind === 'ours' && result.case.id !== 'compile';
  });
  const peaks = filters.flatMap(({ peakBytes, case: { id } }) =>
    peakBytes === undefined ? [] : [{ bytes: peakBytes, id }],
  );
  return peaks.sort((a, b) => b.bytes - a.bytes)[0];
}
