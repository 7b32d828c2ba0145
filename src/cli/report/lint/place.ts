import type { RobotsDocument } from '../../../lint/document.js';
import type { Span } from '../../../lint/finding.js';

/** A place for people and editors. */
export interface Place {
  readonly line: number;
  /** Columns count UTF-16 code units, from 1. `endColumn` is the first one after the place. */
  readonly column: number;
  readonly endColumn: number;
}

/** The place of a finding; `undefined` for the whole file. */
export function placeOf(document: RobotsDocument, span: Span): Place | undefined {
  const { line, start, end } = span;
  if (line === 0) return undefined;
  const begin = Math.min(document.lines[line - 1]?.start ?? start, start);
  const column = document.text(begin, start).length + 1;
  const length = document.text(start, end).length;
  return { line, column, endColumn: column + length };
}
