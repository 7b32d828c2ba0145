import { endianness } from 'node:os';
import { RobotsFilterError } from '../errors.js';
import { kernelBytes } from './kernel-bytes.js';

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
