/**
 * Tells tables from other files, reads the bytes of a table, and computes its checksum while the
 * next bytes come.
 */

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compressionOf } from '../files/compression.js';
import { readOpened } from '../files/openings.js';
import { Checksum } from '../kernel/hashes.js';
import { HEADER_BYTES, HEADER_VERSION, MAGIC_HIGH, MAGIC_LOW } from '../table/format.js';
import { beginsAsManifest, MANIFEST_NAME } from '../table/manifest.js';

/** Bytes of one read, and reads in flight: the next pieces are read while one is checked. */
export const READ_BYTES = 4 * 1024 * 1024;
const READS_AHEAD = 8;
/** Bytes of one read of a compressed table. */
const COMPRESSED_READ_BYTES = 256 * 1024;
/** Stands for a position in a file: continue where the last read ended. */
const FROM_PIPE = null;

/** Yields `head`, which has been read already, and then the rest. */
export async function* readPieces(
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
export async function readHead(descriptor: number, isFile: boolean): Promise<Uint8Array> {
  const room = new Uint8Array(HEADER_BYTES);
  return isFile ? readAtOnce(descriptor, room) : await readPiece(descriptor, room, FROM_PIPE);
}

/**
 * Reads a table; returns its length and checksum.
 *
 * @param bytes where to read it to
 * @param head the bytes that have been read of a pipe; `undefined` for a file, which is read by
 *   position
 * @param memory the memory of `bytes`, if its beginning is free
 */
export async function readAll(
  descriptor: number,
  bytes: Uint8Array,
  head: Uint8Array | undefined,
  memory?: WebAssembly.Memory,
): Promise<{ length: number; checksum: number }> {
  const checksum = new Checksum(memory);
  if (head === undefined && bytes.length <= READ_BYTES) {
    const table = readAtOnce(descriptor, bytes);
    checksum.update(table);
    return { length: table.length, checksum: checksum.value };
  }
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

/**
 * Fills `room` from the beginning of a file; returns the filled part. Nothing could be done
 * meanwhile, and threads for reading take a millisecond to start and to end.
 */
function readAtOnce(descriptor: number, room: Uint8Array): Uint8Array {
  let filled = 0;
  while (filled < room.length) {
    const bytesRead = readSync(descriptor, room, filled, room.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return room.subarray(0, filled);
}

/** Fills `room` from a position in the file, or FROM_PIPE; returns the filled part. */
async function readPiece(
  descriptor: number,
  room: Uint8Array,
  position: number | typeof FROM_PIPE,
): Promise<Uint8Array> {
  let filled = 0;
  while (filled < room.length) {
    const from = position === FROM_PIPE ? FROM_PIPE : position + filled;
    const bytesRead = await readOpened(descriptor, room.subarray(filled), from);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return room.subarray(0, filled);
}

// ---- What a path is, before it is opened

/** Bytes of a manifest that show what it is, even if a tool has sorted its members. */
const MANIFEST_HEAD_BYTES = 1 << 16;

/** What the name of a compressed table holds: nothing else tells before it is decompressed. */
const TABLE_NAME = '.table.';

/** Whether a path is a table: a file, also compressed, or one in shards. */
export function isTable(path: string): boolean {
  try {
    if (statSync(path).isFile()) {
      const head = headOf(path, HEADER_BYTES);
      if (beginsAsTable(head)) return true;
      if (compressionOf(head) !== undefined && isTableName(path)) return true;
    }
  } catch {
    return false; // Opening it later gives the error.
  }
  return isShardedTable(path);
}

function isTableName(path: string): boolean {
  return basename(path).toLowerCase().includes(TABLE_NAME);
}

/** Whether a path is a directory with the manifest of a table in shards, or the manifest itself. */
export function isShardedTable(path: string): boolean {
  try {
    const name = statSync(path).isDirectory() ? join(path, MANIFEST_NAME) : path;
    const status = statSync(name);
    // To look into a named pipe would keep the program waiting; opening the table refuses it.
    if (status.isFIFO()) return name !== path;
    return status.isFile() && beginsAsManifest(headOf(name, MANIFEST_HEAD_BYTES));
  } catch {
    return false; // Reading it later gives the error.
  }
}

function beginsAsTable(head: Buffer): boolean {
  return (
    head.length >= HEADER_VERSION &&
    head.readUInt32LE(0) === MAGIC_LOW &&
    head.readUInt32LE(4) === MAGIC_HIGH
  );
}

/**
 * The first bytes of a file.
 *
 * @throws the errors of `openSync` and `readSync`
 */
export function headOf(path: string, most: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.allocUnsafe(most);
    return head.subarray(0, readSync(file, head, 0, most, 0));
  } finally {
    closeSync(file);
  }
}
