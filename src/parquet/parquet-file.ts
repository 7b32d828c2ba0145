/** Reads Parquet files by position: the metadata at the end, then the pages of columns. */

import { fstatSync, read } from 'node:fs';
import { RobotsFilterError } from '../base/errors.js';
import { errorText, systemRemedy } from '../files/system-error.js';
import {
  type ColumnChunk,
  type Footer,
  type Leaf,
  MAGIC_BYTES,
  MAX_FOOTER,
  parseFooter,
} from './footer.js';
import { type DataPage, type DictionaryPage, nameOf, readPages } from './pages.js';
import { ParquetDamage } from './thrift.js';

/** Length of the end of a file: the length of the metadata, and the magic bytes. */
const TAIL_BYTES = 8;
/** Minimum number of bytes that are read at a time. */
const WINDOW = 1024 * 1024;

const MAGIC = 'PAR1';
const ENCRYPTED_MAGIC = 'PARE';

/** A Parquet file whose metadata have been read. The descriptor belongs to the caller. */
export class ParquetFile {
  readonly name: string;
  readonly footer: Footer;
  readonly #descriptor: number;

  private constructor(name: string, descriptor: number, footer: Footer) {
    this.name = name;
    this.footer = footer;
    this.#descriptor = descriptor;
  }

  /**
   * Reads the metadata of a regular file, from its first byte to its last.
   *
   * @param name the name of the file in messages
   * @throws RobotsFilterError `input`
   */
  static async open(descriptor: number, name: string): Promise<ParquetFile> {
    const { size } = fstatSync(descriptor);
    try {
      return new ParquetFile(name, descriptor, await readFooter(descriptor, size));
    } catch (error) {
      throw parquetError(name, error);
    }
  }

  /**
   * The columns with this path: the names of their groups, and their own name. If there are none,
   * those of fewer levels whose names have these dots: a flat column may be called `request.url`.
   */
  leavesAt(path: readonly string[]): Leaf[] {
    const { leaves } = this.footer;
    const same = leaves.filter(
      (leaf) =>
        leaf.path.length === path.length && leaf.path.every((key, level) => key === path[level]),
    );
    const name = path.join('.');
    if (same.length > 0) return same;
    return leaves.filter((leaf) => leaf.path.length < path.length && nameOf(leaf) === name);
  }

  /**
   * The pages of a column chunk, decoded, in order.
   *
   * @throws RobotsFilterError `input`
   */
  async *pages(chunk: ColumnChunk): AsyncGenerator<DataPage | DictionaryPage> {
    const window = new Window(this.#descriptor, chunk.start + chunk.bytes);
    try {
      yield* readPages(window, chunk);
    } catch (error) {
      throw parquetError(this.name, error);
    }
  }

  /**
   * Yields the bytes of a column chunk as stored in the file, in pieces. The next piece overwrites
   * the one before.
   *
   * @throws RobotsFilterError `input`
   */
  async *bytes({ start, bytes }: ColumnChunk): AsyncGenerator<Uint8Array> {
    const end = start + bytes;
    const window = new Window(this.#descriptor, end);
    try {
      for (let at = start; at < end; at += WINDOW) {
        yield await window.read(at, Math.min(WINDOW, end - at));
      }
    } catch (error) {
      throw parquetError(this.name, error);
    }
  }
}

async function readFooter(descriptor: number, size: number): Promise<Footer> {
  if (size < MAGIC_BYTES + TAIL_BYTES) {
    throw new ParquetDamage('the file is too short', size);
  }
  const file = new Window(descriptor, size);
  const magic = Buffer.from(await file.read(0, MAGIC_BYTES)).toString('latin1');
  if (magic === ENCRYPTED_MAGIC) throw new ParquetDamage('the file is encrypted', 0);
  if (magic !== MAGIC) throw new ParquetDamage('the file does not begin with PAR1', 0);
  const tail = Buffer.from(await file.read(size - TAIL_BYTES, TAIL_BYTES));
  if (tail.toString('latin1', MAGIC_BYTES) !== MAGIC) {
    throw new ParquetDamage('the file does not end with PAR1, so it may be truncated', size - 4);
  }
  const length = tail.readUInt32LE(0);
  const offset = size - TAIL_BYTES - length;
  if (offset < MAGIC_BYTES) {
    throw new ParquetDamage(`the metadata claim ${length} bytes`, size - TAIL_BYTES);
  }
  if (length > MAX_FOOTER) {
    throw new ParquetDamage(
      `the metadata have ${length} bytes, more than the limit of 256 MiB`,
      offset,
    );
  }
  return parseFooter(await file.read(offset, length), offset);
}

/** Reads a file by position, ahead of the requested bytes, up to `end`. */
class Window {
  readonly #descriptor: number;
  readonly #end: number;
  #buffer = Buffer.alloc(0);
  #start = 0;
  #used = 0;

  constructor(descriptor: number, end: number) {
    this.#descriptor = descriptor;
    this.#end = end;
  }

  /** Returns the bytes, which must lie before the end; valid until the next call. */
  async read(offset: number, bytes: number): Promise<Uint8Array> {
    if (offset < this.#start || offset + bytes > this.#start + this.#used) {
      await this.#fill(offset, Math.min(Math.max(bytes, WINDOW), this.#end - offset));
    }
    return this.#buffer.subarray(offset - this.#start, offset - this.#start + bytes);
  }

  async #fill(offset: number, bytes: number): Promise<void> {
    // A new buffer, because pages that are not compressed point into the old one.
    this.#buffer = Buffer.allocUnsafeSlow(bytes);
    this.#start = offset;
    this.#used = 0;
    while (this.#used < bytes) {
      const got = await readAt(this.#descriptor, this.#buffer, this.#used, offset + this.#used);
      if (got === 0) {
        throw new ParquetDamage('the file was truncated while it was read', offset + this.#used);
      }
      this.#used += got;
    }
  }
}

function readAt(
  descriptor: number,
  buffer: Buffer,
  from: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, buffer, from, buffer.length - from, position, (error, bytes) => {
      if (error === null) resolve(bytes);
      else reject(error);
    });
  });
}

/** The error for a file that is damaged, or cannot be read. */
function parquetError(name: string, cause: unknown): unknown {
  if (cause instanceof ParquetDamage) {
    return new RobotsFilterError(
      'input',
      `${name}: this Parquet file cannot be read at byte ${cause.offset}: ${cause.message}. ` +
        'Write or download the file again.',
      { cause },
    );
  }
  if (cause instanceof RobotsFilterError) return cause;
  const remedy = systemRemedy(cause, 'read') ?? `reading failed (${errorText(cause)})`;
  return new RobotsFilterError('input', `${name}: ${remedy}.`, { cause });
}
