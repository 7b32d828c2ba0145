import type { CompiledCache } from '../../pipeline/compile/compile-cache.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { formatCount, formatNumber } from '../report/numbers.js';
import { shellWords } from '../usage-error.js';

/**
 * Reports the number of warnings about the lines of robots.txt files, by kind.
 *
 * @param paths what was compiled
 */
export function noteContentWarnings(
  compiled: Pick<CompiledCache, 'contentWarnings' | 'stats'>,
  paths: readonly string[],
  diagnostics: Diagnostics,
): void {
  const total = [...compiled.contentWarnings.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return;
  const kinds = [...compiled.contentWarnings].sort(([, a], [, b]) => b - a);
  diagnostics.note(
    `${formatCount(total, 'warning')} about lines of ${formatCount(compiled.stats.bodies, 'distinct robots.txt file')}: ` +
      `${kinds.map(([code, count]) => `${formatNumber(count)} ${code}`).join(', ')}. ` +
      `${shellWords(['robots-filter', 'lint', ...paths])} names the lines`,
  );
}
