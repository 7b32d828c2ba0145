import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig, type OutputOptions } from 'rolldown';

/*
 * What is started, in as few files as it takes: to find, read and link a hundred ES modules takes node 25 ms, and a
 * thread 15 ms. The library stays as tsc leaves it.
 */

const { resolve } = createRequire(import.meta.url);

/** CommonJS, since Node loads it without its machinery for ES modules. What is imported dynamically stays a file of its own. */
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
 * Packages that nearly every run loads: to find and read their files takes some 8 ms, and a thread 3. Their licences ask that their notice goes
 * with every copy.
 */
const included = ['commander', 'piscina'];

const notices = included
  .map((name) => `${name}:\n\n${readFileSync(join(packageFolder(name), 'LICENSE'), 'utf8')}`)
  .join('\n\n');

function packageFolder(name: string): string {
  return join(dirname(resolve(name)), name === 'piscina' ? '..' : '.');
}

/**
 * What runs of the filter load, in four files, for each takes half a millisecond: what reads the command line; what
 * looks at the inputs; what starts threads, if it comes to that; and what is loaded while those start.
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
          this.emitFile({ type: 'asset', fileName: 'LICENSES', source: notices });
        },
      },
    ],
  },
  {
    // Piscina has its threads load the file of this name beside its own.
    input: { worker: join(dirname(resolve('piscina')), 'worker.js') },
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
