import { testsWithout } from './vitest.config.js';

/** Tests that start many processes, draw many cases, or work on large inputs. */
const LEFT_OUT = [
  'cli/!(text).test.ts',
  'differential/**',
  'docs/**',
  'faults/**',
  'fuzz/**',
  'linear/**',
  'naive/**',
  'bundles.test.ts',
  'package.test.ts',
  'cache/cache.test.ts',
  'compile/automaton/automaton.test.ts',
  'compile/hostile-size.test.ts',
  'compile/layout/table-writer.test.ts',
  'conformance/conformance.test.ts',
  'fetch/encodings.test.ts',
  'fetch/store-crash.test.ts',
  'inspect/verify/**',
  'kernel/product-tokens.test.ts',
  'pipeline/compile-threads.test.ts',
  'pipeline/flow*.test.ts',
  'pipeline/input/json/json-records.test.ts',
  'pipeline/input/open.test.ts',
  'protocol/parse.test.ts',
  'table/damaged-table.test.ts',
];

/** The tests that one runs after each change. */
export default testsWithout(LEFT_OUT.map((path) => `test/${path}`));
