import { createRequire } from 'node:module';

/** Path of a built file that threads load. package.json names its place. */
export function entryFile(name: 'judge' | 'compile'): string {
  return createRequire(import.meta.url).resolve(`#${name}`);
}
