import { close, fstat, open } from 'node:fs';
import { promisify } from 'node:util';
import { checkItems, checkOptions, checkPath, type OptionNames, shownValue } from './arguments.js';
import { RobotsFilterError } from './errors.js';
import type { Compression } from './files/compression.js';
import { compressionOf } from './files/compressions.js';
import { opening } from './files/openings.js';
import { errorText } from './files/system-error.js';
import { systemRemedy } from './files/system-remedy.js';
import { TableView } from './inspect/table-view.js';
import type { VerifiedTable } from './inspect/verify/verify-table.js';
import type { JudgeTarget } from './kernel/agent-queries.js';
import { Arena } from './kernel/arena.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { createMemory, MAX_PAGES, PAGE_BYTES } from './kernel/kernel.js';
import { ListJudge } from './kernel/list-judge.js';
import type { Profile } from './protocol/profile.js';
import type { Verdict } from './protocol/verdict.js';
import { Checksum } from './table/checksum.js';
import { HEADER_BYTES, TAIL_BYTES } from './table/format.js';
import { READ_BYTES, readAll, readHead, readPieces } from './table/read-table.js';
import { checkBeginning, checkTable, statedLength, type TableHeader } from './table/table-check.js';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);

/** Address of a table in its memory; not 0, which means "none" to the kernel. */
const TABLE_ADDRESS = 1024;

/** Options of `Table.open`. */
export interface TableOpenOptions {
  /** Verifies the table before use: see `Table.verify`. Default false. */
  readonly verify?: boolean | undefined;
}

const OPEN_OPTIONS: OptionNames<TableOpenOptions> = { verify: true };

/** Options of `Table.filter`. */
export interface TableFilterOptions<Item> {
  /** The URL of an item. Default: the item itself, which is then a string. */
  readonly url?: ((item: Item) => string) | undefined;
  /** Whether URLs without a robots.txt in the table pass. Default `deny`: they do not. */
  readonly unknown?: 'allow' | 'deny' | undefined;
}

const FILTER_OPTIONS: OptionNames<TableFilterOptions<unknown>> = { url: true, unknown: true };

/** The memory of a table, as a run needs it. */
export interface TableMemory {
  readonly arena: Arena;
  /** Address of the table. */
  readonly table: number;
  readonly header: TableHeader;
  readonly view: TableView;
}

/** Judges single URLs by a table. */
interface SingleJudge {
  readonly judge: Judge;
  readonly target: JudgeTarget;
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
  #single: SingleJudge | undefined;
  #listJudge: ListJudge | undefined;

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
    if (!(bytes instanceof Uint8Array)) {
      const remedy = 'Pass the bytes of TableBuilder.build; Table.open takes a path';
      throw new RobotsFilterError('usage', `the table is ${shownValue(bytes)}. ${remedy}`);
    }
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
    checkPath('Table.open', path);
    checkOptions('Table.open', options, OPEN_OPTIONS);
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
    checkPath('Table.save', path);
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
   * @throws RobotsFilterError `usage` if the URL is neither a string nor bytes, the agent is not a
   *   product token, or a reduced table cannot answer for it
   */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const { judge, target } = this.#judges();
    return judge.judge(url, agent, target);
  }

  /**
   * The verdicts on many URLs, in their order. Several times as fast as `verdict` for each.
   *
   * @throws RobotsFilterError as `verdict`
   */
  verdicts(urls: readonly string[], agent: string | readonly string[]): Verdict[] {
    if (!Array.isArray(urls)) {
      const remedy = 'Pass an array of strings; verdict takes one URL, filterStream a stream';
      throw new RobotsFilterError('usage', `urls is ${shownValue(urls)}. ${remedy}`);
    }
    const { judge, target } = this.#judges();
    this.#listJudge ??= new ListJudge(this.#memory.arena, judge);
    return this.#listJudge.judge(urls, agent, target);
  }

  /**
   * Whether the agent may fetch the URL: whether the verdict is `allow`. Faster than `verdict`.
   * Both this and `isDisallowed` are false for a URL that is `unknown` or `invalid`.
   *
   * @throws RobotsFilterError as `verdict`
   */
  isAllowed(url: string | Uint8Array, agent: string | readonly string[]): boolean {
    const { judge, target } = this.#judges();
    return judge.verdict(url, agent, target) === 'allow';
  }

  /**
   * Whether the verdict is `deny`.
   *
   * @throws RobotsFilterError as `verdict`
   */
  isDisallowed(url: string | Uint8Array, agent: string | readonly string[]): boolean {
    const { judge, target } = this.#judges();
    return judge.verdict(url, agent, target) === 'deny';
  }

  /**
   * Yields the items whose URL the agent may fetch, in order: an item is taken when the one before
   * it has been used. Items are URLs, or anything with a URL.
   *
   * @param items an array, an iterable, an async iterable, or a Readable of objects
   * @throws RobotsFilterError as `verdict`, when the items are iterated over; `usage` at once for
   *   anything else than items, as for a stream of bytes: see `filterStream`
   */
  filter<Item>(
    items: AsyncIterable<Item> | Iterable<Item>,
    agent: string | readonly string[],
    options: TableFilterOptions<Item> = {},
  ): AsyncGenerator<Item> {
    checkOptions('Table.filter', options, FILTER_OPTIONS);
    checkItems('Table.filter', items);
    const { url = (item: Item) => item as string, unknown = 'deny' } = options;
    const { judge, target } = this.#judges();
    async function* passing(): AsyncGenerator<Item> {
      for await (const item of items) {
        const verdict = judge.verdict(url(item), agent, target);
        if (verdict === 'allow' || (verdict === 'unknown' && unknown === 'allow')) yield item;
      }
    }
    return passing();
  }

  /** What judges URLs on the calling thread, made for the first verdict. */
  #judges(): SingleJudge {
    if (this.#single === undefined) {
      const { arena, table, view } = this.#memory;
      const target: JudgeTarget = {
        profile: this.profile,
        table,
        anyHost: 0,
        tokenNumber: (token) => view.tokenNumber(token),
        checkAgent: (agent) => view.checkAgent(agent),
      };
      this.#single = { judge: new Judge(arena), target };
    }
    return this.#single;
  }
}

/**
 * The memory of a table, for the other modules of this package.
 *
 * @throws RobotsFilterError `usage` for anything but a table
 */
export function tableMemory(table: Table): TableMemory {
  if (table instanceof Table) return memoryOf(table);
  const remedy = 'Pass a Table: see Table.open, Table.from and compileTable';
  throw new RobotsFilterError('usage', `the table is ${shownValue(table)}. ${remedy}`);
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
