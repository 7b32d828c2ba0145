import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeCorpus } from '../corpus/corpus.js';
import type { CorpusOptions, CorpusSummary } from '../corpus/options.js';
import { writeRecords, writeSizedRecords } from '../corpus/records.js';
import type { Place, ShapeName } from '../corpus/shapes.js';
import { firstBytes } from './lines.js';

/** Where corpora are kept unless `--corpus` names another directory. */
export const DEFAULT_CORPUS_DIRECTORY = join(tmpdir(), 'robots-filter-bench');

/** Another version of the generator makes another corpus. */
export const GENERATOR_HASH = hashOfSources(join(import.meta.dirname, '..', 'corpus'));

/** A generated corpus on the disk. */
export interface Corpus {
  readonly directory: string;
  readonly summary: CorpusSummary;
  /** Value of `--robots-dir`: the directory, or the file of records. */
  readonly robots: string;
  /** The list of URLs. */
  readonly text: string;
  /** A file with only the first URL. */
  readonly oneUrl: string;
}

/** Makes a corpus, or returns the corpus that an earlier run made with the same options. */
export function provideCorpus(
  store: string,
  options: CorpusOptions,
  report: (sentence: string) => void,
): Corpus {
  const directory = join(store, `${nameOf(options)}-${GENERATOR_HASH}`);
  const known = summaryIn(directory, options);
  if (known === undefined) report(`making ${directory}`);
  const summary = known ?? writeCorpus(directory, options);
  const text = join(directory, 'urls.txt');
  const oneUrl = join(directory, 'one-url.txt');
  if (!existsSync(oneUrl)) writeFileSync(oneUrl, firstLine(text));
  const robots = join(directory, options.robots === 'ndjson' ? 'robots.ndjson' : 'robots');
  return { directory, summary, robots, text, oneUrl };
}

/**
 * The corpus' URLs as NDJSON records, written on the first request.
 *
 * @returns the file
 */
export function provideRecords(
  { directory, summary, text }: Corpus,
  shape: ShapeName,
  place: Place,
): string {
  const path = join(directory, `urls-${shape}-${place}.ndjson`);
  if (existsSync(path)) return path;
  writeRecords(text, `${path}.tmp`, { shape, place, seed: summary.options.seed });
  renameSync(`${path}.tmp`, path);
  return path;
}

/** The corpus' URLs as records of about `size` bytes, written on the first request. */
export function provideSizedRecords({ directory, summary, text }: Corpus, size: number): string {
  const path = join(directory, `urls-${size}-bytes.ndjson`);
  if (existsSync(path)) return path;
  writeSizedRecords(text, `${path}.tmp`, size, summary.options.seed);
  renameSync(`${path}.tmp`, path);
  return path;
}

function hashOfSources(directory: string): string {
  const hash = createHash('sha256');
  const names = readdirSync(directory).sort();
  for (const name of names) hash.update(readFileSync(join(directory, name)));
  return hash.digest('hex').slice(0, 8);
}

function nameOf({ seed, hosts, urls, oneGroup, urlBytes, robots }: CorpusOptions): string {
  return [
    `corpus-${hosts}-hosts-${urls}-urls-seed-${seed}`,
    robots === undefined ? '' : `-${robots}`,
    oneGroup === undefined ? '' : `-${oneGroup.rules}-rules-${oneGroup.wildcardShare}`,
    urlBytes === undefined ? '' : `-${urlBytes}-bytes`,
  ].join('');
}

/** `corpus.json` is written last: where it exists, the corpus is whole. */
function summaryIn(directory: string, options: CorpusOptions): CorpusSummary | undefined {
  const file = join(directory, 'corpus.json');
  if (!existsSync(file)) return undefined;
  const summary: CorpusSummary = JSON.parse(readFileSync(file, 'utf8'));
  return JSON.stringify(summary.options) === JSON.stringify(options) ? summary : undefined;
}

function firstLine(path: string): Uint8Array {
  const start = firstBytes(path, 1 << 16);
  return start.subarray(0, start.indexOf('\n') + 1);
}

/**
 * Makes a directory for the tables and the installation of one run, and removes the directories of
 * killed runs.
 */
export function makeScratch(store: string): string {
  mkdirSync(store, { recursive: true });
  for (const name of readdirSync(store)) {
    const pid = /^run-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(store, name), { recursive: true });
  }
  const directory = join(store, `run-${process.pid}`);
  mkdirSync(directory);
  return directory;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
