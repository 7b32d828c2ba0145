import { LF, SPACE } from '../ascii.js';
import { endOfHeader, type Field, fieldsOf } from './warc-header.js';

/** Maximum length of the header of a response, in bytes. */
const LONGEST_HEAD = 256 * 1024;

/** Interim responses before the final one (RFC 9110 section 15.2), at most. */
const MAX_INTERIM = 100;

/** The fields that decide about a body. */
const FIELDS = ['location', 'content-length', 'content-encoding', 'transfer-encoding'];

/** The status line and the header of a response (RFC 9112 section 4). */
export interface HttpHead {
  readonly status: number;
  /** Those of FIELDS that are there. */
  readonly fields: readonly Field[];
  /** Offset of the body in the block. */
  readonly end: number;
}

/**
 * Parses the head of the final response in a block; `undefined` if the block holds none. Lines may
 * end in a bare LF. A block that ends after the status line or a field has no body.
 */
export function parseHttpHead(block: Buffer): HttpHead | undefined {
  let start = 0;
  for (let count = 0; count <= MAX_INTERIM; count++) {
    const limit = Math.min(block.length, start + LONGEST_HEAD);
    const blank = endOfHeader(block, start, limit);
    if (blank < 0 && limit < block.length) return undefined;
    const end = blank < 0 ? block.length : blank;
    const head = block.subarray(start, end);
    const status = statusOf(head);
    if (status === undefined) return undefined;
    if (status >= 200 || status === 101) return { status, fields: fieldsOf(head, FIELDS), end };
    start = end;
  }
  return undefined;
}

/** The values of all fields with a name, joined by commas (RFC 9110 section 5.3). */
export function fieldValue({ fields }: HttpHead, name: string): string | undefined {
  const values = fields.filter((field) => field.name === name).map(({ value }) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The first value of a field. */
export function firstValue({ fields }: HttpHead, name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value;
}

/** The status code of `HTTP/1.1 200 OK`. */
function statusOf(head: Buffer): number | undefined {
  const lf = head.indexOf(LF);
  const line = head.toString('latin1', 0, lf < 0 ? head.length : lf);
  if (line.slice(0, 5).toUpperCase() !== 'HTTP/') return undefined;
  const space = head.indexOf(SPACE);
  if (space < 0 || space > 16) return undefined;
  let at = space;
  while (line[at] === ' ') at++;
  const digits = line.slice(at, at + 3);
  const after = line[at + 3];
  if (after !== undefined && after !== ' ' && after !== '\r') return undefined;
  for (const digit of digits) if (digit < '0' || digit > '9') return undefined;
  return digits.length === 3 && digits >= '100' ? Number(digits) : undefined;
}
