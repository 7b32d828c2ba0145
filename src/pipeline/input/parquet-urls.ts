import { BACKSLASH, QUOTE, SPACE } from '../../base/ascii.js';
import { RobotsFilterError } from '../../base/errors.js';
import { MOST_VALUE_BYTES } from '../../kernel/layout.js';
import { ColumnCursor, textColumn, timeColumn, timeJson } from '../../parquet/columns.js';
import type { ColumnChunk, Leaf } from '../../parquet/footer.js';
import type { ByteArrays } from '../../parquet/page-values.js';
import { type DataPage, nameOf } from '../../parquet/pages.js';
import type { ParquetFile } from '../../parquet/parquet-file.js';
import type { Partition } from '../../parquet/partitions.js';

/** Bytes of lines that are passed on at a time. */
const CHUNK = 256 * 1024;

/** Bytes of UTF-8 that a UTF-16 code unit may take. */
const BYTES_OF_UNIT = 3;

/** The longest form of a byte in a JSON string: `\u0000`. */
const LONGEST_ESCAPE = 6;

/** Where further values of rows come from: their times, or their agents. */
export interface RowValues {
  /** The member of the lines that has the value. */
  readonly member: string;
  /** The column; `undefined` if a partition has the value of all rows. */
  readonly leaf: Leaf | undefined;
  /** A value of the column as JSON. */
  json(leaf: Leaf, value: Uint8Array): string;
}

/**
 * Finds the times of the rows of a file: in a column, or in a Hive partition of its path.
 *
 * @throws RobotsFilterError `input` if there is neither, or the column holds no times
 */
export function timesOf(
  file: ParquetFile,
  path: readonly string[],
  partitions: readonly Partition[],
): RowValues {
  const isOfAll = isInPartition(file, path, partitions);
  const leaf = isOfAll ? undefined : timeColumn(file, path, '--time-field');
  return { member: path.join('.'), leaf, json: timeJson };
}

/**
 * Finds the values that name the agents of the rows of a file, as `timesOf` the times.
 *
 * @throws RobotsFilterError `input` if there are none, or the column holds no text
 */
export function agentsOf(
  file: ParquetFile,
  path: readonly string[],
  partitions: readonly Partition[],
): RowValues {
  const isOfAll = isInPartition(file, path, partitions);
  const leaf = isOfAll ? undefined : textColumn(file, path, '--agent-field');
  return { member: path.join('.'), leaf, json: textJson };
}

/** Whether a partition of a file's path has a value, and no column. */
function isInPartition(
  file: ParquetFile,
  path: readonly string[],
  partitions: readonly Partition[],
): boolean {
  const member = path.join('.');
  return partitions.some(([key]) => key === member) && file.leavesAt(path).length === 0;
}

/** A text as JSON, as far as an agent is looked for in it. */
function textJson(_leaf: Leaf, value: Uint8Array): string {
  const { buffer, byteOffset, length } = value;
  return JSON.stringify(
    Buffer.from(buffer, byteOffset, Math.min(length, MOST_VALUE_BYTES)).toString(),
  );
}

interface UrlLinesOptions {
  /** Further members; one that has the name of another value or of the URL is left out. */
  readonly partitions?: readonly Partition[];
  /** Further values of each row. */
  readonly others?: readonly RowValues[];
  /** Called with the number of rows in the lines so far. */
  readonly onRows?: (rows: number) => void;
}

/**
 * Yields the URLs of a file as lines, one for each row. A line is a JSON object with the URL, the
 * other values that are wanted, and the partitions, so that no byte of a value can begin another
 * line. Each value may be null.
 *
 * @param leaf the column of URLs, whose path is that of the URL in the object
 * @throws RobotsFilterError `input`
 */
export async function* urlLines(
  file: ParquetFile,
  leaf: Leaf,
  { partitions = [], others = [], onRows = () => {} }: UrlLinesOptions = {},
): AsyncGenerator<Buffer> {
  const index = file.footer.leaves.indexOf(leaf);
  const ofColumns = others.filter(({ leaf: own }) => own !== undefined);
  let rows = 0;
  for (const group of file.footer.rowGroups) {
    const { columns } = group.read();
    const chunk = columns[index] as ColumnChunk;
    const further = ofColumns.map(({ leaf: own, json }) => {
      const chunk = columns[file.footer.leaves.indexOf(own as Leaf)] as ColumnChunk;
      return { chunk, json };
    });
    for (const each of [chunk, ...further.map(({ chunk: own }) => own)]) {
      if (each.values === group.rows) continue;
      throw new RobotsFilterError(
        'input',
        `${file.name}: a row group has ${group.rows} rows, but its column "${nameOf(each.leaf)}" ` +
          `has ${each.values} values. Write or download the file again.`,
      );
    }
    const lines = new LineWriter(leaf, partitions, ofColumns);
    const cursors = further.map((each) => ({
      ...each,
      cursor: new ColumnCursor(file, each.chunk),
    }));
    try {
      let dictionary: ByteArrays | undefined;
      for await (const page of file.pages(chunk)) {
        if (page.kind === 'dictionary') {
          dictionary = byteArraysOf(page.values);
          continue;
        }
        const ofPage: string[][] = [];
        for (const each of cursors) ofPage.push(await nextValues(file, each, page.entries));
        yield* lines.page(page, leaf.maxDefinition, dictionary, ofPage);
        rows += page.entries;
        onRows(rows);
      }
    } finally {
      for (const { cursor } of cursors) await cursor.close();
    }
  }
}

/** A column of further values, as it is read. */
interface ValueCursor extends Pick<RowValues, 'json'> {
  readonly cursor: ColumnCursor;
  readonly chunk: ColumnChunk;
}

/**
 * The next values of a column, each as JSON.
 *
 * @throws RobotsFilterError `input` if there are fewer
 */
async function nextValues(
  file: ParquetFile,
  { cursor, chunk: { leaf }, json }: ValueCursor,
  count: number,
): Promise<string[]> {
  const values: string[] = [];
  while (values.length < count) {
    if (!cursor.isReady && !(await cursor.hasNext())) {
      throw new RobotsFilterError(
        'input',
        `${file.name}: the column "${nameOf(leaf)}" has fewer values than rows. Write or download the file again.`,
      );
    }
    const value = cursor.take();
    values.push(value === null ? 'null' : json(leaf, value));
  }
  return values;
}

function byteArraysOf(values: { readonly kind: string }): ByteArrays {
  if (values.kind === 'byte arrays') return values as ByteArrays;
  throw new Error(`a column of text has ${values.kind}`);
}

/** Writes values as members of JSON objects, one object per line. */
class LineWriter {
  #chunk = Buffer.allocUnsafeSlow(CHUNK);
  #used = 0;
  readonly #before: Buffer;
  /** What follows the URL, up to the first further value if there is one. */
  readonly #after: Buffer;
  /** What comes after each further value and before the next. */
  readonly #between: readonly string[];
  readonly #end: Buffer;
  /** What a row without a URL has in place of URL, `#before` and `#after`. */
  readonly #withoutUrl: Buffer;

  /** @param others those of columns */
  constructor({ path }: Leaf, partitions: readonly Partition[], others: readonly RowValues[]) {
    const open = path.map((key) => `{${JSON.stringify(key)}:`).join('');
    const members = partitions
      .filter(([key]) => key !== path[0] && !others.some(({ member }) => key === member))
      .map((pair) => `,${pair.map((part) => JSON.stringify(part)).join(':')}`);
    const close = '}'.repeat(path.length - 1);
    const [first = '', ...further] = others.map(({ member }) => `,${JSON.stringify(member)}:`);
    this.#between = further;
    this.#before = Buffer.from(`${open}"`);
    this.#after = Buffer.from(`"${close}${first}`);
    this.#end = Buffer.from(`${members.join('')}}\n`);
    this.#withoutUrl = Buffer.from(`${open}null${close}${first}`);
  }

  /** @param others for each further column, the values of the rows of the page as JSON */
  *page(
    page: DataPage,
    present: number,
    dictionary: ByteArrays | undefined,
    others: readonly (readonly string[])[],
  ): Generator<Buffer> {
    const { entries, definitions, values } = page;
    const indices = values.kind === 'indices' ? values.indices : undefined;
    const source = indices === undefined ? byteArraysOf(values) : (dictionary as ByteArrays);
    const { bytes, starts, ends } = source;
    const overhead =
      Math.max(this.#before.length + this.#after.length, this.#withoutUrl.length) +
      this.#end.length;
    let next = 0;
    for (let entry = 0; entry < entries; entry++) {
      const further = this.#further(others, entry);
      if (definitions !== undefined && definitions[entry] !== present) {
        const room = overhead + BYTES_OF_UNIT * further.length;
        if (this.#used + room > this.#chunk.length) yield this.#flush(room);
        this.#withoutUrl.copy(this.#chunk, this.#used);
        this.#used += this.#withoutUrl.length;
        this.#endLine(further);
        continue;
      }
      const place = indices === undefined ? next : (indices[next] as number);
      next++;
      const start = starts[place] as number;
      const end = ends[place] as number;
      const room = overhead + LONGEST_ESCAPE * (end - start) + BYTES_OF_UNIT * further.length;
      if (this.#used + room > this.#chunk.length) yield this.#flush(room);
      this.#line(bytes, start, end);
      this.#endLine(further);
    }
    if (this.#used > 0) yield this.#flush(0);
  }

  /** The further values of a row, and what stands between them. */
  #further(others: readonly (readonly string[])[], entry: number): string {
    const [first] = others;
    if (first === undefined) return '';
    if (others.length === 1) return first[entry] ?? '';
    return others
      .map((values, index) => (index === 0 ? '' : this.#between[index - 1]) + (values[entry] ?? ''))
      .join('');
  }

  /** Writes the further values and the end of a line. The caller has made room. */
  #endLine(further: string): void {
    if (further !== '') this.#used += this.#chunk.write(further, this.#used);
    this.#end.copy(this.#chunk, this.#used);
    this.#used += this.#end.length;
  }

  /** Writes the line of a value, up to the further values. The caller has made room. */
  #line(bytes: Uint8Array, start: number, end: number): void {
    const chunk = this.#chunk;
    chunk.set(this.#before, this.#used);
    let to = this.#used + this.#before.length;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) {
        chunk[to++] = byte;
      } else if (byte >= SPACE) {
        chunk[to++] = BACKSLASH;
        chunk[to++] = byte;
      } else {
        to += chunk.write(`\\u00${byte.toString(16).padStart(2, '0')}`, to, 'latin1');
      }
    }
    chunk.set(this.#after, to);
    this.#used = to + this.#after.length;
  }

  /** Returns the written lines, and makes room for at least this many bytes. */
  #flush(room: number): Buffer {
    const lines = this.#chunk.subarray(0, this.#used);
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK, room));
    this.#used = 0;
    return lines;
  }
}
