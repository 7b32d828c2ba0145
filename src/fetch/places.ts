import { FetchFailure } from './failure.js';
import type { Place } from './fetcher.js';

/** A place that is held until it is ended. */
export interface HeldPlace extends Place {
  /** Gives the place up for good. */
  end(): void;
}

/**
 * Places for fetches that are under way at a time. Who comes back from waiting for a turn goes
 * before who has not begun.
 */
export class Places {
  readonly #atOnce: number;
  readonly #patience: AbortSignal;
  readonly #onFreed: () => void;
  readonly #returning = new Set<() => void>();
  #taken = 0;

  /**
   * @param patience aborted when nobody is to wait any longer
   * @param onFreed called when there may be a free place
   */
  constructor(atOnce: number, patience: AbortSignal, onFreed: () => void) {
    this.#atOnce = atOnce;
    this.#patience = patience;
    this.#onFreed = onFreed;
    patience.addEventListener('abort', () => {
      for (const hear of [...this.#returning]) hear();
    });
  }

  get isFree(): boolean {
    return this.#taken < this.#atOnce;
  }

  /** Takes a place, which must be free. */
  take(): HeldPlace {
    let state: 'held' | 'left' | 'ended' = 'held';
    this.#taken++;
    const leave = () => {
      if (state !== 'held') return;
      state = 'left';
      this.#taken--;
      this.#freed();
    };
    return {
      patience: this.#patience,
      leave,
      retake: () =>
        new Promise<void>((resolve, reject) => {
          const hear = () => {
            this.#returning.delete(hear);
            if (state !== 'left' || this.#patience.aborted) {
              reject(new FetchFailure('aborted', 'the fetch was aborted'));
              return;
            }
            state = 'held';
            this.#taken++;
            resolve();
          };
          if (this.isFree || state !== 'left' || this.#patience.aborted) hear();
          else this.#returning.add(hear);
        }),
      end: () => {
        leave();
        state = 'ended';
      },
    };
  }

  #freed(): void {
    for (const hear of this.#returning) {
      if (!this.isFree) return;
      hear();
    }
    this.#onFreed();
  }
}
