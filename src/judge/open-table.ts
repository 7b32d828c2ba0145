/** Reads a table into memory from a file, a pipe or a directory of shards. */

import { closeSync, fstatSync } from 'node:fs';
import { RobotsFilterError } from '../base/errors.js';
import {
  type Compression,
  compressionFault,
  compressionOf,
  decompressed,
} from '../files/compression.js';
import { openToRead } from '../files/openings.js';
import { unreadable } from '../files/system-error.js';
import { Checksum } from '../kernel/hashes.js';
import { createMemory, MAX_PAGES, PAGE_BYTES } from '../kernel/kernel.js';
import { checkBeginning, statedLength } from '../table/check.js';
import { HEADER_BYTES, TAIL_BYTES } from '../table/format.js';
import { beginsAsManifest } from '../table/manifest.js';
import { READ_BYTES, readAll, readHead, readPieces } from './read-table.js';
import { placedTable, TABLE_ADDRESS, type TableMemory, type TableReading } from './table-memory.js';

function manifestFromPipe(path: string): RobotsFilterError {
  const what = `${path}: a manifest that is no file does not tell where its parts are`;
  return new RobotsFilterError('table', `${what}: name the directory of the table`);
}

function inOnePiece(path: string): RobotsFilterError {
  const remedy = 'leave --parts out, or name a table that compile --shards wrote';
  return new RobotsFilterError('usage', `${path}: a table in one piece: ${remedy}`);
}

/**
 * Reads a table from a file or pipe, compressed or not, or from a directory of shards.
 *
 * @param path the table, a directory with a manifest, or the manifest
 * @throws RobotsFilterError as `Table.open`
 */
export async function readTable(path: string, reading: TableReading = {}): Promise<TableMemory> {
  let descriptor: number;
  try {
    descriptor = await openToRead(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
  try {
    const status = fstatSync(descriptor);
    const isFile = status.isFile();
    const head = status.isDirectory() ? undefined : await readHead(descriptor, isFile);
    if (head === undefined || beginsAsManifest(head)) {
      if (head !== undefined && !isFile) throw manifestFromPipe(path);
      // Loaded on demand, because most tables are in one piece.
      const { readShards } = await import('./open-shards.js');
      return await readShards(path, head === undefined, reading);
    }
    if (reading.parts !== undefined) throw inOnePiece(path);
    if (statedLength(head) === undefined) {
      const compression = compressionOf(head);
      if (compression !== undefined) {
        return await readCompressed(compression, readPieces(descriptor, head, isFile), path);
      }
    }
    // Room for one byte more shows whether anything follows a table in a pipe.
    const size = isFile ? status.size : Math.max(statedLength(head) ?? 0, head.length) + 1;
    checkSize(size, path);
    // A file that is not a whole table is refused unread: it may have gigabytes of holes.
    checkBeginning(head, isFile ? size : undefined, path);
    const memory = createMemory(TABLE_ADDRESS + size + TAIL_BYTES);
    const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, size);
    const { length, checksum } = await readAll(
      descriptor,
      bytes,
      isFile ? undefined : head,
      memory,
    );
    return placedTable(memory, length, path, checksum);
  } catch (cause) {
    throw cause instanceof RobotsFilterError ? cause : unreadable(path, cause);
  } finally {
    closeSync(descriptor);
  }
}

async function readCompressed(
  compression: Compression,
  pieces: AsyncGenerator<Uint8Array>,
  path: string,
): Promise<TableMemory> {
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
    const { what, remedy = 'copy the file again' } = compressionFault(compression, cause);
    throw new RobotsFilterError('table', `${path}: ${what}: ${remedy}`, { cause });
  }
  if (memory !== undefined) return placedTable(memory, bytes, path, checksum.value);
  checkBeginning(head, undefined, path);
  throw new Error('a whole header states no length');
}

/** @throws RobotsFilterError `limit` if a table of this many bytes does not fit into memory */
function checkSize(size: number, path: string): void {
  if (TABLE_ADDRESS + size + TAIL_BYTES <= MAX_PAGES * PAGE_BYTES) return;
  throw new RobotsFilterError('limit', `${path}: ${size} bytes; a table has less than 4 GiB`);
}
