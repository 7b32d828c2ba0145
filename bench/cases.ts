import { statSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, runFilter, runFilterAlone, type Way } from './command.js';
import type { Corpus } from './corpora.js';
import { type CountWatch, type Expectation, expectationOf } from './counts.js';
import { quoted, runProgram, runShell } from './measure.js';
import type { Case } from './rounds.js';
import type { Yardstick } from './yardstick.js';

/** The crawler that is asked for, and a second one that many files shut out by name. */
export const AGENT = 'ExampleBot';
export const TWO_AGENTS = 'ExampleBot,GPTBot';

/** A corpus with the table that was compiled of it. */
export interface Workload {
  readonly corpus: Corpus;
  readonly table: string;
  readonly expected: Expectation;
}

/** Compiles a table once, before the rounds. */
export async function compiled(corpus: Corpus, table: string): Promise<Workload> {
  await compile(corpus.robots, table);
  return { corpus, table, expected: expectationOf(corpus, AGENT) };
}

export async function compile(robots: string, table: string) {
  return await runProgram(
    ...commandLine('compile', '--robots-dir', robots, '-o', table, '--quiet'),
  );
}

export function tableOctets({ table }: Workload): number {
  return statSync(table).size;
}

/** What differs from one case of the filter to another. */
interface FilterCase {
  readonly id: string;
  readonly workload: Workload;
  readonly form: 'text' | 'ndjson' | 'oneUrl';
  readonly agents?: string;
  readonly way?: Way;
  readonly options?: readonly string[];
}

/**
 * A run of the command line over a corpus, counts asserted; peak memory is what it needs beyond the
 * table.
 */
export function filterCase(
  watch: CountWatch,
  { id, workload, form, agents = AGENT, way = 'file', options = [] }: FilterCase,
): Case {
  const { corpus, table } = workload;
  const path = corpus[form];
  const expected = form === 'oneUrl' ? { records: 1 } : workload.expected;
  const input = form === 'oneUrl' ? 'text' : form;
  const args = ['--table', table, '--input', input, '--agent', agents, ...options];
  const more = agents === AGENT ? options : ['--agent', agents, ...options];
  const program = ['robots-filter --table t', ...more].join(' ');
  const name = {
    file: `${program} ${input === 'text' ? 'f.txt' : 'f.ndjson'} > /dev/null`,
    'cat |': `cat f.ndjson | ${program} > /dev/null`,
    'cat | … | cat': `cat f.ndjson | ${program} | cat > /dev/null`,
  }[way];
  return {
    id,
    name: form === 'oneUrl' ? `${program}, one URL` : name,
    kind: 'ours',
    records: expected.records,
    octets: statSync(path).size,
    reads: [table, path],
    ...filterRuns(watch, `${form} of ${corpus.directory}`, expected, { args, path, way, table }),
  };
}

/**
 * The runs of a case of the filter: before each that is timed, and is the command alone, one with
 * `--stats=json` whose counts are asserted and whose peak memory beyond the table is told.
 *
 * @param input names what is filtered, for the watch
 */
export function filterRuns(
  watch: CountWatch,
  input: string,
  expected: Expectation,
  { args, path, way = 'file', table }: FilterCommand,
): Pick<Case, 'run' | 'rehearse'> {
  return {
    run: () => runFilterAlone(args, path, way),
    async rehearse() {
      const { seconds, peakOctets, statistics } = await runFilter(args, path, way);
      watch.check(input, expected, statistics);
      return { seconds, peakOctets: peakOctets && peakOctets - statSync(table).size };
    },
  };
}

/** What is run: the table is among the arguments, too. */
interface FilterCommand {
  readonly args: readonly string[];
  readonly path: string;
  readonly way?: Way;
  readonly table: string;
}

/** All robots.txt files of a corpus to a table, which must be the same each time. */
export function compileCase(id: string, { corpus, table }: Workload): Case {
  const octets = statSync(table).size;
  return {
    id,
    name: 'robots-filter compile --robots-dir f.ndjson -o t',
    kind: 'ours',
    records: corpus.summary.hosts,
    octets: corpus.summary.robotsOctets,
    reads: [corpus.robots],
    rounds: 5,
    warmsUp: false,
    async run() {
      const run = await compile(corpus.robots, `${table}-again`);
      const again = statSync(`${table}-again`).size;
      if (again !== octets) throw new Error(`a table of ${again} octets, and before of ${octets}`);
      return { seconds: run.seconds, peakOctets: run.peakOctets };
    },
  };
}

export function yardstickCase(id: string, yardstick: Yardstick, path: string, records = 0): Case {
  const octets = statSync(path).size;
  const name = `${yardstick.name} ${records === 0 ? 't' : 'f.ndjson'}`;
  const run = () => yardstick.run(path);
  return { id, name, kind: 'floor', records, octets, reads: [path], run };
}

export function nodeCase(): Case {
  return {
    id: 'node',
    name: 'node -e 0',
    kind: 'floor',
    records: 0,
    octets: 0,
    run: () => runProgram(process.execPath, ['-e', '0'], { watched: false }),
  };
}

/** What no program that reads the same file can be faster than. */
export function floorCases({ corpus }: Workload): Case[] {
  const path = corpus.ndjson;
  const floor = {
    kind: 'floor',
    records: corpus.summary.urls,
    octets: statSync(path).size,
    reads: [path],
  } as const;
  return [
    { ...floor, id: 'read', name: 'read only (Node)', run: () => nodeFloor('read', path) },
    { ...floor, id: 'split', name: 'line ends only (Node)', run: () => nodeFloor('split', path) },
    { ...floor, id: 'wc', name: 'wc -l f.ndjson', run: () => runProgram('wc', ['-l', path]) },
    {
      ...floor,
      id: 'cat-wc',
      name: 'cat f.ndjson | wc -l',
      run: () => runShell(`cat ${quoted(path)} | wc -l`),
    },
  ];
}

/** A script in TypeScript prints its own time, for the start of its loader must not count. */
async function nodeFloor(task: 'read' | 'split', path: string) {
  const script = join(import.meta.dirname, 'floors.ts');
  const words = ['--import', 'tsx', script, task, path];
  const run = await runProgram(process.execPath, words, { output: 'keep' });
  const { seconds } = JSON.parse(run.output) as { seconds: number };
  return { seconds, peakOctets: run.peakOctets };
}
