import { RobotsFilterError } from '../../errors.js';
import { readTable } from '../../open-table.js';
import type { Agent } from '../../protocol/agent.js';
import {
  allocateTable,
  placeTable,
  type TableMemory,
  type TableReading,
} from '../../table-memory.js';
import { neededTokens } from '../options/agents.js';
import type { RobotsOptions } from '../options/command-options.js';
import type { Interruption } from '../process/interruption.js';
import type { Diagnostics } from '../report/diagnostics.js';

/**
 * Opens the table, or compiles the caches into one.
 *
 * @param agents all agents of the run; undefined keeps the groups of all agents
 * @throws RobotsFilterError
 */
export async function openTable(
  options: RobotsOptions & {
    readonly table?: string;
    readonly threads?: number;
    readonly report?: string;
    readonly preferences?: boolean;
  } & Pick<TableReading, 'parts' | 'bankBytes' | 'choose'>,
  agents: readonly Agent[] | undefined,
  diagnostics: Diagnostics,
  interruption: Interruption,
): Promise<TableMemory> {
  const { table: path, robotsDir = [], profile, report, preferences = false } = options;
  const { parts, bankBytes, choose } = options;
  if (path === undefined) {
    const { compileCaches } = await import('./compile-caches.js');
    const tokens = agents === undefined ? undefined : neededTokens(agents);
    const compiled = await compileCaches(
      robotsDir,
      // A report counts records and dates.
      { ...options, records: report !== undefined || preferences },
      tokens,
      diagnostics,
      interruption,
    );
    return placeTable(compiled.layout.table(allocateTable), robotsDir.join(', '));
  }
  const table = await readTable(path, { parts, bankBytes, choose });
  const { profile: compiled } = table.header;
  if (profile !== undefined && profile !== compiled) {
    throw new RobotsFilterError(
      'table',
      `${path} was compiled with --profile ${compiled} and cannot answer for ${profile}. ` +
        `Leave --profile out, or compile again with --profile ${profile}`,
    );
  }
  return table;
}
