import { LINT_RULE_NAMES, lintRule } from '../../../lint/rules.js';
import type { FindingWriter, LintTotals } from './finding-writer.js';

/** Only the totals: RULE, SEVERITY, FINDINGS and FILES of each rule that was found. */
export const summaryFindings: FindingWriter = {
  begin: () => '',
  file: () => '',
  end({ rules }: LintTotals) {
    return LINT_RULE_NAMES.map((rule) => {
      const total = rules.get(rule);
      if (total === undefined) return '';
      return `${[rule, lintRule(rule).severity, total.findings, total.files].join('\t')}\n`;
    }).join('');
  },
};
