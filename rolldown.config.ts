import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig, type RolldownOptions } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { asciiOnly } from './build/ascii-only.js';
import { bundleable } from './build/bundleable.js';
import { bundledCommander } from './build/bundled-commander.js';
import { plainExports } from './build/plain-exports.js';

/** Packages stay outside, but these, and what `bundledCommander` leaves out of commander. */
const external = /^(?!(commander|tldts-icann|tldts-core)$|node:child_process$|[./]|[A-Z]:)/;

/** Where piscina has its files. */
const PISCINA = dirname(createRequire(import.meta.url).resolve('piscina'));

/** No comments, and short names, but those of functions and classes: stack traces have them. */
const compact = {
  comments: false,
  minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
} as const;

/** The build is short, and `npm test` prints one screen: not how long each plugin took. */
const checks = { pluginTimings: false };

/**
 * Chunks. Each has the files that match, and all that they import and no group before has. Node
 * takes about half a millisecond to load a chunk and 0.07 ms to load 1 KB, so what most runs need is
 * in few chunks, and nothing else is in them. `filter` also has what `program` and the library
 * share. Only `program` has commander, and neither the library nor a thread loads `program`.
 */
const groups = [
  {
    name: 'filter',
    test: /src\/(judge\/open-table|pipeline\/(filter|bad-record)|workers\/main-thread|files\/(package-file|system-error|compression)|http\/url|protocol\/(agent|verdict))\.ts$/,
  },
  { name: 'threads', test: /src\/workers\/pool\.ts$/ },
  { name: 'program', test: /src\/cli\/(program|commands\/filter)\.ts$/ },
  {
    name: 'robots',
    test: /src\/(judge\/table|compile\/table-builder|(protocol|pipeline)\/[^/]+)\.ts$/,
  },
  { name: 'compile-cache', test: /src\/pipeline\/compile\/(thread|compile-cache)\.ts$/ },
].map((group, index, { length }) => ({ ...group, priority: length - index }));

/** The path of a built file, where there is one: a bundle of ES modules has none. */
const define = {
  'import.meta.filename': "(typeof __filename === 'string' ? __filename : undefined)",
};

/** A file that starts threads, or that a thread loads. It loads no chunk. */
function alone(name: string, path: string, ending = 'cjs'): RolldownOptions {
  return {
    input: { [name]: path },
    platform: 'node',
    external,
    checks,
    plugins: [asciiOnly()],
    // Piscina reads its version from package.json. Nothing here asks for the version.
    moduleTypes: { '.json': 'empty' },
    output: {
      dir: '.build/dist/cjs',
      format: 'cjs',
      entryFileNames: `[name].${ending}`,
      codeSplitting: false,
      ...compact,
    },
  };
}

export default defineConfig([
  // CommonJS: Node 20 takes a tenth less time to start it than as ES modules, and aborts the process
  // if a thread is ended while Node links its ES modules. index.js and robots-parser.js, which
  // build/entries.ts writes, export the library as ES modules.
  {
    input: {
      main: './src/cli/main.ts',
      index: './src/library/index.ts',
      'robots-parser': './src/library/robots-parser.ts',
      compile: './src/pipeline/compile/thread.ts',
      serve: './src/serve/thread.ts',
    },
    platform: 'node',
    external,
    checks,
    transform: { define },
    plugins: [bundledCommander(), bundleable(), plainExports(), asciiOnly()],
    output: {
      dir: '.build/dist/cjs',
      cleanDir: true,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunk-[name].cjs',
      codeSplitting: { groups },
      ...compact,
    },
  },
  alone('judge', './src/workers/worker.ts'),
  // Node takes 5 ms less for two built files than to find and load the fifteen of the package. The
  // pool starts its threads from worker.js beside it, which build/entries.ts makes CommonJS.
  alone('piscina/index', join(PISCINA, 'index.js')),
  alone('piscina/worker', join(PISCINA, 'worker.js'), 'js'),
  // The types: the declarations that tsc wrote, without those that the library does not show.
  {
    input: {
      index: './.build/types/library/index.d.ts',
      'robots-parser': './.build/types/library/robots-parser.d.ts',
    },
    external,
    checks,
    plugins: [dts({ dtsInput: true, tsconfig: false })],
    output: { dir: '.build/dist' },
  },
]);
