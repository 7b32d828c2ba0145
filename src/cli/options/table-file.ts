import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HEADER_VERSION, MAGIC_HIGH, MAGIC_LOW } from '../../table/format.js';
import { beginsAsManifest, MANIFEST_NAME } from '../../table/manifest.js';

/** Bytes of a manifest that show what it is, even if a tool has sorted its members. */
const HEAD_BYTES = 1 << 16;

/** Whether a path is a directory with the manifest of a table in shards, or the manifest itself. */
export function isShardedTable(path: string): boolean {
  try {
    const name = statSync(path).isDirectory() ? join(path, MANIFEST_NAME) : path;
    const status = statSync(name);
    // To look into a named pipe would keep the program waiting; opening the table refuses it.
    if (status.isFIFO()) return name !== path;
    return status.isFile() && beginsAsManifest(headOf(name, HEAD_BYTES));
  } catch {
    return false; // Reading it later gives the error.
  }
}

/**
 * Whether a file begins like a table.
 *
 * @throws the errors of `openSync` and `readSync`
 */
export function beginsAsTable(path: string): boolean {
  const head = headOf(path, HEADER_VERSION);
  return (
    head.length === HEADER_VERSION &&
    head.readUInt32LE(0) === MAGIC_LOW &&
    head.readUInt32LE(4) === MAGIC_HIGH
  );
}

/** The first bytes of a file. */
export function headOf(path: string, most: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.allocUnsafe(most);
    return head.subarray(0, readSync(file, head, 0, most, 0));
  } finally {
    closeSync(file);
  }
}
