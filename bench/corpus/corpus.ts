import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ZipfRanks } from './distribution.js';
import { makeHosts } from './hosts.js';
import { Random } from './random.js';
import { RecordMaker } from './record.js';
import { Sites } from './sites.js';
import { STREAM } from './streams.js';
import { UrlMaker } from './urls.js';
import { makeWords } from './words.js';

/** What a corpus is made from. The same options give the same octets on every machine. */
export interface CorpusOptions {
  /** Any integer; its low 32 bits count. */
  readonly seed: number;
  /** Hosts that have a robots.txt, at least 1. */
  readonly hosts: number;
  /** Lines in each list of URLs. */
  readonly urls: number;
  /** Rules of the largest file; default 5,000. Real ones reach 47,064. */
  readonly maxRules?: number;
  /** Share of the URLs whose host has no robots.txt here; default 0.1. */
  readonly unknownShare?: number;
  /** Share of the lines that are no http, https or ftp URL; default 0.001. */
  readonly invalidShare?: number;
  /** Share of the NDJSON lines with escapes, nested decoys or duplicate keys; default 0.035. */
  readonly hardShare?: number;
  /** Puts the member `url` behind the others; default false. */
  readonly urlLast?: boolean;
  /**
   * How robots.txt files are written: one file `robots/HOST` each (the default), or
   * `robots.ndjson`.
   */
  readonly robots?: 'files' | 'ndjson' | 'both';
  /**
   * All files have one group, for all crawlers, of so many rules; by default they follow the
   * distribution.
   */
  readonly oneGroup?: OneGroup;
  /**
   * Least length of the URLs of known hosts, in octets; by default they are as long as they come.
   */
  readonly urlOctets?: number;
}

/** A file of one group. */
export interface OneGroup {
  readonly rules: number;
  /** Share of the rules that hold a `*`, 0 to 1. */
  readonly wildcardShare: number;
}

/** What a corpus turned out to be; stands in its directory as `corpus.json`. */
export interface CorpusSummary {
  readonly options: CorpusOptions;
  readonly hosts: number;
  /** Different robots.txt bodies among the hosts. */
  readonly bodies: number;
  /** Allow and Disallow lines over all hosts. */
  readonly rules: number;
  /** Octets of robots.txt over all hosts. */
  readonly robotsOctets: number;
  readonly urls: number;
  /** URLs whose host has no robots.txt here, and lines that are no http, https or ftp URL. */
  readonly unknown: number;
  readonly invalid: number;
  readonly textOctets: number;
  readonly ndjsonOctets: number;
}

/** Octets written at once. */
const CHUNK = 1 << 20;

/**
 * Writes a corpus: `DIR/robots/HOST` for each host or `DIR/robots.ndjson`, the same URLs in
 * `DIR/urls.txt` and `DIR/urls.ndjson`, and `DIR/corpus.json` last.
 *
 * @param directory made where it does not exist; a corpus that is there is replaced
 */
export function writeCorpus(directory: string, options: CorpusOptions): CorpusSummary {
  for (const name of ['robots', 'robots.ndjson', 'urls.txt', 'urls.ndjson', 'corpus.json']) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
  mkdirSync(directory, { recursive: true });
  const words = makeWords(new Random(options.seed, STREAM.words), 4096);
  const unknownHosts = Math.max(1, Math.round(options.hosts / 5));
  const names = makeHosts(
    new Random(options.seed, STREAM.hosts),
    words,
    options.hosts + unknownHosts,
  );
  const sites = new Sites(options, words, names.slice(0, options.hosts));
  const robots = writeRobots(directory, sites, options.robots ?? 'files');
  const written = writeUrls(directory, options, words, sites, names.slice(options.hosts));
  const summary: CorpusSummary = {
    options,
    hosts: sites.count,
    ...robots,
    urls: options.urls,
    ...written,
  };
  writeFileSync(join(directory, 'corpus.json'), `${JSON.stringify(summary, null, 2)}\n`);
  return summary;
}

function writeRobots(
  directory: string,
  sites: Sites,
  form: 'files' | 'ndjson' | 'both',
): { bodies: number; rules: number; robotsOctets: number } {
  if (form !== 'ndjson') mkdirSync(join(directory, 'robots'));
  const records = form === 'files' ? undefined : new ChunkedFile(join(directory, 'robots.ndjson'));
  const bodies = new Set<number>();
  let rules = 0;
  let robotsOctets = 0;
  for (let place = 0; place < sites.count; place++) {
    const host = sites.host(place);
    const body = sites.body(place);
    bodies.add(sites.bodyIndex(place));
    rules += body.rules;
    robotsOctets += body.octets.length;
    if (form !== 'ndjson') writeFileSync(join(directory, 'robots', host), body.octets);
    records?.write(`${JSON.stringify({ host, robots: body.octets.toString() })}\n`);
  }
  records?.close();
  return { bodies: bodies.size, rules, robotsOctets };
}

function writeUrls(
  directory: string,
  options: CorpusOptions,
  words: readonly string[],
  sites: Sites,
  unknownHosts: readonly string[],
): Pick<CorpusSummary, 'unknown' | 'invalid' | 'textOctets' | 'ndjsonOctets'> {
  const random = new Random(options.seed, STREAM.urls);
  const makeUrl = new UrlMaker(random, words, options.urlOctets);
  const ranks = new ZipfRanks(sites.count);
  const byPopularity = Uint32Array.from({ length: sites.count }, (_, place) => place);
  random.shuffle(byPopularity);
  const records = new RecordMaker(
    new Random(options.seed, STREAM.records),
    options.hardShare ?? 0.035,
    options.urlLast ?? false,
  );
  const unknownShare = options.unknownShare ?? 0.1;
  const invalidShare = options.invalidShare ?? 0.001;
  const text = new ChunkedFile(join(directory, 'urls.txt'));
  const ndjson = new ChunkedFile(join(directory, 'urls.ndjson'));
  let unknown = 0;
  let invalid = 0;
  for (let line = 0; line < options.urls; line++) {
    const kind = random.fraction();
    let url: string;
    if (kind < invalidShare) {
      url = makeUrl.invalid();
      invalid++;
    } else if (kind < invalidShare + unknownShare) {
      url = makeUrl.make(random.pick(unknownHosts), []);
      unknown++;
    } else {
      const place = byPopularity[ranks.draw(random)] ?? 0; // a rank is less than the number of sites
      url = makeUrl.make(sites.host(place), sites.urlPatterns(place));
    }
    text.write(`${url}\n`);
    ndjson.write(`${records.make(url)}\n`);
  }
  return { unknown, invalid, textOctets: text.close(), ndjsonOctets: ndjson.close() };
}

/**
 * A file that is written in large pieces, since a call for each line would take most of the time.
 */
class ChunkedFile {
  readonly #descriptor: number;
  #pending = '';
  #written = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'w');
  }

  write(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= CHUNK) this.#flush();
  }

  /** @returns octets written to the file */
  close(): number {
    this.#flush();
    closeSync(this.#descriptor);
    return this.#written;
  }

  #flush(): void {
    const octets = Buffer.from(this.#pending);
    for (let from = 0; from < octets.length; ) {
      from += writeSync(this.#descriptor, octets, from);
    }
    this.#written += octets.length;
    this.#pending = '';
  }
}
