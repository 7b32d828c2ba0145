import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { RobotsFilterError } from '../../errors.js';
import { opening } from '../../openings.js';
import { describeForeign, TELLING_OCTETS } from '../signature.js';
import { FileReader, readNested } from './directory.js';
import type { CacheOptions, EntryEvent, WarningEvent } from './entry.js';
import { describeSystemError, realPath } from './file.js';
import type { Nested } from './finding.js';
import { isRecordsName } from './layout.js';
import { cutNames, listNames, type PlaceNames } from './listing.js';
import { describeName } from './name.js';
import { type RecordLines, readRecordLines, recordsOf } from './ndjson.js';

export type { CacheEntry, CacheOptions, CacheWarning, CacheWarningCode } from './entry.js';
export type { Nested } from './finding.js';

/*
 * A cache is read in two steps, so that the second can be done by several threads: it is cut into
 * parts, which are plain data, and what a part holds are events. Events in the order of the parts,
 * with the parts of what is nested in the place of the event that tells of it, are the same whoever
 * reads which part.
 */

/** A part of a cache: names of files, or lines of records. */
export type CachePart = PlaceNames | RecordLines;

/**
 * What there is in a part: a robots.txt, something left out, or something that has parts of its
 * own.
 */
export type CacheEvent = EntryEvent | WarningEvent | Nested;

const EXPECTED =
  'A directory of robots.txt files, or a file *.ndjson, *.jsonl, *.ndjson.gz or *.jsonl.gz of records, is needed.';

function inputError(path: string, reason: string, cause?: unknown): RobotsFilterError {
  return new RobotsFilterError('input', `${path}: ${reason}. ${EXPECTED}`, { cause });
}

async function* readDirectory(path: string, followLinks: boolean): AsyncGenerator<PlaceNames> {
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
  const access = { boundary: followLinks ? undefined : boundary, concurrent: false };
  yield* cutNames(names, place, access);
}

async function* readRecordsAt(path: string): AsyncGenerator<RecordLines> {
  const file = await opening(path, open(path)).catch((error: unknown) => {
    throw inputError(path, `cannot be read: ${describeSystemError(error)}`, error);
  });
  try {
    const name = describeName(Buffer.from(basename(path)).toString('latin1'));
    yield* readRecordLines(file.fd, path, name);
  } finally {
    await file.close();
  }
}

/**
 * Says what a file is that is neither UTF-8 nor gzip; `undefined` if it does not look so, or cannot
 * be read.
 */
async function describeForeignFile(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    const head = Buffer.alloc(TELLING_OCTETS);
    const read = await file?.read(head, 0, head.length, 0);
    return describeForeign(head.subarray(0, read?.bytesRead ?? 0), false);
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

/**
 * Cuts a cache of robots.txt on disk into parts: a directory in the layouts that
 * `layout.ts` lists, or a file of records as `record.ts` describes them.
 *
 * The order depends on the cache alone: that of the octets of the paths, and that of the lines in a
 * file of records. Only regular files are read from a directory; the path itself may also be a pipe
 * of records.
 *
 * @throws {RobotsFilterError} `input` when the path is missing, unreadable or
 * of another kind, when a file of records cannot be read to its end (gzip data
 * that are cut or damaged), and when the process runs out of file descriptors.
 */
export async function* cacheParts(path: string, followLinks: boolean): AsyncGenerator<CachePart> {
  const found = await stat(path).catch((error: unknown) => {
    throw inputError(path, `cannot be read: ${describeSystemError(error)}`, error);
  });
  if (found.isDirectory()) {
    yield* readDirectory(path, followLinks);
  } else if (found.isFIFO() || (found.isFile() && isRecordsName(path))) {
    yield* readRecordsAt(path);
  } else {
    const foreign = found.isFile() ? await describeForeignFile(path) : undefined;
    if (foreign !== undefined) throw new RobotsFilterError('input', `${path}: ${foreign}`);
    throw inputError(path, 'neither a directory nor a file of records');
  }
}

/**
 * The parts of something nested, found in the names that tell of it; and what of it was left out.
 */
export function nestedParts(
  nested: Nested,
  { access }: PlaceNames,
): AsyncGenerator<CachePart | WarningEvent> {
  return readNested(nested, access);
}

/** Reads the parts of caches. Each thread has its own. */
export class PartReader {
  readonly #options: CacheOptions;
  readonly #files: FileReader;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#files = new FileReader(options);
  }

  /**
   * Tells what there is in a part, in order. A body has `maxBodyBytes + 1` octets at most, and is
   * to be read before the next is told of. An authority may come more than once.
   *
   * @throws {RobotsFilterError} `input` when the process runs out of file descriptors.
   */
  async read(part: CachePart, tell: (event: CacheEvent) => void): Promise<void> {
    if (part.kind === 'lines') {
      for (const event of recordsOf(part, this.#options.maxBodyBytes)) tell(event);
    } else {
      for await (const event of this.#files.filesOf(part)) tell(event);
    }
  }
}
