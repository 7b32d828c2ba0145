import type { CacheWarning } from '../pipeline/cache/entry.js';
import type { Diagnostics } from './diagnostics.js';
import { counted, grouped } from './numbers.js';

/** Warnings that are shown in full. */
const SHOWN = 10;

/** Files that are documents or data by their names, of which so many are named. */
const NAMED_ASIDE = 3;

/**
 * Says what was left out of caches: the first ten in full, then how many of which kind. Of
 * documents and data all in one.
 */
export class CacheWarnings {
  readonly #diagnostics: Diagnostics;
  readonly #counts = new Map<string, number>();
  #total = 0;
  readonly #aside: string[] = [];
  #asideTotal = 0;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  get total(): number {
    return this.#total;
  }

  add(warning: Pick<CacheWarning, 'code' | 'path' | 'line' | 'message'>): void {
    if (warning.code === 'aside') {
      if (this.#asideTotal++ < NAMED_ASIDE) this.#aside.push(warning.path);
      return;
    }
    this.#total++;
    this.#counts.set(warning.code, (this.#counts.get(warning.code) ?? 0) + 1);
    if (this.#total > SHOWN) return;
    const line = warning.line === undefined ? '' : `:${warning.line}`;
    this.#diagnostics.note(`warning: ${warning.path}${line}: ${warning.message}`);
  }

  /** To be called when all caches are read. */
  summarise(): void {
    this.#summariseAside();
    if (this.#total <= SHOWN) return;
    const kinds = [...this.#counts].map(([code, count]) => `${grouped(count)} ${code}`);
    this.#diagnostics.note(
      `${counted(this.#total, 'warning')} about robots.txt files: ${kinds.join(', ')}`,
    );
  }

  #summariseAside(): void {
    if (this.#asideTotal === 0) return;
    const further = this.#asideTotal - this.#aside.length;
    this.#diagnostics.note(
      `warning: ${counted(this.#asideTotal, 'file')} left out, by ${this.#asideTotal === 1 ? 'its name' : 'their names'} no robots.txt: ` +
        `${this.#aside.join(', ')}${further > 0 ? ` and ${grouped(further)} more` : ''}. A robots.txt is named HOST.robots.txt or HOST/robots.txt`,
    );
  }
}
