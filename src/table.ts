import { close, fstat, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { TAIL_OCTETS } from './compile/format.js';
import { checkTable, type TableHeader } from './compile/table-check.js';
import { TableView } from './compile/table-view.js';
import { RobotsFilterError } from './errors.js';
import { Arena } from './kernel/arena.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { createMemory, MAX_PAGES, PAGE_OCTETS } from './kernel/kernel.js';
import { parseAgent } from './protocol/agent.js';
import type { Profile } from './protocol/profile.js';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const readFile = promisify(read);

/** Where a table lies in its memory: not at address 0, which the kernel takes for "nothing". */
const TABLE_ADDRESS = 1024;
/** Octets asked of the file at a time. */
const READ_OCTETS = 64 * 1024 * 1024;

/** What a run over the table needs of it. */
export interface TableMemory {
  readonly arena: Arena;
  /** Address of the table. */
  readonly table: number;
  readonly header: TableHeader;
  readonly view: TableView;
}

let memoryOf: (table: Table) => TableMemory;

/**
 * The robots.txt of many hosts, compiled (compile/format.ts). Immutable; lies in shared memory, from which all threads
 * read it.
 */
export class Table {
  readonly #memory: TableMemory;
  #judge: Judge | undefined;

  static {
    memoryOf = (table) => table.#memory;
  }

  private constructor(memory: WebAssembly.Memory, octets: number, name: string) {
    const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, octets);
    const header = checkTable(bytes, name);
    this.#memory = {
      arena: new Arena(memory),
      table: TABLE_ADDRESS,
      header,
      view: new TableView(bytes),
    };
  }

  /**
   * Takes a table's bytes, as `TableBuilder.build` gives them.
   *
   * @throws RobotsFilterError `table` if they are damaged, truncated, foreign or of a newer version
   */
  static from(bytes: Uint8Array, name = 'the table'): Table {
    const memory = createMemory(TABLE_ADDRESS + bytes.length + TAIL_OCTETS);
    new Uint8Array(memory.buffer).set(bytes, TABLE_ADDRESS);
    return new Table(memory, bytes.length, name);
  }

  /**
   * Opens a table file: reads it into shared memory and checks it, nothing else.
   *
   * @throws RobotsFilterError `input` if it cannot be read, `table` if it is damaged, truncated, foreign or of a newer version
   */
  static async open(path: string): Promise<Table> {
    let descriptor: number;
    try {
      descriptor = await openFile(path, 'r');
    } catch (cause) {
      throw unreadable(path, cause);
    }
    try {
      const { size } = await statFile(descriptor);
      if (TABLE_ADDRESS + size + TAIL_OCTETS > MAX_PAGES * PAGE_OCTETS) {
        throw new RobotsFilterError(
          'limit',
          `${path}: ${size} octets; a table has less than 4 GiB`,
        );
      }
      const memory = createMemory(TABLE_ADDRESS + size + TAIL_OCTETS);
      const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, size);
      const filled = await readAll(descriptor, bytes);
      return new Table(memory, filled, path);
    } catch (cause) {
      throw cause instanceof RobotsFilterError ? cause : unreadable(path, cause);
    } finally {
      await closeFile(descriptor);
    }
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
   * Writes the table to a file, which `open` opens again. The file is replaced when it is complete and on the disk: a reader
   * sees the old one or the whole new one.
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
   * Whether the agent may fetch the URL; `unknown` where the table has no robots.txt for its authority (scheme,
   * host and port).
   *
   * @param agent a product token or a fallback chain of them, as `A>B` or a list (RFC 9309 section 2.2.1)
   * @throws RobotsFilterError `usage` if the agent is no product token, or one that a reduced table cannot answer for
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

/** Fills the bytes from the file; returns how many there were. */
async function readAll(descriptor: number, bytes: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < bytes.length) {
    const wanted = Math.min(READ_OCTETS, bytes.length - filled);
    const { bytesRead } = await readFile(descriptor, bytes, filled, wanted, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
