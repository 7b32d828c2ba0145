import { packageFile } from '../files/package-file.js';

/**
 * Whether threads can load files of this package. In the build for bundlers another module takes
 * the place of this one, and says that they cannot: see rolldown.config.ts.
 */
export const HAS_ENTRY_FILES: boolean = true;

/** Path of a built file that threads load. */
export function entryFile(name: 'judge' | 'compile' | 'serve'): string {
  return packageFile(`dist/cjs/${name}.cjs`);
}
