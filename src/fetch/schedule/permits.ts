import type { Permit } from '../fetcher.js';
import { FetchFailure } from '../transport/failure.js';

/** A permit that its holder ends. */
export interface HeldPermit extends Permit {
  /** Releases the permit for good. */
  end(): void;
}

/**
 * Permits for a limited number of fetches under way. A fetch that returns from waiting for a turn
 * has precedence over one that has not begun.
 */
export class Permits {
  readonly #limit: number;
  readonly #signal: AbortSignal;
  readonly #onReleased: () => void;
  /** Callbacks of the fetches that want their permits back, in order. */
  readonly #returning = new Set<() => void>();
  #held = 0;

  /**
   * @param limit maximum number of permits that are held at a time
   * @param signal aborted when no fetch may wait any longer
   * @param onReleased called when a permit may be free
   */
  constructor(limit: number, signal: AbortSignal, onReleased: () => void) {
    this.#limit = limit;
    this.#signal = signal;
    this.#onReleased = onReleased;
    signal.addEventListener('abort', () => {
      for (const settle of [...this.#returning]) settle();
    });
  }

  get isFree(): boolean {
    return this.#held < this.#limit;
  }

  /** Takes a permit. Call this only if one is free. */
  take(): HeldPermit {
    let state: 'held' | 'released' | 'ended' = 'held';
    this.#held++;
    const release = () => {
      if (state !== 'held') return;
      state = 'released';
      this.#held--;
      this.#handOn();
    };
    return {
      signal: this.#signal,
      release,
      reacquire: () =>
        new Promise<void>((resolve, reject) => {
          const settle = () => {
            this.#returning.delete(settle);
            if (state !== 'released' || this.#signal.aborted) {
              reject(new FetchFailure('aborted', 'the fetch was aborted'));
              return;
            }
            state = 'held';
            this.#held++;
            resolve();
          };
          if (this.isFree || state !== 'released' || this.#signal.aborted) settle();
          else this.#returning.add(settle);
        }),
      end: () => {
        release();
        state = 'ended';
      },
    };
  }

  #handOn(): void {
    for (const settle of this.#returning) {
      if (!this.isFree) return;
      settle();
    }
    this.#onReleased();
  }
}
