import type { CacheWarning } from '../pipeline/cache/entry.js';
import type { Diagnostics } from './diagnostics.js';
import { counted, grouped } from './numbers.js';

/** Warnings that are shown in full. */
const SHOWN = 10;

/** Says what was left out of caches: the first ten in full, then how many of which kind. */
export class CacheWarnings {
  readonly #diagnostics: Diagnostics;
  readonly #counts = new Map<string, number>();
  #total = 0;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  get total(): number {
    return this.#total;
  }

  add(warning: Pick<CacheWarning, 'code' | 'path' | 'line' | 'message'>): void {
    this.#total++;
    this.#counts.set(warning.code, (this.#counts.get(warning.code) ?? 0) + 1);
    if (this.#total > SHOWN) return;
    const line = warning.line === undefined ? '' : `:${warning.line}`;
    this.#diagnostics.note(`warning: ${warning.path}${line}: ${warning.message}`);
  }

  /** To be called when all caches are read. */
  summarise(): void {
    if (this.#total <= SHOWN) return;
    const kinds = [...this.#counts].map(([code, count]) => `${grouped(count)} ${code}`);
    this.#diagnostics.note(
      `${counted(this.#total, 'warning')} about robots.txt files: ${kinds.join(', ')}`,
    );
  }
}
