import { readFileSync } from 'node:fs';
import { embedded } from '../files/embedded.js';
import { packageFile } from '../files/package-file.js';

/** The kernel: a file of the package, or the copy in a bundle. */
export function kernelBytes(): Uint8Array {
  const file = packageFile('dist/kernel/kernel.wasm');
  return file === undefined ? embedded().kernel() : readFileSync(file);
}
