import { readFileSync } from 'node:fs';
import { defineConfig, type OutputOptions } from 'rolldown';

/*
 * What is started, in as few files as it takes: to find, read and link a hundred ES modules takes
 * node 25 ms, and a thread 15 ms. The library stays as tsc leaves it.
 */

/**
 * CommonJS, since Node loads it without its machinery for ES modules. What is imported dynamically
 * stays a file of its own.
 */
const output: OutputOptions = {
  format: 'cjs',
  exports: 'auto',
  comments: false,
  chunkFileNames: '[name].js',
};

/** Packages that stay outside; and what piscina can do without. */
const packages =
  /^(?:@napi-rs\/nice|basic-ftp|http-cache-semantics|ipaddr\.js|stream-json|undici)(?:\/|$)/;

/**
 * Packages that nearly every run loads: not to look for their files saves 3 ms of a core with one
 * URL, and 12 with a thread beside the main one. Their licences ask that their notice goes with
 * every copy.
 */
const included = ['commander', 'piscina'];

const notices = included
  .map((name) => `${name}:\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`)
  .join('\n\n');

/**
 * What runs of the filter load, in four files, for each takes half a millisecond: what reads the
 * command line; what looks at the inputs; what starts threads, if it comes to that; and what is
 * loaded while those start.
 */
const wholes = [
  { name: 'command-line', test: /src\/cli\/program\.ts$/, priority: 4 },
  { name: 'filter', test: /src\/cli\/filter\.ts$/, priority: 3 },
  { name: 'threads', test: /src\/workers\/(?:joint-pool|pool|threads)\.ts$/, priority: 2 },
  {
    name: 'judging',
    test: /src\/(?:table|pipeline\/(?:filter|input\/open)|workers\/main-thread)\.ts$/,
    priority: 1,
  },
];

export default defineConfig([
  {
    input: { main: 'src/cli/main.ts' },
    platform: 'node',
    output: { ...output, dir: 'dist/cli' },
  },
  {
    input: { program: 'src/cli/program.ts' },
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
          this.emitFile({ type: 'asset', fileName: 'LICENSES', source: notices });
        },
      },
    ],
  },
  {
    // Piscina has its threads load the file of the name worker.js beside its own.
    input: { worker: 'src/start/thread.ts' },
    platform: 'node',
    output: { ...output, dir: 'dist/cli' },
  },
  {
    input: { 'piscina-worker': 'node_modules/piscina/dist/worker.js' },
    platform: 'node',
    external: packages,
    output: { ...output, dir: 'dist/cli' },
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
