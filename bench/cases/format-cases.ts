import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { VERDICTS } from '../../src/protocol/verdict.js';
import type { Competitor } from '../competitors/competitor.js';
import type { FormatTools } from '../competitors/formats/tools.js';
import type { SiteList } from '../inputs/url-forms.js';
import { runProgram, runShell } from '../measure/process.js';
import type { Case } from '../measure/runs.js';
import type { Filter } from '../program/filter.js';
import { assertEqual } from '../verify/assert-equal.js';
import type { CountWatch, Expectation } from '../verify/count-watch.js';
import type { VerdictCounts } from '../verify/verdict-counts.js';

/** One command of the filter over a file of any format. */
export interface FormatTask {
  readonly id: string;
  readonly filter: Filter;
  readonly table: string;
  /** Absent if the records name their agents. */
  readonly agent: string | undefined;
  readonly path: string;
  readonly rows: number;
  readonly options?: readonly string[];
  /** The file of `-o`; default: /dev/null. */
  readonly output?: string;
  /** The name of the URLs: all runs under this name must have the same counts. */
  readonly counted: string;
  readonly expected: Expectation;
}

/** A case of the filter over any format; each rehearsal asserts the counts. */
export function formatCase(watch: CountWatch, task: FormatTask): Case {
  const { id, filter, table, agent, path, rows, options = [], output } = task;
  const written = output === undefined ? [] : ['-o', output];
  const asked = agent === undefined ? [] : ['--agent', agent];
  const args = ['--table', table, ...asked, ...options, ...written];
  const name = basename(path).replace(/^index-\d+-rows(-[a-z]+)?/, 'f');
  const target = output === undefined ? '> /dev/null' : `-o ${basename(output)}`;
  return {
    id,
    name: ['robots-filter --table t', ...options, name, target].join(' '),
    kind: 'ours',
    records: rows,
    bytes: statSync(path).size,
    reads: [table, path],
    run: () => filter.runAlone(args, { paths: [path] }),
    async rehearse() {
      const run = await filter.runCounted(args, { paths: [path] });
      watch.check(task.counted, task.expected, run.statistics);
      const { seconds, peakBytes } = run;
      return { seconds, peakBytes: peakBytes && peakBytes - statSync(table).size };
    },
  };
}

/** A line of shell that does less than the filter. */
export function floorCase(
  id: string,
  name: string,
  path: string,
  rows: number,
  line: string,
): Case {
  return {
    id,
    name,
    kind: 'floor',
    records: rows,
    bytes: statSync(path).size,
    reads: [path],
    run: () => runShell(line, { watched: false }),
  };
}

/**
 * The program of `bench/competitors/python/log.py`, which judges the first lines of a log. It
 * measures its own time, without the start and without parsing. Its counts are its own, and the
 * same in all runs.
 */
export function logCase(
  python: Pick<Competitor, 'program' | 'environment'>,
  library: string,
  name: string,
  input: { readonly path: string; readonly robots: string; readonly rows: number },
): Case {
  const { path, robots, rows } = input;
  const script = join(import.meta.dirname, '..', 'competitors', 'python', 'log.py');
  let known: string | undefined;
  return {
    id: `log-${library}`,
    name,
    kind: 'competitor',
    records: rows,
    bytes: 0,
    reads: [path, robots],
    async run() {
      const { program, environment = {} } = python;
      const words = [script, library, robots, path, String(rows)];
      const run = await runProgram(program, words, { output: 'keep', environment });
      const { seconds, counts } = JSON.parse(run.output) as {
        seconds: number;
        counts: VerdictCounts;
      };
      const sum = VERDICTS.reduce((total, word) => total + counts[word], 0);
      assertEqual(`${name}: lines`, sum, rows);
      const text = JSON.stringify(counts);
      known ??= text;
      assertEqual(`${name}: counts`, text, known);
      return { seconds, peakBytes: run.peakBytes };
    },
  };
}

/** A library that reads the same file; it must see as many rows, and as many bytes of URLs. */
export function toolCase(
  tools: FormatTools,
  task: string,
  name: string,
  input: { readonly path: string; readonly rows: number; readonly urlBytes?: number },
  output?: string,
): Case {
  const { path, rows, urlBytes } = input;
  return {
    id: task,
    name,
    kind: 'competitor',
    records: rows,
    bytes: statSync(path).size,
    reads: [path],
    async run() {
      const run = await tools.run(task, path, output);
      const seen = JSON.parse(run.output) as { rows: number; bytes?: number };
      assertEqual(`${name}: rows`, seen.rows, rows);
      if (urlBytes !== undefined && seen.bytes !== undefined) {
        assertEqual(`${name}: bytes of URLs`, seen.bytes, urlBytes);
      }
      return { seconds: run.seconds, peakBytes: run.peakBytes };
    },
  };
}

/** A filter of an index by sites; it must keep as many lines as are on these sites. */
export function siteFilterCase(
  id: string,
  name: string,
  packages: string,
  index: { readonly path: string; readonly rows: number },
  sites: SiteList,
): Case {
  const { path, rows } = index;
  return {
    id,
    name,
    kind: 'competitor',
    records: rows,
    bytes: statSync(path).size,
    reads: [path, sites.path],
    async run() {
      const run = await runProgram('python3', [FILTER, sites.path, path, '/dev/null'], {
        output: 'keep',
        environment: { PYTHONPATH: packages },
      });
      const { kept } = JSON.parse(run.output) as { kept: number };
      assertEqual(`${name}: lines`, kept, sites.kept);
      return { seconds: run.seconds, peakBytes: run.peakBytes };
    },
  };
}

const FILTER = join(import.meta.dirname, '../competitors/python/filter_index.py');
