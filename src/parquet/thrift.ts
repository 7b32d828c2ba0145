/** Thrift's compact protocol, as far as Parquet's metadata need it: reading and writing. */

import { RobotsFilterError } from '../base/errors.js';

/*
 * The Thrift compact protocol, as far as Parquet uses it. Structures keep unknown fields, so that
 * they can be written again without a loss.
 */

const BOOLEAN_TRUE = 1;
const BOOLEAN_FALSE = 2;
const BYTE = 3;
const I16 = 4;
export const I32 = 5;
const I64 = 6;
const DOUBLE = 7;
export const BINARY = 8;
const LIST = 9;
const SET = 10;
export const STRUCT = 12;

/** A list or set, with the type of its elements. */
interface ThriftList {
  readonly elementType: number;
  readonly values: ThriftValue[];
}

/** A field: its type, and a value of that type. */
export interface ThriftField {
  readonly type: number;
  readonly value: ThriftValue;
}

/** Fields by their numbers, in the order in which they came. */
export type ThriftStruct = Map<number, ThriftField>;

/**
 * A value. A whole number beyond 2^53 is a bigint; a double is its eight bytes; an element of a
 * list may be the bytes of a structure that nobody has read.
 */
export type ThriftValue = boolean | number | bigint | Uint8Array | ThriftList | ThriftStruct;

/** Maximum nesting of structures and lists. Parquet's own structures have fewer than ten levels. */
const MAX_DEPTH = 32;
/** Maximum length of a variable-length 64-bit integer, in bytes. */
const MAX_VARINT = 10;
/**
 * Maximum number of values that are read, or written, at a time: some 150 bytes of memory each. A
 * row group has some 30 for each of its columns.
 */
export const MAX_VALUES = 2 ** 22;
/** Weight of the bits from the eighth byte on, from which a number is no longer exact. */
const EXACT_SHIFT = 49;

/** A list of structures whose bytes are kept, and not read. */
export interface UnreadList {
  /** The number of the field. */
  readonly id: number;
  /** Maximum number of its elements. */
  readonly most: number;
}

/** Reads structures from bytes. */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  readonly #base: number;
  #values = 0;
  #at: number;
  #truncated = false;

  /** @param base offset of `bytes` in the file, for messages */
  constructor(bytes: Uint8Array, at: number, base: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#base = base;
  }

  /** Offset in the bytes after the last read. */
  get at(): number {
    return this.#at;
  }

  /** Whether reading failed because the bytes ended: more bytes might help. */
  get isTruncated(): boolean {
    return this.#truncated;
  }

  /**
   * @throws ParquetDamage
   */
  struct(unread?: UnreadList): ThriftStruct {
    return this.#struct(0, unread);
  }

  #struct(depth: number, unread?: UnreadList): ThriftStruct {
    if (depth > MAX_DEPTH) throw this.#damage('structures nest more than 32 deep');
    const fields: ThriftStruct = new Map();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      const type = head & 15;
      if (type === 0) return fields;
      const delta = head >> 4;
      id = delta === 0 ? Number(this.#integer()) : id + delta;
      this.#count(1);
      const value =
        id === unread?.id && type === LIST ? this.#unread(unread) : this.#value(type, depth);
      fields.set(id, { type, value });
    }
  }

  /** A list whose elements are not read, but for the place where each ends. */
  #unread({ most }: UnreadList): ThriftList {
    const { elementType, length } = this.#listHead();
    if (length > most) throw this.#damage(`a list has ${length} structures, more than ${most}`);
    const values: ThriftValue[] = [];
    for (let index = 0; index < length; index++) {
      const start = this.#at;
      this.#skip(elementType, 1);
      values.push(this.#bytes.subarray(start, this.#at));
    }
    return { elementType, values };
  }

  /** Passes over a value, and needs no memory for it. */
  #skip(type: number, depth: number): void {
    if (depth > MAX_DEPTH) throw this.#damage('structures nest more than 32 deep');
    switch (type) {
      case LIST:
      case SET: {
        const { elementType, length } = this.#listHead();
        const isBoolean = elementType === BOOLEAN_TRUE || elementType === BOOLEAN_FALSE;
        if (isBoolean) this.#take(length);
        else for (let index = 0; index < length; index++) this.#skip(elementType, depth + 1);
        return;
      }
      case STRUCT:
        for (;;) {
          const head = this.#byte();
          if ((head & 15) === 0) return;
          if (head >> 4 === 0) this.#varint();
          this.#skip(head & 15, depth + 1);
        }
      default:
        this.#value(type, depth);
    }
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      case BOOLEAN_TRUE:
        return true;
      case BOOLEAN_FALSE:
        return false;
      case BYTE:
        return this.#byte();
      case I16:
      case I32:
      case I64:
        return this.#integer();
      case DOUBLE:
        return this.#take(8);
      case BINARY:
        return this.#take(this.#length());
      case LIST:
      case SET:
        return this.#list(depth + 1);
      case STRUCT:
        return this.#struct(depth + 1);
      default:
        throw this.#damage(`a field has the unknown type ${type}`);
    }
  }

  #list(depth: number): ThriftList {
    if (depth > MAX_DEPTH) throw this.#damage('structures nest more than 32 deep');
    const { elementType, length } = this.#listHead();
    this.#count(length);
    const isBoolean = elementType === BOOLEAN_TRUE || elementType === BOOLEAN_FALSE;
    const values: ThriftValue[] = [];
    for (let index = 0; index < length; index++) {
      values.push(isBoolean ? this.#byte() === BOOLEAN_TRUE : this.#value(elementType, depth));
    }
    return { elementType, values };
  }

  #listHead(): { readonly elementType: number; readonly length: number } {
    const head = this.#byte();
    const length = head >> 4 === 15 ? this.#length() : head >> 4;
    // Each element takes at least one byte.
    this.#check(length);
    return { elementType: head & 15, length };
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > MAX_VALUES) throw this.#damage(`more than ${MAX_VALUES} values at a time`);
  }

  #length(): number {
    const length = this.#varint();
    if (typeof length === 'number') return length;
    throw this.#damage('a length is greater than 2^53');
  }

  /** A signed integer in zigzag form. */
  #integer(): number | bigint {
    const raw = this.#varint();
    if (typeof raw === 'number') return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
    return narrowed((raw >> 1n) ^ -(raw & 1n));
  }

  #varint(): number | bigint {
    let value = 0;
    let wide: bigint | undefined;
    for (let bytes = 0; bytes < MAX_VARINT; bytes++) {
      const byte = this.#byte();
      const shift = 7 * bytes;
      if (shift < EXACT_SHIFT) value += (byte & 0x7f) * 2 ** shift;
      else wide = (wide ?? BigInt(value)) | (BigInt(byte & 0x7f) << BigInt(shift));
      if (byte < 0x80) return wide === undefined ? value : BigInt.asUintN(64, wide);
    }
    throw this.#damage('an integer is longer than ten bytes');
  }

  #byte(): number {
    this.#check(1);
    return this.#bytes[this.#at++] as number;
  }

  #take(length: number): Uint8Array {
    this.#check(length);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #check(length: number): void {
    if (length <= this.#bytes.length - this.#at) return;
    this.#truncated = true;
    throw this.#damage('a structure is truncated');
  }

  #damage(message: string): ParquetDamage {
    return new ParquetDamage(message, this.#base + this.#at);
  }
}

function narrowed(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** The integer of a field; `undefined` if the field is missing, of another type, or beyond 2^53. */
export function integerOf(fields: ThriftStruct, id: number): number | undefined {
  const value = fields.get(id)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** The structure of a field; `undefined` if the field is missing or of another type. */
export function structOf(fields: ThriftStruct, id: number): ThriftStruct | undefined {
  const value = fields.get(id)?.value;
  return value instanceof Map ? value : undefined;
}

/** The list of a field; `undefined` if the field is missing or of another type. */
export function listOf(fields: ThriftStruct, id: number): ThriftList | undefined {
  const value = fields.get(id)?.value;
  return isList(value) ? value : undefined;
}

/** The text of a field; `undefined` if the field is missing or of another type. */
export function textOf(fields: ThriftStruct, id: number): string | undefined {
  const value = fields.get(id)?.value;
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : undefined;
}

function isList(value: ThriftValue | undefined): value is ThriftList {
  return typeof value === 'object' && 'elementType' in value;
}

/** Initial capacity of the output in bytes, which doubles. */
const CAPACITY = 64 * 1024;

/** A field with a 32-bit integer. */
export const i32 = (value: number): ThriftField => ({ type: I32, value });
/** A field with a 64-bit integer. */
export const i64 = (value: number): ThriftField => ({ type: I64, value });
/** A field with a text. */
export const text = (value: string): ThriftField => ({ type: BINARY, value: Buffer.from(value) });
/** A field with a structure. */
export const struct = (fields: Iterable<[number, ThriftField]>): ThriftField => ({
  type: STRUCT,
  value: new Map(fields),
});
/** A field with a list. */
export const list = (elementType: number, values: ThriftValue[]): ThriftField => ({
  type: LIST,
  value: { elementType, values },
});

/**
 * The bytes of a structure in the Thrift compact protocol.
 *
 * @throws RobotsFilterError `limit` if it has more values than can be read
 */
export function encodeThrift(fields: ThriftStruct): Buffer {
  const writer = new ThriftWriter();
  writer.struct(fields);
  return writer.bytes();
}

class ThriftWriter {
  #buffer = Buffer.allocUnsafe(CAPACITY);
  #used = 0;
  #values = 0;

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#used);
  }

  struct(fields: ThriftStruct): void {
    let last = 0;
    this.#count(fields.size);
    for (const [id, { type, value }] of [...fields].sort(([a], [b]) => a - b)) {
      const kind = typeof value === 'boolean' ? (value ? BOOLEAN_TRUE : BOOLEAN_FALSE) : type;
      const delta = id - last;
      if (delta > 0 && delta < 16) {
        this.#byte((delta << 4) | kind);
      } else {
        this.#byte(kind);
        this.#integer(id);
      }
      last = id;
      if (typeof value !== 'boolean') this.#value(type, value);
    }
    this.#byte(0);
  }

  #value(type: number, value: ThriftValue): void {
    if (typeof value === 'boolean') {
      this.#byte(value ? BOOLEAN_TRUE : BOOLEAN_FALSE);
    } else if (value instanceof Map) {
      this.struct(value);
    } else if (value instanceof Uint8Array) {
      // The bytes of a whole structure, or of a double, have no length before them.
      if (type !== DOUBLE && type !== STRUCT) this.#varint(value.length);
      this.#append(value);
    } else if (typeof value === 'object') {
      this.#list(value);
    } else if (type === BYTE) {
      this.#byte(Number(value));
    } else {
      this.#integer(value);
    }
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values <= MAX_VALUES) return;
    throw new RobotsFilterError(
      'limit',
      `the metadata of a row group would have more than ${MAX_VALUES} values, and could not be read again. Write fewer columns`,
    );
  }

  #list({ elementType, values }: ThriftList): void {
    this.#count(values.length);
    if (values.length < 15) {
      this.#byte((values.length << 4) | elementType);
    } else {
      this.#byte(0xf0 | elementType);
      this.#varint(values.length);
    }
    for (const value of values) this.#value(elementType, value);
  }

  #integer(value: number | bigint): void {
    if (typeof value === 'bigint' || Math.abs(value) >= 2 ** 52) {
      const wide = BigInt(value);
      this.#varint(BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n)));
    } else {
      this.#varint(value < 0 ? -2 * value - 1 : 2 * value);
    }
  }

  #varint(value: number | bigint): void {
    if (typeof value === 'bigint') {
      let rest = value;
      for (; rest >= 128n; rest >>= 7n) this.#byte(Number(rest & 127n) | 128);
      this.#byte(Number(rest));
      return;
    }
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#byte((rest % 128) | 128);
    this.#byte(rest);
  }

  #byte(byte: number): void {
    if (this.#used === this.#buffer.length) this.#grow(1);
    this.#buffer[this.#used++] = byte;
  }

  #append(bytes: Uint8Array): void {
    if (this.#used + bytes.length > this.#buffer.length) this.#grow(bytes.length);
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafe(2 * this.#buffer.length + bytes);
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}

/**
 * A fault in Parquet: the bytes are invalid, or not supported. `ParquetFile` turns it into a
 * `RobotsFilterError` with the name of the file.
 */
export class ParquetDamage extends Error {
  /** Offset in the file, in bytes, of the structure that has the fault. */
  readonly offset: number;

  /** @param message the fault, without a full stop */
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'ParquetDamage';
    this.offset = offset;
  }
}
