import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** One run of a process or of a pipe of processes. */
export interface Run {
  /** Wall time from the start of the process to the end of it and of its output. */
  readonly seconds: number;
  /** Most memory that was resident at a time, in octets; `undefined` for a pipe of processes and where /proc does not tell. */
  readonly peakOctets: number | undefined;
  /** What it wrote to standard output, where that was asked for. */
  readonly output: string;
}

/** Milliseconds between two looks at a process's memory. */
const LOOK_INTERVAL = 20;

/**
 * Runs a program without a shell and waits for it.
 *
 * @param output `keep` returns standard output, a Writable receives it; otherwise it goes to /dev/null itself
 * @throws Error when it ends with anything but 0 or writes to standard error
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  output: 'keep' | Writable | undefined = undefined,
): Promise<Run> {
  const sink = output === undefined ? openSync('/dev/null', 'w') : undefined;
  const start = process.hrtime.bigint();
  const child = spawn(program, args, { stdio: ['ignore', sink ?? 'pipe', 'pipe'] });
  const memory = watchMemory(child);
  try {
    const text = await outcome(child, output, [program, ...args].join(' '));
    return { seconds: secondsSince(start), peakOctets: memory.stop(), output: text };
  } finally {
    memory.stop();
    if (sink !== undefined) closeSync(sink);
  }
}

/**
 * Runs a line of shell, for pipes: Node would connect two processes by sockets, a shell does it by pipes.
 *
 * @throws Error when the line ends with anything but 0 or writes to standard error, as `guarded` programs do when they fail
 */
export async function runShell(line: string, output: 'keep' | Writable = 'keep'): Promise<Run> {
  const start = process.hrtime.bigint();
  const child = spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'] });
  const text = await outcome(child, output, line);
  return { seconds: secondsSince(start), peakOctets: undefined, output: text };
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
  output: 'keep' | Writable | undefined,
  name: string,
): Promise<string> {
  const kept: Buffer[] = [];
  const complaints: Buffer[] = [];
  child.stderr?.on('data', (octets: Buffer) => complaints.push(octets));
  if (output instanceof Writable) child.stdout?.pipe(output);
  else child.stdout?.on('data', (octets: Buffer) => kept.push(octets));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const complaint = Buffer.concat(complaints).toString().trim();
  if (code !== 0 || complaint !== '') {
    throw new Error(`${name}\nended with ${code}: ${complaint.slice(0, 2000)}`);
  }
  if (output instanceof Writable) await finished(output);
  return Buffer.concat(kept).toString();
}

function secondsSince(start: bigint): number {
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/** Looks again and again at the high-water mark that Linux keeps for a process; it only rises, so the last look counts. */
function watchMemory(child: ChildProcess): { stop(): number | undefined } {
  let peak: number | undefined;
  const look = () => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'latin1');
      const mark = status.split('\n').find((line) => line.startsWith('VmHWM:'));
      if (mark !== undefined) peak = Number.parseInt(mark.slice('VmHWM:'.length), 10) * 1024;
    } catch {
      clearInterval(timer); // the process is over, or this system has no /proc: what was seen last stands
    }
  };
  const timer = setInterval(look, LOOK_INTERVAL);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** The middle value; of an even number of them the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new RangeError('no values, so no median');
  return (low + high) / 2;
}
