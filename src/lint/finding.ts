/** The findings of lint, and the edits by which it repairs a file. */

import { type LintRuleName, lintRule, type Severity } from './rules.js';

/** A replacement of bytes of the body. */
export interface Edit {
  /** Offset of the first byte that is replaced. */
  readonly start: number;
  /** Offset after the last byte that is replaced. */
  readonly end: number;
  readonly text: string;
}

/** What a check says about a place. */
export interface Remark {
  /** The finding and its consequence, in one or two sentences. */
  readonly message: string;
  /** What to write instead. */
  readonly fix: string;
  /** The edits for `--fix`. No verdict of the `rfc9309` profile may change by them. */
  readonly edits?: readonly Edit[] | undefined;
}

/** A place in the file. Both offsets are in the decoded bytes of the document. */
export interface Span {
  /** Number of the line, from 1; 0 for the whole file. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/** The place of a finding about the whole file. */
export const WHOLE_FILE: Span = { line: 0, start: 0, end: 0 };

/** One finding. */
export interface Finding extends Span, Remark {
  readonly rule: LintRuleName;
  readonly severity: Severity;
}

/** How many findings are listed, and whether edits are wanted. */
export interface ListOptions {
  /** The rules that are on. */
  readonly rules: ReadonlySet<LintRuleName>;
  /** Number of findings of one rule in one file that are listed; all are counted. */
  readonly mostListed: number;
  /** Whether the edits of all findings are collected, listed or not. */
  readonly collectEdits: boolean;
}

/** Rules whose remarks may have an edit. */
const FIXABLE: ReadonlySet<LintRuleName> = new Set([
  'byte-order-mark',
  'user-agent-suffix',
  'profile-difference',
  'duplicate-rule',
  'contradicting-rule',
  'shadowed-rule',
]);

/** Collects the findings of one file. All are counted; memory for the list is bounded. */
export class FindingList {
  /** Number of findings by rule, listed or not. */
  readonly counts = new Map<LintRuleName, number>();
  readonly edits: Edit[] = [];
  readonly #listed: Finding[] = [];
  readonly #options: ListOptions;

  constructor(options: ListOptions) {
    this.#options = options;
  }

  /** Whether a rule is on. */
  wants(rule: LintRuleName): boolean {
    return this.#options.rules.has(rule);
  }

  /** Adds a finding if its rule is on. `remark` is called only if it is needed. */
  add(rule: LintRuleName, { line, start, end }: Span, remark: () => Remark): void {
    const { rules, mostListed, collectEdits } = this.#options;
    if (!rules.has(rule)) return;
    const count = (this.counts.get(rule) ?? 0) + 1;
    this.counts.set(rule, count);
    const isListed = count <= mostListed;
    const isCollected = collectEdits && FIXABLE.has(rule);
    if (!isListed && !isCollected) return;
    const { message, fix, edits = [] } = remark();
    if (isCollected) for (const edit of edits) this.edits.push(edit);
    if (!isListed) return;
    const { severity } = lintRule(rule);
    this.#listed.push({ rule, severity, line, start, end, message, fix, edits });
  }

  /** The listed findings in the order of the file. */
  list(): readonly Finding[] {
    return this.#listed.sort((a, b) => a.line - b.line || a.start - b.start);
  }
}
