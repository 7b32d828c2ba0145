import { readFileSync } from 'node:fs';
import { RobotsFilterError } from '../errors.js';
import { packageFile } from '../files/package-file.js';

/** Path of the built kernel. */
export function kernelFile(): string {
  return packageFile('dist/kernel/kernel.wasm');
}

/**
 * The kernel. In the build for bundlers another module takes the place of this one, and holds the
 * bytes: see rolldown.config.ts.
 *
 * @throws RobotsFilterError `input` if the file is missing
 */
export function kernelBytes(): Uint8Array {
  try {
    return readFileSync(kernelFile());
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `the kernel cannot be read from ${kernelFile()}. If robots-filter has been bundled, give the bundler its usual conditions, among them "module", or leave robots-filter outside of the bundle`,
      { cause },
    );
  }
}
