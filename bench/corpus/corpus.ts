import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChunkedFile } from './chunked-file.js';
import { ZipfRanks } from './distribution.js';
import { makeHosts } from './hosts.js';
import type { CorpusOptions, CorpusSummary } from './options.js';
import { Random } from './random.js';
import { Sites } from './sites.js';
import { STREAM } from './streams.js';
import { UrlMaker } from './urls.js';
import { makeWords } from './words.js';

/** Share of the URLs whose host has no robots.txt in the corpus. */
const UNKNOWN_SHARE = 0.1;
/** Share of the lines that are not an http, https or ftp URL. */
const INVALID_SHARE = 0.001;

/**
 * Writes a corpus: `DIR/robots/HOST` for each host or `DIR/robots.ndjson`, the list of URLs in
 * `DIR/urls.txt`, and `DIR/corpus.json` last.
 *
 * @param directory made if missing; an existing corpus is replaced
 */
export function writeCorpus(directory: string, options: CorpusOptions): CorpusSummary {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const words = makeWords(new Random(options.seed, STREAM.words), 4096);
  const unknownHosts = Math.max(1, Math.round(options.hosts / 5));
  const hosts = new Random(options.seed, STREAM.hosts);
  const names = makeHosts(hosts, words, options.hosts + unknownHosts);
  const sites = new Sites(options, words, names.slice(0, options.hosts));
  const robots = writeRobots(directory, sites, options.robots ?? 'files');
  const urls = new UrlList(options, words, sites, names.slice(options.hosts));
  const summary: CorpusSummary = {
    options,
    hosts: sites.count,
    ...robots,
    urls: options.urls,
    ...urls.write(join(directory, 'urls.txt')),
  };
  writeFileSync(join(directory, 'corpus.json'), `${JSON.stringify(summary, null, 2)}\n`);
  return summary;
}

function writeRobots(
  directory: string,
  sites: Sites,
  layout: 'files' | 'ndjson' | 'both',
): Pick<CorpusSummary, 'bodies' | 'rules' | 'robotsBytes'> {
  if (layout !== 'ndjson') mkdirSync(join(directory, 'robots'));
  const lines = layout === 'files' ? undefined : new ChunkedFile(join(directory, 'robots.ndjson'));
  const bodies = new Set<number>();
  let rules = 0;
  let robotsBytes = 0;
  for (let place = 0; place < sites.count; place++) {
    const host = sites.host(place);
    const body = sites.body(place);
    bodies.add(sites.bodyIndex(place));
    rules += body.rules;
    robotsBytes += body.bytes.length;
    if (layout !== 'ndjson') writeFileSync(join(directory, 'robots', host), body.bytes);
    lines?.write(`${JSON.stringify({ host, robots: body.bytes.toString() })}\n`);
  }
  lines?.close();
  return { bodies: bodies.size, rules, robotsBytes };
}

/** The URLs of a corpus: known and unknown hosts, and lines without a URL, in random order. */
class UrlList {
  readonly #options: CorpusOptions;
  readonly #sites: Sites;
  readonly #unknownHosts: readonly string[];
  readonly #random: Random;
  readonly #urls: UrlMaker;

  constructor(
    options: CorpusOptions,
    words: readonly string[],
    sites: Sites,
    unknownHosts: readonly string[],
  ) {
    this.#options = options;
    this.#sites = sites;
    this.#unknownHosts = unknownHosts;
    this.#random = new Random(options.seed, STREAM.urls);
    const style = { brief: true, leastBytes: options.urlBytes ?? 0 };
    this.#urls = new UrlMaker(this.#random, words, style);
  }

  write(path: string): Pick<CorpusSummary, 'unknown' | 'invalid' | 'textBytes'> {
    const random = this.#random;
    const ranks = new ZipfRanks(this.#sites.count);
    const byPopularity = Array.from({ length: this.#sites.count }, (_, place) => place);
    random.shuffle(byPopularity);
    const file = new ChunkedFile(path);
    let unknown = 0;
    let invalid = 0;
    for (let line = 0; line < this.#options.urls; line++) {
      const kind = random.fraction();
      if (kind < INVALID_SHARE) {
        invalid++;
        file.write(`${this.#urls.invalid()}\n`);
      } else if (kind < INVALID_SHARE + UNKNOWN_SHARE) {
        unknown++;
        file.write(`${this.#urls.make(random.pick(this.#unknownHosts), [])}\n`);
      } else {
        const place = byPopularity[ranks.draw(random)] ?? 0; // the rank is below the number of sites
        const url = this.#urls.make(this.#sites.host(place), this.#sites.urlPatterns(place));
        file.write(`${url}\n`);
      }
    }
    return { unknown, invalid, textBytes: file.close() };
  }
}
