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

  /** Whether the last host equals the host at `start` in `from`. */
  endWith(from: Uint8Array, start: number, length: number): boolean {
    const bytes = this.#bytes;
    const end = this.#starts[this.count] as number;
    if (this.count === 0 || bytes[this.#starts[this.count - 1] as number] !== length) return false;
    for (let back = 1; back <= length; back++) {
      if (bytes[end - back] !== from[start + length - back]) return false;
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
