import { join } from 'node:path';
import { guarded, quoted, type Run, runProgram, runShell } from './measure.js';

/** One thing to time: done again in every round, in turn with the others. */
export interface Scenario {
  readonly name: string;
  /** `floor`: less than the work, so a limit; `ours`: the command line; `today`: what is used in its place. */
  readonly kind: 'floor' | 'ours' | 'today';
  readonly input: 'text' | 'ndjson';
  /** Lines and octets of input that one run takes in. */
  readonly lines: number;
  readonly octets: number;
  run(): Promise<Pick<Run, 'seconds' | 'peakOctets'>>;
}

/** What the scenarios work on. */
export interface Workload {
  readonly robotsDirectory: string;
  /** A table of the same files, compiled beforehand. */
  readonly table: string;
  readonly agent: string;
  readonly inputs: readonly Input[];
  /** URLs that robots-parser is given, from the start of the input. */
  readonly todayUrls: number;
}

export interface Input {
  readonly form: 'text' | 'ndjson';
  readonly path: string;
  readonly lines: number;
  readonly octets: number;
}

const BENCH = import.meta.dirname;
const COMMAND_LINE = join(BENCH, '..', 'dist', 'cli', 'main.js');

/** The words that run the command line, for `runProgram` and, quoted, for a shell. */
export function commandLine(...args: string[]): [string, string[]] {
  return [process.execPath, [COMMAND_LINE, ...args]];
}

/** A script in TypeScript that prints its own time as JSON, for the start of its loader must not count. */
async function timedScript(name: string, args: readonly string[]) {
  const run = await runProgram(
    process.execPath,
    ['--import', 'tsx', join(BENCH, name), ...args],
    'keep',
  );
  const { seconds } = JSON.parse(run.output) as { seconds: number };
  return { seconds, peakOctets: run.peakOctets };
}

export function floorScenarios({ inputs }: Workload): Scenario[] {
  return inputs.flatMap(({ form: input, path, lines, octets }) => {
    const floor = { kind: 'floor', input, lines, octets } as const;
    return [
      { ...floor, name: 'read only (Node)', run: () => timedScript('floors.ts', ['read', path]) },
      { ...floor, name: 'split only (Node)', run: () => timedScript('floors.ts', ['split', path]) },
      { ...floor, name: 'wc -l f', run: () => runProgram('wc', ['-l', path]) },
      { ...floor, name: 'cat f | wc -l', run: () => runShell(`cat ${quoted(path)} | wc -l`) },
      { ...floor, name: 'md5sum f', run: () => runProgram('md5sum', [path]) },
    ];
  });
}

export function ourScenarios({ inputs, table, robotsDirectory, agent }: Workload): Scenario[] {
  return inputs.flatMap(({ form: input, path, lines, octets }) => {
    const ours = { kind: 'ours', input, lines, octets } as const;
    const options = ['--input', input, '--agent', agent, '--quiet'];
    const withTable = ['--table', table, ...options];
    const [node, words] = commandLine(...withTable, '-');
    const piped = `cat ${quoted(path)} | ${guarded([node, ...words])}`;
    return [
      {
        ...ours,
        name: 'f > /dev/null',
        run: () => runProgram(...commandLine(...withTable, path)),
      },
      {
        ...ours,
        name: 'f --allowed > /dev/null',
        run: () => runProgram(...commandLine(...withTable, '--allowed', path)),
      },
      { ...ours, name: 'cat f | … > /dev/null', run: () => runShell(`${piped} > /dev/null`) },
      {
        ...ours,
        name: 'cat f | … | cat > /dev/null',
        run: () => runShell(`${piped} | cat > /dev/null`),
      },
      {
        ...ours,
        name: '--robots-dir, f > /dev/null',
        run: () => runProgram(...commandLine('--robots-dir', robotsDirectory, ...options, path)),
      },
    ];
  });
}

export function todayScenarios(workload: Workload): Scenario[] {
  return workload.inputs.map(({ form: input, path, lines, octets }) => {
    const taken = Math.min(workload.todayUrls, lines);
    return {
      name:
        input === 'text' ? 'readline, URL, robots-parser' : 'readline, JSON, URL, robots-parser',
      kind: 'today',
      input,
      lines: taken,
      octets: (octets / lines) * taken,
      run: () =>
        timedScript('competitors/readline.ts', [
          input,
          workload.robotsDirectory,
          path,
          String(taken),
          workload.agent,
        ]),
    };
  });
}
