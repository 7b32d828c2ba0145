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
 * Chunks of the command line. Each has the files that match, and all that they import and no group
 * before has. Node takes about half a millisecond to load a chunk, so what most runs need is in few
 * of them.
 */
const programGroups = [
  { name: 'program', test: /src\/cli\/(program|commands\/filter)\.ts$/ },
  { name: 'compile-caches', test: /src\/cli\/commands\/compile-caches\.ts$/ },
].map(byPriority);

/**
 * Chunks of the library. `robots` is what `robots-parser` needs. Neither entry may contain
 * `src/files/package-file.ts`, which takes its place for two directories below the package.
 */
const libraryGroups = [
  { name: 'robots', test: /src\/(robots|files\/package-file)\.ts$/ },
  { name: 'library', test: /src\/index\.ts$/ },
].map(byPriority);

/** The first group gets the files that several match. */
function byPriority<Group>(group: Group, index: number, { length }: readonly Group[]) {
  return { ...group, priority: length - index };
}

export default defineConfig([
  {
    input: { index: './src/index.ts', 'robots-parser': './src/robots-parser.ts' },
    platform: 'node',
    external,
    checks,
    output: {
      dir: '.build/dist',
      cleanDir: true,
      chunkFileNames: 'library/[name].js',
      codeSplitting: { groups: libraryGroups },
      ...compact,
    },
  },
  // The command line is CommonJS: Node 20 takes a tenth less time to start it than as ES modules.
  // The files that threads load are CommonJS too: Node 20 aborts the process if a thread is ended
  // while Node links its ES modules.
  ...[
    { directory: 'cli', name: 'main', input: './src/cli/main.ts', groups: programGroups },
    { directory: 'workers', name: 'judge', input: './src/workers/worker.ts' },
    { directory: 'workers', name: 'compile', input: './src/pipeline/compile/thread.ts' },
  ].map(({ directory, name, input, groups = [] }) => ({
    input: { [name]: input },
    platform: 'node' as const,
    external,
    checks,
    output: {
      dir: `.build/dist/${directory}`,
      format: 'cjs' as const,
      entryFileNames: '[name].cjs',
      chunkFileNames: `${name}-[name].cjs`,
      codeSplitting: { groups },
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
