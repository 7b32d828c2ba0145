import { defineConfig } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** Packages stay outside. */
const external = /^(?![./]|[A-Z]:)/;

/** No comments and no indentation, but all names: stack traces name the functions. */
const compact = {
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
} as const;

/** The build is short, and `npm test` prints one screen: not how long each plugin took. */
const checks = { pluginTimings: false };

/**
 * Chunks. Each has the files that match, and all that they import and no group before has. Node
 * takes about half a millisecond to load a chunk, so what most runs need is in few of them. Only
 * `program` loads commander, and the library does not load `program`.
 */
const groups = [
  {
    name: 'filter',
    test: /src\/(table|(protocol|pipeline)\/[^/]+|files\/working-directory|workers\/main-thread)\.ts$/,
  },
  { name: 'robots', test: /src\/(robots|compile\/table-builder)\.ts$/ },
  { name: 'compile-cache', test: /src\/pipeline\/compile\/compile-cache\.ts$/ },
  { name: 'program', test: /src\/cli\/(program|commands\/filter)\.ts$/ },
  { name: 'compile-caches', test: /src\/cli\/commands\/compile-caches\.ts$/ },
].map((group, index, { length }) => ({ ...group, priority: length - index }));

export default defineConfig([
  // The library and the command line, which share chunks.
  {
    input: {
      index: './src/index.ts',
      'robots-parser': './src/robots-parser.ts',
      'cli/main': './src/cli/main.ts',
    },
    platform: 'node',
    external,
    checks,
    output: {
      dir: '.build/dist',
      cleanDir: true,
      chunkFileNames: 'chunks/[name].js',
      codeSplitting: { groups },
      ...compact,
    },
  },
  // The files that threads load are CommonJS: Node 20 aborts the process if a thread is ended
  // while Node links its ES modules.
  ...Object.entries({
    judge: './src/workers/worker.ts',
    compile: './src/pipeline/compile/thread.ts',
  }).map(([name, input]) => ({
    input: { [name]: input },
    platform: 'node' as const,
    external,
    checks,
    output: {
      dir: '.build/dist/workers',
      format: 'cjs' as const,
      entryFileNames: '[name].cjs',
      chunkFileNames: `${name}-[name].cjs`,
      ...compact,
    },
  })),
  // The types: the declarations that tsc wrote, without those that the library does not show.
  {
    input: {
      index: './.build/types/index.d.ts',
      'robots-parser': './.build/types/robots-parser.d.ts',
    },
    external,
    checks,
    plugins: [dts({ dtsInput: true, tsconfig: false })],
    output: { dir: '.build/dist' },
  },
]);
