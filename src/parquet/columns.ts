/** Columns of text and numbers, read row by row. */

import { formatFieldPath } from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import type { ColumnChunk, Leaf } from './footer.js';
import type { PlainValues } from './page-values.js';
import type { DataPage, DictionaryPage } from './pages.js';
import type { ParquetFile } from './parquet-file.js';

/** Maximum number of column names that a message lists. */
const LISTED = 12;

/**
 * Finds the column that the user named.
 *
 * @param path the names that lead to it
 * @param option the option that gives the name, for messages
 * @throws RobotsFilterError `input` if no column has this name, or several have it
 */
export function namedColumn(
  file: ParquetFile,
  path: readonly string[],
  option: string,
  needed: Needed = 'text',
): Leaf {
  const [leaf, ...others] = file.leavesAt(path);
  if (leaf === undefined) {
    const isWithin = (inner: Leaf): boolean =>
      path.every((key, level) => inner.path[level] === key);
    const inner = file.footer.leaves.find(isWithin);
    if (inner !== undefined) throw nestedColumn(file, inner, needed, option);
    throw noColumn(file, `"${path.join('.')}"`, option, needed);
  }
  const [other] = others;
  if (other !== undefined) throw severalColumns(file, leaf, other, option);
  return leaf;
}

/**
 * Finds the column of text that the user named.
 *
 * @throws RobotsFilterError `input` if there is no such column, or if it holds no text
 */
export function textColumn(file: ParquetFile, path: readonly string[], option: string): Leaf {
  const leaf = namedColumn(file, path, option);
  if (isText(leaf)) return leaf;
  throw unreadableColumn(file, leaf, 'text', option);
}

/**
 * Finds the column of times that the user named.
 *
 * @throws RobotsFilterError `input` if there is no such column, or if it holds no times
 */
export function timeColumn(file: ParquetFile, path: readonly string[], option: string): Leaf {
  const leaf = namedColumn(file, path, option, 'times');
  if (isTime(leaf)) return leaf;
  throw unreadableColumn(file, leaf, 'times', option);
}

/** Whether a column holds at most one value of text or bytes in each row. */
export function isText({ type, maxRepetition, annotation }: Leaf): boolean {
  const isPlain = annotation === 'plain' || annotation === 'text';
  return type === 'BYTE_ARRAY' && maxRepetition === 0 && isPlain;
}

/** The error for a missing column, with a list of the existing columns. */
export function noColumn(
  file: ParquetFile,
  column: string,
  option: string,
  needed: Needed = 'text',
): RobotsFilterError {
  return refusal(file, `there is no column ${column}. ${remedy(file, option, needed)}`);
}

/** The error for two columns of one name: which of them is meant cannot be known. */
export function severalColumns(
  file: ParquetFile,
  { path }: Leaf,
  other: Leaf,
  option: string,
): RobotsFilterError {
  const [name, second] = [path, other.path].map(formatFieldPath);
  const what =
    name === second
      ? `two columns are called ${JSON.stringify(path.join('.'))}. Write the file again with different names`
      : `${name} and ${second} are two columns. Use ${option} '${name}' or ${option} '${second}'`;
  return refusal(file, what);
}

/** What a column must hold: texts, or numbers or times, for which texts are taken too. */
export type Needed = 'text' | 'whole numbers' | 'times';

/** The error for a column that does not hold what is needed. */
export function unreadableColumn(
  file: ParquetFile,
  leaf: Leaf,
  needed: Needed,
  option: string,
): RobotsFilterError {
  const { path } = leaf;
  const what = `column "${path.join('.')}" holds ${contentOf(leaf)}, not ${needed}`;
  return refusal(file, `${what}. ${remedy(file, option, needed)}`);
}

/** The error for a group or list that has the name of a column. */
export function nestedColumn(
  file: ParquetFile,
  { path }: Leaf,
  needed: Needed,
  option: string,
): RobotsFilterError {
  const what = `column "${path[0]}" is a group or a list, not a column of ${needed}`;
  return refusal(file, `${what}. ${remedy(file, option, needed)}`);
}

/** What a column holds, for messages. */
function contentOf({ type, annotation, maxRepetition }: Leaf): string {
  if (maxRepetition > 0) return 'lists';
  switch (annotation) {
    case 'plain':
    case 'text':
    case 'integer':
      return type;
    case 'decimal':
      return 'decimals';
    case 'float16':
      return 'FLOAT16';
    case 'null':
      return 'only nulls';
    default:
      return annotation;
  }
}

const NEEDS = {
  text: { isReadable: isText, noun: 'text' },
  'whole numbers': {
    isReadable: (leaf: Leaf) => isText(leaf) || isNumeric(leaf),
    noun: 'numbers or text',
  },
  times: { isReadable: isTime, noun: 'times, numbers or text' },
} as const satisfies Record<Needed, object>;

function remedy(file: ParquetFile, option: string, needed: Needed = 'text'): string {
  const { isReadable, noun } = NEEDS[needed];
  const names = file.footer.leaves.filter(isReadable).map(({ path }) => formatFieldPath(path));
  const lists = option === '--url-field' ? unnesting(file) : '';
  if (names.length === 0) return `No column holds ${noun}.${lists}`;
  const rest = names.length > LISTED ? `, and ${names.length - LISTED} more` : '';
  const listed = names.slice(0, LISTED).join(', ');
  return `Columns of ${noun}: ${listed}${rest}. Use ${option} NAME.${lists}`;
}

/** Names of the groups between a list and its elements. */
const LIST_GROUPS: readonly string[] = ['list', 'bag'];

/** How the first list of texts becomes rows, as a sentence after a space; empty without a list. */
function unnesting({ footer, name }: ParquetFile): string {
  const list = footer.leaves.find(
    ({ path, maxRepetition, ...leaf }) =>
      maxRepetition === 1 &&
      isText({ ...leaf, path, maxRepetition: 0 }) &&
      LIST_GROUPS.includes(path.at(-2) ?? ''),
  );
  if (list === undefined) return '';
  const path = list.path.slice(0, -2);
  const column = path.every(isWord) ? path.join('.') : 'NAME';
  const file = isWord(name) ? name : 'FILE';
  const query = `COPY (SELECT unnest(${column}) AS url FROM '${file}') TO 'urls.parquet'`;
  return ` Column ${JSON.stringify(path.join('.'))} holds lists of text. If they are URLs, make each a row: duckdb -c "${query}"; then name urls.parquet.`;
}

/** What neither a shell nor SQL interprets within quotes. */
const WORD = 'abcdefghijklmnopqrstuvwxyz0123456789_./-';

function isWord(text: string): boolean {
  return [...text.toLowerCase()].every((character) => WORD.includes(character));
}

function refusal({ name }: ParquetFile, reason: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: ${reason}`);
}

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
    return (await this.hasNext()) ? this.take() : undefined;
  }

  /**
   * Whether there is a next value. Reads it with its page, unless it is there.
   *
   * @throws RobotsFilterError `input`
   */
  async hasNext(): Promise<boolean> {
    while (!this.isReady) {
      const { value: page, done } = await this.#pages.next();
      if (done) return false;
      if (page.kind === 'dictionary') this.#dictionary = page.values;
      else this.#page = page;
      this.#entry = 0;
      this.#value = 0;
    }
    return true;
  }

  /** Whether the page of the next value has been read. */
  get isReady(): boolean {
    return this.#page !== undefined && this.#entry < this.#page.entries;
  }

  /** As `next`, of a value that is ready: see `hasNext`. */
  take(): Uint8Array | null {
    const { definitions, values } = this.#page as DataPage;
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

const DAY_SECONDS = 86_400;
/** The Julian day number of 1 January 1970, from which INT96 counts days. */
const JULIAN_1970 = 2_440_588;
/** No longer text states a time. */
const LONGEST_TIME = 256;

/** Whether a column holds at most one time in each row: a date, a time, a number or a text. */
export function isTime(leaf: Leaf): boolean {
  const { type, annotation, maxRepetition } = leaf;
  if (maxRepetition > 0) return false;
  if (annotation === 'DATE') return type === 'INT32';
  if (annotation === 'TIMESTAMP') return type === 'INT64';
  if (type === 'INT96') return annotation === 'plain';
  // Floats of 32 bits or fewer are a minute off.
  return isText(leaf) || (isNumeric(leaf) && type !== 'FLOAT' && annotation !== 'float16');
}

/**
 * A value of a column that `isTime` as JSON, in a form that kernel/times.ts reads; `null` if it is
 * none. A time before the year 0 or after 9999 is the first or the last time of those years.
 */
export function timeJson(leaf: Leaf, bytes: Uint8Array): string {
  if (isText(leaf)) {
    if (bytes.length > LONGEST_TIME) return 'null';
    return JSON.stringify(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  }
  if (leaf.annotation !== 'DATE' && leaf.annotation !== 'TIMESTAMP' && leaf.type !== 'INT96') {
    const whole = wholeNumberOf(leaf, bytes);
    if (whole !== undefined) return String(whole);
    const number = numberOf(leaf, bytes);
    return Number.isFinite(number) ? String(number) : 'null';
  }
  const seconds = secondsOf(leaf, bytes);
  const date = new Date(1000 * seconds);
  const year = date.getUTCFullYear();
  // A year of more digits has a sign. Such a time comes before, or after, every robots.txt.
  const isWritten = year >= 0 && year <= 9999;
  if (isWritten) return `"${date.toISOString().slice(0, 19)}Z"`;
  return seconds < 0 ? '"0000-01-01T00:00:00Z"' : '"9999-12-31T23:59:59Z"';
}

/** An integer, in all its digits; undefined for a column of other numbers. */
function wholeNumberOf(
  { type, annotation, isUnsigned }: Leaf,
  bytes: Uint8Array,
): bigint | undefined {
  if (annotation === 'decimal' || (type !== 'INT32' && type !== 'INT64')) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (type === 'INT64') {
    return isUnsigned ? view.getBigUint64(0, true) : view.getBigInt64(0, true);
  }
  return BigInt(isUnsigned ? view.getUint32(0, true) : view.getInt32(0, true));
}

/** The seconds since 1970 of a date or time. */
function secondsOf({ annotation, type, unit }: Leaf, bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (annotation === 'DATE') return DAY_SECONDS * view.getInt32(0, true);
  if (type === 'INT96') {
    const seconds = Number(view.getBigInt64(0, true) / 1_000_000_000n);
    return DAY_SECONDS * (view.getInt32(8, true) - JULIAN_1970) + seconds;
  }
  const value = view.getBigInt64(0, true);
  const units = 10n ** BigInt(unit);
  const seconds = value / units;
  return Number(value < 0n && value % units !== 0n ? seconds - 1n : seconds);
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
