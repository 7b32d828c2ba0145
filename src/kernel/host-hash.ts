import { HOST_KEY_BYTES, MAX_HOST_BYTES } from '../table/format.js';
import { PAGE_BYTES } from './kernel.js';
import { MARGIN } from './layout.js';
import { FIRST_ADDRESS, PrivateKernel } from './private-kernel.js';

const KEY = FIRST_ADDRESS;
const HOSTS = KEY + HOST_KEY_BYTES;
/** The number of hosts hashed in one batch. Hosts of any length fit into a page with its margin. */
const HOSTS_AT_A_TIME = Math.floor((PAGE_BYTES - MARGIN - HOSTS) / (MAX_HOST_BYTES + 1));
const END = HOSTS + HOSTS_AT_A_TIME * (MAX_HOST_BYTES + 1);

/** A sequence of hosts: HostNames. */
interface HostSequence {
  readonly count: number;
  /** The hosts from one number to another, each after a byte that holds its length. */
  span(from: number, to: number): Uint8Array;
}

let own: PrivateKernel | undefined;
/** The instance whose key is in the memory. */
let holder: HostHash | undefined;

/**
 * The keyed hash that places a host in the table. The kernel itself computes it:
 * assembly/lookup/host-hash.ts.
 */
export class HostHash {
  readonly #key: Uint8Array;

  /** @param key HOST_KEY_BYTES bytes, random or from a digest */
  constructor(key: Uint8Array) {
    this.#key = key.slice();
  }

  /**
   * The hash of a canonical host, from 0 to 2^32 - 1.
   *
   * @throws RangeError for a host of more than MAX_HOST_BYTES bytes
   */
  of(host: Uint8Array): number {
    if (host.length > MAX_HOST_BYTES) throw new RangeError(`a host of ${host.length} bytes`);
    const { kernel, bytes } = this.#prepare();
    bytes.set(host, HOSTS);
    return kernel.hashHost(KEY, HOSTS, host.length) >>> 0;
  }

  /**
   * Writes the hashes of one batch of hosts to `hashes`, starting with the host of number `from`.
   * Returns the number after the last.
   */
  ofNext(hosts: HostSequence, from: number, hashes: Uint32Array): number {
    const { kernel, bytes } = this.#prepare();
    const to = Math.min(from + HOSTS_AT_A_TIME, hosts.count);
    bytes.set(hosts.span(from, to), HOSTS);
    let at = HOSTS;
    for (let host = from; host < to; host++) {
      const length = bytes[at++] as number;
      hashes[host] = kernel.hashHost(KEY, at, length);
      at += length;
    }
    return to;
  }

  #prepare(): { kernel: PrivateKernel['kernel']; bytes: Uint8Array } {
    own ??= new PrivateKernel();
    const bytes = own.bytes(END);
    if (holder !== this) {
      bytes.set(this.#key, KEY);
      holder = this;
    }
    return { kernel: own.kernel, bytes };
  }
}
