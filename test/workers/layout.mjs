import { readFileSync } from 'node:fs';

const source = readFileSync(new URL('../../src/kernel/layout.ts', import.meta.url), 'utf8');

/**
 * The constants of kernel/layout.ts, for threads of tests, which load no TypeScript. That file has
 * only integer constants, and is therefore JavaScript too.
 */
export default await import(`data:text/javascript,${encodeURIComponent(source)}`);
