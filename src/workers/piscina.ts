import { createRequire } from 'node:module';
import type { Piscina } from 'piscina';

/**
 * Loads the class Piscina when the first thread starts. Bundlers do not follow this: a bundle
 * starts its threads itself (source-thread.ts), and esbuild refuses the native addon of Piscina.
 */
export function loadPiscina(): typeof Piscina {
  const loaded: { Piscina: typeof Piscina } = createRequire(import.meta.filename)('piscina');
  return loaded.Piscina;
}
