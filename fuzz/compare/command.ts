import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '../../test/random/random.js';
import type { WayIn, WayOut } from './plan.js';

const MAIN = fileURLToPath(new URL('../../dist/cjs/main.cjs', import.meta.url));
/** Milliseconds after which a run counts as hanging. */
const PATIENCE = 120_000;

/** The result of a run of the command line. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** A line of shell with about the same effect. */
  readonly command: string;
}

/** Runs the command line to its end, with its output in `actual`. */
export async function runCommand(
  args: readonly string[],
  ways: { readonly wayIn: WayIn; readonly wayOut: WayOut; readonly chunkSeed: number },
  files: {
    readonly directory: string;
    readonly inputs: readonly string[];
    readonly actual: string;
  },
): Promise<Ended> {
  const { wayIn, wayOut } = ways;
  const [input = ''] = files.inputs;
  const words = [process.execPath, MAIN, ...args];
  if (wayIn === 'file' || wayIn === 'several files' || wayIn === 'gzip file')
    words.push(...files.inputs);
  if (wayOut === '-o') words.push('-o', files.actual);
  const feeds = wayIn === 'pipe' || wayIn === 'gzip pipe' || wayIn === 'socket';
  const isFifoIn = feeds && wayIn !== 'socket';
  const fifoIn = fifo(files.directory, 'in');
  const fifoOut = fifo(files.directory, 'out');
  const from = isFifoIn ? fifoIn : wayIn === 'stdin from a file' ? input : undefined;
  const to = wayOut === 'pipe' ? fifoOut : wayOut === 'stdout to a file' ? files.actual : undefined;
  // Pipes of `spawn` are sockets: real ones, and files, are opened by a shell.
  const script = `exec "$@"${from === undefined ? '' : ` < ${quoted(from)}`}${to === undefined ? '' : ` > ${quoted(to)}`}`;
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...words], {
    stdio: [
      wayIn === 'socket' ? 'pipe' : 'ignore',
      wayOut === 'socket' ? 'pipe' : 'ignore',
      'pipe',
    ],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  const parts: Promise<unknown>[] = [];
  const random = new Random(ways.chunkSeed);
  if (isFifoIn) parts.push(feedPipe(random, input, fifoIn));
  if (child.stdin !== null) parts.push(feedStream(random, input, child.stdin));
  if (wayOut === 'pipe') parts.push(keep(createReadStream(fifoOut), files.actual));
  if (child.stdout !== null) parts.push(keep(child.stdout, files.actual));
  const ended = await endOf(child);
  clearTimeout(timer);
  await Promise.all(parts);
  const shown = words.map(quoted).join(' ');
  const command = feeds
    ? `cat ${quoted(input)} | ${shown}${wayOut === 'pipe' || wayOut === 'socket' ? ' | cat' : ''}`
    : `${shown}${from === undefined ? '' : ` < ${quoted(from)}`}${wayOut === '-o' ? '' : wayOut === 'stdout to a file' ? ' > out' : ' | cat'}`;
  return { ...ended, command };
}

/** Runs another command of the command line, which must succeed. */
export function runOnce(args: readonly string[]): void {
  execFileSync(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}

function fifo(directory: string, name: string): string {
  const path = join(directory, `${name}.fifo`);
  if (!existsSync(path)) execFileSync('mkfifo', [path]);
  return path;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

async function endOf(child: ChildProcess): Promise<Omit<Ended, 'command'>> {
  const errors: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code, signal, stderr: Buffer.concat(errors).toString() }),
    );
  });
}

async function keep(stream: Readable, path: string): Promise<void> {
  await pipeline(stream, createWriteStream(path));
}

/** The bytes of a file in chunks of odd lengths. Use each chunk before the next is read. */
async function* oddChunks(random: Random, file: FileHandle): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(1 << 21);
  for (;;) {
    const length = random.pick([
      ...[1, 7, 4095, 4096, 65_535, 65_536, 65_537, 1 << 20, 1 << 21, 1 << 21],
      ...[random.between(1, 1 << 16), random.between(1, 1 << 21), random.between(1, 1 << 21)],
    ]);
    const { bytesRead } = await file.read(chunk, 0, length);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
  }
}

async function feedPipe(random: Random, path: string, fifoPath: string): Promise<void> {
  const [file, pipe] = await Promise.all([open(path), open(fifoPath, 'w')]);
  try {
    for await (const chunk of oddChunks(random, file)) {
      for (let at = 0; at < chunk.length; ) at += (await pipe.write(chunk, at)).bytesWritten;
    }
  } catch (error) {
    if (!isClosed(error)) throw error;
  } finally {
    await Promise.all([file.close(), pipe.close()]);
  }
}

async function feedStream(random: Random, path: string, stream: Writable): Promise<void> {
  const file = await open(path);
  // The outcome of the program shows that the reader is gone.
  stream.on('error', () => {});
  try {
    for await (const chunk of oddChunks(random, file)) {
      if (stream.destroyed) break;
      await new Promise((resolve) => stream.write(chunk, resolve));
    }
    stream.end();
  } finally {
    await file.close();
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
