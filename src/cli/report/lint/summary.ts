import { LINT_RULE_NAMES, lintRule } from '../../../lint/rules.js';
import { rowsText } from '../record-columns.js';
import type { FindingWriter, LintTotals } from './finding-writer.js';

/** Only the totals: RULE, SEVERITY, FINDINGS and FILES of each rule that was found. */
export const summaryFindings: FindingWriter = {
  begin: () => '',
  file: () => '',
  end({ rules }: LintTotals) {
    const rows = LINT_RULE_NAMES.flatMap((rule) => {
      const total = rules.get(rule);
      if (total === undefined) return [];
      return [[rule, lintRule(rule).severity, String(total.findings), String(total.files)]];
    });
    return rowsText(rows);
  },
};
