import { rulesAt } from './distribution.js';
import type { CorpusOptions } from './options.js';
import { Random } from './random.js';
import {
  makeOneGroupBody,
  makeRobotsBody,
  makeRulelessBody,
  type RobotsBody,
  type RulelessKind,
} from './robots.js';
import { STREAM } from './streams.js';
import { prepareUrlPatterns, type UrlPattern } from './urls.js';

/** Half of all files are duplicates of another. */
const HOSTS_PER_BODY = 2;

/** Number of cached files: those of a million hosts would not fit, and can be made again. */
const MOST_KEPT = 1 << 16;

/** What the files of hosts depend on. */
export type SiteOptions = Pick<CorpusOptions, 'seed'> & Partial<CorpusOptions>;

/**
 * Hosts in random order, with files whose sizes follow the distribution whatever the number of
 * hosts. A site is named by its place in that order, from 0; files are made on request.
 */
export class Sites {
  readonly #options: SiteOptions;
  readonly #words: readonly string[];
  readonly #mostKept: number;
  readonly #hosts: readonly string[];
  readonly #bodies: number;
  readonly #kept = new Map<number, { body: RobotsBody; urlPatterns?: UrlPattern[] }>();

  /** @param mostKept files that are kept in memory */
  constructor(
    options: SiteOptions,
    words: readonly string[],
    hosts: readonly string[],
    mostKept = MOST_KEPT,
  ) {
    this.#options = options;
    this.#words = words;
    this.#mostKept = mostKept;
    const shuffled = [...hosts];
    new Random(options.seed, STREAM.order).shuffle(shuffled);
    this.#hosts = shuffled;
    this.#bodies = Math.ceil(hosts.length / HOSTS_PER_BODY);
  }

  get count(): number {
    return this.#hosts.length;
  }

  host(place: number): string {
    const host = this.#hosts[place];
    if (host === undefined) throw new RangeError(`no host at ${place} of ${this.count}`);
    return host;
  }

  body(place: number): RobotsBody {
    return this.#keptBody(this.bodyIndex(place)).body;
  }

  /** The patterns of a site's file, prepared for making URLs of them. */
  urlPatterns(place: number): readonly UrlPattern[] {
    const kept = this.#keptBody(this.bodyIndex(place));
    kept.urlPatterns ??= prepareUrlPatterns(kept.body.patterns);
    return kept.urlPatterns;
  }

  /**
   * The number of the file that a site serves. Every file is served at least once. The second
   * copies go to neighbours in the order. The middle of the order (5 % of all hosts) shares one
   * file, like the customers of a large platform.
   */
  bodyIndex(place: number): number {
    const share = (place + 0.5) / this.count;
    const copy = place % HOSTS_PER_BODY === 1;
    const shared = copy && Math.abs(share - 0.5) < 0.05;
    return Math.floor((shared ? 0.5 : share) * this.#bodies);
  }

  #keptBody(index: number): { body: RobotsBody; urlPatterns?: UrlPattern[] } {
    const known = this.#kept.get(index);
    if (known !== undefined) return known;
    const made = { body: this.#make(index) };
    if (this.#kept.size === this.#mostKept) {
      const oldest = this.#kept.keys().next();
      if (!oldest.done) this.#kept.delete(oldest.value);
    }
    this.#kept.set(index, made);
    return made;
  }

  #make(index: number): RobotsBody {
    const random = new Random(this.#options.seed, STREAM.bodies + index * 16);
    const { oneGroup, maxRules } = this.#options;
    if (oneGroup !== undefined) return makeOneGroupBody(random, this.#words, oneGroup);
    const share = (index + 0.5) / this.#bodies;
    const rules = rulesAt(share, maxRules ?? 5000);
    if (rules > 0) return makeRobotsBody(random, this.#words, rules);
    return makeRulelessBody(random, this.#words, rulelessKind(share));
  }
}

/**
 * 9 % of hosts send an HTML error page, 3 % nothing, and the other hosts without rules send
 * comments.
 */
function rulelessKind(share: number): RulelessKind {
  if (share < 0.09) return 'html';
  return share < 0.12 ? 'empty' : 'remarks';
}
