import type { ByteArrays, FixedValues } from './page-values.js';
import type { ThriftStruct } from './thrift.js';
import { i32, struct, text } from './thrift-writer.js';

/** A column that is added to a file: texts, or 32-bit integers. */
export interface AddedColumn {
  readonly name: string;
  readonly type: 'text' | 'integer';
  readonly nullable: boolean;
}

/** Initial capacity of the rows of a column, which doubles. */
const CAPACITY = 1024;

/** The values of an added column in a row group, in a dictionary. */
export class AddedValues {
  readonly column: AddedColumn;
  readonly #places = new Map<string | number, number>();
  /** For each row, the place of its value in the dictionary plus one; 0 for null. */
  #rows = new Uint32Array(CAPACITY);
  #count = 0;
  /** The value that was added last, and its place: neighbours are often equal. */
  #last: string | number | undefined;
  #lastPlace = 0;

  constructor(column: AddedColumn) {
    this.column = column;
  }

  /** Number of rows so far. */
  get count(): number {
    return this.#count;
  }

  /** Adds a row; `undefined` becomes null. */
  add(value: string | number | undefined): void {
    if (value !== this.#last) {
      this.#last = value;
      this.#lastPlace = this.#placeOf(value);
    }
    if (this.#count === this.#rows.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    this.#rows[this.#count++] = this.#lastPlace;
  }

  /** The place of a value, which is added to the dictionary if it is new. */
  #placeOf(value: string | number | undefined): number {
    if (value === undefined) return 0;
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    const place = this.#places.size + 1;
    this.#places.set(value, place);
    return place;
  }

  /** Adds the same value for this many rows. */
  addMany(value: string | undefined, rows: number): void {
    for (let row = 0; row < rows; row++) this.add(value);
  }

  /** The dictionary. */
  dictionary(): ByteArrays | FixedValues {
    const values = [...this.#places.keys()];
    if (this.column.type === 'integer') {
      const bytes = Buffer.alloc(4 * values.length);
      values.forEach((value, index) => {
        bytes.writeInt32LE(Number(value), 4 * index);
      });
      return { kind: 'fixed', bytes, width: 4 };
    }
    const texts = values.map((value) => Buffer.from(String(value)));
    const starts = new Uint32Array(texts.length);
    const ends = new Uint32Array(texts.length);
    let at = 0;
    texts.forEach(({ length }, index) => {
      starts[index] = at;
      at += length;
      ends[index] = at;
    });
    return { kind: 'byte arrays', bytes: Buffer.concat(texts), starts, ends };
  }

  /** The places of the rows that `keep` selects; without `keep`, of all rows. */
  places(keep: Uint8Array | undefined): Uint32Array {
    const rows = this.#rows.subarray(0, this.#count);
    return keep === undefined ? rows : rows.filter((_, row) => keep[row] === 1);
  }
}

/** The physical types of added columns in parquet.thrift. */
export const ADDED_TYPES = { text: 6, integer: 1 } as const;

/** The element of the schema for an added column. */
export function schemaElementOf({ name, type, nullable }: AddedColumn): ThriftStruct {
  const element: ThriftStruct = new Map([
    [1, i32(ADDED_TYPES[type])],
    [3, i32(nullable ? 1 : 0)],
    [4, text(name)],
  ]);
  // The converted type UTF8, and the logical type STRING.
  if (type === 'text') element.set(6, i32(0)).set(10, struct([[1, struct([])]]));
  return element;
}
