import { BACKSLASH, QUOTE, SPACE } from '../../base/ascii.js';
import { RobotsFilterError } from '../../base/errors.js';
import type { ColumnChunk, Leaf } from '../../parquet/footer.js';
import type { ByteArrays } from '../../parquet/page-values.js';
import { type DataPage, nameOf } from '../../parquet/pages.js';
import type { ParquetFile } from '../../parquet/parquet-file.js';
import type { Partition } from '../../parquet/partitions.js';

/** Bytes of lines that are passed on at a time. */
const CHUNK = 256 * 1024;

/** The longest form of a byte in a JSON string: `\u0000`. */
const LONGEST_ESCAPE = 6;

/**
 * Yields the URLs of a file as lines, one for each row. A line is a JSON object with the URL and
 * the partitions, so that no byte of a value can begin another line. The URL may be null.
 *
 * @param leaf the column of URLs, whose path is that of the URL in the object
 * @param partitions further members; one that has the first name of the path is left out
 * @param onRows called with the number of rows in the lines so far
 * @throws RobotsFilterError `input`
 */
export async function* urlLines(
  file: ParquetFile,
  leaf: Leaf,
  partitions: readonly Partition[],
  onRows: (rows: number) => void,
): AsyncGenerator<Buffer> {
  const index = file.footer.leaves.indexOf(leaf);
  let rows = 0;
  for (const group of file.footer.rowGroups) {
    const chunk = group.read().columns[index] as ColumnChunk;
    if (chunk.values !== group.rows) {
      throw new RobotsFilterError(
        'input',
        `${file.name}: a row group has ${group.rows} rows, but its column "${nameOf(leaf)}" ` +
          `has ${chunk.values} values. Write or download the file again.`,
      );
    }
    const lines = new LineWriter(leaf, partitions);
    let dictionary: ByteArrays | undefined;
    for await (const page of file.pages(chunk)) {
      if (page.kind === 'dictionary') {
        dictionary = byteArraysOf(page.values);
        continue;
      }
      yield* lines.page(page, leaf.maxDefinition, dictionary);
      rows += page.entries;
      onRows(rows);
    }
  }
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
  readonly #after: Buffer;
  /** The line of a row without a URL. */
  readonly #nullLine: Buffer;

  constructor({ path }: Leaf, partitions: readonly Partition[]) {
    const open = path.map((key) => `{${JSON.stringify(key)}:`).join('');
    const members = partitions
      .filter(([key]) => key !== path[0])
      .map((pair) => `,${pair.map((part) => JSON.stringify(part)).join(':')}`);
    const close = `${'}'.repeat(path.length - 1)}${members.join('')}}\n`;
    this.#before = Buffer.from(`${open}"`);
    this.#after = Buffer.from(`"${close}`);
    this.#nullLine = Buffer.from(`${open}null${close}`);
  }

  *page(page: DataPage, present: number, dictionary: ByteArrays | undefined): Generator<Buffer> {
    const { entries, definitions, values } = page;
    const indices = values.kind === 'indices' ? values.indices : undefined;
    const source = indices === undefined ? byteArraysOf(values) : (dictionary as ByteArrays);
    const { bytes, starts, ends } = source;
    const overhead = this.#before.length + this.#after.length;
    let next = 0;
    for (let entry = 0; entry < entries; entry++) {
      if (definitions !== undefined && definitions[entry] !== present) {
        const { length } = this.#nullLine;
        if (this.#used + length > this.#chunk.length) yield this.#flush(length);
        this.#nullLine.copy(this.#chunk, this.#used);
        this.#used += length;
        continue;
      }
      const place = indices === undefined ? next : (indices[next] as number);
      next++;
      const start = starts[place] as number;
      const end = ends[place] as number;
      const room = overhead + LONGEST_ESCAPE * (end - start);
      if (this.#used + room > this.#chunk.length) yield this.#flush(room);
      this.#line(bytes, start, end);
    }
    if (this.#used > 0) yield this.#flush(0);
  }

  /** Writes the line of a value. The caller has made room. */
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
