/** A limit of time that can stand still. */
export class Deadline {
  readonly #onExpired: () => void;
  #left: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param milliseconds of running time until `onExpired` is called; it begins with `start` */
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
