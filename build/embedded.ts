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
const REPLACEMENTS: Readonly<Record<string, (built: string) => string>> = {
  'kernel/kernel-bytes.ts': (built) =>
    `${DECOMPRESS}export const kernelBytes = () => ${decompressed(join(built, 'dist/kernel/kernel.wasm'))};`,
  'workers/judge-source.ts': (built) =>
    `${DECOMPRESS}export const judgeSource = () => ${decompressed(join(built, 'embedded/judge.cjs'))}.toString();`,
  // A bundler cannot follow the import of a module that is known only at run time.
  'workers/bind-kernel.ts': () => `import { instantiateKernel } from '../kernel/kernel.js';
export const bindKernel = ({ module }, memory) => instantiateKernel(module, memory);`,
  'workers/thread.ts': () => `export { startThread } from './source-thread.js';`,
  'workers/entry-file.ts': () => 'export const HAS_ENTRY_FILES = false;',
  'pipeline/compile/compile-threads.ts': () => 'export const CompileThreads = undefined;',
  // The library opens no table that needs several memories.
  'bank-groups.ts': () => 'export const bankGroups = undefined;',
  'pipeline/bank-regions.ts': () =>
    'export const BankRegions = undefined, bankOfShard = undefined, placeDivider = undefined;',
  'workers/banks/divided-judge.ts': () => 'export const dividedJudge = undefined;',
};

/**
 * Builds the library without any file beside it, so that a bundle of it works in an empty
 * directory: the kernel and the program of the threads lie in the code.
 *
 * @param built where the kernel (dist/kernel) and the program of its threads (embedded) are built
 */
export function embedded(built: string): Plugin {
  const texts = new Map(
    Object.entries(REPLACEMENTS).map(([name, text]) => [join(SOURCES, name), text]),
  );
  return {
    name: 'embedded',
    load(id) {
      const text = texts.get(join(id));
      return text === undefined ? null : { code: text(built), moduleType: 'js' };
    },
  };
}
