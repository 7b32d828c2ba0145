export type { KnownAgent } from './agents/known-agent.js';
export { knownAgents } from './agents/known-agents.js';
export type { CacheWarning, CacheWarningCode } from './cache/entry.js';
export type { CompileOptions } from './compile/body-compiler.js';
export type { Allocate } from './compile/layout/table-layout.js';
export type { RobotsDetails } from './compile/robots-details.js';
export { TableBuilder, type TableBuilderOptions } from './compile/table-builder.js';
export type { TableBuilderStats } from './compile/table-contents.js';
export { type CompileTableOptions, compileTable } from './compile-table.js';
export { type ErrorCode, RobotsFilterError } from './errors.js';
export { type FilterStreamOptions, filterStream } from './filter-stream.js';
export type { VerifiedTable } from './inspect/verify/verify-table.js';
export type { DecidingRule, Judgement, OtherJudgement, RuleJudgement } from './kernel/judge.js';
export type { OutputMode } from './kernel/query-settings.js';
export type { BadRecord } from './pipeline/bad-record.js';
export { verdicts } from './pipeline/verdicts.js';
export type { AccessResult } from './protocol/access.js';
export {
  type Authority,
  formatAuthority,
  parseAuthority,
  type Scheme,
} from './protocol/authority.js';
export type { ParseOptions } from './protocol/parse.js';
export type { Preferences } from './protocol/preferences.js';
export type { Profile } from './protocol/profile.js';
export type {
  CrawlDelay,
  Group,
  OtherRecord,
  Rule,
  Warning,
  WarningCode,
} from './protocol/robots-file.js';
export type { Reason, Verdict } from './protocol/verdict.js';
export { Robots } from './robots.js';
export { Table, type TableFilterOptions, type TableOpenOptions } from './table.js';
