/** A timer that can be stopped and started again. */
export class Deadline {
  readonly #onExpired: () => void;
  #left: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param milliseconds running time after which `onExpired` is called */
  constructor(milliseconds: number, onExpired: () => void) {
    this.#left = milliseconds;
    this.#onExpired = onExpired;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onExpired, Math.max(this.#left, 0));
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#startedAt;
  }
}
