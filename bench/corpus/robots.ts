import { MODEL_CRAWLERS, OTHER_CRAWLERS } from './crawlers.js';
import type { OneGroup } from './options.js';
import { PatternMaker } from './patterns.js';
import type { Random } from './random.js';

/** A generated robots.txt file. */
export interface RobotsBody {
  readonly bytes: Buffer;
  /** The path patterns of its rules, without empty patterns, in order; with duplicates. */
  readonly patterns: readonly string[];
  /** Number of Allow and Disallow lines. */
  readonly rules: number;
  /** Number of groups: runs of user-agent lines. */
  readonly groups: number;
}

/** The kinds of a file without rules. */
export type RulelessKind = 'html' | 'empty' | 'remarks';

/**
 * An error page that a server sent instead of robots.txt, as 9 % of real files are; or nothing, or
 * only comments.
 */
export function makeRulelessBody(
  random: Random,
  words: readonly string[],
  kind: RulelessKind,
): RobotsBody {
  const text = { html: htmlPage, empty: () => '', remarks }[kind](random, words);
  const groups = text.includes('User-agent') ? 1 : 0;
  return { bytes: Buffer.from(text), patterns: [], rules: 0, groups };
}

function htmlPage(random: Random, words: readonly string[]): string {
  const status = random.pick(['404 Not Found', '403 Forbidden', '503 Service Unavailable']);
  const eol = random.chance(0.5) ? '\r\n' : '\n';
  const paragraphs = Array.from({ length: random.below(40) }, () => {
    const sentence = Array.from({ length: random.between(3, 30) }, () => random.pick(words));
    return `<p><a href="/${random.pick(words)}/">${sentence.join(' ')}</a></p>`;
  });
  return [
    '<!DOCTYPE html>',
    `<html><head><title>${status}</title>`,
    '<style>body { color: #222; margin: 0 auto } a:hover { color: #06c }</style></head>',
    `<body><h1>${status}</h1>`,
    ...paragraphs,
    '</body></html>',
    '',
  ].join(eol);
}

function remarks(random: Random, words: readonly string[]): string {
  const lines = [`# ${random.pick(words)} ${random.pick(words)}`];
  if (random.chance(0.5)) lines.push('User-agent: *', `Crawl-delay: ${random.between(1, 30)}`);
  if (random.chance(0.5)) lines.push(`Sitemap: https://${random.pick(words)}.example/sitemap.xml`);
  return `${lines.join('\n')}\n`;
}

/**
 * A robots.txt file with a given number of rules, in one group for all crawlers or in several.
 *
 * @param rules number of Allow and Disallow lines, at least 1
 */
export function makeRobotsBody(
  random: Random,
  words: readonly string[],
  rules: number,
): RobotsBody {
  return new RobotsWriter(random, words).write(rules);
}

/** A robots.txt file of one group for all crawlers. */
export function makeOneGroupBody(
  random: Random,
  words: readonly string[],
  { rules, wildcardShare }: OneGroup,
): RobotsBody {
  return new RobotsWriter(random, words).writeOneGroup(rules, wildcardShare);
}

/**
 * Writes one file line by line, in its author's style: spelling of keys, line ends, wildcards or
 * none.
 */
class RobotsWriter {
  readonly #random: Random;
  readonly #words: readonly string[];
  readonly #patternMaker: PatternMaker;
  readonly #lines: string[] = [];
  readonly #patterns: string[] = [];
  readonly #lowerCaseKeys: boolean;
  readonly #separator: string;
  #wildcardShare = 0;
  #rules = 0;
  #groups = 0;

  constructor(random: Random, words: readonly string[]) {
    this.#random = random;
    this.#words = words;
    this.#patternMaker = new PatternMaker(random, words);
    this.#lowerCaseKeys = random.chance(0.1);
    this.#separator = random.chance(0.06) ? ':' : ': ';
  }

  write(rules: number): RobotsBody {
    const random = this.#random;
    if (random.chance(wildcardHosts(rules))) this.#wildcardShare = WILDCARD_SHARE;
    if (random.chance(0.34)) this.#lines.push(`# robots.txt of ${random.pick(this.#words)}`, '');
    if (rules <= 2) this.#fewRules(rules);
    else this.#manyRules(rules);
    if (random.chance(0.46)) {
      this.#lines.push('');
      this.#record('Sitemap', `https://${random.pick(this.#words)}.example/sitemap.xml`);
    }
    return this.#body();
  }

  writeOneGroup(rules: number, wildcardShare: number): RobotsBody {
    this.#wildcardShare = wildcardShare;
    this.#group(['*']);
    this.#ownRules(rules);
    return this.#body();
  }

  #body(): RobotsBody {
    return {
      bytes: this.#bytes(),
      patterns: this.#patterns,
      rules: this.#rules,
      groups: this.#groups,
    };
  }

  #bytes(): Buffer {
    const random = this.#random;
    const lineEnd = random.fraction();
    const eol = lineEnd < 0.002 ? '\r' : lineEnd < 0.24 ? '\r\n' : '\n';
    const mark = random.chance(0.02) ? '\uFEFF' : '';
    return Buffer.from(mark + this.#lines.join(eol) + eol);
  }

  /** One or two rules: usually one for everything, or one that has no effect. */
  #fewRules(rules: number): void {
    this.#group(['*']);
    const kind = this.#random.fraction();
    if (kind < 0.35) this.#rule(false, '');
    else if (kind < 0.5) this.#rule(false, '/');
    else this.#ownRules(1);
    if (rules > 1) this.#ownRules(rules - 1);
  }

  #manyRules(rules: number): void {
    const random = this.#random;
    const manner = random.fraction();
    if (manner < (rules > 52 ? 0.5 : 0.62)) {
      this.#group(['*']);
      this.#ownRules(rules);
    } else if (manner < (rules > 52 ? 0.65 : 0.8)) {
      const shutOut = Math.min(rules - 1, random.between(1, MODEL_CRAWLERS.length));
      this.#group(['*']);
      this.#ownRules(rules - shutOut);
      for (const crawler of MODEL_CRAWLERS.slice(0, shutOut)) {
        this.#group([crawler]);
        this.#rule(false, '/');
      }
    } else if (manner < (rules > 52 ? 0.75 : 0.9)) {
      this.#group(MODEL_CRAWLERS.slice(0, random.between(2, MODEL_CRAWLERS.length)));
      this.#rule(false, '/');
      this.#group(['*']);
      this.#ownRules(rules - 1);
    } else this.#severalGroups(rules);
  }

  /**
   * The rules divided among named crawlers and all crawlers; some files name a crawler twice, so
   * that groups merge.
   */
  #severalGroups(rules: number): void {
    const random = this.#random;
    const groups = Math.min(rules, random.between(2, 6 + Math.floor(rules / 40)));
    for (let group = 0; group < groups; group++) {
      const share =
        Math.floor((rules * (group + 1)) / groups) - Math.floor((rules * group) / groups);
      const named = group % 2 === 1 || (group > 0 && random.chance(0.5));
      this.#group(named ? [random.pick(OTHER_CRAWLERS)] : ['*']);
      this.#ownRules(share);
    }
  }

  #group(productTokens: readonly string[]): void {
    if (this.#groups > 0) this.#lines.push('');
    this.#groups++;
    for (const token of productTokens) this.#record('User-agent', token);
    if (this.#random.chance(0.06)) {
      this.#record('Crawl-delay', String(this.#random.pick([1, 2, 5, 10, 30, 0.5])));
    }
  }

  #ownRules(count: number): void {
    for (let rule = 0; rule < count; rule++) {
      const previous = this.#patterns.at(-1);
      if (previous?.endsWith('/') && this.#random.chance(0.22)) {
        this.#rule(true, `${previous}${this.#random.pick(this.#words)}`);
      } else {
        this.#rule(this.#random.chance(0.08), this.#patternMaker.make(this.#wildcardShare));
      }
    }
  }

  #rule(allow: boolean, pattern: string): void {
    this.#rules++;
    if (pattern !== '') this.#patterns.push(pattern);
    this.#record(allow ? 'Allow' : 'Disallow', pattern);
  }

  #record(key: string, value: string): void {
    const remark = this.#random.chance(0.01) ? ` # ${this.#random.pick(this.#words)}` : '';
    const space = this.#random.chance(0.02) ? ' ' : '';
    const name = this.#lowerCaseKeys ? key.toLowerCase() : key;
    this.#lines.push(`${name}${this.#separator}${value}${space}${remark}`);
  }
}

/** Share of the rules with a `*` in a file whose author uses wildcards. */
const WILDCARD_SHARE = 0.325;

/** Probability that a file's author uses wildcards; it grows with the number of rules. */
function wildcardHosts(rules: number): number {
  if (rules <= 4) return 0.25;
  return rules <= 14 ? 0.62 : 0.9;
}
