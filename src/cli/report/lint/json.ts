import { printableJson } from '../../../control-characters.js';
import type { LintReport } from '../../../lint/lint.js';
import type { FindingWriter, LintedFile } from './finding-writer.js';
import { placeOf } from './place.js';

/** Findings as JSON objects, one on a line. */
export const jsonFindings: FindingWriter = {
  begin: () => '',
  file({ path, record, authority }: LintedFile, { document, findings, counts }: LintReport) {
    const file = {
      file: path,
      ...(record === undefined ? {} : { record }),
      ...(authority === undefined ? {} : { authority }),
    };
    const left = new Map(counts);
    let text = '';
    for (const finding of findings) {
      const { rule, severity, message, fix } = finding;
      left.set(rule, (left.get(rule) ?? 0) - 1);
      const place = placeOf(document, finding);
      text += `${printableJson({ ...file, ...place, rule, severity, message, fix })}\n`;
    }
    for (const [rule, further] of left) {
      if (further > 0) text += `${printableJson({ ...file, rule, notListed: further })}\n`;
    }
    return text;
  },
  end: () => '',
};
