import type { ColumnChunk } from './footer.js';
import type { PlainValues } from './page-values.js';
import type { DataPage, DictionaryPage } from './pages.js';
import type { ParquetFile } from './parquet-file.js';
import type { Leaf } from './schema.js';

/**
 * Reads the values of a column of a row group, one after another. The column must not be repeated.
 */
export class ColumnCursor {
  readonly #pages: AsyncGenerator<DataPage | DictionaryPage>;
  readonly #present: number;
  #dictionary: PlainValues | undefined;
  #page: DataPage | undefined;
  #entry = 0;
  #value = 0;

  constructor(file: ParquetFile, chunk: ColumnChunk) {
    this.#pages = file.pages(chunk);
    this.#present = chunk.leaf.maxDefinition;
  }

  /**
   * Returns the bytes of the next value, valid until the next call; `null` for a null, `undefined`
   * after the last value.
   *
   * @throws RobotsFilterError `input`
   */
  async next(): Promise<Uint8Array | null | undefined> {
    while (this.#page === undefined || this.#entry === this.#page.entries) {
      const { value: page, done } = await this.#pages.next();
      if (done) return undefined;
      if (page.kind === 'dictionary') this.#dictionary = page.values;
      else this.#page = page;
      this.#entry = 0;
      this.#value = 0;
    }
    const { definitions, values } = this.#page;
    const isNull = definitions !== undefined && definitions[this.#entry] !== this.#present;
    this.#entry++;
    if (isNull) return null;
    const place = this.#value++;
    return values.kind === 'indices'
      ? bytesAt(this.#dictionary as PlainValues, values.indices[place] as number)
      : bytesAt(values, place);
  }

  /** Ends the reading, and waits for a pending read. */
  async close(): Promise<void> {
    await this.#pages.return(undefined);
  }
}

function bytesAt(values: PlainValues, place: number): Uint8Array {
  switch (values.kind) {
    case 'byte arrays':
      return values.bytes.subarray(values.starts[place], values.ends[place]);
    case 'fixed':
      return values.bytes.subarray(place * values.width, (place + 1) * values.width);
    case 'booleans':
      return values.values.subarray(place, place + 1);
  }
}

/** Longest decimal that is read, in bytes: Arrow's longest has 32. */
const LONGEST_DECIMAL = 64;
/** Greatest number of decimal places that is read. */
const MOST_PLACES = 100;

/** Whether a column holds at most one number in each row. */
export function isNumeric({ type, typeLength, annotation, maxRepetition }: Leaf): boolean {
  if (maxRepetition > 0) return false;
  switch (annotation) {
    case 'plain':
      return type === 'INT32' || type === 'INT64' || type === 'FLOAT' || type === 'DOUBLE';
    case 'integer':
      return type === 'INT32' || type === 'INT64';
    case 'decimal':
      return type !== 'BOOLEAN' && type !== 'INT96' && type !== 'FLOAT' && type !== 'DOUBLE';
    case 'float16':
      return typeLength === 2;
    default:
      return false;
  }
}

/** A value of a column that `isNumeric`; `NaN` for a decimal beyond all bounds. */
export function numberOf({ type, annotation, scale }: Leaf, bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (type) {
    case 'FLOAT':
      return view.getFloat32(0, true);
    case 'DOUBLE':
      return view.getFloat64(0, true);
    case 'INT32':
    case 'INT64': {
      const value = type === 'INT32' ? BigInt(view.getInt32(0, true)) : view.getBigInt64(0, true);
      return annotation === 'decimal' ? scaled(value, scale) : Number(value);
    }
    default:
      if (annotation === 'float16') return float16(view.getUint16(0, true));
      if (bytes.length === 0 || bytes.length > LONGEST_DECIMAL) return Number.NaN;
      // The unscaled value, in two's complement, the most significant byte first.
      return scaled(
        BigInt.asIntN(8 * bytes.length, BigInt(`0x${Buffer.from(bytes).toString('hex')}`)),
        scale,
      );
  }
}

/** A decimal. The fraction of a whole number is exactly 0, which a division of floats may miss. */
function scaled(value: bigint, scale: number): number {
  if (scale < 0 || scale > MOST_PLACES) return Number.NaN;
  const unit = 10n ** BigInt(scale);
  const fraction = value % unit;
  const whole = Number(value / unit);
  return fraction === 0n ? whole : whole + Number(fraction) / Number(unit);
}

function float16(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits >> 15 === 0 ? 1 : -1;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
