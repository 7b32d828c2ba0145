import { fileURLToPath } from 'node:url';

/**
 * Path of a file that threads load. From src/workers, dist/workers and dist/cli alike this is where
 * the build puts it.
 */
export function entryFile(name: 'judge' | 'compile'): string {
  return fileURLToPath(new URL(`../../dist/workers/${name}.cjs`, import.meta.url));
}
