import { TOKEN_ANY, TOKEN_EMPTY } from '../format.js';
import type { TableHeader } from '../table-check.js';
import type { TableOctets } from './table-octets.js';

const ENTRY_OCTETS = 8;
const ASTERISK = 0x2a;

/**
 * Sees that the product tokens fill their section: `*`, the empty one, the others sorted, none
 * twice, in lower case.
 */
export function checkTokens(table: TableOctets, { tokens, sections }: TableHeader): void {
  const { start, end } = sections.tokens;
  let next = start + tokens * ENTRY_OCTETS;
  let previous = next;
  for (let number = 0; number < tokens; number++) {
    const entry = start + number * ENTRY_OCTETS;
    const text = table.u32(entry);
    const octets = table.u32(entry + 4);
    const fault = (what: string): Error =>
      table.fault('tokens', entry, `product token ${number} ${what}`);
    if (text !== next) throw fault(`starts at ${text}, not at ${next}`);
    next = text + octets;
    if (next > end) throw fault(`has ${octets} bytes, beyond the section`);
    if (number === TOKEN_ANY) {
      if (octets !== 1 || table.u8(text) !== ASTERISK) throw fault('is not *');
    } else if (number === TOKEN_EMPTY) {
      if (octets !== 0) throw fault('is not empty');
    } else if (!isAfter(table.octets, previous, text, next)) {
      throw fault('is not sorted');
    }
    if (!isLowerCase(table.octets, text, next)) throw fault('is not in lower case');
    previous = text;
  }
  table.zeros('tokens', next, end);
}

/** Whether the text from `text` to `end` sorts after the one from `previous` to `text`. */
function isAfter(octets: Uint8Array, previous: number, text: number, end: number): boolean {
  const length = Math.min(text - previous, end - text);
  for (let at = 0; at < length; at++) {
    const difference = (octets[text + at] as number) - (octets[previous + at] as number);
    if (difference !== 0) return difference > 0;
  }
  return end - text > text - previous;
}

function isLowerCase(octets: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const octet = octets[at] as number;
    if (octet >= 0x41 && octet <= 0x5a) return false;
  }
  return true;
}
