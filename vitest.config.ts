import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long. They begin first, so that neither core is left with one of them in the end. */
const LONG = ['faults/', 'fuzz/', 'pipeline/flow', 'cli/inputs', 'store-crash'];

/**
 * Files that need a process of their own: they mock a package, set flags of V8, count the blocks that
 * it executes, end threads, or measure memory. The other files share a few processes, because to
 * start one and to load the program takes longer than most of their tests.
 */
const ALONE = [
  'test/faults/dying-workers.test.ts',
  'test/faults/killed-threads.test.ts',
  'test/fetch/broken.test.ts',
  'test/fetch/encodings.test.ts',
  'test/fuzz/planted.test.ts',
  'test/linear/{hosts,lint,meters,robots-txt,verify}.test.ts',
  'test/pipeline/compile-threads.test.ts',
  'test/pipeline/input/json-records.test.ts',
  'test/shards/banks.test.ts',
  'test/workers/source-thread.test.ts',
  'test/workers/threads.test.ts',
];

/**
 * V8 spends more time on optimising binaryen and the metered kernel, which are WebAssembly, than a
 * file of these saves by it.
 */
const UNOPTIMISED = ['--liftoff-only'];

/** Threads that collect garbage spend processor time on waiting for each other. */
const ONE_COLLECTOR = ['--single-threaded-gc'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((part) => moduleId.includes(`/test/${part}`) || moduleId.includes(`/${part}.`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/**
 * The tests, without some files.
 *
 * @param leftOut patterns of their paths
 */
export function testsWithout(leftOut: readonly string[]): ViteUserConfig {
  // The single executable and the pages have commands of their own.
  const exclude = [...configDefaults.exclude, 'test/executable/**', 'test/pages/**', ...leftOut];
  const timeouts = { testTimeout: 120_000, hookTimeout: 120_000 };
  return defineConfig({
    test: {
      globalSetup: ['test/build.ts'],
      // One screen: a dot for each test, then the failures and the totals.
      reporters: ['dot'],
      // For two cores: two more than them, because tests also wait.
      maxWorkers: 4,
      sequence: { sequencer: LongFirst },
      // vitest runs the projects in the order of their names.
      projects: [
        {
          test: {
            name: 'alone',
            include: ALONE,
            exclude,
            isolate: true,
            execArgv: UNOPTIMISED,
            setupFiles: ['test/equal-bytes.ts'],
            ...timeouts,
          },
        },
        {
          test: {
            name: 'shared',
            include: ['test/**/*.test.ts'],
            exclude: [...exclude, ...ALONE],
            isolate: false,
            execArgv: ONE_COLLECTOR,
            setupFiles: ['test/equal-bytes.ts'],
            ...timeouts,
          },
        },
      ],
    },
  });
}

export default testsWithout([]);
