import type { LintReport } from '../../../lint/lint.js';
import type { LintRuleName } from '../../../lint/rules.js';

/** A file whose findings are written. */
export interface LintedFile {
  /** The path of the file, of the record's file, or `standard input`. */
  readonly path: string;
  /** Number of the record in its file, from 1; `undefined` for a file of its own. */
  readonly record: number | undefined;
  /** The scheme, host and port of the file; `undefined` if they are unknown. */
  readonly authority: string | undefined;
}

/** The totals of a run. */
export interface LintTotals {
  readonly files: number;
  readonly rules: ReadonlyMap<LintRuleName, { readonly findings: number; readonly files: number }>;
}

/** A format of findings, as pieces of the output. */
export interface FindingWriter {
  begin(): string;
  file(file: LintedFile, report: LintReport): string;
  end(totals: LintTotals): string;
}
