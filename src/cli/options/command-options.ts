/** The options of each command, as commander gives them. */

import type { PartRange } from '../../judge/table-memory.js';
import type { RecordFormat } from '../../kernel/query.js';
import type { LintRuleName, Severity } from '../../lint/rules.js';
import type { StaleUse } from '../../pipeline/compile/compile-cache.js';
import type { OutputFormat } from '../../pipeline/output/rows.js';
import type { RecordKind } from '../../protocol/fields.js';
import type { Profile } from '../../protocol/verdict.js';
import { Diagnostics } from '../console.js';
import type { RowFormat } from '../report/rows.js';
import type { CountKey } from '../report/run-counts.js';
import { type NamedAgentOptions, refuseAgentsFile, withNamedAgents } from './agents.js';

/** Formats of the findings of `lint`. */
type LintFormat = 'text' | 'json' | 'sarif' | 'summary';

/** Options of all commands that read robots.txt files. */
interface ProfileOptions {
  readonly profile?: Profile;
  readonly maxRobotsBytes?: number;
  readonly quiet?: boolean;
}

/** Options of all commands that read URLs. */
export interface InputOptions {
  readonly input: 'auto' | RecordFormat;
  /** Whether rows begin with a header; undefined to find out. */
  readonly header?: boolean;
  readonly urlField: readonly string[];
  readonly maxLineBytes: number;
}

/** Options of all commands that read a set of robots.txt files, or a table. */
interface SourceOptions {
  /** Whether the set or table may have no hosts. */
  readonly allowEmpty?: boolean;
}

/** Options of all commands that write rows. */
interface RowOptions {
  /** Whether CSV is made safe for spreadsheets. */
  readonly spreadsheet?: boolean;
}

/** Options of all commands that compile robots.txt files. */
export interface RobotsOptions extends ProfileOptions, NamedAgentOptions, SourceOptions {
  readonly robotsDir?: readonly string[];
  readonly agent?: readonly string[];
  /** The values of --agent before lists and headers became tokens, for messages. */
  readonly givenAgents?: readonly string[];
  readonly followLinks?: boolean;
  readonly stale?: StaleUse;
  /** A time in milliseconds since 1970. */
  readonly asOf?: number;
  readonly hostColumn?: readonly string[];
  readonly robotsColumn?: readonly string[];
  readonly statusColumn?: readonly string[];
  /** Number of days. */
  readonly unreachableAfter?: number;
}

/** Options of all commands that fetch. */
export interface FetchingOptions extends ProfileOptions {
  readonly concurrency?: number;
  readonly perAddress?: number;
  /** Number of seconds, as in all times below. */
  readonly pause?: number;
  readonly userAgent?: string;
  readonly allowPrivate?: boolean;
  readonly ca?: string;
  /** Number of days. */
  readonly unreachableAfter?: number;
  readonly progress?: boolean;
}

export interface FilterOptions extends RobotsOptions, FetchingOptions, InputOptions, RowOptions {
  readonly fetch?: boolean;
  readonly table?: string;
  readonly verdictField?: string;
  readonly format?: OutputFormat | 'verdicts' | 'mask-ndjson';
  readonly outputHeader?: boolean;
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly unknown: 'allow' | 'deny' | 'unknown';
  readonly explain?: boolean;
  readonly preferences?: boolean;
  readonly strict?: boolean;
  readonly output?: string;
  readonly threads?: number;
  readonly stats?: 'text' | 'json';
  readonly statsBy?: CountKey;
  readonly report?: string;
  readonly top?: number;
}

/** Options of `shard`, which filters without a table. */
export interface ShardOptions extends InputOptions {
  /** Number of shards. */
  readonly of?: number;
  readonly field: string;
  readonly strict?: boolean;
  readonly output?: string;
  readonly threads?: number;
  readonly progress?: boolean;
  readonly quiet?: boolean;
}

export interface CompileOptions extends RobotsOptions {
  readonly output?: string;
  readonly records?: boolean;
  readonly shards?: number;
  readonly only?: number | 'manifest';
}

/** Options of `captures`. */
export interface CapturesOptions extends ProfileOptions {
  /** A time in milliseconds since 1970. */
  readonly asOf?: number;
  readonly targets?: string;
}

export interface FetchOptions extends FetchingOptions, InputOptions {
  readonly robotsDir?: string;
  readonly stale?: boolean;
  readonly maxRedirects?: number;
  readonly maxAge?: number;
  readonly on429?: 'allow' | 'deny';
  readonly connectTimeout?: number;
  readonly headerTimeout?: number;
  readonly bodyTimeout?: number;
  readonly timeout?: number;
  readonly retries?: number;
  readonly report?: string;
  readonly json?: boolean;
}

export interface CheckOptions extends ProfileOptions, NamedAgentOptions {
  readonly json?: boolean;
}

export interface AgentsOptions extends NamedAgentOptions {
  readonly json?: boolean;
}

export interface LintOptions extends NamedAgentOptions, SourceOptions {
  readonly format?: LintFormat;
  readonly enable?: readonly LintRuleName[];
  readonly disable?: readonly LintRuleName[];
  readonly opinions?: boolean;
  readonly severity?: Severity;
  readonly maxWarnings?: number;
  readonly fix?: boolean;
  readonly urls?: string;
  readonly followLinks?: boolean;
  /** A time in milliseconds since 1970. */
  readonly asOf?: number;
  readonly quiet?: boolean;
}

export interface AuditOptions extends RobotsOptions, RowOptions {
  readonly table?: string;
  readonly hosts?: string;
  readonly only?: 'all' | 'part' | 'none' | 'unknown';
  readonly report?: string;
  readonly format?: RowFormat | 'parquet' | 'html';
}

export interface DiffOptions extends RobotsOptions, RowOptions {
  readonly urls?: string;
  readonly format?: RowFormat | 'html';
  readonly exitCode?: boolean;
}

export interface ServeOptions extends RobotsOptions {
  readonly table?: string;
  readonly threads?: number;
  /** Number of shards, to answer the shards of hosts. */
  readonly shards?: number;
  readonly parts?: PartRange;
}

export interface RecordsOptions extends RobotsOptions, RowOptions {
  readonly kind?: readonly RecordKind[];
  readonly format?: RowFormat;
}

export interface InspectOptions extends NamedAgentOptions {
  readonly verify?: boolean;
  readonly json?: boolean;
  readonly agent?: readonly string[];
}

/**
 * The options with product tokens in the place of lists and User-Agent headers.
 *
 * @throws RobotsFilterError `usage`, also for an --agents-file without effect; `input` for one that
 *   cannot be read
 */
export async function withTokens<Options extends RobotsOptions>(
  options: Options,
): Promise<Options> {
  if (options.agent === undefined) {
    refuseAgentsFile(options, 'without --agent. Add --agent @LIST');
    return options;
  }
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const agent = await withNamedAgents(options.agent, options, diagnostics);
  return { ...options, agent, givenAgents: options.agent };
}
