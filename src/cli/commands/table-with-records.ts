import { openForHosts, Table, tableMemory } from '../../judge/table.js';
import { allocateTable } from '../../judge/table-memory.js';
import type { NamedTokens } from '../../protocol/unnamed-agents.js';
import { type Diagnostics, interruptible } from '../console.js';
import type { RobotsOptions } from '../options/shared.js';
import { compileCaches } from './compile-caches.js';
import { refuseEmptyTable } from './filter-table.js';

/** A table in memory. */
export interface CompiledTable {
  readonly table: Table;
  readonly named: NamedTokens;
}

/**
 * Opens a table, and says if it has no records.
 *
 * @param hosts canonical hosts: of a table in shards only theirs are read; `undefined` for all
 * @throws RobotsFilterError also `input` for a table without hosts, unless that is allowed
 */
export async function openWithRecords(
  path: string,
  options: RobotsOptions,
  diagnostics: Diagnostics,
  hosts?: readonly string[],
): Promise<Table> {
  const table = await openForHosts(path, hosts);
  refuseEmptyTable(path, tableMemory(table).hosts, options, diagnostics);
  if (!tableMemory(table).view.hasRecords) {
    diagnostics.note(
      `warning: ${path} keeps no sitemaps, crawl-delays, preferences and dates. Compile it with --records to keep them`,
    );
  }
  return table;
}

/**
 * Compiles caches into a table in memory, with records.
 *
 * @returns the table and the product tokens that the files name, or the exit code after a signal
 */
export async function compileWithRecords(
  paths: readonly string[],
  options: RobotsOptions,
  productTokens: readonly string[] | undefined,
  diagnostics: Diagnostics,
): Promise<CompiledTable | number> {
  return interruptible(async (interruption) => {
    const context = { productTokens, diagnostics, interruption };
    const { layout } = await compileCaches(paths, { ...options, records: true }, context);
    const table = Table.from(layout.table(allocateTable), paths.join(', '));
    return { table, named: layout.named };
  });
}
