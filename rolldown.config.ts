import { defineConfig, type OutputOptions } from 'rolldown';

/*
 * What is started, in as few files as it takes: to find, read and link a hundred ES modules takes node 25 ms, and a
 * thread 15 ms. The library stays as tsc leaves it.
 */

/** CommonJS, since Node loads it without its machinery for ES modules. What is imported dynamically stays a file of its own. */
const output: OutputOptions = {
  format: 'cjs',
  exports: 'auto',
  comments: false,
  chunkFileNames: '[name].js',
};

const packages =
  /^(?:basic-ftp|commander|http-cache-semantics|ipaddr\.js|piscina|stream-json|undici)(?:\/|$)/;

/**
 * What every run of the filter loads, in three files, for each takes half a millisecond: what reads the command line; what
 * looks at the inputs and starts the threads; and what is loaded while those start.
 */
const wholes = [
  { name: 'command-line', test: /src\/cli\/program\.ts$/, priority: 3 },
  { name: 'filter', test: /src\/cli\/filter\.ts$/, priority: 2 },
  {
    name: 'judging',
    test: /src\/(?:table|pipeline\/(?:filter|input\/open)|workers\/main-thread)\.ts$/,
    priority: 1,
  },
];

export default defineConfig([
  {
    input: { main: 'src/cli/main.ts', program: 'src/cli/program.ts' },
    platform: 'node',
    external: packages,
    output: {
      ...output,
      dir: 'dist/cli',
      entryFileNames: '[name].js',
      codeSplitting: { groups: wholes },
    },
    plugins: [
      {
        name: 'module-type',
        generateBundle() {
          this.emitFile({
            type: 'asset',
            fileName: 'package.json',
            source: '{ "type": "commonjs" }\n',
          });
        },
      },
    ],
  },
  {
    input: { judge: 'src/workers/worker.ts' },
    platform: 'node',
    output: { ...output, dir: 'dist/workers', entryFileNames: '[name].cjs' },
  },
  {
    input: { compile: 'src/pipeline/compile/thread.ts' },
    platform: 'node',
    external: packages,
    output: { ...output, dir: 'dist/workers', entryFileNames: '[name].cjs' },
  },
]);
