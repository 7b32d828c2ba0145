import { RobotsFilterError } from '../../errors.js';
import { shardOf } from '../../table/shard-of.js';
import type { TableHeader } from '../../table/table-check.js';
import type { TableView } from '../table-view.js';
import { type VerifiedTable, verifyTable } from './verify-table.js';

/** A shard to be verified. */
export interface VerifiableShard {
  readonly header: TableHeader;
  readonly view: TableView;
}

/**
 * Verifies the shards of a table one by one, and that each host is in its shard.
 *
 * @returns the sums of the shards' counts
 * @throws RobotsFilterError `table`, as `verifyTable`
 */
export function verifyShards(
  shards: readonly (VerifiableShard | undefined)[],
  name: string,
): VerifiedTable {
  const sums = new Map<string, number>();
  for (const [shard, placed] of shards.entries()) {
    if (placed === undefined) throw new Error(`shard ${shard} is to be verified, not in memory`);
    const { header, view } = placed;
    const { bytes } = view.reader;
    const counts = verifyTable(bytes, header, view.reader.name);
    for (const [what, count] of Object.entries(counts)) {
      sums.set(what, (sums.get(what) ?? 0) + count);
    }
    for (const at of view.hostPlaces()) {
      const host = view.nameAt(at);
      if (shardOf(host, shards.length) === shard) continue;
      throw new RobotsFilterError(
        'table',
        `${name}: ${host} is in part ${shard} and belongs into part ${shardOf(host, shards.length)}: compile it again`,
      );
    }
  }
  return Object.fromEntries(sums) as unknown as VerifiedTable;
}
