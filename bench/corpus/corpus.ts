import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { rulesAt, ZipfRanks } from './distribution.js';
import { makeHosts } from './hosts.js';
import { Random } from './random.js';
import { RecordMaker } from './record.js';
import { makeRobotsBody, makeRulelessBody, type RobotsBody, type RulelessKind } from './robots.js';
import { prepareUrlPatterns, UrlMaker, type UrlPattern } from './urls.js';
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
  /** How robots.txt files are written: one file `robots/HOST` each (the default), or `robots.ndjson`. */
  readonly robots?: 'files' | 'ndjson' | 'both';
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
  readonly textOctets: number;
  readonly ndjsonOctets: number;
}

/** A host and the file that it serves. */
export interface Site {
  readonly host: string;
  readonly body: RobotsBody;
}

/** Octets written at once. */
const CHUNK = 1 << 20;

/** Half of all files are duplicates of another. */
const HOSTS_PER_BODY = 2;

/** The streams of random numbers, so that more hosts or URLs leave the rest alone. */
const STREAM = { words: 1, hosts: 2, bodies: 3, order: 4, urls: 5, records: 6 } as const;

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
  const sites = makeSites(options, words, names.slice(0, options.hosts));
  writeRobots(directory, sites, options.robots ?? 'files');
  const written = writeUrls(directory, options, words, sites, names.slice(options.hosts));
  const summary: CorpusSummary = {
    options,
    hosts: sites.length,
    bodies: new Set(sites.map((site) => site.body)).size,
    rules: sites.reduce((sum, site) => sum + site.body.rules, 0),
    robotsOctets: sites.reduce((sum, site) => sum + site.body.octets.length, 0),
    urls: options.urls,
    ...written,
  };
  writeFileSync(join(directory, 'corpus.json'), `${JSON.stringify(summary, null, 2)}\n`);
  return summary;
}

/** Hosts in random order, with files whose sizes follow the distribution whatever the number of hosts. */
export function makeSites(
  options: CorpusOptions,
  words: readonly string[],
  hosts: readonly string[],
): Site[] {
  const maximum = options.maxRules ?? 5000;
  const count = Math.ceil(hosts.length / HOSTS_PER_BODY);
  const bodies = Array.from({ length: count }, (_, index) => {
    const random = new Random(options.seed, STREAM.bodies + index * 16);
    const share = (index + 0.5) / count;
    const rules = rulesAt(share, maximum);
    if (rules > 0) return makeRobotsBody(random, words, rules);
    return makeRulelessBody(random, words, rulelessKind(share));
  });
  const shuffled = [...hosts];
  new Random(options.seed, STREAM.order).shuffle(shuffled);
  return shuffled.map((host, place) => ({ host, body: bodyOf(bodies, place, hosts.length) }));
}

/** 9 % of hosts send an HTML error page, 3 % nothing, and the rest of those without rules remarks. */
function rulelessKind(share: number): RulelessKind {
  if (share < 0.09) return 'html';
  return share < 0.12 ? 'empty' : 'remarks';
}

/**
 * The file of the host at a place in the order of hosts by rules. Every body is served once;
 * the second copies go to its neighbours in the order, but those in the middle (5 % of all
 * hosts) share one body, as the customers of a large platform do.
 */
function bodyOf(bodies: readonly RobotsBody[], place: number, hosts: number): RobotsBody {
  const share = (place + 0.5) / hosts;
  const copy = place % HOSTS_PER_BODY === 1;
  const index = copy && Math.abs(share - 0.5) < 0.05 ? 0.5 * bodies.length : share * bodies.length;
  const body = bodies[Math.floor(index)];
  if (body === undefined) throw new RangeError(`host ${place} of ${hosts} has no body`);
  return body;
}

function writeRobots(
  directory: string,
  sites: readonly Site[],
  form: 'files' | 'ndjson' | 'both',
): void {
  if (form !== 'ndjson') {
    mkdirSync(join(directory, 'robots'));
    for (const { host, body } of sites) writeFileSync(join(directory, 'robots', host), body.octets);
  }
  if (form !== 'files') {
    const file = new ChunkedFile(join(directory, 'robots.ndjson'));
    for (const { host, body } of sites) {
      file.write(`${JSON.stringify({ host, robots: body.octets.toString() })}\n`);
    }
    file.close();
  }
}

function writeUrls(
  directory: string,
  options: CorpusOptions,
  words: readonly string[],
  sites: readonly Site[],
  unknownHosts: readonly string[],
): { textOctets: number; ndjsonOctets: number } {
  const random = new Random(options.seed, STREAM.urls);
  const makeUrl = new UrlMaker(random, words);
  const ranks = new ZipfRanks(sites.length);
  const byPopularity = [...sites];
  random.shuffle(byPopularity);
  const prepared = new Map<RobotsBody, UrlPattern[]>();
  for (const { body } of sites) {
    if (!prepared.has(body)) prepared.set(body, prepareUrlPatterns(body.patterns));
  }
  const records = new RecordMaker(
    new Random(options.seed, STREAM.records),
    options.hardShare ?? 0.035,
    options.urlLast ?? false,
  );
  const unknownShare = options.unknownShare ?? 0.1;
  const invalidShare = options.invalidShare ?? 0.001;
  const text = new ChunkedFile(join(directory, 'urls.txt'));
  const ndjson = new ChunkedFile(join(directory, 'urls.ndjson'));
  for (let line = 0; line < options.urls; line++) {
    const kind = random.fraction();
    let url: string;
    if (kind < invalidShare) url = makeUrl.invalid();
    else if (kind < invalidShare + unknownShare) url = makeUrl.make(random.pick(unknownHosts), []);
    else {
      const site = byPopularity[ranks.draw(random)] as Site; // a rank is less than the number of sites
      url = makeUrl.make(site.host, prepared.get(site.body) ?? []);
    }
    text.write(`${url}\n`);
    ndjson.write(`${records.make(url)}\n`);
  }
  return { textOctets: text.close(), ndjsonOctets: ndjson.close() };
}

/** A file that is written in large pieces, since a call for each line would take most of the time. */
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
