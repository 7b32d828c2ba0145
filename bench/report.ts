import type { MarkRow } from './marks.js';
import { median } from './measure.js';
import { type Result, recordsPerSecond } from './rounds.js';

/** A row of a printed table. */
type Row = readonly string[];

/** The figures of all cases, as lines of text. */
export function describeResults(results: readonly Result[]): string {
  const header = ['case', '', 'records', 'median s', 'min–max s', 'million/s', 'MB/s', 'peak MB'];
  const rows = results.map((result): Row => {
    const { seconds, peakOctets } = result;
    const { id, name, records, octets, kind } = result.case;
    const rate = records > 1 ? (recordsPerSecond(result) / 1e6).toFixed(3) : '';
    return [
      id,
      name,
      records > 0 ? records.toLocaleString('en') : '',
      median(seconds).toFixed(3),
      `${Math.min(...seconds).toFixed(3)}–${Math.max(...seconds).toFixed(3)}`,
      rate,
      octets > 1000 ? (octets / median(seconds) / 1e6).toFixed(0) : '',
      peakOctets === undefined || kind === 'floor' ? '' : (peakOctets / 1e6).toFixed(0),
    ];
  });
  return aligned([header, ...rows], 2);
}

/** The table of marks: what was reached, and what was to be. */
export function describeMarks(marks: readonly MarkRow[]): string {
  const header = ['mark', '', 'value', 'by the least', '', 'at least', 'aim', 'standing'];
  const rows = marks.map((mark): Row => {
    const limit = (value: number | undefined) =>
      value === undefined ? '' : `${mark.better === 'less' ? '≤' : '≥'} ${shortened(value)}`;
    return [
      mark.id,
      `${mark.what} (${mark.shown})`,
      shortened(mark.value),
      shortened(mark.byLeast),
      mark.unit,
      limit(mark.atLeast),
      limit(mark.aim),
      mark.standing,
    ];
  });
  return aligned([header, ...rows], 2);
}

function shortened(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 20 ? value.toFixed(0) : value.toFixed(2);
}

/**
 * @param flushLeft columns, from the first, that are set flush left; the others are set flush right
 */
export function aligned(rows: readonly Row[], flushLeft = 1): string {
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

/** A case's figures as they stand in a record. */
export interface ResultRecord {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly records: number;
  readonly octets: number;
  readonly medianSeconds: number;
  readonly seconds: readonly number[];
  readonly peakOctets: number | undefined;
}

export function resultRecord({ case: measured, seconds, peakOctets }: Result): ResultRecord {
  const { id, name, kind, records, octets } = measured;
  return { id, name, kind, records, octets, medianSeconds: median(seconds), seconds, peakOctets };
}
