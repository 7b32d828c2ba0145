import { setTimeout as wait } from 'node:timers/promises';
import type { FetchResult } from './result.js';

export interface RetryOptions {
  /** Attempts in all, at least 1; default 3. */
  readonly attempts?: number | undefined;
  /**
   * Milliseconds to wait before the second attempt; each further wait is twice as long. Default
   * 1,000.
   */
  readonly baseDelay?: number | undefined;
  /** The longest wait in milliseconds that is not asked for by `Retry-After`. Default 30,000. */
  readonly maxDelay?: number | undefined;
  /** From 0 up to 1; default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Resolves after so many milliseconds, and at once when the signal is aborted. */
  readonly sleep?: ((delay: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Repeats an attempt while its result is unreachable, with exponential backoff and jitter. A
 * `Retry-After` that asks for more than that is honoured; the fetcher has capped it. The result is
 * that of the last attempt.
 *
 * What will not be otherwise in a minute is not repeated: an address that is refused, a fetch that
 * was aborted.
 */
export async function withRetries(
  attempt: () => Promise<FetchResult>,
  signal: AbortSignal,
  options: RetryOptions = {},
): Promise<FetchResult> {
  const { attempts = 3, baseDelay = 1_000, maxDelay = 30_000, random = Math.random } = options;
  const { sleep = sleepFor } = options;
  let result = await attempt();
  for (let made = 1; made < attempts && isWorthRetrying(result) && !signal.aborted; made++) {
    const backoff = backoffDelay(made, baseDelay, maxDelay, random);
    await sleep(Math.max(backoff, result.retryAfter ?? 0), signal);
    if (signal.aborted) break;
    result = await attempt();
  }
  return result;
}

/** Whether another attempt might end otherwise. */
export function isWorthRetrying({ accessResult, error }: FetchResult): boolean {
  const isFinal =
    error?.code === 'address-refused' ||
    error?.code === 'aborted' ||
    error?.code === 'host-crowded';
  return accessResult === 'unreachable' && !isFinal;
}

/**
 * Milliseconds to wait after so many attempts (1 after the first): half of it certain, half of it
 * by chance, so that hosts which failed together are not asked together again.
 */
export function backoffDelay(
  made: number,
  baseDelay: number,
  maxDelay: number,
  random: () => number,
): number {
  const delay = Math.min(baseDelay * 2 ** (made - 1), maxDelay);
  return delay / 2 + (delay / 2) * random();
}

async function sleepFor(delay: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(delay, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
