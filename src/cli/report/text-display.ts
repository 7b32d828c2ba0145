import type { LineLayout } from '../../pipeline/output/laid-out-lines.js';
import type { Paint } from './colour.js';
import { paintWords } from './colour.js';
import type { RecordColumns } from './record-columns.js';

/** Colours the verdicts of lines of text. */
export function colouredVerdicts(paint: Paint): LineLayout {
  return (lines) =>
    lines.map((line) => {
      const end = line.indexOf('\t');
      return end < 0 ? line : `${paintWords(paint, line.slice(0, end))}${line.slice(end)}`;
    });
}

/**
 * Aligns lines of text with verdicts and explanations.
 *
 * @param added number of columns after the URL, which may hold tabs if it is invalid
 */
export function alignedColumns(columns: RecordColumns, added: number): LineLayout {
  return (lines) =>
    columns.lines(
      lines.map((line) => {
        const [verdict = '', ...values] = line.split('\t');
        const urlEnd = Math.max(0, values.length - added);
        return [verdict, values.slice(0, urlEnd).join('\t'), ...values.slice(urlEnd)];
      }),
    );
}
