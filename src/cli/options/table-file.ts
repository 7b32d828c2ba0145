import { close, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { HEADER_VERSION, MAGIC_HIGH, MAGIC_LOW } from '../../table/format.js';

// From node:fs, because node:fs/promises takes longer to load.
const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);

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
