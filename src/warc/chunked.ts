import { CR, LF, SEMICOLON, SPACE, TAB } from '../ascii.js';

/** Maximum number of digits of a chunk's length. A longer length would exceed any body. */
const MAX_DIGITS = 12;

/** A body after its chunks were joined. */
export interface Dechunked {
  readonly body: Buffer;
  /** Whether the last chunk was found. */
  readonly isWhole: boolean;
}

/**
 * Joins the chunks of a body (RFC 9112 section 7.1). `undefined` if the body does not begin with a
 * chunk: crawlers that join the chunks often keep the header.
 */
export function dechunk(bytes: Buffer): Dechunked | undefined {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const line = sizeLine(bytes, at);
    if (line === undefined) {
      return at === 0 ? undefined : { body: Buffer.concat(pieces), isWhole: false };
    }
    if (line.size === 0) return { body: Buffer.concat(pieces), isWhole: true };
    const end = line.end + line.size;
    pieces.push(bytes.subarray(line.end, end));
    at = end;
    if (bytes[at] === CR) at++;
    if (at >= bytes.length) return { body: Buffer.concat(pieces), isWhole: false };
    if (bytes[at] === LF) at++;
  }
}

/** Reads the line before a chunk. */
function sizeLine(bytes: Buffer, start: number): { size: number; end: number } | undefined {
  let at = start;
  let size = 0;
  for (; at - start <= MAX_DIGITS; at++) {
    const digit = hexValue(bytes[at]);
    if (digit < 0) break;
    size = size * 16 + digit;
  }
  if (at === start || at - start > MAX_DIGITS) return undefined;
  const lf = bytes.indexOf(LF, at);
  if (lf < 0) return undefined;
  while (bytes[at] === SPACE || bytes[at] === TAB) at++;
  const isEnd = at === lf || (bytes[at] === CR && at + 1 === lf) || bytes[at] === SEMICOLON;
  return isEnd ? { size, end: lf + 1 } : undefined;
}

function hexValue(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
