import { packageFile } from '../files/package-file.js';

/**
 * Path of a built file that threads load, or of the one that starts them; undefined in a bundle,
 * which has no such files.
 */
export function entryFile(
  name: 'judge' | 'compile' | 'serve' | 'piscina/index',
): string | undefined {
  return packageFile(`dist/cjs/${name}.cjs`);
}
