import { RobotsFilterError } from '../errors.js';
import { canonicalHost } from '../protocol/authority.js';

/** The kernel's exports; see assembly/index.ts. Arguments are addresses, in bytes of the memory. */
export interface Kernel {
  /** Decides about the lines of the task at `task`; returns RUN_… of layout.ts. */
  run(task: number): number;
  /**
   * Divides the lines of the task at `task` by the memory that has their host; see DIVISION_… of
   * layout.ts.
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
  loadRules(block: number, text: number, places: number, count: number, google: number): number;
  /** Claims memory until the next `loadRules`; returns its address. */
  claim(bytes: number): number;
  /** Sets the text of a loaded rule. */
  setText(item: number, text: number, bytes: number): void;
  /** Writes the automaton of the loaded rules; returns its address. */
  writeAutomaton(block: number): number;
  /** Adds the blocks `from`–`end` to the lanes of a checksum; see checksum.ts. */
  addBlocks(lanes: number, from: number, end: number): void;
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
export function growMemory(memory: WebAssembly.Memory, pages: number): number {
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
