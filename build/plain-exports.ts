import type { Plugin } from 'rolldown';

/** How rolldown exports what other chunks use, at the end of a chunk. */
const GETTER =
  /Object\.defineProperty\(exports, "([\w$]+)", \{\s+enumerable: true,\s+get: function \(\) \{\s+return (.+);\s+\}\s+\}\);/g;

/**
 * Exports values in place of functions that return them. Node would make hundreds of these
 * functions at each start, and compile each that is called. No exported value changes later:
 * test/structure asserts it.
 */
export function plainExports(): Plugin {
  return {
    name: 'plain-exports',
    renderChunk(code, { fileName }) {
      const plain = code.replaceAll(GETTER, 'exports.$1 = $2;');
      if (!plain.includes('Object.defineProperty(exports, "')) return plain;
      throw new Error(`${fileName} has an export of another form. Read build/plain-exports.ts`);
    },
  };
}
