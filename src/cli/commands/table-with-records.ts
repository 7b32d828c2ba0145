import { RobotsFilterError } from '../../errors.js';
import { openForHosts, Table, tableMemory } from '../../table.js';
import { allocateTable } from '../../table-memory.js';
import type { RobotsOptions } from '../options/command-options.js';
import { Interruption } from '../process/interruption.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { compileCaches } from './compile-caches.js';

/**
 * Opens a table, and says if it has no records.
 *
 * @param hosts canonical hosts: of a table in shards only theirs are read; `undefined` for all
 */
export async function openWithRecords(
  path: string,
  diagnostics: Diagnostics,
  hosts?: readonly string[],
): Promise<Table> {
  const table = await openForHosts(path, hosts);
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
 * @returns the table, or the exit code after a signal
 */
export async function compileWithRecords(
  paths: readonly string[],
  options: RobotsOptions,
  productTokens: readonly string[] | undefined,
  diagnostics: Diagnostics,
): Promise<Table | number> {
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
    return Table.from(compiled.layout.table(allocateTable), paths.join(', '));
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    interruption.end();
  }
}

/** @throws RobotsFilterError `table` if the profile is not that of the table */
export function checkProfile(table: Table, path: string, profile: string | undefined): void {
  if (profile === undefined || profile === table.profile) return;
  throw new RobotsFilterError(
    'table',
    `${path} was compiled with --profile ${table.profile} and cannot answer for ${profile}. ` +
      `Leave --profile out, or compile again with --profile ${profile}`,
  );
}
