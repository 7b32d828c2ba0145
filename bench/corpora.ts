import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type CorpusOptions, type CorpusSummary, writeCorpus } from './corpus/corpus.js';

/** A generated corpus on the disk. */
export interface Corpus {
  readonly directory: string;
  readonly summary: CorpusSummary;
  /** What `--robots-dir` takes: the directory, or the file of records. */
  readonly robots: string;
  readonly text: string;
  readonly ndjson: string;
  /** A file with the first URL alone. */
  readonly oneUrl: string;
}

/** Makes a corpus, or takes the one that an earlier run left under the same options. */
export function corpusIn(
  cache: string,
  options: CorpusOptions,
  report: (sentence: string) => void,
): Corpus {
  const directory = join(cache, `${nameOf(options)}-${generatorHash()}`);
  const known = summaryIn(directory, options);
  if (known === undefined) report(`making ${directory}`);
  const summary = known ?? writeCorpus(directory, options);
  const text = join(directory, 'urls.txt');
  const oneUrl = join(directory, 'one-url.txt');
  if (!existsSync(oneUrl)) writeFileSync(oneUrl, firstLine(text));
  const robots = join(directory, options.robots === 'ndjson' ? 'robots.ndjson' : 'robots');
  return { directory, summary, robots, text, ndjson: join(directory, 'urls.ndjson'), oneUrl };
}

/** Of the generator's sources: a corpus that another version of them made is another one. */
function generatorHash(): string {
  const hash = createHash('sha256');
  const sources = join(import.meta.dirname, 'corpus');
  for (const name of readdirSync(sources).sort()) hash.update(readFileSync(join(sources, name)));
  return hash.digest('hex').slice(0, 8);
}

/** A directory name that says what is in it. */
function nameOf({ seed, hosts, urls, urlLast, oneGroup, urlOctets }: CorpusOptions): string {
  return [
    `corpus-${hosts}-hosts-${urls}-urls-seed-${seed}`,
    urlLast ? '-url-last' : '',
    oneGroup === undefined ? '' : `-${oneGroup.rules}-rules-${oneGroup.wildcardShare}`,
    urlOctets === undefined ? '' : `-${urlOctets}-octets`,
  ].join('');
}

/** `corpus.json` is written last: where it stands, the corpus is whole. */
function summaryIn(directory: string, options: CorpusOptions): CorpusSummary | undefined {
  const file = join(directory, 'corpus.json');
  if (!existsSync(file)) return undefined;
  const summary: CorpusSummary = JSON.parse(readFileSync(file, 'utf8'));
  return JSON.stringify(summary.options) === JSON.stringify(options) ? summary : undefined;
}

function firstLine(path: string): Uint8Array {
  const start = Buffer.alloc(1 << 16);
  const file = openSync(path, 'r');
  const read = readSync(file, start);
  closeSync(file);
  const end = start.indexOf('\n');
  return end < 0 ? start.subarray(0, read) : start.subarray(0, end + 1);
}

/**
 * Makes a directory for what one run needs, empty of what a run before it that was killed may have
 * left.
 */
export function emptied(directory: string): string {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  return directory;
}
