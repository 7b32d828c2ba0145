import { openForHosts, Table, tableMemory } from '../../judge/table.js';
import { allocateTable } from '../../judge/table-memory.js';
import type { NamedTokens } from '../../protocol/unnamed-agents.js';
import { type Diagnostics, Interruption } from '../console.js';
import type { RobotsOptions } from '../options/command-options.js';
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
  const interruption = new Interruption();
  try {
    const withRecords = { ...options, records: true };
    const compiled = await compileCaches(
      paths,
      withRecords,
      productTokens,
      diagnostics,
      interruption,
    );
    const { layout } = compiled;
    return {
      table: Table.from(layout.table(allocateTable), paths.join(', ')),
      named: layout.named,
    };
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    interruption.end();
  }
}
