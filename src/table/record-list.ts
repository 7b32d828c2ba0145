/**
 * Record lists: the other records of one robots.txt, as the section of records has them. format.ts
 * describes the bytes.
 */

import { Buffer } from 'node:buffer';
import { type KeptRecord, RECORD_KINDS, type RecordKind } from '../protocol/fields.js';
import { RECORD_KIND, RECORD_TRUNCATED, RECORD_VALUE_LIMIT } from './format.js';

/** An other record of a table. */
export interface TableRecord extends KeptRecord {
  /** Whether the value was longer than RECORD_VALUE_LIMIT bytes. The rest is missing. */
  readonly isTruncated: boolean;
}

/** Bits of a number in one byte of its form, and the bit that says that another byte follows. */
const NUMBER_BITS = 7;
const NUMBER_FOLLOWED = 0x80;
const MAX_NUMBER_BYTES = 5;

const NO_GROUP = 0;
const TOKEN_SEPARATOR = ',';

/**
 * Encodes a list; the records are in the order of the file. Those of another list may be truncated
 * already.
 */
export function encodeRecordList(records: readonly (KeptRecord | TableRecord)[]): Uint8Array {
  const groups = new Map<string, number>();
  const body = new ByteList();
  // The records of a group share one list, which may be as long as the file.
  let last: readonly string[] | undefined;
  let lastGroup = NO_GROUP;
  for (const record of records) {
    const { kind, line, productTokens, value } = record;
    if (productTokens !== undefined && productTokens !== last) {
      const tokens = productTokens.join(TOKEN_SEPARATOR);
      lastGroup = groups.get(tokens) ?? groups.size + 1;
      groups.set(tokens, lastGroup);
      last = productTokens;
    }
    const group = productTokens === undefined ? NO_GROUP : lastGroup;
    const whole = Buffer.from(value);
    const kept = whole.subarray(0, characterStart(whole, RECORD_VALUE_LIMIT));
    const wasTruncated = 'isTruncated' in record && record.isTruncated;
    const isTruncated = wasTruncated || kept.length < whole.length;
    body.push((RECORD_KINDS.indexOf(kind) + 1) | (isTruncated ? RECORD_TRUNCATED : 0));
    body.number(line);
    body.number(group);
    body.text(kept);
  }
  const head = new ByteList();
  head.number(groups.size);
  for (const tokens of groups.keys()) head.text(Buffer.from(tokens));
  const length = new ByteList();
  length.number(head.length + body.length);
  return Buffer.concat([length.bytes, head.bytes, body.bytes]);
}

/** The greatest length up to `most` that does not split a character of UTF-8. */
function characterStart(bytes: Uint8Array, most: number): number {
  if (bytes.length <= most) return bytes.length;
  let start = most;
  while (start > most - 3 && ((bytes[start] as number) & 0xc0) === 0x80) start--;
  return start;
}

/** Bytes that grow. */
class ByteList {
  length = 0;
  #bytes = new Uint8Array(64);

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  push(byte: number): void {
    this.#room(1);
    this.#bytes[this.length++] = byte;
  }

  number(value: number): void {
    let left = value;
    for (; left >= NUMBER_FOLLOWED; left >>>= NUMBER_BITS) this.push(left | NUMBER_FOLLOWED);
    this.push(left);
  }

  text(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  #room(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const longer = new Uint8Array(2 * (this.length + bytes));
    longer.set(this.bytes);
    this.#bytes = longer;
  }
}

/**
 * Reads the list that starts at `start`.
 *
 * @param end where the list must have ended: the end of its section
 * @param damaged makes the error for bytes that no compiler writes, from their offset
 */
export function readRecordList(
  bytes: Uint8Array,
  start: number,
  end: number,
  damaged: (at: number, what: string) => Error,
): { readonly records: TableRecord[]; readonly end: number } {
  const cursor = new Cursor(bytes, start, end, damaged);
  const length = cursor.number();
  if (length > end - cursor.at) throw damaged(start, 'the record list ends beyond its section');
  cursor.end = cursor.at + length;
  const groupCount = cursor.number();
  // Each group has a byte at least.
  if (groupCount > length) throw damaged(start, `the record list has ${groupCount} groups`);
  const groups: (readonly string[])[] = [];
  for (let group = 0; group < groupCount; group++) {
    groups.push(cursor.text().split(TOKEN_SEPARATOR));
  }
  const records: TableRecord[] = [];
  while (cursor.at < cursor.end) {
    const { at } = cursor;
    const head = cursor.byte();
    const kind = RECORD_KINDS[(head & RECORD_KIND) - 1] as RecordKind | undefined;
    if (kind === undefined || (head & ~(RECORD_KIND | RECORD_TRUNCATED)) !== 0) {
      throw damaged(at, `a record of kind ${head}`);
    }
    const line = cursor.number();
    const group = cursor.number();
    if (group > groupCount) throw damaged(at, `the record list has no group ${group}`);
    const value = cursor.text();
    const isTruncated = (head & RECORD_TRUNCATED) !== 0;
    records.push({ kind, line, productTokens: groups[group - 1], value, isTruncated });
  }
  return { records, end: cursor.end };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

class Cursor {
  at: number;
  /** Where reading ends. */
  end: number;
  readonly #bytes: Uint8Array;
  readonly #damaged: (at: number, what: string) => Error;

  constructor(
    bytes: Uint8Array,
    at: number,
    end: number,
    damaged: (at: number, what: string) => Error,
  ) {
    this.#bytes = bytes;
    this.at = at;
    this.end = Math.min(end, bytes.length);
    this.#damaged = damaged;
  }

  byte(): number {
    if (this.at >= this.end) throw this.#damaged(this.at, 'a record list ends too early');
    return this.#bytes[this.at++] as number;
  }

  number(): number {
    const start = this.at;
    let value = 0;
    for (let index = 0; index < MAX_NUMBER_BYTES; index++) {
      const byte = this.byte();
      value += (byte & (NUMBER_FOLLOWED - 1)) * 2 ** (NUMBER_BITS * index);
      if (byte < NUMBER_FOLLOWED) return value;
    }
    throw this.#damaged(start, `a number has more than ${MAX_NUMBER_BYTES} bytes`);
  }

  text(): string {
    const start = this.at;
    const length = this.number();
    if (length > this.end - this.at) throw this.#damaged(start, 'a text ends beyond its list');
    // A copy, because TextDecoder refuses shared memory.
    const text = this.#bytes.slice(this.at, this.at + length);
    this.at += length;
    try {
      return decoder.decode(text);
    } catch {
      throw this.#damaged(start, 'a text is not UTF-8');
    }
  }
}
