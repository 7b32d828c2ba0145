import { createMemory, instantiateKernel, type Kernel, PAGE_OCTETS } from './kernel.js';
import { kernelModule } from './module.js';

/** How a literal of a path pattern is to be read. */
export interface LiteralMode {
  /** By the google profile: hex digits upper-cased, octets from 0x80 on encoded, nothing else. */
  readonly google: boolean;
  /**
   * A raw `?` stands before the literal in its pattern, so the reserved octets of a query are
   * decoded (spec note A).
   */
  readonly inQuery: boolean;
}

let memory: WebAssembly.Memory | undefined;
let kernel: Kernel | undefined;

/**
 * The canonical form of a literal of a path pattern, at most three octets for each (RFC 9309
 * section 2.2.2). The kernel's own canonicaliser of URLs does it: there is no second one.
 */
export function canonicalise(literal: Uint8Array, mode: LiteralMode): Uint8Array {
  memory ??= createMemory(PAGE_OCTETS);
  kernel ??= instantiateKernel(kernelModule(), memory);
  const from = 64;
  const end = from + literal.length;
  const needed = end + 3 * literal.length + 64;
  if (needed > memory.buffer.byteLength) {
    memory.grow(Math.ceil((needed - memory.buffer.byteLength) / PAGE_OCTETS));
  }
  const octets = new Uint8Array(memory.buffer);
  octets.set(literal, from);
  const written = mode.google
    ? kernel.escapeLiteral(from, end, end)
    : kernel.canonicaliseLiteral(from, end, end, mode.inQuery ? 1 : 0);
  return octets.slice(end, written >>> 0);
}
