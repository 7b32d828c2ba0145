/** The hosts of a table in order, numbered from 0. A byte with its length precedes each host. */
export class HostNames {
  count = 0;
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;

  /** @param bytes total length of the hosts */
  constructor(hosts: number, bytes: number) {
    this.#bytes = new Uint8Array(hosts + bytes);
    this.#starts = new Uint32Array(hosts + 1);
  }

  static of(hosts: readonly Uint8Array[]): HostNames {
    const names = new HostNames(
      hosts.length,
      hosts.reduce((sum, host) => sum + host.length, 0),
    );
    for (const host of hosts) names.add(host, 0, host.length);
    return names;
  }

  /** Appends the host at `start` in `from`. */
  add(from: Uint8Array, start: number, length: number): void {
    const bytes = this.#bytes;
    let at = this.#starts[this.count] as number;
    bytes[at++] = length;
    for (let index = 0; index < length; index++) bytes[at + index] = from[start + index] as number;
    this.#starts[++this.count] = at + length;
  }

  /**
   * Keeps the first of equal neighbours. Returns the former number of each host that is kept, and
   * the former number of hosts.
   */
  dropRepeats(): Uint32Array {
    const bytes = this.#bytes;
    const starts = this.#starts;
    const former = new Uint32Array(this.count + 1);
    let kept = 0;
    for (let host = 0; host < this.count; host++) {
      const start = starts[host] as number;
      const end = starts[host + 1] as number;
      if (kept > 0 && this.#isAt(kept - 1, start, end)) continue;
      if (kept < host) {
        const to = starts[kept] as number;
        bytes.copyWithin(to, start, end);
        starts[kept + 1] = to + end - start;
      }
      former[kept++] = host;
    }
    former[kept] = this.count;
    this.count = kept;
    return former.subarray(0, kept + 1);
  }

  /** Whether a host, as stored, equals the bytes from `start` to `end`. */
  #isAt(host: number, start: number, end: number): boolean {
    const bytes = this.#bytes;
    const last = this.#starts[host + 1] as number;
    const length = end - start;
    if (last - (this.#starts[host] as number) !== length) return false;
    for (let back = 1; back <= length; back++) {
      if (bytes[last - back] !== bytes[end - back]) return false;
    }
    return true;
  }

  get(host: number): Uint8Array {
    return this.#bytes.subarray(
      (this.#starts[host] as number) + 1,
      this.#starts[host + 1] as number,
    );
  }

  length(host: number): number {
    return (this.#starts[host + 1] as number) - (this.#starts[host] as number) - 1;
  }

  /** The byte before a host, which holds its length. */
  lengthByte(host: number): number {
    return this.#bytes[this.#starts[host] as number] as number;
  }

  /** Copies a host to `to`. */
  write(host: number, to: Uint8Array, at: number): void {
    const bytes = this.#bytes;
    const start = (this.#starts[host] as number) + 1;
    const length = this.length(host);
    for (let index = 0; index < length; index++) to[at + index] = bytes[start + index] as number;
  }

  /** The hosts from one number to another as stored, lengths included. */
  span(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[from] as number, this.#starts[to] as number);
  }
}
