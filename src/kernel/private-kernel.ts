import { createMemory, growMemory, instantiateKernel, type Kernel, PAGE_BYTES } from './kernel.js';
import { MARGIN } from './layout.js';
import { kernelModule } from './module.js';

/**
 * A kernel with its own small memory, for a function that needs no table. Each caller lays out its
 * blocks from FIRST_ADDRESS on.
 */
export class PrivateKernel {
  readonly kernel: Kernel;
  readonly #memory: WebAssembly.Memory;
  #bytes: Uint8Array;

  constructor() {
    this.#memory = createMemory(PAGE_BYTES);
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.kernel = instantiateKernel(kernelModule(), this.#memory);
  }

  /**
   * The memory, with at least `end` bytes and the MARGIN that the kernel may read and write after
   * them. A later call may return another array, if the memory has grown.
   */
  bytes(end: number): Uint8Array {
    const need = end + MARGIN;
    if (need > this.#bytes.length) {
      // The kernel may have added memory.
      const lacking = need - this.#memory.buffer.byteLength;
      if (lacking > 0) growMemory(this.#memory, Math.ceil(lacking / PAGE_BYTES));
      this.#bytes = new Uint8Array(this.#memory.buffer);
    }
    return this.#bytes;
  }
}

/** The first address for a block: the kernel may read one byte before a block. */
export const FIRST_ADDRESS = 64;
