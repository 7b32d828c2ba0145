import { close, fstat, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { Checksum } from './compile/checksum.js';
import { HEADER_OCTETS, TAIL_OCTETS } from './compile/format.js';
import { checkBeginning, checkTable, lengthSaid, type TableHeader } from './compile/table-check.js';
import { TableView } from './compile/table-view.js';
import type { VerifiedTable } from './compile/verify/verify-table.js';
import { RobotsFilterError } from './errors.js';
import { Arena } from './kernel/arena.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { createMemory, MAX_PAGES, PAGE_OCTETS } from './kernel/kernel.js';
import { opening } from './openings.js';
import { parseAgent } from './protocol/agent.js';
import type { Profile } from './protocol/profile.js';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const readFile = promisify(read);

/** Where a table lies in its memory: not at address 0, which the kernel takes for "nothing". */
const TABLE_ADDRESS = 1024;
/**
 * Octets asked of the file at a time, and how often at once: while the first are checked, the
 * others are read.
 */
const READ_OCTETS = 4 * 1024 * 1024;
const READS_AHEAD = 3;
/** In place of a position in a file: what comes next. */
const FROM_PIPE = null;

/** How `Table.open` opens a table. */
export interface TableOpenOptions {
  /** Whether to verify all of it: see `Table.verify`. Default: false. */
  readonly verify?: boolean | undefined;
}

/** What a run over the table needs of it. */
export interface TableMemory {
  readonly arena: Arena;
  /** Address of the table. */
  readonly table: number;
  readonly header: TableHeader;
  readonly view: TableView;
}

let memoryOf: (table: Table) => TableMemory;

/** The memories that were made for tables and have none yet, by their octets. */
const memoryOfTable = new WeakMap<ArrayBufferLike, WebAssembly.Memory>();

/** Memory for `TableBuilder.build`, of which `Table.from` makes a table without a copy. */
export function allocateTable(octets: number): Uint8Array {
  const memory = createMemory(TABLE_ADDRESS + octets + TAIL_OCTETS);
  memoryOfTable.set(memory.buffer, memory);
  return new Uint8Array(memory.buffer, TABLE_ADDRESS, octets);
}

/**
 * The robots.txt of many hosts, compiled (compile/format.ts). Immutable; lies in shared memory,
 * from which all threads read it.
 */
export class Table {
  readonly #memory: TableMemory;
  readonly #name: string;
  #judge: Judge | undefined;

  static {
    memoryOf = (table) => table.#memory;
  }

  private constructor(memory: WebAssembly.Memory, octets: number, name: string, checksum?: number) {
    const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, octets);
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
   * Takes a table's bytes, as `TableBuilder.build` gives them. They are copied, unless they lie in
   * memory of `allocateTable`, and may then not be changed.
   *
   * @throws RobotsFilterError `table` if they are damaged, truncated, foreign or of a newer version
   */
  static from(bytes: Uint8Array, name = 'the table'): Table {
    const made = memoryOfTable.get(bytes.buffer);
    // Once: what is beside the table in its memory has one owner.
    memoryOfTable.delete(bytes.buffer);
    if (made !== undefined) return new Table(made, bytes.length, name);
    const memory = createMemory(TABLE_ADDRESS + bytes.length + TAIL_OCTETS);
    new Uint8Array(memory.buffer).set(bytes, TABLE_ADDRESS);
    return new Table(memory, bytes.length, name);
  }

  /**
   * Opens a table file: reads it into shared memory and checks it against damage. It may be a pipe,
   * from which a table comes that lies compressed. With `verify` all of it is verified before it is
   * used, as by the method: for tables that others made.
   *
   * @throws RobotsFilterError `input` if it cannot be read, `table` if it is damaged, truncated,
   *   foreign or of a newer version, or if
   * verifying it fails
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
      // Of a pipe one octet more, which there is if something follows the table.
      const size = isFile ? status.size : Math.max(lengthSaid(head) ?? 0, head.length) + 1;
      if (TABLE_ADDRESS + size + TAIL_OCTETS > MAX_PAGES * PAGE_OCTETS) {
        throw new RobotsFilterError(
          'limit',
          `${path}: ${size} octets; a table has less than 4 GiB`,
        );
      }
      // What is no table, or not all of one, may be gigabytes of holes: it is not read.
      checkBeginning(head, isFile ? size : undefined, path);
      const memory = createMemory(TABLE_ADDRESS + size + TAIL_OCTETS);
      const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, size);
      const { octets, checksum } = await readAll(descriptor, bytes, isFile ? undefined : head);
      return new Table(memory, octets, path, checksum);
    } catch (cause) {
      throw cause instanceof RobotsFilterError ? cause : unreadable(path, cause);
    } finally {
      await closeFile(descriptor);
    }
  }

  /**
   * Proves that no look-up and no explanation can read outside the table, or run longer than a
   * look-up may, whoever made it; and that what it holds is found and shown as it should be. Reads
   * all of it once. Whether its rules are those of the robots.txt files is not known: who makes a
   * table decides its verdicts.
   *
   * @returns what the table holds
   * @throws RobotsFilterError `table` that names the section, the byte and what is wrong there; do
   *   not use the table then
   */
  async verify(): Promise<VerifiedTable> {
    // Few need it, and all would load it.
    const { verifyTable } = await import('./compile/verify/verify-table.js');
    return verifyTable(this.bytes, this.#memory.header, this.#name);
  }

  /** The profile that the table was compiled for; it can be asked under no other. */
  get profile(): Profile {
    return this.#memory.header.profile;
  }

  /** Hosts in the table. */
  get hosts(): number {
    return this.#memory.header.hosts;
  }

  /** The table's octets, as `save` would write them. */
  get bytes(): Uint8Array {
    return new Uint8Array(
      this.#memory.arena.memory.buffer,
      TABLE_ADDRESS,
      this.#memory.header.length,
    );
  }

  /**
   * Writes the table to a file, which `open` opens again. The file is replaced when it is complete
   * and on the disk: a reader sees the old one or the whole new one.
   *
   * @throws RobotsFilterError `output` if it cannot be written; the old file stays then
   */
  async save(path: string): Promise<void> {
    // With node:crypto behind it this is 3 ms that only those who write need.
    const { ReplacementFile } = await import('./pipeline/replacement-file.js');
    const file = await ReplacementFile.create(path);
    try {
      await file.write(this.bytes);
      await file.commit(true);
    } finally {
      await file.discard();
    }
  }

  /**
   * Whether the agent may fetch the URL; `unknown` where the table has no robots.txt for its
   * authority (scheme, host and port).
   *
   * @param agent a product token or a fallback chain of them, as `A>B` or a list (RFC 9309 section
   *   2.2.1)
   * @throws RobotsFilterError `usage` if the agent is no product token, or one that a reduced table
   *   cannot answer for
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

/** What a run over the table needs of it: for this package's own modules. */
export function tableMemory(table: Table): TableMemory {
  return memoryOf(table);
}

function unreadable(path: string, cause: unknown): RobotsFilterError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RobotsFilterError('input', `${path}: cannot be read: ${reason}`, { cause });
}

/** What may be the header of a table. */
async function readHead(descriptor: number, isFile: boolean): Promise<Uint8Array> {
  return await readPiece(descriptor, new Uint8Array(HEADER_OCTETS), isFile ? 0 : FROM_PIPE);
}

/**
 * Fills the bytes from the file; returns how many there were, and their checksum as a table's.
 *
 * @param head what has been read of a pipe; `undefined` for a file that can be read from any place
 */
async function readAll(
  descriptor: number,
  bytes: Uint8Array,
  head: Uint8Array | undefined,
): Promise<{ octets: number; checksum: number }> {
  const checksum = new Checksum();
  const pieces: Promise<Uint8Array>[] = [];
  const readsAhead = head === undefined ? READS_AHEAD : 1;
  let octets = head?.length ?? 0;
  let asked = octets;
  if (head !== undefined) {
    bytes.set(head);
    checksum.update(head);
  }
  try {
    for (;;) {
      while (asked < bytes.length && pieces.length < readsAhead) {
        const room = bytes.subarray(asked, asked + READ_OCTETS);
        pieces.push(readPiece(descriptor, room, head === undefined ? asked : FROM_PIPE));
        asked += READ_OCTETS;
      }
      const piece = await pieces.shift();
      // A shorter piece is the end of a file that has become shorter.
      if (piece === undefined || piece.length === 0) break;
      checksum.update(piece);
      octets += piece.length;
      if (piece.length < READ_OCTETS) break;
    }
  } finally {
    await Promise.allSettled(pieces); // they must not meet a closed descriptor
  }
  return { octets, checksum: checksum.value };
}

/** Fills `room` from a place in the file, or FROM_PIPE; returns what of it was filled. */
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
