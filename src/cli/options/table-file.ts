import { close, open, read, stat } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HEADER_VERSION, MAGIC_HIGH, MAGIC_LOW } from '../../table/format.js';
import { beginsAsManifest, MANIFEST_NAME } from '../../table/manifest.js';

// From node:fs, because node:fs/promises takes longer to load.
const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);
const statusOf = promisify(stat);

/** Bytes of a manifest that show what it is, even if a tool has sorted its members. */
const HEAD_BYTES = 1 << 16;

/** Whether a path is a directory with the manifest of a table in shards, or the manifest itself. */
export async function isShardedTable(path: string): Promise<boolean> {
  const status = await statusOf(path).catch(() => undefined);
  if (status === undefined) return false;
  const name = status.isDirectory() ? join(path, MANIFEST_NAME) : path;
  const isFile = status.isDirectory() || status.isFile();
  const file = isFile ? await openFile(name, 'r').catch(() => undefined) : undefined;
  if (file === undefined) return false;
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await readFile(file, head, 0, head.length, 0);
    return beginsAsManifest(head.subarray(0, bytesRead));
  } catch {
    return false; // A directory that is called manifest.json.
  } finally {
    await closeFile(file);
  }
}

/** Whether a file begins like a table. Rejects with the errors of `open` and `read`. */
export async function beginsAsTable(path: string): Promise<boolean> {
  const file = await openFile(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_VERSION);
    await readFile(file, head, 0, head.length, 0);
    return head.readUInt32LE(0) === MAGIC_LOW && head.readUInt32LE(4) === MAGIC_HIGH;
  } finally {
    await closeFile(file);
  }
}
