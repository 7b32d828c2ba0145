import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CR,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../../../ascii.js';
import { startOfContent } from '../head.js';

/**
 * The beginning of an input, by which JSON and NDJSON differ.
 *
 * - `array or string`: the input begins with `[` or `"`.
 * - `object on a line`: it begins with an object that ends on its line, with no other value after
 *   it; or with an object whose line ends within a string, which is not JSON in any format.
 * - `object among others`: it begins with an object that spans lines, or shares its line with
 *   other values.
 * - `other`: it begins with anything else.
 * - `undefined`: later bytes can change the answer. No record is complete before they come.
 */
export type Beginning =
  | 'array or string'
  | 'object on a line'
  | 'object among others'
  | 'other'
  | undefined;

/** Finds out how an input begins. `head` may be truncated anywhere. */
export function beginningOf(head: Uint8Array): Beginning {
  const start = startOfContent(head);
  switch (head[start]) {
    case undefined:
      return undefined;
    case OPEN_BRACE:
      return beginningOfObject(head, start);
    case OPEN_BRACKET:
    case QUOTE:
      return 'array or string';
    default:
      return 'other';
  }
}

/** Continues from the `{` at `start`, to the end of its line at most. */
function beginningOfObject(head: Uint8Array, start: number): Beginning {
  let depth = 0;
  let inString = false;
  for (let index = start; index < head.length; index++) {
    const byte = head[index];
    if (byte === LF) return inString ? 'object on a line' : 'object among others';
    if (inString) {
      if (byte === BACKSLASH && head[index + 1] !== LF) index++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return beginningOfRest(head, index + 1);
    }
  }
  return undefined;
}

/** Continues after an object, to the first byte on its line that is not white space. */
function beginningOfRest(head: Uint8Array, start: number): Beginning {
  for (let index = start; index < head.length; index++) {
    switch (head[index]) {
      case TAB:
      case CR:
      case SPACE:
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
      case QUOTE:
        return 'object among others';
      default:
        return 'object on a line';
    }
  }
  return undefined;
}
