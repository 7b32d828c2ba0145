/** The WebAssembly module of the kernel, its memory, and its exports with their types. */

import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { RobotsFilterError } from '../base/errors.js';
import { embedded } from '../files/embedded.js';
import { packageFile } from '../files/package-file.js';
import { canonicalHost } from '../protocol/authority.js';
import { COPY_MARGIN, GROUP_LINES, MARGIN, SCRATCH_FACTOR, SCRATCH_MARGIN } from './layout.js';

/** The kernel's exports; see assembly/index.ts. Arguments are addresses, in bytes of the memory. */
export interface Kernel {
  /** Decides about the lines of the task at `task`; returns RUN_… of kernel/layout.ts. */
  run(task: number): number;
  /**
   * Divides the lines of the task at `task` by the memory that has their host; see DIVISION_… of
   * kernel/layout.ts.
   */
  divide(task: number, division: number): void;
  /**
   * Merges the output of the lines, in their order, as far as it is there. Returns MERGE_…, or the
   * bank whose share must be judged further.
   */
  merge(division: number): number;
  /** Drops the counters of rules up to a limit. */
  keepRules(query: number, worker: number, limit: number): void;
  /** Decides about one URL; returns the first agent's outcome. */
  decideUrl(
    query: number,
    worker: number,
    url: number,
    end: number,
    scratch: number,
    scratchEnd: number,
  ): number;
  /** Finds the URL of one record: fills in the first line entry of the worker block. */
  locateRecord(
    query: number,
    worker: number,
    start: number,
    end: number,
    scratch: number,
    scratchEnd: number,
  ): void;
  /** Returns the address after the rows, from the first, that are lines as they stand. */
  endOfPlainRows(from: number, end: number, delimiter: number): number;
  /** Writes the pattern of a result's rule, escaped as in a JSON string; returns its end. */
  patternText(result: number, to: number): number;
  /**
   * Writes the rule or the signal of a result, escaped as in a JSON string; returns its end.
   *
   * @param agent address of the agent in the query
   */
  ruleText(query: number, agent: number, result: number, to: number): number;
  /** Writes a result's source of robots.txt, escaped as in a JSON string; returns its end. */
  sourceText(query: number, result: number, to: number): number;
  /**
   * Decodes a JSON string whose first quote stands before `from`, and stores the address of its
   * last quote at `quote`. Returns the end of the text, or 0 if the string is not valid.
   */
  decodeString(from: number, end: number, to: number, quote: number): number;
  /**
   * Loads the rules of a group from their places in a text, for `writeAutomaton`; see
   * compile-layout.ts. Returns the number of rules whose text `setText` must set.
   */
  loadRules(block: number, text: number, places: number, count: number, flags: number): number;
  /** Claims memory until the next `loadRules`; returns its address. */
  claim(bytes: number): number;
  /** Sets the text of a loaded rule. */
  setText(item: number, text: number, bytes: number): void;
  /** Writes the automaton of the loaded rules; returns its address. */
  writeAutomaton(block: number): number;
  /** Adds the blocks `from`–`end` to the lanes of a checksum; see kernel/hashes.ts. */
  addBlocks(lanes: number, from: number, end: number): void;
  /** The time that a text states, in milliseconds since 1970; NaN if it states none. */
  readTime(from: number, end: number): number;
  /** The keyed hash of a canonical host, as a signed number of 32 bits. */
  hashHost(key: number, host: number, bytes: number): number;
}

/** Bytes of a WebAssembly page. */
export const PAGE_BYTES = 65_536;
/** Pages of the largest 32-bit memory: 4 GiB. */
export const MAX_PAGES = 65_536;

/**
 * A memory for tables and the kernel's blocks, shared between threads. Grows up to 4 GiB. V8
 * reserves the addresses of all 4 GiB, and guards around them, before the first use.
 *
 * @throws RobotsFilterError `limit` if the system refuses the addresses
 */
export function createMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  return granted(
    () => new WebAssembly.Memory({ initial: pages, maximum: MAX_PAGES, shared: true }),
  );
}

/**
 * Grows a memory; returns its pages before. Node 24 does not reserve all addresses at first if they
 * are limited.
 *
 * @throws RobotsFilterError `limit` if the system refuses the addresses
 */
function growMemory(memory: WebAssembly.Memory, pages: number): number {
  return granted(() => memory.grow(pages));
}

function granted<Result>(ask: () => Result): Result {
  try {
    return ask();
  } catch (cause) {
    throw new RobotsFilterError(
      'limit',
      typeof WebAssembly === 'undefined'
        ? 'This Node has no WebAssembly. Leave --jitless out'
        : 'The system refused the addresses for a memory. If ulimit -v limits them, remove the limit: each memory reserves 10 GB of addresses, and a thread may have several',
      { cause },
    );
  }
}

/** Binds the kernel to a memory. Several instances, on several threads, may share one. */
export function instantiateKernel(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernel {
  const environment = {
    canonicalHost(from: number, bytes: number, to: number): number {
      const host = canonicalHost(new Uint8Array(memory.buffer, from >>> 0, bytes).slice());
      if (host === undefined) return -1;
      // The canonical form is ASCII, and at most 255 bytes long.
      const target = new Uint8Array(memory.buffer, to >>> 0, host.length);
      for (let i = 0; i < host.length; i++) target[i] = host.charCodeAt(i);
      return host.length;
    },
  };
  const instance = new WebAssembly.Instance(module, { env: { memory }, environment });
  // The exports are those of assembly/index.ts; no type of the platform describes them.
  return instance.exports as unknown as Kernel;
}

let kernel: WebAssembly.Module | undefined;

/**
 * The compiled kernel, compiled once on each thread.
 *
 * @throws RobotsFilterError `usage` on a machine that stores the high byte of a word first; `input`
 *   if the file of the kernel is missing
 */
export function kernelModule(): WebAssembly.Module {
  if (kernel === undefined) {
    requireLittleEndian(endianness());
    kernel = new WebAssembly.Module(kernelBytes());
  }
  return kernel;
}

/**
 * Tables and the memory of WebAssembly are little-endian. Typed arrays have the byte order of the
 * machine, and all of src reads words through them.
 *
 * @throws RobotsFilterError `usage`
 */
export function requireLittleEndian(order: 'BE' | 'LE'): void {
  if (order === 'LE') return;
  throw new RobotsFilterError(
    'usage',
    'This machine is big-endian. robots-filter needs a little-endian machine, such as x86-64 or ARM64',
  );
}

/** The kernel: a file of the package, or the copy in a bundle. */
export function kernelBytes(): Uint8Array {
  const file = packageFile('dist/kernel/kernel.wasm');
  return file === undefined ? embedded().kernel() : readFileSync(file);
}

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

/**
 * Bytes of scratch memory that suffice for any input; SCRATCH_FACTOR in kernel/layout.ts has the
 * proof.
 *
 * @param inputBytes bytes of the batch, or of the one URL
 * @param lines upper bound of the input's lines, if it is below GROUP_LINES
 */
export function scratchBytes(inputBytes: number, lines: number = GROUP_LINES): number {
  return SCRATCH_FACTOR * inputBytes + COPY_MARGIN * Math.min(lines, GROUP_LINES) + SCRATCH_MARGIN;
}
