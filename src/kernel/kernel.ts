import { canonicalHost } from '../protocol/authority.js';

/**
 * The kernel's exports; see assembly/index.ts. All arguments are addresses in the memory, in
 * octets.
 */
export interface Kernel {
  /**
   * Judges the lines of the task at this address; returns one of the RUN_ constants of layout.ts.
   */
  run(task: number): number;
  /** Judges one URL; returns the first agent's outcome. */
  judgeUrl(
    query: number,
    worker: number,
    url: number,
    end: number,
    scratch: number,
    scratchEnd: number,
  ): number;
  /**
   * Writes the pattern of the rule that decided a result, escaped as in a JSON string; returns its
   * end.
   */
  patternText(result: number, to: number): number;
  /**
   * Writes where the robots.txt of a result came from, escaped as in a JSON string; returns its
   * end.
   */
  sourceText(query: number, result: number, to: number): number;
  /** Writes the canonical form of a pattern's literal; returns its end. */
  canonicaliseLiteral(from: number, end: number, to: number, inQuery: number): number;
  /**
   * Decodes a JSON string from behind its first quote, and leaves the address of its last one at
   * `quote`; returns its end, or 0.
   */
  decodeString(from: number, end: number, to: number, quote: number): number;
  /** The hash of a canonical host by a key, as 32 bits with a sign. */
  hashHost(key: number, host: number, octets: number): number;
  /** Writes the form that the google profile gives a pattern's literal; returns its end. */
  escapeLiteral(from: number, end: number, to: number): number;
}

/** A wasm page, in octets. */
export const PAGE_OCTETS = 65_536;
/** The most that a 32-bit memory can be grown to: 4 GiB. */
export const MAX_PAGES = 65_536;

/**
 * A memory for tables and the kernel's blocks: shared, so that threads can be given it. Grows to 4
 * GiB.
 */
export function createMemory(octets: number): WebAssembly.Memory {
  const pages = Math.ceil(octets / PAGE_OCTETS);
  return new WebAssembly.Memory({ initial: pages, maximum: MAX_PAGES, shared: true });
}

/** Binds the kernel to a memory. Several instances, on several threads, may share one. */
export function instantiateKernel(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernel {
  const environment = {
    canonicalHost(from: number, octets: number, to: number): number {
      const host = canonicalHost(new Uint8Array(memory.buffer, from >>> 0, octets).slice());
      if (host === undefined) return -1;
      // The canonical form is ASCII, and at most 255 octets long.
      const target = new Uint8Array(memory.buffer, to >>> 0, host.length);
      for (let i = 0; i < host.length; i++) target[i] = host.charCodeAt(i);
      return host.length;
    },
  };
  const instance = new WebAssembly.Instance(module, { env: { memory }, environment });
  // The exports are those of assembly/index.ts, which no type of the platform describes.
  return instance.exports as unknown as Kernel;
}
