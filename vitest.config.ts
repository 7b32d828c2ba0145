import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Two cores: the suites that start the command line would starve one another.
    maxWorkers: 2,
  },
});
