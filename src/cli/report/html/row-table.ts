import { printable } from '../../../control-characters.js';
import type { HeldRows } from '../held-rows.js';
import { formatCount, formatNumber } from '../numbers.js';
import { type Cell, textOf } from '../rows.js';
import { cutToWidth } from '../width-on-terminal.js';
import { html, htmlTable } from './html-text.js';

/** Texts that have a colour of their own: see page.ts. */
const COLOURED = ['all', 'part', 'none', 'unknown'];

/** Maximum width of a value, in columns of a terminal. */
const WIDEST = 200;

/** The first rows of a report as a table. `what` is what a row is, in the singular. */
export function rowTable({ columns, rows, total }: HeldRows, what: string): string {
  if (total === 0) return `<p>There is no ${html(what)}.</p>`;
  const part =
    total === rows.length
      ? formatCount(total, what)
      : `The first ${formatNumber(rows.length)} of ${formatCount(total, what)}; --format csv has all`;
  const table = htmlTable(
    'words',
    part,
    columns.map(({ name }) => name.replaceAll('_', ' ')),
    rows.map((row) => row.map(cellOf)),
  );
  return table;
}

function cellOf(value: Cell): string {
  const whole = printable(textOf(value));
  if (COLOURED.includes(whole)) return `<span class="cell ${whole}">${whole}</span>`;
  return html(cutToWidth(whole, WIDEST));
}
