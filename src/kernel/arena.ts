import { RobotsFilterError } from '../errors.js';
import { MAX_PAGES, PAGE_OCTETS } from './kernel.js';

/** A piece of a memory, in octets; both ends are page boundaries. */
export interface Region {
  readonly address: number;
  readonly octets: number;
}

/** Hands out regions of one memory, growing it; regions that are given back are used again. */
export class Arena {
  readonly memory: WebAssembly.Memory;
  #free: Region[] = [];

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
  }

  /**
   * A region of at least so many octets; its content is whatever was there before.
   *
   * @throws RobotsFilterError `limit` if the memory would pass 4 GiB.
   */
  take(octets: number): Region {
    const pages = Math.ceil(octets / PAGE_OCTETS);
    const wanted = pages * PAGE_OCTETS;
    const index = this.#free.findIndex((region) => region.octets >= wanted);
    const found = this.#free[index];
    if (found !== undefined) {
      this.#free.splice(index, 1);
      if (found.octets > wanted) {
        this.#free.push({ address: found.address + wanted, octets: found.octets - wanted });
      }
      return { address: found.address, octets: wanted };
    }
    const held = this.memory.buffer.byteLength / PAGE_OCTETS;
    if (held + pages > MAX_PAGES) {
      throw new RobotsFilterError(
        'limit',
        `${octets} octets more do not fit: a table and the batches in flight share 4 GiB; ` +
          'lower --max-line-bytes or --threads, or cut the table into several',
      );
    }
    return { address: this.memory.grow(pages) * PAGE_OCTETS, octets: wanted };
  }

  /** Takes a region back. Nothing may use it any more. */
  give(region: Region): void {
    this.#free.push(region);
  }
}
