import { HOST_KEY_OCTETS, MAX_HOST_OCTETS } from '../compile/format.js';
import {
  createMemory,
  instantiateKernel,
  type Kernel,
  kernelModule,
  PAGE_OCTETS,
} from './kernel.js';

const KEY = 64;
const HOST = KEY + HOST_KEY_OCTETS;

/** The kernel of this thread, and its memory. */
let bound: { readonly kernel: Kernel; readonly octets: Uint8Array } | undefined;
/** Whose key lies in the memory. */
let holder: HostHash | undefined;

/** The hash that places a host in the table, with a key. The kernel itself computes it: assembly/host-hash.ts. */
export class HostHash {
  readonly #key: Uint8Array;

  /** @param key HOST_KEY_OCTETS octets, drawn by chance or by a digest */
  constructor(key: Uint8Array) {
    this.#key = key.slice();
  }

  /** The hash of a canonical host, which has at most MAX_HOST_OCTETS octets; from 0 to 2^32 - 1. */
  of(host: Uint8Array): number {
    if (host.length > MAX_HOST_OCTETS) throw new RangeError(`a host of ${host.length} octets`);
    bound ??= bind();
    const { kernel, octets } = bound;
    if (holder !== this) {
      octets.set(this.#key, KEY);
      holder = this;
    }
    octets.set(host, HOST);
    return kernel.hashHost(KEY, HOST, host.length) >>> 0;
  }
}

function bind(): { readonly kernel: Kernel; readonly octets: Uint8Array } {
  const memory = createMemory(PAGE_OCTETS);
  return {
    kernel: instantiateKernel(kernelModule(), memory),
    octets: new Uint8Array(memory.buffer),
  };
}
