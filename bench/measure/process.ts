import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { MemoryWatch } from './memory.js';

/** One run of a process or of a pipe of processes. */
export interface Run {
  /** Wall time from the start of the process to the end of the process and its output. */
  readonly seconds: number;
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
 * Runs a program without a shell and waits for its end.
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
  const child = spawn(program, args, {
    stdio: ['ignore', sink ?? 'pipe', 'pipe'],
    env: { ...inheritedEnvironment(), ...options.environment },
    cwd: options.directory,
  });
  const memory = options.watched === false ? undefined : new MemoryWatch(child.pid);
  try {
    const written = await outcome(child, options, [program, ...args].join(' '));
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    return { seconds, peakBytes: memory?.stop(), ...written };
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
): Promise<{ output: string; errors: string }> {
  const kept: Buffer[] = [];
  const complaints: Buffer[] = [];
  child.stderr?.on('data', (bytes: Buffer) => complaints.push(bytes));
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
  return { output: Buffer.concat(kept).toString(), errors };
}
