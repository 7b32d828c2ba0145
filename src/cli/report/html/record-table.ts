import { formatNumber, formatPercent } from '../numbers.js';
import { RECORD_FIGURES, type RecordFigure } from '../record-figures.js';
import { html, htmlTable } from './html-text.js';

/** The hosts with other records of each kind, and their share of `hosts`. */
export function recordTable(
  records: Readonly<Record<RecordFigure, number>> | null,
  hosts: number,
): string {
  if (records === null) {
    return '<p>The table keeps no records. Compile it with --records.</p>';
  }
  const rows = RECORD_FIGURES.map((kind) => [
    html(kind),
    formatNumber(records[kind]),
    formatPercent(records[kind], hosts),
  ]);
  return `<p>None of these records changes a verdict.</p>
${htmlTable('numbers', 'Hosts that have a record', ['record', 'hosts', 'share'], rows)}`;
}
