import type * as Library from '../../src/library/index.js';

const built = new URL('../../dist/index.js', import.meta.url);

/** The shipped library. */
export const library = (await import(built.href)) as typeof Library;
