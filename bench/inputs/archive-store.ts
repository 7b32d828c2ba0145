import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type ArchiveSummary, finishArchive } from '../corpus/archives.js';
import type { ArchiveOptions } from '../corpus/capture-plan.js';
import { type WarcFileSummary, warcFileName } from '../corpus/warc-file.js';
import { GENERATOR_HASH } from './corpus-store.js';

/** Generated WARC files on the disk. */
export interface GeneratedArchive {
  readonly directory: string;
  readonly summary: ArchiveSummary;
  /** The list of the files, as `--robots-dir` takes it. */
  readonly list: string;
  readonly files: readonly string[];
}

const PROGRAM = join(import.meta.dirname, '..', 'corpus', 'archive-part.ts');

/** Makes an archive on all cores, or returns the one that an earlier run made. */
export async function provideArchive(
  store: string,
  options: ArchiveOptions,
  report: (sentence: string) => void,
): Promise<GeneratedArchive> {
  const { seed, files: count, captures } = options;
  const name = `archive-${captures}-captures-${count}-files-seed-${seed}-${GENERATOR_HASH}`;
  const directory = join(store, name);
  const file = join(directory, 'archive.json');
  // It is written last: where it exists, the archive is whole.
  if (!existsSync(file)) {
    report(`making ${directory}`);
    await makeArchive(directory, options);
  }
  const summary: ArchiveSummary = JSON.parse(readFileSync(file, 'utf8'));
  const files = Array.from({ length: count }, (_, each) => join(directory, warcFileName(each)));
  return { directory, summary, list: join(directory, 'robotstxt.paths'), files };
}

async function makeArchive(directory: string, options: ArchiveOptions): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const step = Math.min(availableParallelism(), options.files);
  const parts = Array.from({ length: step }, (_, first) =>
    runPart([directory, JSON.stringify(options), String(first), String(step)]),
  );
  finishArchive(directory, options, await Promise.all(parts));
}

async function runPart(args: readonly string[]): Promise<WarcFileSummary[]> {
  const words = ['--import', 'tsx', PROGRAM, ...args];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => output.push(bytes));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`writing WARC files ended with ${code}`);
  return JSON.parse(Buffer.concat(output).toString());
}
