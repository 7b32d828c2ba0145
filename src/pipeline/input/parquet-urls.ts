import { BACKSLASH, QUOTE, SPACE } from '../../base/ascii.js';
import { RobotsFilterError } from '../../base/errors.js';
import { ColumnCursor, timeColumn, timeJson } from '../../parquet/columns.js';
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

/** Where the times of rows come from. */
export interface RowTimes {
  /** The member of the lines that has the time. */
  readonly member: string;
  /** The column; `undefined` if a partition has the time of all rows. */
  readonly leaf: Leaf | undefined;
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
): RowTimes {
  const member = path.join('.');
  const isPartition = partitions.some(([key]) => key === member);
  if (isPartition && file.leavesAt(path).length === 0) return { member, leaf: undefined };
  return { member, leaf: timeColumn(file, path, '--time-field') };
}

interface UrlLinesOptions {
  /** Further members; one that has the name of the time or of the URL is left out. */
  readonly partitions?: readonly Partition[];
  readonly times?: RowTimes | undefined;
  /** Called with the number of rows in the lines so far. */
  readonly onRows?: (rows: number) => void;
}

/**
 * Yields the URLs of a file as lines, one for each row. A line is a JSON object with the URL, the
 * time if it is wanted, and the partitions, so that no byte of a value can begin another line. URL
 * and time may be null.
 *
 * @param leaf the column of URLs, whose path is that of the URL in the object
 * @throws RobotsFilterError `input`
 */
export async function* urlLines(
  file: ParquetFile,
  leaf: Leaf,
  { partitions = [], times, onRows = () => {} }: UrlLinesOptions = {},
): AsyncGenerator<Buffer> {
  const index = file.footer.leaves.indexOf(leaf);
  const timeIndex = times?.leaf === undefined ? -1 : file.footer.leaves.indexOf(times.leaf);
  let rows = 0;
  for (const group of file.footer.rowGroups) {
    const { columns } = group.read();
    const chunk = columns[index] as ColumnChunk;
    const timeChunk = columns[timeIndex];
    for (const each of timeChunk === undefined ? [chunk] : [chunk, timeChunk]) {
      if (each.values === group.rows) continue;
      throw new RobotsFilterError(
        'input',
        `${file.name}: a row group has ${group.rows} rows, but its column "${nameOf(each.leaf)}" ` +
          `has ${each.values} values. Write or download the file again.`,
      );
    }
    const lines = new LineWriter(leaf, partitions, times);
    const cursor = timeChunk && new ColumnCursor(file, timeChunk);
    try {
      let dictionary: ByteArrays | undefined;
      for await (const page of file.pages(chunk)) {
        if (page.kind === 'dictionary') {
          dictionary = byteArraysOf(page.values);
          continue;
        }
        const ofPage = cursor && (await nextTimes(file, cursor, timeChunk, page.entries));
        yield* lines.page(page, leaf.maxDefinition, dictionary, ofPage);
        rows += page.entries;
        onRows(rows);
      }
    } finally {
      await cursor?.close();
    }
  }
}

/**
 * The next times of a column, each as JSON.
 *
 * @throws RobotsFilterError `input` if there are fewer
 */
async function nextTimes(
  file: ParquetFile,
  cursor: ColumnCursor,
  { leaf }: ColumnChunk,
  count: number,
): Promise<string[]> {
  const times: string[] = [];
  while (times.length < count) {
    if (!cursor.isReady && !(await cursor.hasNext())) {
      throw new RobotsFilterError(
        'input',
        `${file.name}: the column "${nameOf(leaf)}" has fewer values than rows. Write or download the file again.`,
      );
    }
    const value = cursor.take();
    times.push(value === null ? 'null' : timeJson(leaf, value));
  }
  return times;
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
  /** What follows the URL: with a time, up to its value, after which `#end` comes. */
  readonly #after: Buffer;
  readonly #end: Buffer;
  /** What a row without a URL has in place of URL, `#before` and `#after`. */
  readonly #withoutUrl: Buffer;

  constructor({ path }: Leaf, partitions: readonly Partition[], times: RowTimes | undefined) {
    const open = path.map((key) => `{${JSON.stringify(key)}:`).join('');
    const hasColumn = times?.leaf !== undefined;
    const members = partitions
      .filter(([key]) => key !== path[0] && !(hasColumn && key === times.member))
      .map((pair) => `,${pair.map((part) => JSON.stringify(part)).join(':')}`);
    const close = '}'.repeat(path.length - 1);
    const time = hasColumn ? `,${JSON.stringify(times.member)}:` : '';
    this.#before = Buffer.from(`${open}"`);
    this.#after = Buffer.from(`"${close}${time}`);
    this.#end = Buffer.from(`${members.join('')}}\n`);
    this.#withoutUrl = Buffer.from(`${open}null${close}${time}`);
  }

  /** @param times those of the rows of the page, each as JSON */
  *page(
    page: DataPage,
    present: number,
    dictionary: ByteArrays | undefined,
    times: readonly string[] | undefined,
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
      const time = times?.[entry] ?? '';
      if (definitions !== undefined && definitions[entry] !== present) {
        const room = overhead + BYTES_OF_UNIT * time.length;
        if (this.#used + room > this.#chunk.length) yield this.#flush(room);
        this.#withoutUrl.copy(this.#chunk, this.#used);
        this.#used += this.#withoutUrl.length;
        this.#endLine(time);
        continue;
      }
      const place = indices === undefined ? next : (indices[next] as number);
      next++;
      const start = starts[place] as number;
      const end = ends[place] as number;
      const room = overhead + LONGEST_ESCAPE * (end - start) + BYTES_OF_UNIT * time.length;
      if (this.#used + room > this.#chunk.length) yield this.#flush(room);
      this.#line(bytes, start, end);
      this.#endLine(time);
    }
    if (this.#used > 0) yield this.#flush(0);
  }

  /** Writes the time and the end of a line. The caller has made room. */
  #endLine(time: string): void {
    if (time !== '') this.#used += this.#chunk.write(time, this.#used);
    this.#end.copy(this.#chunk, this.#used);
    this.#used += this.#end.length;
  }

  /** Writes the line of a value, up to its time. The caller has made room. */
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
