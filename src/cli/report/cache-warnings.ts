import type { CacheWarning, CacheWarningCode } from '../../cache/entry.js';
import type { Diagnostics } from './diagnostics.js';
import { formatCount, formatNumber } from './numbers.js';

/** Number of warnings that are printed in full. */
const MOST_PRINTED = 10;

/** Number of skipped documents and data files that are named. */
const MOST_NAMED = 3;

/** Warnings of a file that should hold a robots.txt, and could not be read as one. */
const UNREAD: ReadonlySet<CacheWarningCode> = new Set([
  'unreadable',
  'not-a-file',
  'too-large',
  'compressed',
  'not-text',
]);

/**
 * Prints what was skipped in caches: the first ten warnings in full, then a count of each kind.
 * Documents and data files share one warning.
 */
export class CacheWarnings {
  readonly #diagnostics: Diagnostics;
  readonly #counts = new Map<string, number>();
  #total = 0;
  #printed = 0;
  #unread = 0;
  #firstUnread = '';
  /** Paths of the first skipped documents and data files. */
  readonly #documents: string[] = [];
  #documentCount = 0;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** Number of warnings, without documents and data files. */
  get total(): number {
    return this.#total;
  }

  /** Number of files that could not be read. */
  get unread(): number {
    return this.#unread;
  }

  /** Path of the first of them. */
  get firstUnread(): string {
    return this.#firstUnread;
  }

  add(
    warning: Pick<CacheWarning, 'code' | 'path' | 'line' | 'offset' | 'count' | 'message'>,
  ): void {
    if (warning.code === 'document') {
      if (this.#documentCount++ < MOST_NAMED) this.#documents.push(warning.path);
      return;
    }
    const { code, path, line, offset, count = 1, message } = warning;
    this.#total += count;
    if (UNREAD.has(code) && this.#unread++ === 0) this.#firstUnread = path;
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + count);
    if (this.#printed === MOST_PRINTED || count > 1) return;
    this.#printed++;
    const place = line ?? offset;
    this.#diagnostics.note(`warning: ${path}${place === undefined ? '' : `:${place}`}: ${message}`);
  }

  /** Prints the counts. Call this when all caches have been read. */
  summarise(): void {
    this.#summariseDocuments();
    if (this.#total === this.#printed) return;
    const kinds = [...this.#counts].map(([code, count]) => `${formatNumber(count)} ${code}`);
    this.#diagnostics.note(
      `${formatCount(this.#total, 'warning')} about robots.txt files, the first ${this.#printed} of them above: ${kinds.join(', ')}`,
    );
  }

  #summariseDocuments(): void {
    if (this.#documentCount === 0) return;
    const further = this.#documentCount - this.#documents.length;
    const names = `${this.#documents.join(', ')}${further > 0 ? ` and ${formatNumber(further)} more` : ''}`;
    const reason = this.#documentCount === 1 ? 'because of its name' : 'because of their names';
    this.#diagnostics.note(
      `warning: ${formatCount(this.#documentCount, 'file')} skipped ${reason}: ${names}. ` +
        'To use such a file, name it HOST.robots.txt or HOST/robots.txt',
    );
  }
}
