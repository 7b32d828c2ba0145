import { RobotsFilterError } from '../errors.js';
import {
  BINARY,
  BOOLEAN_FALSE,
  BOOLEAN_TRUE,
  BYTE,
  DOUBLE,
  I32,
  I64,
  LIST,
  MAX_VALUES,
  STRUCT,
  type ThriftField,
  type ThriftList,
  type ThriftStruct,
  type ThriftValue,
} from './thrift.js';

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
