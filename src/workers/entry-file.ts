import { packageFile } from '../files/package-file.js';

/** Path of a built file that threads load. */
export function entryFile(name: 'judge' | 'compile'): string {
  return packageFile(`dist/cjs/${name}.cjs`);
}
