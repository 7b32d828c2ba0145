export { TableBuilder, type TableBuilderOptions } from './compile/table-builder.js';
export type { VerifiedTable } from './compile/verify/verify-table.js';
export { type ErrorCode, RobotsFilterError } from './errors.js';
export { type FilterStreamOptions, filterStream } from './filter-stream.js';
export type { DecidingRule, Judgement } from './kernel/judge.js';
export type { BadRecord } from './pipeline/bad-record.js';
export { verdicts } from './pipeline/verdicts.js';
export {
  type Authority,
  formatAuthority,
  parseAuthority,
  type Scheme,
} from './protocol/authority.js';
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
export { type ParseOptions, Robots } from './robots.js';
export { Table, type TableOpenOptions } from './table.js';
