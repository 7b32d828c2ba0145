import type { RobotsFilterError } from '../../base/errors.js';
import { readTable } from '../../judge/open-table.js';
import {
  allocateTable,
  hasHistories,
  placeTable,
  secondsOfTime,
  type TableMemory,
  type TableReading,
  tableAt,
} from '../../judge/table-memory.js';
import type { Agent } from '../../protocol/agent.js';
import type { NamedTokens } from '../../protocol/unnamed-agents.js';
import type { Use } from '../../protocol/uses.js';
import type { TableView } from '../../view/table-view.js';
import { neededTokens, noteUnnamedAgents, noteUnnamedInTable, parseAgents } from '../agents.js';
import { type Diagnostics, type Interruption, usageError } from '../console.js';
import { type RobotsOptions, type UseOptions, usesOf } from '../options.js';
import { checkProfile, noteTimeToCome, refuseEmptyTable } from './robots-source.js';

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
    readonly crawlDelay?: boolean;
    /** Whether a compiled table has signals without a use that is asked for. */
    readonly signals?: boolean;
    readonly timeField?: readonly string[];
    readonly inForce?: string;
    readonly maxAge?: number;
  } & UseOptions &
    Pick<TableReading, 'parts' | 'bankBytes' | 'choose'>,
  agents: readonly Agent[] | undefined,
  diagnostics: Diagnostics,
  interruption: Interruption,
): Promise<TableMemory> {
  const { table: path, robotsDir = [], profile, report, asOf } = options;
  const { preferences = false, crawlDelay = false } = options;
  const history = options.timeField !== undefined || options.inForce === 'ever';
  const { parts, bankBytes, choose } = options;
  const uses = usesOf(options);
  if (path === undefined) {
    const { compileCaches } = await import('./compile-caches.js');
    // A report tells distinct robots.txt files from each other by all their groups.
    const productTokens =
      report === undefined && agents !== undefined ? neededTokens(agents, uses) : undefined;
    // A report counts records and dates, unless it is for many times.
    const records = (report !== undefined && !history) || preferences || crawlDelay;
    const signals = uses.length > 0 || options.signals === true;
    const context = { productTokens, diagnostics, interruption };
    // By default the last record of a host counts, and not the newest.
    const isDated = history || options.inForce === 'latest';
    // An age is counted from the last finding of the same rules, which only a history has.
    const time = options.maxAge === undefined ? undefined : asOf;
    noteTimeToCome(time, diagnostics);
    const { asOf: _time, ...untimed } = options;
    const asked =
      time === undefined
        ? { ...options, records, signals, history: isDated }
        : { ...untimed, records: false, signals, history: true };
    const compiled = await compileCaches(robotsDir, asked, context);
    if (agents !== undefined && compiled.stats.files > 0) {
      await noteUnnamedAgents(agents, compiled.layout.named, options, diagnostics);
    }
    const place = robotsDir.join(', ');
    const placed = placeTable(compiled.layout.table(allocateTable), place);
    if (compiled.stats.files > 0) {
      noteUnstatedUses(uses, placed.view, place, diagnostics, compiled.layout.named);
    }
    return time === undefined ? placed : tableAt(placed, secondsOfTime(time));
  }
  const table = await readTable(path, { parts, bankBytes, choose });
  const { profile: compiled } = table.header;
  checkProfile(compiled, path, profile);
  refuseEmptyTable(path, table.hosts, options, diagnostics);
  table.view.checkUses(uses);
  noteUnstatedUses(uses, table.view, path, diagnostics);
  await noteUnnamedInTable(table, parseAgents(options.agent, compiled), options, diagnostics);
  if (asOf === undefined && !history) return table;
  if (!hasHistories(table)) throw withoutHistories(path, options);
  if (asOf === undefined) return table;
  noteTimeToCome(asOf, diagnostics);
  return tableAt(table, secondsOfTime(asOf));
}

/**
 * Says in one line of which uses no robots.txt speaks: then each answer is the same. In another
 * line come the policy tokens that none names.
 *
 * @param place what the table is made of, or its name
 * @param named the product tokens that the files name, where the table does not know them
 */
export function noteUnstatedUses(
  uses: readonly Use[],
  view: TableView,
  place: string,
  diagnostics: Diagnostics,
  named?: NamedTokens,
): void {
  for (const text of view.describeUnstated(uses, place, named)) {
    diagnostics.note(`warning: ${text}`);
  }
}

/** The error for a table without histories, which has no other time. */
function withoutHistories(
  path: string,
  { timeField, asOf }: Parameters<typeof openTable>[0],
): RobotsFilterError {
  const [option, what] =
    asOf !== undefined
      ? ['--as-of', '--as-of asks for one time of many']
      : timeField !== undefined
        ? ['--time-field', '--time-field asks for many times']
        : ['--in-force ever', '--in-force ever asks for all times'];
  return usageError(
    `${path} has no histories, and ${what}. Compile it with --history, or leave ${option} out`,
  );
}
