import { ASTERISK, UPPER_A, UPPER_Z } from '../../ascii.js';
import { TOKEN_ANY, TOKEN_EMPTY, TOKEN_ENTRY_BYTES } from '../../table/format.js';
import type { TableHeader } from '../../table/table-check.js';
import type { TableBytes } from './table-bytes.js';

/**
 * Checks that the product tokens fill their section: `*`, the empty token, then the others sorted
 * without duplicates, all in lower case.
 */
export function checkTokens(table: TableBytes, { tokens, sections }: TableHeader): void {
  const { start, end } = sections.tokens;
  let next = start + tokens * TOKEN_ENTRY_BYTES;
  let previous = next;
  for (let number = 0; number < tokens; number++) {
    const entry = start + number * TOKEN_ENTRY_BYTES;
    const text = table.u32(entry);
    const bytes = table.u32(entry + 4);
    const fault = (what: string): Error =>
      table.fault('tokens', entry, `product token ${number} ${what}`);
    if (text !== next) throw fault(`starts at ${text}, not at ${next}`);
    next = text + bytes;
    if (next > end) throw fault(`has ${bytes} bytes, beyond the section`);
    if (number === TOKEN_ANY) {
      if (bytes !== 1 || table.u8(text) !== ASTERISK) throw fault('is not *');
    } else if (number === TOKEN_EMPTY) {
      if (bytes !== 0) throw fault('is not empty');
    } else if (!isAfter(table.bytes, previous, text, next)) {
      throw fault('is not sorted');
    }
    if (!isLowerCase(table.bytes, text, next)) throw fault('is not in lower case');
    previous = text;
  }
  table.zeros('tokens', next, end);
}

/** Whether the text from `text` to `end` sorts after the text from `previous` to `text`. */
function isAfter(bytes: Uint8Array, previous: number, text: number, end: number): boolean {
  const length = Math.min(text - previous, end - text);
  for (let at = 0; at < length; at++) {
    const difference = (bytes[text + at] as number) - (bytes[previous + at] as number);
    if (difference !== 0) return difference > 0;
  }
  return end - text > text - previous;
}

function isLowerCase(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte >= UPPER_A && byte <= UPPER_Z) return false;
  }
  return true;
}
