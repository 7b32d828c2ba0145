/**
 * The hosts of a table in their order, numbered from 0: one behind another, each behind an octet
 * that says how many it has.
 */
export class HostNames {
  count = 0;
  readonly #octets: Uint8Array;
  readonly #starts: Uint32Array;

  /** Room for so many hosts, of so many octets together. */
  constructor(hosts: number, octets: number) {
    this.#octets = new Uint8Array(hosts + octets);
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

  /** Adds the host that lies in `from` at `start`. */
  add(from: Uint8Array, start: number, length: number): void {
    const octets = this.#octets;
    let at = this.#starts[this.count] as number;
    octets[at++] = length;
    for (let index = 0; index < length; index++) octets[at + index] = from[start + index] as number;
    this.#starts[++this.count] = at + length;
  }

  /** Whether the last host is the one that lies in `from` at `start`. */
  endWith(from: Uint8Array, start: number, length: number): boolean {
    const octets = this.#octets;
    const end = this.#starts[this.count] as number;
    if (this.count === 0 || octets[this.#starts[this.count - 1] as number] !== length) return false;
    for (let back = 1; back <= length; back++) {
      if (octets[end - back] !== from[start + length - back]) return false;
    }
    return true;
  }

  get(host: number): Uint8Array {
    return this.#octets.subarray(
      (this.#starts[host] as number) + 1,
      this.#starts[host + 1] as number,
    );
  }

  length(host: number): number {
    return this.#octets[this.#starts[host] as number] as number;
  }

  /** Copies a host to `to`. */
  write(host: number, to: Uint8Array, at: number): void {
    const octets = this.#octets;
    const start = (this.#starts[host] as number) + 1;
    const length = this.length(host);
    for (let index = 0; index < length; index++) to[at + index] = octets[start + index] as number;
  }

  /** Hosts from one to another as they lie, each behind its number of octets. */
  span(from: number, to: number): Uint8Array {
    return this.#octets.subarray(this.#starts[from] as number, this.#starts[to] as number);
  }
}
