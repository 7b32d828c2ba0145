import type { Records } from '../../../bench/report/markdown.js';
import type {
  CaseRecord,
  RecordHead,
  ResultRecord,
  ThroughputRecord,
} from '../../../bench/report/record.js';

/** A case's figures, with a spread of a quarter to both sides. */
export function result(
  id: string,
  name: string,
  kind: string,
  records: number,
  median: number,
): ResultRecord {
  const seconds = [median];
  const spread = { median, least: median / 1.25, greatest: median * 1.25 };
  return { id, name, kind, records, bytes: 100 * records, ...spread, seconds, peakBytes: 5e6 };
}

const HEAD: RecordHead = {
  machine: {
    processor: 'A & B <C>',
    cores: 2,
    memoryBytes: 2 ** 34,
    system: 'linux',
    node: 'v20.20.0',
    commit: 'abcdef0',
    command: 'npm run bench:throughput --',
  },
  package: { version: '1.2.3', origin: 'from a test' },
};

const THROUGHPUT: ThroughputRecord = {
  ...HEAD,
  date: '2026-01-02T03:04:05.678Z',
  runs: 3,
  corpus: {
    options: { seed: 1, hosts: 5000, urls: 8_000_000 },
    hosts: 5000,
    bodies: 2500,
    rules: 12_345,
    robotsBytes: 1,
    urls: 8_000_000,
    unknown: 0,
    invalid: 0,
    textBytes: 1,
  },
  results: [
    result('compile', 'robots-filter compile', 'ours', 1_000_000, 20),
    result('text', 'robots-filter f.txt', 'ours', 8_000_000, 0.8),
    result('one-thread', 'robots-filter --threads 1 f.txt', 'ours', 8_000_000, 1.6),
    result('pipe', 'cat f | robots-filter', 'ours', 8_000_000, 1.6),
    result('md5-short', 'md5sum f.ndjson', 'floor', 8_000_000, 1.6),
    result('wc', 'wc -l f.ndjson', 'floor', 8_000_000, 0.001),
    result('slow', 'a slow library', 'competitor', 100_000, 1),
    result('fast', 'a fast library', 'competitor', 100_000, 0.5),
    result('fast-ndjson', 'the same, from NDJSON', 'competitor', 100_000, 0.5),
  ],
  ratios: [
    { id: 'text', what: 'text file', unit: '× md5sum', median: 0.5, least: 0.4, greatest: 0.625 },
  ],
  differences: [
    {
      name: 'a slow library',
      urls: 50_000,
      differences: [
        { cause: 'one', count: 500, example: '' },
        { cause: 'another', count: 117, example: '' },
      ],
    },
  ],
};

const CASES: CaseRecord = {
  ...HEAD,
  date: '2026-01-02T03:04:05.678Z',
  runs: 3,
  results: [
    result('gzip', 'robots-filter compile', 'ours', 1_000_000, 20),
    result('gzip-floor', 'zcat | wc -c', 'floor', 1_000_000, 10),
    result('one-busy', 'a busy thread', 'floor', 0, 1),
  ],
  ratios: [{ id: 'gzip', what: 'captures', unit: '× zcat', median: 2, least: 1.6, greatest: 2.5 }],
  notMeasured: [],
};

/** A record of each kind. */
export const RECORDS = {
  throughput: THROUGHPUT,
  warc: CASES,
  formats: CASES,
  jobs: CASES,
  growth: {
    ...HEAD,
    growth: {
      steps: [
        {
          hosts: 1000,
          robotsBytes: 1e6,
          tableBytes: 5e5,
          compileSeconds: 0.25,
          openSeconds: 0.05,
          nanoseconds: 111.4,
          peakBytes: 1e8,
        },
      ],
      end: '1,000 hosts fit',
    },
  },
  real: { ...HEAD, results: [result('real, grouped', 'robots-filter', 'ours', 1_000_000, 0.5)] },
  load: { ...HEAD, records: 104_000_000, seconds: 21.4, peakBytes: 175.4e6 },
} satisfies Records;
