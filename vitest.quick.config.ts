import { testsWithout } from './vitest.config.js';

/** Files that take a second or more of processor time. */
const LEFT_OUT = [
  'agents/record-agents.test.ts',
  'bundles.test.ts',
  'cache/cache.test.ts',
  'cli/!(text).test.ts',
  'compile/automaton/automaton.test.ts',
  'compile/hostile-size.test.ts',
  'compile/layout/table-writer.test.ts',
  'conformance/conformance.test.ts',
  'differential/**',
  'docs/**',
  'examples/**',
  'faults/**',
  'fetch/{broken,encodings,odd-answers,politeness,store-crash}.test.ts',
  'files/{gzip,zstd}.test.ts',
  'fuzz/**',
  'history/{fetched,sizes}.test.ts',
  'inspect/{reach,table-diff}.test.ts',
  'inspect/verify/**',
  'kernel/{hosts,json,product-tokens,scratch}.test.ts',
  'library/{host-records,ways-to-ask}.test.ts',
  'linear/**',
  'lint/{fix,never-deciding}.test.ts',
  'oracle/**',
  'package.test.ts',
  'parquet/{codecs,hostile}.test.ts',
  'pipeline/{compile-threads,filter-stream,flow*}.test.ts',
  'pipeline/input/open.test.ts',
  'pipeline/input/json-records.test.ts',
  'protocol/{authority,parse}.test.ts',
  'serve/serve.test.ts',
  'shards/{asked-parts,banks,table}.test.ts',
  'table/damaged-table.test.ts',
  'uses/{audit,diff}.test.ts',
  'warc/{archives,capture-history,damage,damaged-records,dictionary,junk,partial-damage,same-moment,warcio}.test.ts',
];

/** The tests that one runs after each change. */
export default testsWithout(LEFT_OUT.map((path) => `test/${path}`));
