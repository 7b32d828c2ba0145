import { defineConfig } from 'vitest/config';

/** The tests of the single executable, which `npm run build:executable` has made. */
export default defineConfig({
  test: {
    include: ['test/executable/**/*.test.ts'],
    reporters: ['dot'],
    testTimeout: 120_000,
  },
});
