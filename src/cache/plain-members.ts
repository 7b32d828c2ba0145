import {
  BACKSLASH,
  CLOSE_BRACE,
  COLON,
  COMMA,
  DELETE,
  DIGIT_0,
  OPEN_BRACE,
  QUOTE,
  SPACE,
} from '../ascii.js';
import { decodeJsonString } from '../kernel/json-string.js';

/** The members of a record that are read, as JSON.parse reads them. A body may already be bytes. */
export interface Members {
  readonly host?: unknown;
  readonly url?: unknown;
  readonly robots?: unknown;
  readonly robots_base64?: unknown;
  readonly status?: unknown;
}

/** Maximum number of digits; longer numbers are left to JSON.parse. */
const MAX_DIGITS = 9;

/**
 * Reads the members of a plain record: an object of strings and whole numbers on a line of UTF-8,
 * with no white space but a space after a colon or comma, and no escapes outside the body.
 * `undefined` for any other record, which JSON.parse must read.
 *
 * The next call overwrites the bytes of the body.
 */
export function plainMembers(line: Buffer): Members | undefined {
  const members: { -readonly [Name in keyof Members]: Members[Name] } = {};
  if (line[0] !== OPEN_BRACE) return undefined;
  for (let at = 1; ; ) {
    const keyEnd = plainStringEnd(line, at);
    if (keyEnd === undefined || line[keyEnd] !== COLON) return undefined;
    const key = line.toString('latin1', at + 1, keyEnd - 1);
    const start = line[keyEnd + 1] === SPACE ? keyEnd + 2 : keyEnd + 1;
    let value: string | number | Uint8Array;
    let end: number | undefined;
    if (line[start] !== QUOTE) {
      end = digitsEnd(line, start);
      if (end === undefined) return undefined;
      value = Number(line.toString('latin1', start, end));
    } else if (key === 'robots') {
      const body = decodeJsonString(line, start);
      if (body === undefined) return undefined;
      value = body.bytes;
      end = body.end;
    } else {
      end = plainStringEnd(line, start);
      if (end === undefined) return undefined;
      value = line.toString('latin1', start + 1, end - 1);
    }
    switch (key) {
      case 'host':
      case 'url':
      case 'robots':
      case 'robots_base64':
      case 'status':
        members[key] = value;
    }
    if (line[end] === CLOSE_BRACE) return end + 1 === line.length ? members : undefined;
    if (line[end] !== COMMA) return undefined;
    at = line[end + 1] === SPACE ? end + 2 : end + 1;
  }
}

/** Offset after the string that begins at `start`; `undefined` unless it is plain ASCII. */
function plainStringEnd(line: Buffer, start: number): number | undefined {
  if (line[start] !== QUOTE) return undefined;
  for (let at = start + 1; at < line.length; at++) {
    const byte = line[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte < SPACE || byte === BACKSLASH || byte >= DELETE) return undefined;
  }
  return undefined;
}

/** Offset after the whole number that begins at `start`; `undefined` if there is none. */
function digitsEnd(line: Buffer, start: number): number | undefined {
  let end = start;
  while (end < line.length && isDigit(line[end] as number)) end++;
  if (end === start || end - start > MAX_DIGITS) return undefined;
  return line[start] === DIGIT_0 && end - start > 1 ? undefined : end;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte < DIGIT_0 + 10;
}
