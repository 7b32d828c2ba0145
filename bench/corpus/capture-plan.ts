import { makeHosts } from './hosts.js';
import { Random } from './random.js';
import { makeRulelessBody } from './robots.js';
import { Sites } from './sites.js';
import { STREAM } from './streams.js';
import { makeWords } from './words.js';

/** The options of generated archives. The same options give the same records on every machine. */
export interface ArchiveOptions {
  /** Any integer; its low 32 bits count. */
  readonly seed: number;
  /** WARC files; a divisor of `captures`. */
  readonly files: number;
  /** Captures in all files; a multiple of 5. */
  readonly captures: number;
}

/** A response that a crawler stored. */
export interface Reply {
  readonly status: number;
  /** Where a redirect leads. */
  readonly location?: string;
  readonly body: Buffer;
  /** The value of Content-Type. */
  readonly type: string;
}

/** A capture that an archive holds. */
export interface PlannedCapture {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly date: number;
  readonly reply: Reply;
}

/**
 * What a crawler finds at `https://HOST/robots.txt`:
 *
 * - `success`: a robots.txt, or an HTML page in its place.
 * - `unavailable`, `unreachable`: a status of 4xx or 5xx.
 * - `elsewhere`: a redirect to the robots.txt of another site, which has one.
 * - `page`: a redirect to a page of the site, which was captured, too.
 * - `lost`: a redirect to a URL that was not captured.
 */
type Kind = 'success' | 'unavailable' | 'unreachable' | 'elsewhere' | 'page' | 'lost';

/** The kinds by their shares, and the statuses of each. */
const KINDS: readonly (readonly [share: number, kind: Kind, statuses: readonly number[]])[] = [
  [0.61, 'success', [200]],
  [0.32, 'unavailable', [404, 404, 404, 404, 404, 404, 404, 404, 403, 403, 410, 401]],
  [0.02, 'unreachable', [500, 502, 503, 503, 504]],
  [0.03, 'elsewhere', [301, 302, 308]],
  [0.01, 'page', [301, 302]],
  [0.01, 'lost', [302, 307]],
];

/** Sites that share a pattern of captures, and the captures of such a pair. */
const PAIR_SITES = 2;
const PAIR_CAPTURES = 5;

/** The first day of the crawl, and its length, in milliseconds. */
const FIRST_DAY = Date.UTC(2026, 9, 9);
const DAY = 24 * 60 * 60 * 1000;
const DAYS = 14;

/** Files that are kept in memory: captures come in random order, so hardly any is used again. */
const KEPT_BODIES = 1 << 12;

/** What a robots.txt says for an authority, by the plan and not by any archive. */
export type Answer =
  | { readonly kind: 'body'; readonly body: Buffer }
  | { readonly kind: 'unavailable' | 'unreachable' | 'unknown' };

/**
 * Which captures of robots.txt files archives hold, and what follows from them. Sites come in
 * pairs with five captures:
 *
 * 1. `https://A/robots.txt`
 * 2. `http://A/robots.txt`, a redirect to the first; or the page to which the first redirects
 * 3. `https://B/robots.txt`
 * 4. `https://www.B/robots.txt` or the like, a redirect to the third; or the page
 * 5. an older capture of the first or the third, half of which found something else
 */
export class CapturePlan {
  readonly options: ArchiveOptions;
  readonly sites: Sites;
  readonly words: readonly string[];
  readonly #stride: number;

  constructor(options: ArchiveOptions) {
    const { seed, files, captures } = options;
    if (captures % PAIR_CAPTURES !== 0 || captures % files !== 0) {
      throw new RangeError('the number of captures must be a multiple of 5 and of the files');
    }
    this.options = options;
    this.words = makeWords(new Random(seed, STREAM.words), 4096);
    const hosts = new Random(seed, STREAM.hosts);
    const count = (captures / PAIR_CAPTURES) * PAIR_SITES;
    const names = distinctHosts(makeHosts(hosts, this.words, Math.ceil(count * 1.5)));
    if (names.length < count) throw new RangeError('too few host names');
    this.sites = new Sites({ seed }, this.words, names.slice(0, count), KEPT_BODIES);
    this.#stride = strideOf(captures);
  }

  /** The capture at a place of a file, both from 0. */
  capture(file: number, place: number): PlannedCapture {
    const { files, captures } = this.options;
    // Multiplication by a number without a common factor is a permutation.
    const index = Number(
      (BigInt((captures / files) * file + place) * BigInt(this.#stride)) % BigInt(captures),
    );
    const pair = Math.floor(index / PAIR_CAPTURES);
    const slot = index % PAIR_CAPTURES;
    const first = pair * PAIR_SITES;
    if (slot === 0 || slot === 2) return this.#main(first + slot / 2);
    if (slot === 1 || slot === 3) return this.#second(first + (slot - 1) / 2);
    return this.#older(first + (pair % PAIR_SITES));
  }

  /** The other name of a site: with `www.` or without. */
  alias(site: number): string {
    const host = this.sites.host(site);
    return host.startsWith('www.') ? host.slice(4) : `www.${host}`;
  }

  /**
   * What the robots.txt of an authority of a site says.
   *
   * @param isAlias whether the authority has the other name of the site
   */
  answer(site: number, scheme: 'http:' | 'https:', isAlias: boolean): Answer {
    const { kind } = this.#kindOf(site);
    const isSecond = isAlias || scheme === 'http:';
    const hasSecond = kind !== 'page' && isAlias === isSecondOfPair(site);
    if (isSecond && (!hasSecond || (isAlias && scheme === 'http:'))) return { kind: 'unknown' };
    switch (kind) {
      case 'success':
        return { kind: 'body', body: this.sites.body(site).bytes };
      case 'elsewhere':
        return { kind: 'body', body: this.sites.body(this.#elsewhere(site)).bytes };
      case 'page':
        return { kind: 'unavailable' }; // an error, or a page without rules
      case 'lost':
        return { kind: 'unknown' };
      default:
        return { kind };
    }
  }

  #main(site: number): PlannedCapture {
    const random = new Random(this.options.seed, STREAM.captures + 16 * site);
    random.uint32(); // that of #kindOf
    const { kind, statuses } = this.#kindOf(site);
    const status = random.pick(statuses);
    const url = robotsUrl(this.sites.host(site));
    return { url, date: dateOf(random), reply: this.#replyOf(site, kind, status, random) };
  }

  #replyOf(site: number, kind: Kind, status: number, random: Random): Reply {
    const host = this.sites.host(site);
    switch (kind) {
      case 'success':
        return this.#body(this.sites.body(site).bytes, random);
      case 'elsewhere':
        return this.#redirect(status, robotsUrl(this.sites.host(this.#elsewhere(site))), random);
      case 'page':
        return this.#redirect(status, pageUrl(host), random);
      case 'lost':
        return this.#redirect(status, `https://${host}/login`, random);
      default:
        return this.#page(status, random);
    }
  }

  /** The redirect from another scheme or name; or the page to which the first capture leads. */
  #second(site: number): PlannedCapture {
    const random = new Random(this.options.seed, STREAM.archives + 16 * site);
    const host = this.sites.host(site);
    const date = dateOf(random);
    if (this.#kindOf(site).kind === 'page') {
      return { url: pageUrl(host), date, reply: this.#page(random.pick([200, 404]), random) };
    }
    const scheme = isSecondOfPair(site) ? 'https' : 'http';
    const from = isSecondOfPair(site) ? this.alias(site) : host;
    const reply = this.#redirect(random.pick([301, 301, 301, 302, 308]), robotsUrl(host), random);
    return { url: `${scheme}://${from}/robots.txt`, date, reply };
  }

  #older(site: number): PlannedCapture {
    const { url, date, reply } = this.#main(site);
    const random = new Random(this.options.seed, STREAM.archives + 16 * site + 1);
    const earlier = date - random.between(1, 6) * DAY;
    if (random.chance(0.5)) return { url, date: earlier, reply };
    const other = random.below(this.sites.count);
    const found = random.chance(0.7)
      ? this.#body(this.sites.body(other).bytes, random)
      : this.#page(503, random);
    return { url, date: earlier, reply: found };
  }

  #kindOf(site: number): { kind: Kind; statuses: readonly number[] } {
    let draw = new Random(this.options.seed, STREAM.captures + 16 * site).fraction();
    for (const [share, kind, statuses] of KINDS) {
      if (draw < share) return { kind, statuses };
      draw -= share;
    }
    return { kind: 'success', statuses: [200] };
  }

  /** The site to whose robots.txt another one redirects: the next one that has any. */
  #elsewhere(site: number): number {
    for (let next = 1; next < this.sites.count; next++) {
      const other = (site + next) % this.sites.count;
      if (this.#kindOf(other).kind === 'success') return other;
    }
    throw new RangeError('no site has a robots.txt');
  }

  #body(body: Buffer, random: Random): Reply {
    const isPage = body.toString('latin1', 0, 9) === '<!DOCTYPE';
    const plain = random.pick([
      'text/plain',
      'text/plain; charset=utf-8',
      'text/plain;charset=UTF-8',
    ]);
    const type = isPage && random.chance(0.7) ? 'text/html; charset=UTF-8' : plain;
    return { status: 200, body, type };
  }

  #page(status: number, random: Random): Reply {
    const { bytes } = makeRulelessBody(random, this.words, 'html');
    return { status, body: bytes, type: 'text/html; charset=utf-8' };
  }

  #redirect(status: number, location: string, random: Random): Reply {
    const page = `<html>\r\n<head><title>${status} Moved</title></head>\r\n<body>\r\n<center><h1>${status} Moved</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
    const body = Buffer.from(random.chance(0.7) ? page : '');
    return { status, location, body, type: 'text/html' };
  }
}

/** Whether a site is the second of its pair, which was captured under two names. */
function isSecondOfPair(site: number): boolean {
  return site % PAIR_SITES === 1;
}

function robotsUrl(host: string): string {
  return `https://${host}/robots.txt`;
}

function pageUrl(host: string): string {
  return `https://${host}/start`;
}

/** A moment of the second half of the crawl: older captures lie before it. */
function dateOf(random: Random): number {
  return FIRST_DAY + (DAYS / 2) * DAY + random.below((DAYS / 2) * 24 * 60 * 60) * 1000;
}

/** Hosts of which no two differ by `www.` alone. */
function distinctHosts(hosts: readonly string[]): string[] {
  const byName = new Map(hosts.map((host) => [host.replace(/^www\./, ''), host]));
  return [...byName.values()];
}

/** A number without a common factor with `count`, near the golden section. */
function strideOf(count: number): number {
  for (let stride = Math.max(1, Math.round(count * 0.618)); ; stride++) {
    if (commonFactor(stride, count) === 1) return stride;
  }
}

function commonFactor(a: number, b: number): number {
  return b === 0 ? a : commonFactor(b, a % b);
}
