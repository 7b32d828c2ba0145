import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'rolldown';

const SOURCES = join(import.meta.dirname, '../src');

const DECOMPRESS = `import { Buffer } from 'node:buffer';
import { brotliDecompressSync } from 'node:zlib';
`;

/** An expression whose value is the bytes of a file: less than half as long as the bytes. */
function decompressed(path: string): string {
  const packed = brotliCompressSync(readFileSync(path)).toString('base64');
  return `brotliDecompressSync(Buffer.from('${packed}', 'base64'))`;
}

/** The modules that read files of this package, and the text of the module in place of each. */
const REPLACEMENTS: Readonly<Record<string, (dist: string) => string>> = {
  'kernel/kernel-bytes.ts': (dist) =>
    `${DECOMPRESS}export const kernelBytes = () => ${decompressed(join(dist, 'kernel/kernel.wasm'))};`,
  'workers/judge-source.ts': (dist) =>
    `${DECOMPRESS}export const judgeSource = () => ${decompressed(join(dist, 'cjs/judge.cjs'))}.toString();`,
  // A bundler cannot follow the import of a module that is known only at run time.
  'workers/bind-kernel.ts': () => `import { instantiateKernel } from '../kernel/kernel.js';
export const bindKernel = ({ module }, memory) => instantiateKernel(module, memory);`,
  'workers/thread.ts': () => `export { startThread } from './source-thread.js';`,
  'workers/entry-file.ts': () => 'export const HAS_ENTRY_FILES = false;',
  'pipeline/compile/compile-threads.ts': () => 'export const CompileThreads = undefined;',
};

/**
 * Builds the library without any file beside it, so that a bundle of it works in an empty
 * directory: the kernel and the program of the threads lie in the code.
 *
 * @param dist where the kernel and the threads have been built
 */
export function embedded(dist: string): Plugin {
  const texts = new Map(
    Object.entries(REPLACEMENTS).map(([name, text]) => [join(SOURCES, name), text]),
  );
  return {
    name: 'embedded',
    load(id) {
      const text = texts.get(join(id));
      return text === undefined ? null : { code: text(dist), moduleType: 'js' };
    },
  };
}
