/**
 * Reads lines of the logs of web servers, in the combined format of Apache httpd and nginx:
 *
 *     192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "REFERER" "USER-AGENT"
 *
 * A host may stand before it, as in Apache's `vhost_combined`. The user name, the third field, is
 * what a client sent: it may hold spaces and brackets, but no quote that is not escaped.
 */

import {
  BACKSLASH,
  BACKSPACE,
  CLOSE_BRACKET,
  CR,
  FORM_FEED,
  HYPHEN,
  LF,
  LOWER_B,
  LOWER_F,
  LOWER_N,
  LOWER_R,
  LOWER_T,
  LOWER_V,
  LOWER_X,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
  VERTICAL_TAB,
} from '../../base/ascii';
import { findByte, hexDigit, isDigit } from './bytes';
import { skipString } from './json/string';
import { Line, setWhen, setWho } from './memory';

/** `HTTP` and a slash as numbers, the first character lowest. */
const HTTP_NAME: u32 = 0x5054_5448;

/**
 * Stores the target of the request (`source`), the time (`when`) and the agent (`who`) of a line,
 * as they stand there. Returns false if the line is not of the format, or has no target. The common
 * format, which ends before the referer, names no agent.
 */
export function readLogLine(line: Line): bool {
  const start = line.start;
  const end = line.end;
  setWho(0, 0);
  const closing = timeEnd(start, end);
  if (closing === end) return false;
  let opening = closing;
  while (opening > start && load<u8>(opening) !== OPEN_BRACKET) opening--;
  if (load<u8>(opening) !== OPEN_BRACKET) return false;
  setWhen(opening + 1, closing);
  const request = closing + 3;
  const requestEnd = skipString(request, end);
  if (requestEnd === end) return false;
  // The status and the number of bytes.
  let at = numberEnd(numberEnd(requestEnd + 1, end), end);
  if (at === 0) return false;
  if (at < end) {
    at = stringEnd(at, end);
    const agent = at + 2;
    at = at === 0 ? 0 : stringEnd(at, end);
    if (at === 0 || (at < end && load<u8>(at) !== SPACE)) return false;
    setWho(agent, at - 1);
  }
  return storeTarget(line, request, requestEnd);
}

/** Address of the bracket after the time: the first one that a space and a quote follow. */
function timeEnd(at: usize, end: usize): usize {
  while (true) {
    at = findByte(CLOSE_BRACKET, at, end);
    if (end - at < 3) return end;
    if (load<u8>(at, 1) === SPACE && load<u8>(at, 2) === QUOTE) return at;
    at++;
  }
}

/** The end of a space and a number, or a hyphen; 0 if there is none at `at`, or `at` is 0. */
function numberEnd(at: usize, end: usize): usize {
  if (at === 0 || at >= end || load<u8>(at) !== SPACE) return 0;
  const from = at + 1;
  at = from;
  while (at < end && isDigit(load<u8>(at))) at++;
  if (at === from && at < end && load<u8>(at) === HYPHEN) at++;
  return at > from ? at : 0;
}

/** The end of a space and a text in quotes; 0 if there is none at `at`. */
function stringEnd(at: usize, end: usize): usize {
  if (end - at < 3 || load<u8>(at) !== SPACE || load<u8>(at, 1) !== QUOTE) return 0;
  const close = skipString(at + 2, end);
  return close === end ? 0 : close + 1;
}

/**
 * Stores what stands between the method and the version. A client may have sent spaces within it,
 * and no version.
 */
function storeTarget(line: Line, from: usize, end: usize): bool {
  const target = findByte(SPACE, from, end) + 1;
  if (target >= end) return false;
  let last = end - 1;
  while (last >= target && load<u8>(last) !== SPACE) last--;
  const version = last + 1;
  const isVersion = end - version > 4 && load<u32>(version) === HTTP_NAME;
  const targetEnd = isVersion ? max(last, target) : end;
  line.source = target;
  line.sourceEnd = targetEnd;
  return targetEnd > target;
}

/**
 * Copies a text of a log without its escapes: `\xhh`, a backslash before a quote or a backslash,
 * and those of C. Returns the end of the copy, which is not longer.
 */
export function unescapeLog(at: usize, end: usize, to: usize): usize {
  while (at < end) {
    const byte: i32 = load<u8>(at++);
    if (byte !== BACKSLASH || at === end) {
      store<u8>(to++, byte);
      continue;
    }
    const escaped: i32 = load<u8>(at);
    if (escaped === LOWER_X && end - at > 2) {
      const high = hexDigit(load<u8>(at, 1));
      const low = hexDigit(load<u8>(at, 2));
      if ((high | low) >= 0) {
        store<u8>(to++, (high << 4) | low);
        at += 3;
        continue;
      }
    }
    const meant = meaningOf(escaped);
    store<u8>(to++, meant === 0 ? BACKSLASH : meant);
    if (meant !== 0) at++;
  }
  return to;
}

/** The byte for which a backslash and `escaped` stand; 0 if they stand for themselves. */
function meaningOf(escaped: i32): i32 {
  if (escaped === QUOTE || escaped === BACKSLASH) return escaped;
  if (escaped === LOWER_B) return BACKSPACE;
  if (escaped === LOWER_F) return FORM_FEED;
  if (escaped === LOWER_N) return LF;
  if (escaped === LOWER_R) return CR;
  if (escaped === LOWER_T) return TAB;
  return escaped === LOWER_V ? VERTICAL_TAB : 0;
}
