import { RobotsFilterError } from '../../base/errors.js';
import { readTable } from '../../judge/open-table.js';
import {
  allocateTable,
  placeTable,
  type TableMemory,
  type TableReading,
} from '../../judge/table-memory.js';
import type { Agent } from '../../protocol/agent.js';
import type { Profile } from '../../protocol/verdict.js';
import { type NamedAgentOptions, neededTokens, noteUnnamedAgents, parseAgents } from '../agents.js';
import type { Diagnostics, Interruption } from '../console.js';
import { emptySource } from '../options/robots-source.js';
import type { RobotsOptions } from '../options/shared.js';

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
    const productTokens = agents && neededTokens(agents);
    // A report counts records and dates.
    const records = report !== undefined || preferences;
    const context = { productTokens, diagnostics, interruption };
    const compiled = await compileCaches(robotsDir, { ...options, records }, context);
    if (agents !== undefined && compiled.stats.files > 0) {
      await noteUnnamedAgents(agents, compiled.layout.named, options, diagnostics);
    }
    return placeTable(compiled.layout.table(allocateTable), robotsDir.join(', '));
  }
  const table = await readTable(path, { parts, bankBytes, choose });
  const { profile: compiled } = table.header;
  checkProfile(compiled, path, profile);
  refuseEmptyTable(path, table.hosts, options, diagnostics);
  await noteUnnamedInTable(table, parseAgents(options.agent, compiled), options, diagnostics);
  return table;
}

/** @throws RobotsFilterError `table` if the profile is not that of the table */
export function checkProfile(compiled: Profile, path: string, profile: Profile | undefined): void {
  if (profile === undefined || profile === compiled) return;
  throw new RobotsFilterError(
    'table',
    `${path} was compiled with --profile ${compiled} and cannot answer for ${profile}. ` +
      `Leave --profile out, or compile again with --profile ${profile}`,
  );
}

/** As `noteUnnamedAgents`, for a table file. */
export async function noteUnnamedInTable(
  { view, hosts }: Pick<TableMemory, 'view' | 'hosts'>,
  agents: readonly Agent[],
  options: NamedAgentOptions,
  diagnostics: Diagnostics,
): Promise<void> {
  // A reduced table lists its agents, named or not, and refuses others: `compile` has said so.
  if (hosts === 0 || view.isReduced) return;
  const place = view.isWhole ? undefined : 'no robots.txt in the shards that were read has a group';
  await noteUnnamedAgents(agents, view, options, diagnostics, place);
}

/** @throws RobotsFilterError `input` for a table without hosts, unless that is allowed */
export function refuseEmptyTable(
  path: string,
  hosts: number,
  { allowEmpty }: RobotsOptions,
  diagnostics: Diagnostics,
): void {
  if (hosts > 0) return;
  const none = `${path} is a table without hosts: every host is unknown. Compile it again, from robots.txt files`;
  if (allowEmpty !== true) throw emptySource(none);
  diagnostics.note(`warning: ${none}`);
}
