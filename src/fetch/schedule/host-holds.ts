/** Hosts that asked for no request for some time. A hold takes memory until its time has passed. */
export class HostHolds {
  readonly #now: () => number;
  /** The end of each hold in milliseconds, by host, in the order of their beginning. */
  readonly #ends = new Map<string, number>();

  /** @param now milliseconds of a clock that is never set back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Begins a hold of so many milliseconds. */
  begin(host: string, delay: number): void {
    this.#forgetPassed();
    this.#ends.delete(host);
    this.#ends.set(host, this.#now() + delay);
  }

  /** Milliseconds until the end of a host's hold; 0 without a hold. */
  remaining(host: string): number {
    return Math.max((this.#ends.get(host) ?? 0) - this.#now(), 0);
  }

  /** Ends the hold of a host. */
  end(host: string): void {
    this.#ends.delete(host);
  }

  /** Forgets the holds that have passed, up to the first that has not. */
  #forgetPassed(): void {
    for (const [host, end] of this.#ends) {
      if (end > this.#now()) return;
      this.#ends.delete(host);
    }
  }
}
