import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { RobotsFilterError } from '../errors.js';
import { packageFile } from '../files/package-file.js';

let kernel: WebAssembly.Module | undefined;

/** Path of the built kernel. */
export function kernelFile(): string {
  return packageFile('dist/kernel/kernel.wasm');
}

/**
 * The compiled kernel, compiled once on each thread.
 *
 * @throws RobotsFilterError `usage` on a machine that stores the high byte of a word first
 */
export function kernelModule(): WebAssembly.Module {
  if (kernel === undefined) {
    requireLittleEndian(endianness());
    kernel = new WebAssembly.Module(readFileSync(kernelFile()));
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
