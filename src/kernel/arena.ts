import { RobotsFilterError } from '../errors.js';
import { growMemory, MAX_PAGES, PAGE_BYTES } from './kernel.js';

/** A region of a memory, in bytes; both ends are page boundaries. */
export interface Region {
  readonly address: number;
  readonly bytes: number;
}

/** Hands out regions of one memory, and grows the memory; returned regions are reused. */
export class Arena {
  readonly memory: WebAssembly.Memory;
  #free: Region[] = [];

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
  }

  /**
   * Returns a region of at least `bytes` bytes, whose content is undefined.
   *
   * @throws RobotsFilterError `limit` if the memory would pass 4 GiB, or the system refuses the
   *   addresses
   */
  take(bytes: number): Region {
    const pages = Math.ceil(bytes / PAGE_BYTES);
    const wanted = pages * PAGE_BYTES;
    const index = this.#free.findIndex((region) => region.bytes >= wanted);
    const found = this.#free[index];
    if (found !== undefined) {
      this.#free.splice(index, 1);
      if (found.bytes > wanted) {
        this.#free.push({ address: found.address + wanted, bytes: found.bytes - wanted });
      }
      return { address: found.address, bytes: wanted };
    }
    const held = this.memory.buffer.byteLength / PAGE_BYTES;
    if (held + pages > MAX_PAGES) {
      throw new RobotsFilterError(
        'limit',
        `${bytes} more bytes do not fit: a table and the batches in flight share 4 GiB; ` +
          'lower --max-line-bytes or --threads, or split the table',
      );
    }
    return { address: growMemory(this.memory, pages) * PAGE_BYTES, bytes: wanted };
  }

  /** Takes a region back. Do not use the region afterwards. */
  give(region: Region): void {
    this.#free.push(region);
  }
}
