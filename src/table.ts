import { close, fstat, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { RobotsFilterError } from './errors.js';
import type { Compression } from './files/compression.js';
import { compressionOf } from './files/compressions.js';
import { opening } from './files/openings.js';
import { errorText } from './files/system-error.js';
import { systemRemedy } from './files/system-remedy.js';
import { TableView } from './inspect/table-view.js';
import type { VerifiedTable } from './inspect/verify/verify-table.js';
import { Arena } from './kernel/arena.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { createMemory, MAX_PAGES, PAGE_BYTES } from './kernel/kernel.js';
import { parseAgent } from './protocol/agent.js';
import type { Profile } from './protocol/profile.js';
import { Checksum } from './table/checksum.js';
import { HEADER_BYTES, TAIL_BYTES } from './table/format.js';
import { checkBeginning, checkTable, statedLength, type TableHeader } from './table/table-check.js';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const readFile = promisify(read);

/** Address of a table in its memory; not 0, which means "none" to the kernel. */
const TABLE_ADDRESS = 1024;
/** Bytes of one read, and reads in flight: the next pieces are read while one is checked. */
const READ_BYTES = 4 * 1024 * 1024;
const READS_AHEAD = 3;
/** Bytes of one read of a compressed table. */
const COMPRESSED_READ_BYTES = 256 * 1024;
/** Stands for a position in a file: continue where the last read ended. */
const FROM_PIPE = null;

/** Options of `Table.open`. */
export interface TableOpenOptions {
  /** Verifies the table before use: see `Table.verify`. Default false. */
  readonly verify?: boolean | undefined;
}

/** The memory of a table, as a run needs it. */
export interface TableMemory {
  readonly arena: Arena;
  /** Address of the table. */
  readonly table: number;
  readonly header: TableHeader;
  readonly view: TableView;
}

let memoryOf: (table: Table) => TableMemory;

/** The memories that `allocateTable` made and `Table.from` has not used yet, by their buffers. */
const memoryOfTable = new WeakMap<ArrayBufferLike, WebAssembly.Memory>();

/** Allocates memory for a table that `Table.from` can use without a copy. */
export function allocateTable(bytes: number): Uint8Array {
  const memory = createMemory(TABLE_ADDRESS + bytes + TAIL_BYTES);
  memoryOfTable.set(memory.buffer, memory);
  return new Uint8Array(memory.buffer, TABLE_ADDRESS, bytes);
}

/** The compiled robots.txt files of many hosts: immutable, in memory that all threads share. */
export class Table {
  readonly #memory: TableMemory;
  readonly #name: string;
  #judge: Judge | undefined;

  static {
    memoryOf = (table) => table.#memory;
  }

  private constructor(memory: WebAssembly.Memory, length: number, name: string, checksum?: number) {
    const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, length);
    const header = checkTable(bytes, name, checksum);
    this.#memory = {
      arena: new Arena(memory),
      table: TABLE_ADDRESS,
      header,
      view: new TableView(bytes),
    };
    this.#name = name;
  }

  /**
   * Makes a table from bytes that `TableBuilder.build` returned. Copies the bytes unless they lie
   * in memory of `allocateTable`; in that case they must not change afterwards.
   *
   * @param name the name of the table in messages
   * @throws RobotsFilterError `table` if the bytes are damaged, truncated, foreign or of another
   *   version
   */
  static from(bytes: Uint8Array, name = 'the table'): Table {
    const made = memoryOfTable.get(bytes.buffer);
    // A memory is used once, because the space beside its table has one owner.
    memoryOfTable.delete(bytes.buffer);
    if (made !== undefined) return new Table(made, bytes.length, name);
    const memory = createMemory(TABLE_ADDRESS + bytes.length + TAIL_BYTES);
    new Uint8Array(memory.buffer).set(bytes, TABLE_ADDRESS);
    return new Table(memory, bytes.length, name);
  }

  /**
   * Opens a table file or a pipe, compressed (gzip, zstd) or not: reads it into shared memory and
   * checks it against damage. Use `verify` for tables of others.
   *
   * @throws RobotsFilterError `input` if the file cannot be read; `table` if it is damaged,
   *   truncated, foreign or of another version, or if it cannot be verified; `limit` if it does not
   *   fit in 4 GiB
   */
  static async open(path: string, options: TableOpenOptions = {}): Promise<Table> {
    const table = await Table.#read(path);
    if (options.verify === true) await table.verify();
    return table;
  }

  static async #read(path: string): Promise<Table> {
    let descriptor: number;
    try {
      descriptor = await opening(path, openFile(path, 'r'));
    } catch (cause) {
      throw unreadable(path, cause);
    }
    try {
      const status = await statFile(descriptor);
      const isFile = status.isFile();
      const head = await readHead(descriptor, isFile);
      if (statedLength(head) === undefined) {
        const compression = compressionOf(head);
        if (compression !== undefined) {
          const pieces = readPieces(descriptor, head, isFile);
          return await Table.#readCompressed(compression, pieces, path);
        }
      }
      // Room for one byte more shows whether anything follows a table in a pipe.
      const size = isFile ? status.size : Math.max(statedLength(head) ?? 0, head.length) + 1;
      checkSize(size, path);
      // A file that is not a whole table is refused unread: it may have gigabytes of holes.
      checkBeginning(head, isFile ? size : undefined, path);
      const memory = createMemory(TABLE_ADDRESS + size + TAIL_BYTES);
      const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, size);
      const { length, checksum } = await readAll(descriptor, bytes, isFile ? undefined : head);
      return new Table(memory, length, path, checksum);
    } catch (cause) {
      throw cause instanceof RobotsFilterError ? cause : unreadable(path, cause);
    } finally {
      await closeFile(descriptor);
    }
  }

  static async #readCompressed(
    compression: Compression,
    pieces: AsyncGenerator<Uint8Array>,
    path: string,
  ): Promise<Table> {
    const { decompressed } = await import('./files/decompressed.js');
    const checksum = new Checksum();
    let head = new Uint8Array(0);
    let memory: WebAssembly.Memory | undefined;
    let bytes = 0;
    try {
      for await (const chunk of decompressed(compression, pieces, READ_BYTES)) {
        let piece: Uint8Array = chunk;
        if (memory === undefined) {
          piece = head = Buffer.concat([head, chunk]);
          const length = statedLength(head);
          if (head.length >= HEADER_BYTES) checkBeginning(head, undefined, path);
          if (length === undefined) continue;
          checkSize(length + 1, path);
          memory = createMemory(TABLE_ADDRESS + length + 1 + TAIL_BYTES);
        }
        // Room for one byte more shows whether anything follows the table.
        const most = (statedLength(head) ?? 0) + 1;
        const part = piece.subarray(0, most - bytes);
        new Uint8Array(memory.buffer).set(part, TABLE_ADDRESS + bytes);
        checksum.update(part);
        bytes += part.length;
        if (bytes === most) break;
      }
    } catch (cause) {
      if (!compression.isDamage(cause)) throw cause;
      const { compressionFault } = await import('./files/compression-fault.js');
      const { what, remedy = 'copy the file again' } = compressionFault(compression, cause);
      throw new RobotsFilterError('table', `${path}: ${what}: ${remedy}`, { cause });
    }
    if (memory !== undefined) return new Table(memory, bytes, path, checksum.value);
    checkBeginning(head, undefined, path);
    throw new Error('a whole header states no length');
  }

  /**
   * Proves that no look-up and no explanation can read outside the table or run without end, and
   * that its hosts and rules are found. Reads the table once. The verdicts remain those of the
   * table's maker.
   *
   * @throws RobotsFilterError `table`, with the section, the byte and the fault. Do not use the
   *   table then
   */
  async verify(): Promise<VerifiedTable> {
    // Loaded on demand, because most runs verify no table.
    const { verifyTable } = await import('./inspect/verify/verify-table.js');
    return verifyTable(this.bytes, this.#memory.header, this.#name);
  }

  /** The profile that the table was compiled for, under which it answers. */
  get profile(): Profile {
    return this.#memory.header.profile;
  }

  /** Number of hosts. */
  get hosts(): number {
    return this.#memory.header.hosts;
  }

  /** The bytes of the table, as `save` writes them. Do not change them. */
  get bytes(): Uint8Array {
    return new Uint8Array(
      this.#memory.arena.memory.buffer,
      TABLE_ADDRESS,
      this.#memory.header.length,
    );
  }

  /**
   * Writes the table to a file. The file is replaced when it is complete and on disk: a reader sees
   * the old file or the whole new one.
   *
   * @throws RobotsFilterError `output` if the file cannot be written; the old file then stays
   */
  async save(path: string): Promise<void> {
    // Loaded on demand, because it loads node:crypto.
    const { ReplacementFile } = await import('./files/replacement-file.js');
    const file = await ReplacementFile.create(path);
    try {
      await file.write(this.bytes);
      await file.commit(true);
    } finally {
      await file.discard();
    }
  }

  /**
   * Judges whether the agent may fetch the URL. The verdict is `unknown` if the table has no
   * robots.txt for the URL's scheme, host and port.
   *
   * @param agent a product token (RFC 9309 section 2.2.1), or a fallback chain: `A>B`, or a list
   * @throws RobotsFilterError `usage` if the agent is not a product token, or a reduced table
   *   cannot answer for it
   */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const { arena, table, view } = this.#memory;
    this.#judge ??= new Judge(arena);
    const parsed = parseAgent(agent, this.profile);
    view.checkAgent(parsed);
    return this.#judge.judge(url, parsed, {
      table,
      google: this.profile === 'google',
      anyHost: 0,
      tokenNumber: (token) => view.tokenNumber(token),
    });
  }
}

/** The memory of a table, for the other modules of this package. */
export function tableMemory(table: Table): TableMemory {
  return memoryOf(table);
}

function unreadable(path: string, cause: unknown): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ?? `cannot be read (${errorText(cause)}). Copy the table again`;
  return new RobotsFilterError('input', `${path}: ${remedy}`, { cause });
}

/** @throws RobotsFilterError `limit` if a table of this many bytes does not fit into memory */
function checkSize(size: number, path: string): void {
  if (TABLE_ADDRESS + size + TAIL_BYTES <= MAX_PAGES * PAGE_BYTES) return;
  throw new RobotsFilterError('limit', `${path}: ${size} bytes; a table has less than 4 GiB`);
}

/** Yields `head`, which has been read already, and then the rest. */
async function* readPieces(
  descriptor: number,
  head: Uint8Array,
  isFile: boolean,
): AsyncGenerator<Uint8Array> {
  yield head;
  let position = head.length;
  for (;;) {
    const room = new Uint8Array(COMPRESSED_READ_BYTES);
    const piece = await readPiece(descriptor, room, isFile ? position : FROM_PIPE);
    if (piece.length > 0) yield piece;
    if (piece.length < room.length) return;
    position += piece.length;
  }
}

/** Reads the first bytes: the header, if this is a table. */
async function readHead(descriptor: number, isFile: boolean): Promise<Uint8Array> {
  return await readPiece(descriptor, new Uint8Array(HEADER_BYTES), isFile ? 0 : FROM_PIPE);
}

/**
 * Reads a table; returns its length and checksum.
 *
 * @param bytes where to read it to
 * @param head the bytes that have been read of a pipe; `undefined` for a file, which is read by
 *   position
 */
async function readAll(
  descriptor: number,
  bytes: Uint8Array,
  head: Uint8Array | undefined,
): Promise<{ length: number; checksum: number }> {
  const checksum = new Checksum();
  const pieces: Promise<Uint8Array>[] = [];
  const readsAhead = head === undefined ? READS_AHEAD : 1;
  let length = head?.length ?? 0;
  let asked = length;
  if (head !== undefined) {
    bytes.set(head);
    checksum.update(head);
  }
  try {
    for (;;) {
      while (asked < bytes.length && pieces.length < readsAhead) {
        const room = bytes.subarray(asked, asked + READ_BYTES);
        pieces.push(readPiece(descriptor, room, head === undefined ? asked : FROM_PIPE));
        asked += READ_BYTES;
      }
      const piece = await pieces.shift();
      // An empty piece is the end of the file, which may have been truncated in the meantime.
      if (piece === undefined || piece.length === 0) break;
      checksum.update(piece);
      length += piece.length;
      if (piece.length < READ_BYTES) break;
    }
  } finally {
    await Promise.allSettled(pieces); // so that no read meets a closed descriptor
  }
  return { length, checksum: checksum.value };
}

/** Fills `room` from a position in the file, or FROM_PIPE; returns the filled part. */
async function readPiece(
  descriptor: number,
  room: Uint8Array,
  position: number | typeof FROM_PIPE,
): Promise<Uint8Array> {
  let filled = 0;
  while (filled < room.length) {
    const wanted = room.length - filled;
    const { bytesRead } = await readFile(
      descriptor,
      room,
      filled,
      wanted,
      position === FROM_PIPE ? FROM_PIPE : position + filled,
    );
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return room.subarray(0, filled);
}
