import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long. They begin first, so that neither core is left with one of them in the end. */
const LONG = ['faults/', 'fuzz/', 'pipeline/flow', 'cli/inputs', 'store-crash'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((part) => moduleId.includes(`/test/${part}`) || moduleId.includes(`/${part}.`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    // One screen: a dot for each test, then the failures and the totals.
    reporters: ['dot'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // For two cores: one more than them, because tests also wait.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
  },
});
