/** Finds product tokens in a table, whose list of them is sorted. */

import { Buffer } from 'node:buffer';
import {
  HEADER_SECTIONS,
  HEADER_TOKENS,
  SECTION_TOKENS,
  TOKEN_ANY,
  TOKEN_ENTRY_BYTES,
} from './format.js';

/** Reads the bytes of a table by their offsets. */
export interface TableBytes {
  u32(at: number): number;
  copy(at: number, length: number): Uint8Array;
}

const FIRST_SORTED_TOKEN = 2;

/** The product token with a number that the table has. */
export function tokenAt(table: TableBytes, number: number): Uint8Array {
  const section = table.u32(HEADER_SECTIONS + 4 * SECTION_TOKENS);
  const entry = section + number * TOKEN_ENTRY_BYTES;
  return table.copy(table.u32(entry), table.u32(entry + 4));
}

/** The number of a product token in lower case; -1 if no robots.txt names it. */
export function numberOfToken(table: TableBytes, token: string): number {
  if (token === '*') return TOKEN_ANY;
  if (token === '') return FIRST_SORTED_TOKEN - 1;
  const bytes = Buffer.from(token);
  const number = firstTokenFrom(table, bytes);
  if (number === table.u32(HEADER_TOKENS)) return -1;
  return bytes.equals(tokenAt(table, number)) ? number : -1;
}

/** The number of the first sorted token that does not precede a text. */
export function firstTokenFrom(table: TableBytes, bytes: Uint8Array): number {
  let low = FIRST_SORTED_TOKEN;
  let high = table.u32(HEADER_TOKENS);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (Buffer.compare(tokenAt(table, middle), bytes) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
