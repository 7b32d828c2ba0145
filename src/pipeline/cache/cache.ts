import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { RobotsFilterError } from '../../errors.js';
import { listNames, readPlace } from './directory.js';
import type { CacheEntry, CacheOptions } from './entry.js';
import { describeSystemError, realPath } from './file.js';
import { isRecordsName } from './layout.js';
import { describeName } from './name.js';
import { readRecords } from './ndjson.js';

export type { CacheEntry, CacheOptions, CacheWarning, CacheWarningCode } from './entry.js';

const EXPECTED =
  'A directory of robots.txt files, or a file *.ndjson or *.ndjson.gz of records, is needed.';

function inputError(path: string, reason: string, cause?: unknown): RobotsFilterError {
  return new RobotsFilterError('input', `${path}: ${reason}. ${EXPECTED}`, { cause });
}

async function* readDirectory(
  path: string,
  options: CacheOptions,
): AsyncGenerator<readonly CacheEntry[]> {
  let names: readonly string[];
  let boundary: Buffer;
  try {
    boundary = await realPath(path);
    names = await listNames(path);
  } catch (error) {
    throw inputError(path, `cannot be read: ${describeSystemError(error)}`, error);
  }
  // The root directory keeps its slash otherwise, and a path would begin with two.
  const stem = path.endsWith('/') ? path.slice(0, -1) : path;
  const place = { path: stem, shown: stem, prefix: '', scheme: undefined };
  yield* readPlace(names, place, {
    access: {
      boundary: options.followLinks === true ? undefined : boundary,
      concurrent: false,
    },
    options,
  });
}

async function* readRecordsAt(
  path: string,
  options: CacheOptions,
): AsyncGenerator<readonly CacheEntry[]> {
  const file = await open(path).catch((error: unknown) => {
    throw inputError(path, `cannot be read: ${describeSystemError(error)}`, error);
  });
  try {
    const name = describeName(Buffer.from(basename(path)).toString('latin1'));
    yield* readRecords(file.fd, path, name, options);
  } finally {
    await file.close();
  }
}

/**
 * Reads a cache of robots.txt from disk: a directory in the layouts that
 * `layout.ts` lists, or a file of records as `record.ts` describes them.
 *
 * Batches hold up to 256 entries and some 16 MiB of bodies; a single body may
 * be larger, up to `maxBodyBytes + 1` octets. The order depends on the cache
 * alone: that of the octets of the paths, and that of the lines in a file of
 * records. An authority may come more than once.
 *
 * What cannot be used is told to `onWarning` and left out. Only regular files
 * are read from a directory; the path itself may also be a pipe of records.
 *
 * @throws {RobotsFilterError} `input` when the path is missing, unreadable or
 * of another kind, when a file of records cannot be read to its end (gzip data
 * that are cut or damaged), and when the process runs out of file descriptors.
 */
export async function* readCache(
  path: string,
  options: CacheOptions,
): AsyncGenerator<readonly CacheEntry[]> {
  const found = await stat(path).catch((error: unknown) => {
    throw inputError(path, `cannot be read: ${describeSystemError(error)}`, error);
  });
  if (found.isDirectory()) {
    yield* readDirectory(path, options);
  } else if (found.isFIFO() || (found.isFile() && isRecordsName(path))) {
    yield* readRecordsAt(path, options);
  } else {
    throw inputError(path, 'neither a directory nor a file of records');
  }
}
