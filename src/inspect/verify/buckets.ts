import { bucketOf, tagOf } from '../../table/bucket-of.js';
import {
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  HEADER_LONGEST_PROBE,
  MAX_PROBE,
} from '../../table/format.js';
import type { TableHeader } from '../../table/table-check.js';
import type { Placement } from './placement.js';
import type { TableBytes } from './table-bytes.js';

/** Checks that each slot is free or has a host record of its own, and marks the records. */
export function checkBuckets(table: TableBytes, header: TableHeader, placement: Placement): void {
  if (header.longestProbe > MAX_PROBE) {
    throw table.fault(
      'header',
      HEADER_LONGEST_PROBE,
      `the longest probe is ${header.longestProbe} buckets; the limit is ${MAX_PROBE}`,
    );
  }
  const { start, end } = header.sections.buckets;
  for (let bucket = start; bucket < end; bucket += BUCKET_BYTES) {
    let used = 0;
    for (let place = 0; place < BUCKET_SLOTS; place++) {
      const slot = bucket + 4 * place;
      const record = table.u32(slot);
      const tag = table.u16(bucket + BUCKET_TAGS + 2 * place);
      const fault = (what: string): Error => table.fault('buckets', slot, what);
      if (record === 0) {
        if (tag !== 0) throw fault('a free slot has a tag');
        continue;
      }
      if (used++ < place) throw fault('a slot is used after a free one');
      if (tag === 0) throw fault('a used slot has no tag');
      if (!placement.has(record)) throw fault(`the host at ${record} is outside its section`);
      if (!placement.addHost(record)) throw fault(`a second slot has the host at ${record}`);
    }
    const passed = table.u32(bucket + BUCKET_PASSED);
    if (passed > 1 || (passed === 1 && used < BUCKET_SLOTS)) {
      throw table.fault('buckets', bucket + BUCKET_PASSED, 'the bucket cannot have been passed');
    }
  }
}

/** Probes the buckets as a look-up does (kernel/assembly/lookup/look-up.ts). */
export class BucketSearch {
  readonly #table: TableBytes;
  readonly #start: number;
  readonly #buckets: number;
  readonly #longestProbe: number;

  constructor(table: TableBytes, { sections, buckets, longestProbe }: TableHeader) {
    this.#table = table;
    this.#start = sections.buckets.start;
    this.#buckets = buckets;
    this.#longestProbe = longestProbe;
  }

  /** The first record with the tag of this hash that is accepted. */
  find(hash: number, accepts: (record: number) => boolean): number | undefined {
    const table = this.#table;
    const tag = tagOf(hash);
    let bucket = bucketOf(hash, this.#buckets);
    for (let probe = 0; probe < this.#longestProbe; probe++) {
      const at = this.#start + bucket * BUCKET_BYTES;
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        if (table.u16(at + BUCKET_TAGS + 2 * place) !== tag) continue;
        const record = table.u32(at + 4 * place);
        if (accepts(record)) return record;
      }
      if (table.u32(at + BUCKET_PASSED) === 0) return undefined;
      bucket = bucket + 1 === this.#buckets ? 0 : bucket + 1;
    }
    return undefined;
  }
}
