import type { Case } from '../measure/runs.js';
import { assertEqual } from '../verify/assert-equal.js';
import type { Workload } from './workload.js';

/** Compiles all robots.txt files of a workload; the table must have the same size each time. */
export function compileCase(id: string, { filter, corpus, table, tableBytes }: Workload): Case {
  const { hosts, robotsBytes } = corpus.summary;
  return {
    id,
    name: 'robots-filter compile --robots-dir f.ndjson -o t',
    kind: 'ours',
    records: hosts,
    bytes: robotsBytes,
    reads: [corpus.robots],
    async run() {
      const run = await filter.compile(corpus.robots, table);
      assertEqual('bytes of the table', run.tableBytes, tableBytes);
      return { seconds: run.seconds, cpuSeconds: run.cpuSeconds, peakBytes: run.peakBytes };
    },
  };
}
