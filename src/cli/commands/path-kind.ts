import { open, stat } from 'node:fs/promises';
import { ARCHIVE_LIST_ENDINGS, isArchiveName } from '../../cache/archive-file.js';
import { describeArc, readChunks } from '../../cache/file-chunks.js';
import { recordFileOf } from '../../cache/record-files.js';
import { RobotsFilterError } from '../../errors.js';
import { compressionOf } from '../../files/compressions.js';
import { errorText } from '../../files/system-error.js';
import { systemRemedy } from '../../files/system-remedy.js';
import { MAGIC_BYTES } from '../../files/unsupported-formats.js';
import { beginsAsTable, isShardedTable } from '../options/table-file.js';

/** What a path is: a cache of robots.txt files, a table, or one robots.txt. */
export type PathKind = 'cache' | 'table' | 'robots.txt';

/**
 * What a path is, by its name and its first bytes.
 *
 * @throws RobotsFilterError `input` if it cannot be read, or is an ARC file
 */
export async function kindOfPath(path: string): Promise<PathKind> {
  try {
    const status = await stat(path);
    if (isShardedTable(path)) return 'table';
    if (!status.isFile() || isCacheName(path)) return 'cache';
    const file = await open(path);
    const head = Buffer.alloc(MAGIC_BYTES);
    try {
      await file.read(head, 0, head.length, 0);
      const arc = await describeArc(readChunks(file.fd));
      if (arc !== undefined) throw new RobotsFilterError('input', `${path}: ${arc}`);
    } finally {
      await file.close();
    }
    // A compressed robots.txt is no table either, and opening it as one says so.
    return compressionOf(head) !== undefined || beginsAsTable(path) ? 'table' : 'robots.txt';
  } catch (cause) {
    throw cause instanceof RobotsFilterError ? cause : unreadable(path, cause);
  }
}

/** The error for a path that cannot be read. */
export function unreadable(path: string, cause: unknown): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ??
    `cannot be read (${errorText(cause)}). Try again, or name a copy of it`;
  return new RobotsFilterError('input', `${path}: ${remedy}.`, { cause });
}

/** Whether a file of this name holds robots.txt files of several hosts. */
export function isCacheName(path: string): boolean {
  if (recordFileOf(path) !== undefined || isArchiveName(path)) return true;
  return ARCHIVE_LIST_ENDINGS.some((ending) => path.toLowerCase().endsWith(ending));
}
