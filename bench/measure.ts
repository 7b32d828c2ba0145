import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** One run of a process or of a pipe of processes. */
export interface Run {
  /** Wall time from the start of the process to the end of it and of its output. */
  readonly seconds: number;
  /**
   * Most memory that was resident, in octets: the sum, over the process and its children, of the
   * high-water marks that Linux keeps; `undefined` where nobody looked, or /proc does not tell. Not
   * `ru_maxrss`, which a process inherits from the one that forked it.
   */
  readonly peakOctets: number | undefined;
  /** What it wrote to standard output, where that was asked for. */
  readonly output: string;
  /** What it wrote to standard error. */
  readonly errors: string;
}

export interface RunOptions {
  /**
   * `keep` returns standard output, a Writable receives it; otherwise it goes to /dev/null itself.
   */
  readonly output?: 'keep' | Writable;
  /** Whether it may write to standard error; default false. */
  readonly mayComplain?: boolean;
  /** Whether its memory is looked at; default true. */
  readonly watched?: boolean;
  /**
   * Variables of the environment beside those of this process, of which none that begin with NODE_
   * is passed on.
   */
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
}

/**
 * Milliseconds between two looks at the processes' memory, at first and once that many looks are
 * over. A look takes time on a core that is being measured: every 20 ms, it made the filter, which
 * fills both, 5 % slower, and md5sum, which fills one, not at all.
 */
const FIRST_INTERVAL = 20;
const FIRST_LOOKS = 5;
const LATER_INTERVAL = 100;

/**
 * Runs a program without a shell and waits for it.
 *
 * @throws Error when it ends with anything but 0, or writes to standard error and must not
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
    env: { ...inherited(), ...options.environment },
    cwd: options.directory,
  });
  const memory = options.watched === false ? undefined : watchMemory(child);
  try {
    const written = await outcome(child, options, [program, ...args].join(' '));
    return { seconds: secondsSince(start), peakOctets: memory?.stop(), ...written };
  } finally {
    memory?.stop();
    if (sink !== undefined) closeSync(sink);
  }
}

/**
 * This process's environment without what is meant for Node as this machine sets it up, and changes
 * what is measured: NODE_EXTRA_CA_CERTS alone, with the usual certificates, is 40 ms of every
 * start.
 */
function inherited(): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env);
  return Object.fromEntries(variables.filter(([name]) => !name.startsWith('NODE_')));
}

/**
 * Runs a line of shell, for pipes: Node would connect two processes by sockets, a shell does it
 * by pipes. Programs that are not last in a pipe have to be `guarded`.
 *
 * @throws Error as `runProgram` does
 */
export async function runShell(line: string, options: RunOptions = {}): Promise<Run> {
  return await runProgram('/bin/sh', ['-c', line], options);
}

/** A command for `runShell` that reports its failure although it does not stand last in a pipe. */
export function guarded(words: readonly string[]): string {
  return `{ ${words.map(quoted).join(' ')} || echo "ended with $?" >&2; }`;
}

/** A word as a shell takes it, whatever it holds. */
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
  child.stderr?.on('data', (octets: Buffer) => complaints.push(octets));
  if (output instanceof Writable) child.stdout?.pipe(output);
  else child.stdout?.on('data', (octets: Buffer) => kept.push(octets));
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

function secondsSince(start: bigint): number {
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/**
 * Looks again and again at the marks of a process and its children; they only rise, so the last
 * look at each counts.
 */
function watchMemory(child: ChildProcess): { stop(): number | undefined } {
  const peaks = new Map<number, number>();
  let looks = 0;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    timer = setTimeout(
      () => {
        look(child.pid, 'VmHWM', peaks);
        looks++;
        wait();
      },
      looks < FIRST_LOOKS ? FIRST_INTERVAL : LATER_INTERVAL,
    );
  };
  wait();
  return {
    stop() {
      clearTimeout(timer);
      return peaks.size === 0 ? undefined : [...peaks.values()].reduce((sum, peak) => sum + peak);
    },
  };
}

/**
 * Memory that is resident now, in octets, in all processes that this one has begun; `undefined`
 * where /proc does not tell.
 */
export function residentOctets(): number | undefined {
  const resident = new Map<number, number>();
  look(process.pid, 'VmRSS', resident);
  resident.delete(process.pid);
  return resident.size === 0 ? undefined : [...resident.values()].reduce((sum, each) => sum + each);
}

/** Enters what Linux says, in octets, of a process and its children. */
function look(
  process: number | undefined,
  field: 'VmHWM' | 'VmRSS',
  found: Map<number, number>,
): void {
  if (process === undefined) return;
  try {
    const status = readFileSync(`/proc/${process}/status`, 'latin1');
    const line = status.split('\n').find((each) => each.startsWith(`${field}:`));
    if (line === undefined) return;
    found.set(process, Number.parseInt(line.slice(field.length + 1), 10) * 1024);
    const children = readFileSync(`/proc/${process}/task/${process}/children`, 'latin1');
    for (const child of children.split(' ')) if (child !== '') look(Number(child), field, found);
  } catch {
    // The process is over, or this system has no such /proc: what was seen last stands.
  }
}

/** The middle value; of an even number of them the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new RangeError('no values, so no median');
  return (low + high) / 2;
}
