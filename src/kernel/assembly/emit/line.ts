/** Lines as read. */

import { CR, LF } from '../../../ascii';
import { LINE_END, LINE_NEWLINE, LINE_START } from '../../layout';
import { copy } from '../bytes/copy';
import { byte } from './parts';

/** Length that most lines do not exceed: see `copy`. */
const USUAL_LINE: i32 = 128;

/** Writes the line as read. */
export function pass(line: usize, to: usize): usize {
  const start: usize = load<u32>(line, LINE_START);
  return copy(start, <i32>(<usize>load<u32>(line, LINE_END) - start), to, USUAL_LINE);
}

/**
 * Ends a record with the line end of its line, LF or CRLF; with LF if the input ended without a
 * line end.
 */
export function lineEnd(line: usize, to: usize): usize {
  if (load<u32>(line, LINE_END) !== load<u32>(line, LINE_NEWLINE)) to = byte(CR, to);
  return byte(LF, to);
}

/** Ends a line with LF. */
export function newline(to: usize): usize {
  return byte(LF, to);
}
