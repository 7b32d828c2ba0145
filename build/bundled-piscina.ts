import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'rolldown';

const PISCINA = dirname(createRequire(import.meta.url).resolve('piscina'));

/** What starts threads, and what each thread loads. */
export const PISCINA_POOL = join(PISCINA, 'index.js');
export const PISCINA_WORKER = join(PISCINA, 'worker.js');

/** Where the pool names the file that each thread loads. */
const WORKER = /(?<=\(__dirname, (["'`]))worker\.js(?=\1\))/g;

/**
 * Makes the pool start threads from the built file. Node takes 5 ms less for the two built files
 * than to find and load the fifteen of the package. Its addon for priorities of threads stays
 * outside: nothing here sets a priority.
 */
export function bundledPiscina(): Plugin {
  return {
    name: 'bundled-piscina',
    renderChunk(code, { fileName }) {
      if (code.match(WORKER)?.length === 1) return code.replace(WORKER, 'piscina-worker.cjs');
      throw new Error(`${fileName} names no worker, or several. Read build/bundled-piscina.ts`);
    },
  };
}
