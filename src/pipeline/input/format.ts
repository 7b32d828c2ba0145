import { mayBecomeForeign, startsWith } from '../signature.js';

/**
 * What an input holds.
 *
 * - `text`: one URL a line.
 * - `ndjson`: one JSON object a line.
 * - `json`: an array of objects or strings, or such values one after another.
 */
export type InputFormat = 'text' | 'ndjson' | 'json';

/**
 * The most that is read of an input before its format is settled, in octets: the size of a pipe's
 * buffer.
 */
export const HEAD_OCTETS = 65_536;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/** The octets that a UTF-8 byte order mark takes at the start of `head`: 3 or 0. */
export function byteOrderMarkOctets(head: Uint8Array): number {
  return startsWith(head, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/**
 * Whether `head` is too short to tell a byte order mark, a gzip member or another format from text.
 */
export function needsMoreOctets(head: Uint8Array): boolean {
  const mayBecomeMark = head.length < BYTE_ORDER_MARK.length && startsWith(BYTE_ORDER_MARK, head);
  return mayBecomeMark || mayBecomeForeign(head);
}

/**
 * What `--input auto` takes an input for. `head` may be cut anywhere; a byte order mark and
 * white space at its start do not count.
 *
 * - `[` or `"`: `json`.
 * - `{`: `ndjson`, but `json` if the line that it stands on does not close the object, or has
 *   another value after it. A line that is longer than the head counts as `ndjson`.
 * - anything else, and nothing at all: `text`.
 */
export function sniffFormat(head: Uint8Array): InputFormat {
  const format = recogniseFormat(head);
  if (format !== undefined) return format;
  return head.includes(OPEN_BRACE) ? 'ndjson' : 'text';
}

/**
 * As `sniffFormat`, but `undefined` while octets that are still to come can change the answer:
 * as long as there is only white space, or an object on a first line that has not ended.
 * No record is complete before that, so that waiting for more holds nothing up.
 */
export function recogniseFormat(head: Uint8Array): InputFormat | undefined {
  if (needsMoreOctets(head)) return undefined;
  const start = skipWhiteSpace(head, byteOrderMarkOctets(head));
  switch (head[start]) {
    case undefined:
      return undefined;
    case OPEN_BRACE:
      return recogniseObject(head, start);
    case OPEN_BRACKET:
    case QUOTE:
      return 'json';
    default:
      return 'text';
  }
}

/** Reads on from the `{` at `start`, to the end of its line at most. */
function recogniseObject(head: Uint8Array, start: number): InputFormat | undefined {
  let depth = 0;
  let inString = false;
  for (let index = start; index < head.length; index++) {
    const octet = head[index];
    if (octet === LINE_FEED) {
      // A line that ends within a string is no JSON in any format: as NDJSON it is one bad record.
      return inString ? 'ndjson' : 'json';
    }
    if (inString) {
      if (octet === BACKSLASH && head[index + 1] !== LINE_FEED) index++;
      else if (octet === QUOTE) inString = false;
    } else if (octet === QUOTE) {
      inString = true;
    } else if (octet === OPEN_BRACE || octet === OPEN_BRACKET) {
      depth++;
    } else if (octet === CLOSE_BRACE || octet === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return recogniseRestOfLine(head, index + 1);
    }
  }
  return undefined;
}

function recogniseRestOfLine(head: Uint8Array, start: number): InputFormat | undefined {
  for (let index = start; index < head.length; index++) {
    switch (head[index]) {
      case TAB:
      case CARRIAGE_RETURN:
      case SPACE:
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
      case QUOTE:
        return 'json';
      default:
        return 'ndjson';
    }
  }
  return undefined;
}

function skipWhiteSpace(head: Uint8Array, start: number): number {
  let index = start;
  for (; index < head.length; index++) {
    const octet = head[index];
    if (octet !== SPACE && octet !== TAB && octet !== LINE_FEED && octet !== CARRIAGE_RETURN) break;
  }
  return index;
}
