import type { Result } from '../measure/runs.js';
import { type Figure, figureOf } from '../measure/statistics.js';
import type { RatioRow } from './ratios.js';

/** The figures of all cases, as lines of text. */
export function resultsText(results: readonly Result[]): string {
  const header = ['case', '', 'records', 'median s', 'min–max s', 'million/s', 'MB/s', 'peak MB'];
  const rows = results.map(({ case: { id, name, records, bytes, kind }, seconds, peakBytes }) => {
    const { median, least, greatest } = figureOf(seconds);
    return [
      id,
      name,
      records > 0 ? records.toLocaleString('en') : '',
      median.toFixed(3),
      `${least.toFixed(3)}–${greatest.toFixed(3)}`,
      records > 1 ? (records / median / 1e6).toFixed(3) : '',
      bytes > 1000 ? (bytes / median / 1e6).toFixed(0) : '',
      peakBytes === undefined || kind === 'floor' ? '' : (peakBytes / 1e6).toFixed(0),
    ];
  });
  return aligned([header, ...rows], 2);
}

/** The ratios with their spread, as lines of text. */
export function ratiosText(rows: readonly RatioRow[]): string {
  const header = ['ratio', '', 'median', 'min–max', ''];
  const lines = rows.map((row) => {
    const range = `${figureText(row.least)}–${figureText(row.greatest)}`;
    return [row.id, row.what, figureText(row.median), range, row.unit];
  });
  return aligned([header, ...lines], 2);
}

/** The ratio of each case's time to the same case of another version. */
export function versionsText(
  rows: readonly (Figure & { id: string; before: number; after: number })[],
): string {
  const header = ['case', 'before CPU s', 'after CPU s', 'after/before', 'min–max'];
  const lines = rows.map(({ id, before, after, median, least, greatest }) => [
    id,
    before.toFixed(3),
    after.toFixed(3),
    median.toFixed(3),
    `${least.toFixed(3)}–${greatest.toFixed(3)}`,
  ]);
  return aligned([header, ...lines]);
}

function figureText(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 20 ? value.toFixed(0) : value.toFixed(2);
}

/** @param flushLeft number of left-aligned columns, from the first */
export function aligned(rows: readonly (readonly string[])[], flushLeft = 1): string {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths?.[column] ?? 0;
          return column < flushLeft ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
