import type { Records } from './markdown.js';
import { readRecord } from './record.js';

/** The records in bench/record/. */
export function newestRecords(): Records {
  return {
    throughput: readRecord('throughput'),
    growth: readRecord('growth'),
    real: readRecord('real'),
    load: readRecord('load'),
    warc: readRecord('warc'),
    formats: readRecord('formats'),
    jobs: readRecord('jobs'),
    library: readRecord('library'),
  };
}
