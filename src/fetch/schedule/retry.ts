import type { FetchResult } from '../result.js';

/** Milliseconds before the second attempt; each further wait is twice as long. */
const BASE_DELAY = 1_000;

/** Longest wait in milliseconds, unless `Retry-After` requires a longer one. */
const MAX_DELAY = 30_000;

/** Whether another attempt may end differently. */
export function isWorthRetrying({ accessResult, error }: FetchResult): boolean {
  const isFinal =
    error?.code === 'address-refused' ||
    error?.code === 'aborted' ||
    error?.code === 'host-crowded';
  return accessResult === 'unreachable' && !isFinal;
}

/**
 * The exponential back-off in milliseconds. Half of it is random, so that hosts that failed
 * together are not contacted again together.
 *
 * @param made number of attempts so far, at least 1
 * @param random a number from 0 up to 1
 */
export function backoffDelay(made: number, random: () => number): number {
  const delay = Math.min(BASE_DELAY * 2 ** (made - 1), MAX_DELAY);
  return delay / 2 + (delay / 2) * random();
}
