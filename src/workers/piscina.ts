import { createRequire } from 'node:module';
import type { Piscina } from 'piscina';
import { entryFile } from './entry-file.js';

let loaded: typeof Piscina | undefined;

/**
 * Loads piscina for the first thread, from the file that the build makes of it. Bundlers cannot see
 * that it is needed: it starts threads from another such file, so no bundle could use it.
 */
export function loadPiscina(): typeof Piscina {
  loaded ??= (
    createRequire(import.meta.filename)(entryFile('piscina/index') ?? 'piscina') as {
      Piscina: typeof Piscina;
    }
  ).Piscina;
  return loaded;
}
