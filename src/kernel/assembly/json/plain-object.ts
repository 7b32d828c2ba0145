/** Finding the URL in a JSON object of the form that most lines have. */

import { CLOSE_BRACE, COMMA, CR, LF, OPEN_BRACE, QUOTE, SPACE } from '../../../ascii';
import {
  LINE_BRACE,
  LINE_END,
  LINE_NEWLINE,
  LINE_URL,
  LINE_URL_END,
  QUERY_KEY,
  QUERY_KEY_BITS,
} from '../../layout';
import { splitPlain } from '../url/url';
import { skipMembers } from './members';
import { holdsEscape, skipString } from './string';

/** Address after `"url":`, with at most one space on either side, at `at`; 0 if it is not there. */
function afterKey(query: usize, at: usize): usize {
  at += <usize>(load<u8>(at) === SPACE);
  const bits = load<i32>(query, QUERY_KEY_BITS);
  const equal = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(query, QUERY_KEY)));
  if ((equal & bits) !== bits || bits === 0) return 0;
  at += <usize>ctz(~bits);
  return at + <usize>(load<u8>(at) === SPACE);
}

/**
 * As `locateUrl`, for the most usual form of a line: `skipMembers` skips all members but the URL,
 * and the URL is a string without escapes that `splitPlain` reads. Returns where `splitPlain`
 * stopped; the line entry then has the URL, the brace and the ends of the line. Returns 0 for a
 * line of another form; its line entry is then undefined.
 */
export function locatePlain(
  query: usize,
  worker: usize,
  line: usize,
  start: usize,
  end: usize,
): usize {
  if (load<u8>(start) !== OPEN_BRACE) return 0;
  let at = start;
  let value = afterKey(query, at + 1);
  while (value === 0) {
    const further = skipMembers(query, worker, at, end);
    if (further === at || load<u8>(further) !== COMMA) return 0;
    at = further;
    value = afterKey(query, at + 1);
  }
  if (load<u8>(value) !== QUOTE) return 0;
  const url = value + 1;
  if (url >= end) return 0;
  const stop = splitPlain(line, url, end);
  if (stop === 0) return 0;
  let quote = stop;
  if (load<u8>(quote) !== QUOTE) {
    quote = skipString(stop, end);
    if (quote === end || holdsEscape(stop, quote)) return 0;
  }
  at = quote + 1;
  while (at < end && load<u8>(at) === COMMA) {
    const further = skipMembers(query, worker, at, end);
    if (further === at) return 0;
    at = further;
  }
  let newline = at + 1;
  newline += <usize>(load<u8>(newline) === CR);
  if (newline >= end || load<u8>(at) !== CLOSE_BRACE || load<u8>(newline) !== LF) return 0;
  store<u32>(line, url, LINE_URL);
  store<u32>(line, quote, LINE_URL_END);
  store<u32>(line, at, LINE_BRACE);
  store<u32>(line, at + 1, LINE_END);
  store<u32>(line, newline, LINE_NEWLINE);
  return stop;
}
