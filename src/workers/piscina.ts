import { createRequire } from 'node:module';
import type { Piscina } from 'piscina';

let loaded: typeof Piscina | undefined;

/**
 * Loads piscina for the first thread. Bundlers cannot see that the package is needed: it starts
 * threads from files of its own, and has a native addon, so no bundle could use it.
 */
export function loadPiscina(): typeof Piscina {
  loaded ??= (createRequire(import.meta.filename)('piscina') as { Piscina: typeof Piscina })
    .Piscina;
  return loaded;
}
