import { HOST_KEY_OCTETS, MAX_HOST_OCTETS } from '../compile/format.js';
import { createMemory, instantiateKernel, type Kernel, PAGE_OCTETS } from './kernel.js';
import { kernelModule } from './module.js';

const KEY = 64;
const HOST = KEY + HOST_KEY_OCTETS;
/** Hosts that are hashed at a time, however long they are: what follows them must be readable. */
const HOSTS_AT_A_TIME = Math.floor((PAGE_OCTETS - HOST) / (MAX_HOST_OCTETS + 1)) - 1;

/** Hosts one behind another: HostNames. */
interface HostSequence {
  readonly count: number;
  /** Those from one to another, each behind an octet that says how many it has. */
  span(from: number, to: number): Uint8Array;
}

/** The kernel of this thread, and its memory. */
interface Bound {
  readonly kernel: Kernel;
  readonly octets: Uint8Array;
}

let bound: Bound | undefined;
/** Whose key lies in the memory. */
let holder: HostHash | undefined;

/**
 * The hash that places a host in the table, with a key. The kernel itself computes it:
 * assembly/host-hash.ts.
 */
export class HostHash {
  readonly #key: Uint8Array;

  /** @param key HOST_KEY_OCTETS octets, drawn by chance or by a digest */
  constructor(key: Uint8Array) {
    this.#key = key.slice();
  }

  /** The hash of a canonical host, which has at most MAX_HOST_OCTETS octets; from 0 to 2^32 - 1. */
  of(host: Uint8Array): number {
    if (host.length > MAX_HOST_OCTETS) throw new RangeError(`a host of ${host.length} octets`);
    const { kernel, octets } = this.#bind();
    octets.set(host, HOST);
    return kernel.hashHost(KEY, HOST, host.length) >>> 0;
  }

  /**
   * Writes the hashes of hosts to `hashes` from the number `from` on, and returns the number behind
   * the last: as many as are hashed at a time.
   */
  ofNext(hosts: HostSequence, from: number, hashes: Uint32Array): number {
    const { kernel, octets } = this.#bind();
    const to = Math.min(from + HOSTS_AT_A_TIME, hosts.count);
    octets.set(hosts.span(from, to), HOST);
    let at = HOST;
    for (let host = from; host < to; host++) {
      const length = octets[at++] as number;
      hashes[host] = kernel.hashHost(KEY, at, length);
      at += length;
    }
    return to;
  }

  #bind(): Bound {
    bound ??= bind();
    if (holder !== this) {
      bound.octets.set(this.#key, KEY);
      holder = this;
    }
    return bound;
  }
}

function bind(): Bound {
  const memory = createMemory(PAGE_OCTETS);
  return {
    kernel: instantiateKernel(kernelModule(), memory),
    octets: new Uint8Array(memory.buffer),
  };
}
