/**
 * The facts about the command line that the comparison uses, besides the README's rule that each
 * record comes out with the library's verdict. They are in one place; change them with the program.
 */

import type { Reason } from '../../src/protocol/verdict.js';
import type { Format } from './records.js';

/** Bytes in the output of a line that is too long or not JSON. */
export const SHOWN_BYTES = 1024;

/**
 * Maximum number of open brackets and braces in JSON, including those of an array around the
 * records.
 */
const MAX_DEPTH = 1000;

/** Why a JSON record is not examined; its beginning is shown unchanged. */
export function refusalOf(
  record: string,
  isInArray: boolean,
  maxBytes: number,
): Exclude<Reason, 'rule'> | undefined {
  const deep = record.length <= MAX_DEPTH - 1 ? undefined : beyondDepth(record, isInArray ? 1 : 0);
  // The bound that the record exceeds first counts.
  if (deep !== undefined && deep < maxBytes) return 'nested-too-deep';
  return record.length > maxBytes ? 'line-too-long' : undefined;
}

/** The offset of the first bracket beyond the limit. */
function beyondDepth(record: string, around: number): number | undefined {
  let depth = around;
  let inString = false;
  for (let at = 0; at < record.length; at++) {
    const character = record.charAt(at);
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      if (++depth > MAX_DEPTH) return at;
    } else if (character === '}' || character === ']') depth--;
  }
  return undefined;
}

/**
 * The reason of a line of text with a tab or a carriage return between the bytes that the URL
 * Standard strips at both ends.
 */
export function severalUrls(line: string): Exclude<Reason, 'rule'> | undefined {
  let start = 0;
  let end = line.length;
  while (start < end && line.charCodeAt(start) <= 0x20) start++;
  while (end > start && line.charCodeAt(end - 1) <= 0x20) end--;
  const within = line.slice(start, end);
  if (within.includes('\t')) return 'tab-in-line';
  return within.includes('\r') ? 'return-in-line' : undefined;
}

/** The numbers by which messages and output name bad records. */
export function numberedBy(format: Format): 'line' | 'record' {
  return format === 'array' || format === 'concatenated' ? 'record' : 'line';
}
