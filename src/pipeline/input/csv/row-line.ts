import { LF } from '../../../ascii.js';
import { ROW_MARK_BYTES, ROW_MARKED, ROW_REFUSED } from '../../../kernel/layout.js';

/**
 * The row of a line that `RowLines` has made, with its newlines; `undefined` if the row was
 * refused.
 */
export function rowOfLine(line: Buffer): Buffer | undefined {
  if (line.length < ROW_MARK_BYTES) return line;
  if (line[0] === ROW_REFUSED) return undefined;
  if (line[0] !== ROW_MARKED) return line;
  const standIn = line[1];
  return line.subarray(ROW_MARK_BYTES).map((byte) => (byte === standIn ? LF : byte)) as Buffer;
}
