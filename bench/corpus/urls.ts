import type { Random } from './random.js';

const EXTENSIONS = ['.html', '.html', '.html', '.php', '.pdf', '.jpg', '.gif', ''];
const PARAMETERS = ['sort', 'page', 'q', 's', 'id', 'ref', 'filter', 'session', 'lang', 'view'];

/** At most so many patterns of a host are filled in for URLs. */
const PATTERNS_PER_HOST = 64;

/** A path pattern, cut at its `*` and ready to be filled in. */
export interface UrlPattern {
  readonly parts: readonly string[];
  /** The pattern ended in `$`: nothing may follow. */
  readonly anchored: boolean;
}

/** Prepares the patterns of one file; of long lists, evenly spaced ones. */
export function prepareUrlPatterns(patterns: readonly string[]): UrlPattern[] {
  const step = Math.max(1, patterns.length / PATTERNS_PER_HOST);
  const prepared: UrlPattern[] = [];
  for (let place = 0; place < patterns.length; place += step) {
    const pattern = patterns[Math.floor(place)] ?? '';
    prepared.push(prepare(pattern));
    const other = respelt(pattern);
    if (other !== pattern) prepared.push(prepare(other));
  }
  return prepared;
}

function prepare(pattern: string): UrlPattern {
  const anchored = pattern.endsWith('$');
  const parts = (anchored ? pattern.slice(0, -1) : pattern).split('*');
  if (parts[0] === '') parts[0] = '/';
  return { parts, anchored };
}

/**
 * The same octets as links write them and the file does not: raw, or with the other case of hex
 * digits.
 */
function respelt(pattern: string): string {
  return pattern
    .replaceAll('%7E', '~')
    .replaceAll('%2D', '-')
    .replaceAll('%C3%A9', '\u00e9')
    .replaceAll('%c3%bc', '%C3%BC')
    .replaceAll('%D0%B0', '%d0%b0');
}

/**
 * Makes URLs of a host: some fill in its patterns, some nearly do, some have nothing to do with
 * them.
 */
export class UrlMaker {
  readonly #random: Random;
  readonly #words: readonly string[];
  readonly #leastOctets: number;

  /**
   * @param leastOctets length that URLs are brought to by further segments and parameters; 0 leaves
   * them
   */
  constructor(random: Random, words: readonly string[], leastOctets = 0) {
    this.#random = random;
    this.#words = words;
    this.#leastOctets = leastOctets;
  }

  /** A URL with the scheme http or https, a well-formed one; without `"` and `\`. */
  make(host: string, patterns: readonly UrlPattern[]): string {
    const url = this.#short(host, patterns);
    return url.length < this.#leastOctets ? this.#lengthened(url) : url;
  }

  /** Goes on after the URL's own path, so that the rules that it was made from still match. */
  #lengthened(url: string): string {
    let long = url.split('#', 1)[0] ?? '';
    const joint = long.includes('?') ? '&' : '/';
    while (long.length < this.#leastOctets) long += joint + this.#random.pick(this.#words);
    return long;
  }

  #short(host: string, patterns: readonly UrlPattern[]): string {
    const kind = this.#random.fraction();
    let path: string;
    if (patterns.length > 0 && kind < 0.5) path = this.#filled(this.#random.pick(patterns));
    else if (patterns.length > 0 && kind < 0.62) path = this.#near(this.#random.pick(patterns));
    else path = this.#path() + this.#ending();
    return this.#origin(host) + path;
  }

  /** A line that is no http, https or ftp URL. */
  invalid(): string {
    const word = this.#random.pick(this.#words);
    return this.#random.pick([
      `mailto:${word}@example.com`,
      `javascript:${word}()`,
      `/${word}/${this.#random.pick(this.#words)}.html`,
      `https://`,
      `urn:isbn:${this.#random.between(1_000_000, 9_999_999)}`,
    ]);
  }

  #origin(host: string): string {
    const kind = this.#random.below(1000);
    if (kind < 60) return `http://${host}`;
    if (kind < 62) return `https://${host}:443`;
    if (kind < 64) return `HTTPS://${host.toUpperCase()}`;
    return `https://${host}`;
  }

  #filled(pattern: UrlPattern): string {
    const random = this.#random;
    let path = pattern.parts[0] ?? '/';
    for (let part = 1; part < pattern.parts.length; part++) {
      path += this.#words2(random.chance(0.3) ? '/' : '-') + pattern.parts[part];
    }
    if (pattern.anchored) return path;
    if (path.endsWith('=')) return path + random.pick(this.#words) + this.#query('&', 0.5);
    if (path.includes('?')) return path + this.#query('&', 0.6);
    if (random.chance(0.85)) path += (path.endsWith('/') ? '' : '/') + this.#segments();
    return path + this.#ending();
  }

  /** A path that goes along with a pattern for a while and then leaves it. */
  #near(pattern: UrlPattern): string {
    const start = pattern.parts[0] ?? '/';
    const kept = start.slice(0, 1 + this.#random.below(start.length)).replace(/[?%].*$/, '');
    return `${kept}${this.#random.pick(this.#words)}/${this.#segments()}${this.#ending()}`;
  }

  #path(): string {
    return `/${this.#random.pick(this.#words)}/${this.#segments()}`;
  }

  #segments(): string {
    const random = this.#random;
    let path = this.#words2('-');
    const kind = random.below(100);
    if (kind < 42) path += `/${this.#words2('-')}`;
    if (kind < 75) path += `-${random.pick(this.#words)}`;
    if (kind === 99) path += '-\u00e9t\u00e9';
    if (kind === 98) path += '%20copy';
    return random.chance(0.5) ? `${path}-${random.below(1_000_000)}` : path;
  }

  #ending(): string {
    const kind = this.#random.below(100);
    if (kind < 45) return this.#random.pick(EXTENSIONS);
    if (kind < 60) return '/';
    if (kind < 92) return this.#query('?', 1);
    if (kind === 99) return `#${this.#random.pick(this.#words)}`;
    return '';
  }

  #query(first: string, share: number): string {
    const random = this.#random;
    if (!random.chance(share)) return '';
    let query = `${first}${random.pick(PARAMETERS)}=${random.pick(this.#words)}`;
    while (random.chance(0.35)) query += `&${random.pick(PARAMETERS)}=${random.below(10_000)}`;
    return query;
  }

  #words2(joint: string): string {
    return this.#random.pick(this.#words) + joint + this.#random.pick(this.#words);
  }
}
