import { defineConfig } from 'vitest/config';

/** The tests of HTML reports in a browser, which needs Chromium. They run the build in dist. */
export default defineConfig({
  test: {
    include: ['test/pages/**/*.test.ts'],
    reporters: ['dot'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
