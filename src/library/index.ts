/**
 * The public API: everything that `import 'robots-filter'` gives. build/api-report.txt lists it.
 */

export { type ErrorCode, RobotsFilterError } from '../base/errors.js';
export type { CompileOptions } from '../compile/body-compiler.js';
export type { RobotsDetails } from '../compile/compiled-robots.js';
export { TableBuilder, type TableBuilderOptions } from '../compile/table-builder.js';
export type { TableBuilderStats } from '../compile/table-contents.js';
export type { Allocate } from '../compile/table-layout.js';
export { Robots, type RobotsUseOptions } from '../judge/robots.js';
export {
  Table,
  type TableFilterOptions,
  type TableOpenOptions,
  type TableTimeOptions,
  type TableTimesOptions,
  type TableUseOptions,
} from '../judge/table.js';
export type { OutputMode } from '../kernel/query-settings.js';
export type {
  DecidingRule,
  Judgement,
  OtherJudgement,
  RuleJudgement,
  UseJudgement,
} from '../kernel/session.js';
export type { BadRecord } from '../pipeline/bad-record.js';
export {
  type Authority,
  formatAuthority,
  parseAuthority,
  type Scheme,
} from '../protocol/authority.js';
export type { KnownAgent } from '../protocol/known-agent.js';
export { knownAgents } from '../protocol/known-agents.js';
export type { ParseOptions } from '../protocol/parse.js';
export type { Preferences } from '../protocol/preferences.js';
export type {
  CrawlDelay,
  Group,
  OtherRecord,
  Rule,
  Warning,
  WarningCode,
} from '../protocol/robots-file.js';
export type { UseAnswer, UseReason } from '../protocol/uses.js';
export type { AccessResult, Profile, Reason, Verdict } from '../protocol/verdict.js';
export type { CacheWarning, CacheWarningCode } from '../sources/entry.js';
export type { VerifiedTable } from '../verify/verify-table.js';
export { type CompileTableOptions, compileTable } from './compile-table.js';
export { type FilterStreamOptions, filterStream, verdicts } from './filter-stream.js';
