import { close, fstat, open } from 'node:fs';
import { promisify } from 'node:util';
import { RobotsFilterError } from './errors.js';
import type { Compression } from './files/compression.js';
import { compressionOf } from './files/compressions.js';
import { opening } from './files/openings.js';
import { errorText } from './files/system-error.js';
import { systemRemedy } from './files/system-remedy.js';
import { createMemory, MAX_PAGES, PAGE_BYTES } from './kernel/kernel.js';
import { Checksum } from './table/checksum.js';
import { HEADER_BYTES, TAIL_BYTES } from './table/format.js';
import { READ_BYTES, readAll, readHead, readPieces } from './table/read-table.js';
import { checkBeginning, statedLength } from './table/table-check.js';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);

/** A table that has been read and not yet checked. */
export interface TableInMemory {
  readonly memory: WebAssembly.Memory;
  /** Bytes of the table. */
  readonly length: number;
  readonly checksum: number;
}

/**
 * Reads a table file or a pipe, compressed or not, into memory of its own.
 *
 * @param address where the table begins in the memory
 * @throws RobotsFilterError `input` if the file cannot be read; `table` if it is certainly none;
 *   `limit` if it does not fit in 4 GiB
 */
export async function readTableFile(path: string, address: number): Promise<TableInMemory> {
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
        return await readCompressed(compression, pieces, path, address);
      }
    }
    // Room for one byte more shows whether anything follows a table in a pipe.
    const size = isFile ? status.size : Math.max(statedLength(head) ?? 0, head.length) + 1;
    checkSize(size, address, path);
    // A file that is not a whole table is refused unread: it may have gigabytes of holes.
    checkBeginning(head, isFile ? size : undefined, path);
    const memory = createMemory(address + size + TAIL_BYTES);
    const bytes = new Uint8Array(memory.buffer, address, size);
    const { length, checksum } = await readAll(descriptor, bytes, isFile ? undefined : head);
    return { memory, length, checksum };
  } catch (cause) {
    throw cause instanceof RobotsFilterError ? cause : unreadable(path, cause);
  } finally {
    await closeFile(descriptor);
  }
}

async function readCompressed(
  compression: Compression,
  pieces: AsyncGenerator<Uint8Array>,
  path: string,
  address: number,
): Promise<TableInMemory> {
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
        checkSize(length + 1, address, path);
        memory = createMemory(address + length + 1 + TAIL_BYTES);
      }
      // Room for one byte more shows whether anything follows the table.
      const most = (statedLength(head) ?? 0) + 1;
      const part = piece.subarray(0, most - bytes);
      new Uint8Array(memory.buffer).set(part, address + bytes);
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
  if (memory !== undefined) return { memory, length: bytes, checksum: checksum.value };
  checkBeginning(head, undefined, path);
  throw new Error('a whole header states no length');
}

function unreadable(path: string, cause: unknown): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ?? `cannot be read (${errorText(cause)}). Copy the table again`;
  return new RobotsFilterError('input', `${path}: ${remedy}`, { cause });
}

/** @throws RobotsFilterError `limit` if a table of this many bytes does not fit into memory */
function checkSize(size: number, address: number, path: string): void {
  if (address + size + TAIL_BYTES <= MAX_PAGES * PAGE_BYTES) return;
  throw new RobotsFilterError('limit', `${path}: ${size} bytes; a table has less than 4 GiB`);
}
