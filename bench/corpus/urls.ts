import type { Random } from './random.js';

const EXTENSIONS = ['.html', '.html', '.html', '.php', '.pdf', '.jpg', '.gif', ''];
const PARAMETERS = ['sort', 'page', 'q', 's', 'id', 'ref', 'filter', 'session', 'lang', 'view'];

/** Maximum number of a host's patterns that URLs are made from. */
const PATTERNS_PER_HOST = 64;

/** A path pattern, split at each `*`. */
export interface UrlPattern {
  readonly parts: readonly string[];
  /** The pattern ended in `$`: nothing may follow. */
  readonly anchored: boolean;
}

/** Prepares the patterns of one file; from a long list, evenly spaced patterns. */
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
 * An equivalent spelling that occurs in links: raw bytes, or hexadecimal digits in the other case.
 */
function respelt(pattern: string): string {
  return pattern
    .replaceAll('%7E', '~')
    .replaceAll('%2D', '-')
    .replaceAll('%C3%A9', '\u00e9')
    .replaceAll('%c3%bc', '%C3%BC')
    .replaceAll('%D0%B0', '%d0%b0');
}

/** The lengths of URLs. */
export interface UrlStyle {
  /** Fewer words and parameters: about 55 bytes, as in lists of real URLs. Default: about 83. */
  readonly brief?: boolean;
  /** Length up to which further segments and parameters are added; default 0. */
  readonly leastBytes?: number;
}

/** Makes URLs of a host: some match one of its patterns, some nearly match, the others are free. */
export class UrlMaker {
  readonly #random: Random;
  readonly #words: readonly string[];
  readonly #brief: boolean;
  readonly #leastBytes: number;

  constructor(random: Random, words: readonly string[], style: UrlStyle = {}) {
    this.#random = random;
    this.#words = words;
    this.#brief = style.brief ?? false;
    this.#leastBytes = style.leastBytes ?? 0;
  }

  /** A well-formed http or https URL without `"` and `\`. */
  make(host: string, patterns: readonly UrlPattern[]): string {
    const url = this.#short(host, patterns);
    return url.length < this.#leastBytes ? this.#lengthened(url) : url;
  }

  /** Appends to the URL's path, such that the URL's original rules still match. */
  #lengthened(url: string): string {
    let long = url.split('#', 1)[0] ?? '';
    const joint = long.includes('?') ? '&' : '/';
    while (long.length < this.#leastBytes) long += joint + this.#random.pick(this.#words);
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

  /** A line that is not an http, https or ftp URL. */
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
      const joint = random.chance(0.3) ? '/' : '-';
      path += (this.#brief ? random.pick(this.#words) : this.#words2(joint)) + pattern.parts[part];
    }
    if (pattern.anchored) return path;
    if (path.endsWith('=')) return path + random.pick(this.#words) + this.#query('&', 0.5);
    if (path.includes('?')) return path + this.#query('&', 0.6);
    if (random.chance(this.#brief ? 0.25 : 0.85))
      path += (path.endsWith('/') ? '' : '/') + this.#segments();
    return path + this.#ending();
  }

  /** A path that begins like a pattern and then differs. */
  #near(pattern: UrlPattern): string {
    const start = pattern.parts[0] ?? '/';
    const kept = start.slice(0, 1 + this.#random.below(start.length)).replace(/[?%].*$/, '');
    const path = `${kept}${this.#random.pick(this.#words)}`;
    return this.#brief ? path + this.#ending() : `${path}/${this.#segments()}${this.#ending()}`;
  }

  #path(): string {
    if (this.#brief && this.#random.chance(0.6)) return `/${this.#segments()}`;
    return `/${this.#random.pick(this.#words)}/${this.#segments()}`;
  }

  #segments(): string {
    const random = this.#random;
    if (this.#brief) {
      const word = random.pick(this.#words);
      const kind = random.below(100);
      if (kind < 15) return `${word}-${random.pick(this.#words)}`;
      if (kind < 30) return `${word}-${random.below(1_000_000)}`;
      if (kind === 99) return `${word}-\u00e9t\u00e9`;
      return kind === 98 ? `${word}%20copy` : word;
    }
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
    if (kind < (this.#brief ? 67 : 92)) return this.#query('?', 1);
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
