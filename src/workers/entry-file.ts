import { packageFile } from '../files/package-file.js';

/** Path of a built file that threads load. */
export function entryFile(name: 'judge' | 'compile' | 'serve'): string {
  return packageFile(`dist/cjs/${name}.cjs`);
}
