import type { Random } from './random.js';

const EXTENSIONS = ['.html', '.php', '.pdf', '.jpg', '.xml', '.aspx', '.gif', '.json', '.doc'];
const PARAMETERS = ['sort', 'page', 'q', 's', 'id', 'ref', 'filter', 'session', 'lang', 'view'];
const ESCAPES = ['%C3%A9', '%20', '%c3%bc', '%7E', '%2F', '%D0%B0', '%E2%80%93', '%26', '%2D'];

/**
 * Makes path patterns like those of real robots.txt files. Over a corpus 25.9 % hold `*`, 2.9 % end
 * in `$`, 5.3 % hold %XX and 7.1 % hold `?`; a pattern may have several of these traits.
 */
export class PatternMaker {
  readonly #random: Random;
  readonly #words: readonly string[];

  constructor(random: Random, words: readonly string[]) {
    this.#random = random;
    this.#words = words;
  }

  /** @param wildcardShare share of the patterns with a `*`, 0 to 1: a habit of the file's author */
  make(wildcardShare: number): string {
    const pattern = this.#random.chance(wildcardShare) ? this.#wildcard() : this.#literal();
    if (!this.#random.chance(0.058)) return pattern;
    const slash = pattern.lastIndexOf('/');
    return `${pattern.slice(0, slash + 1)}${this.#word()}${this.#random.pick(ESCAPES)}${pattern.slice(slash + 1)}`;
  }

  #word(): string {
    return this.#random.pick(this.#words);
  }

  #directories(): string {
    let path = `/${this.#word()}`;
    while (this.#random.chance(0.56))
      path += `${this.#random.chance(0.25) ? '-' : '/'}${this.#word()}`;
    return path;
  }

  #literal(): string {
    const random = this.#random;
    const path = this.#directories();
    const kind = random.fraction();
    if (kind < 0.032) return `${path}?${random.pick(PARAMETERS)}=`;
    if (kind < 0.045) return `${path}/?${random.pick(PARAMETERS)}`;
    if (kind < 0.055) return `${path}$`;
    if (kind < 0.065) return `${path}${random.pick(EXTENSIONS)}$`;
    if (kind < 0.25) return `${path}${random.pick(EXTENSIONS)}`;
    return kind < 0.7 ? `${path}/` : path;
  }

  #wildcard(): string {
    const random = this.#random;
    const kind = random.fraction();
    if (kind < 0.34) return `${this.#directories()}${random.chance(0.6) ? '/*' : '*'}`;
    if (kind < 0.4) return `/*${random.pick(EXTENSIONS)}$`;
    if (kind < 0.485) return `/*?${random.pick(PARAMETERS)}=`;
    if (kind < 0.52) return `/*&${random.pick(PARAMETERS)}=*`;
    if (kind < 0.555) return `/*?*${random.pick(PARAMETERS)}=`;
    if (kind < 0.6) return `/*/${this.#word()}/`;
    if (kind < 0.64) return `*/${this.#word()}`;
    if (kind < 0.68) return `${this.#directories()}/*?`;
    if (kind < 0.86) return `${this.#directories()}/*/${this.#word()}`;
    if (kind < 0.96) return `/${this.#word()}*${this.#word()}`;
    return `/*/*/${this.#word()}*${this.#word()}`;
  }
}
