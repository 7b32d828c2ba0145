import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { MemoryWatch } from './memory.js';

/** One run of a process or of a pipe of processes. */
export interface Run {
  /** Wall time from the start of the process to its end, as a shell sees it; see `STOPWATCH`. */
  readonly seconds: number;
  /** CPU time of the process and its children, of which bash counts milliseconds. */
  readonly cpuSeconds: number;
  /**
   * Sum of the high-water marks of resident memory that Linux keeps for the process and each child,
   * in bytes; `undefined` if the run was not watched or /proc is missing. `ru_maxrss` is not
   * usable, because a process inherits it from its parent.
   */
  readonly peakBytes: number | undefined;
  /** Standard output, if `keep` asked for it. */
  readonly output: string;
  /** Standard error. */
  readonly errors: string;
}

export interface RunOptions {
  /** `keep` returns standard output, a Writable receives it; the default is /dev/null. */
  readonly output?: 'keep' | Writable;
  /** Whether the program may write to standard error; default false. */
  readonly mayComplain?: boolean;
  /** Whether memory is watched; default true. */
  readonly watched?: boolean;
  /** Variables in addition to this process's environment; NODE_* variables are not inherited. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
}

/**
 * A script of bash that runs its arguments as a command. Bash 5 counts microseconds; the script
 * writes those of the command's start and end to descriptor 3. Node would start the command by a
 * fork of itself, which takes 10 ms, and some 15 ms more for each 500 MB that this process holds.
 */
const STOPWATCH =
  'start=$EPOCHREALTIME; (exec "$@" 3>&-); code=$?; echo "$start $EPOCHREALTIME" >&3; times >&3; exit $code';

/**
 * Runs a program and waits for its end.
 *
 * @throws Error if the exit status is not 0, or if the program writes to standard error without
 *   permission
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Run> {
  const sink = options.output === undefined ? openSync('/dev/null', 'w') : undefined;
  const start = process.hrtime.bigint();
  const child = spawn('bash', ['-c', STOPWATCH, 'bash', program, ...args], {
    stdio: ['ignore', sink ?? 'pipe', 'pipe', 'pipe'],
    env: { ...inheritedEnvironment(), ...options.environment },
    cwd: options.directory,
  });
  const memory = options.watched === false ? undefined : new MemoryWatch(child.pid);
  try {
    const { times, ...written } = await outcome(child, options, [program, ...args].join(' '));
    const around = Number(process.hrtime.bigint() - start) / 1e9;
    const [stopwatch = '', , cpu = ''] = times.split('\n');
    const seconds = secondsBetween(stopwatch) ?? around;
    return { seconds, cpuSeconds: cpuSeconds(cpu), peakBytes: memory?.stop(), ...written };
  } finally {
    memory?.stop();
    if (sink !== undefined) closeSync(sink);
  }
}

/**
 * This process's environment without NODE_* variables, which affect the measurement
 * (NODE_EXTRA_CA_CERTS alone adds tens of milliseconds to each start), and with this process's Node
 * first in the PATH.
 */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_'));
  const path = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  return { ...Object.fromEntries(variables), PATH: path };
}

/**
 * Runs a line of shell, for pipes: Node would connect two children by sockets. Programs that are
 * not last in a pipe must be `guarded`.
 *
 * @throws Error as `runProgram` does
 */
export async function runShell(line: string, options: RunOptions = {}): Promise<Run> {
  return await runProgram('/bin/sh', ['-c', line], options);
}

/** A command for `runShell` that reports its failure even if it is not last in a pipe. */
export function guarded(words: readonly string[]): string {
  return `{ ${words.map(quoted).join(' ')} || echo "ended with $?" >&2; }`;
}

/** A word quoted for a shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

async function outcome(
  child: ChildProcess,
  { output, mayComplain = false }: RunOptions,
  name: string,
): Promise<{ output: string; errors: string; times: string }> {
  const kept: Buffer[] = [];
  const timed: Buffer[] = [];
  const complaints: Buffer[] = [];
  child.stderr?.on('data', (bytes: Buffer) => complaints.push(bytes));
  child.stdio[3]?.on('data', (bytes: Buffer) => timed.push(bytes));
  if (output instanceof Writable) child.stdout?.pipe(output);
  else child.stdout?.on('data', (bytes: Buffer) => kept.push(bytes));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const errors = Buffer.concat(complaints).toString().trim();
  if (code !== 0 || (errors !== '' && !mayComplain)) {
    throw new Error(`${name}\nended with ${code}: ${errors.slice(-2000)}`);
  }
  if (output instanceof Writable) await finished(output);
  return {
    output: Buffer.concat(kept).toString(),
    errors,
    times: Buffer.concat(timed).toString(),
  };
}

/** The seconds between two times of the stopwatch; undefined if this bash does not count them. */
function secondsBetween(times: string): number | undefined {
  // The decimal point is that of the locale.
  const [start, end] = times
    .trim()
    .split(' ')
    .map((time) => time.replace(/\D/, ''));
  return start && end ? (Number(end) - Number(start)) / 1e6 : undefined;
}

/** The sum of what bash's `times` says of its children: `0m1.234s 0m0.100s`. */
function cpuSeconds(times: string): number {
  return times.split(' ').reduce((sum, time) => {
    const [minutes, seconds] = time.replace('s', '').replace(',', '.').split('m').map(Number);
    return sum + 60 * (minutes ?? Number.NaN) + (seconds ?? Number.NaN);
  }, 0);
}
