/**
 * What the comparison knows of the command line beside the README's rule that each record comes out
 * with the library's verdict: in one place, to be changed when the program does.
 */

import type { Reason } from '../../src/protocol/verdict.js';
import type { Format } from './records.js';

/** Octets that come out of a line that is too long or no JSON. */
export const SHOWN_OCTETS = 1024;

/**
 * Brackets and braces that may be open at once in JSON, those of an array around the records
 * included.
 */
const MAX_DEPTH = 1000;

/** Why a JSON record is not even looked at; its beginning is shown as it came. */
export function refusalOf(
  record: string,
  isInArray: boolean,
  maxOctets: number,
): Reason | undefined {
  const deep = record.length <= MAX_DEPTH - 1 ? undefined : beyondDepth(record, isInArray ? 1 : 0);
  // Whichever bound it passes first counts.
  if (deep !== undefined && deep < maxOctets) return 'nested-too-deep';
  return record.length > maxOctets ? 'line-too-long' : undefined;
}

/** The offset of the first bracket that is one too many. */
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
 * The reason of a line of text with a tab or a carriage return between the octets that the URL
 * Standard strips at both ends.
 */
export function severalUrls(line: string): Reason | undefined {
  let start = 0;
  let end = line.length;
  while (start < end && line.charCodeAt(start) <= 0x20) start++;
  while (end > start && line.charCodeAt(end - 1) <= 0x20) end--;
  const within = line.slice(start, end);
  if (within.includes('\t')) return 'tab-in-line';
  return within.includes('\r') ? 'return-in-line' : undefined;
}

/** What bad records are numbered by, in messages and in what comes out of them. */
export function numberedBy(format: Format): 'line' | 'record' {
  return format === 'array' || format === 'concatenated' ? 'record' : 'line';
}
