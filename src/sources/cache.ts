/** Walks the caches that --robots-dir names, and yields each robots.txt with its authority. */

import type { Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { RobotsFilterError } from '../base/errors.js';
import { openToRead } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { TemporaryCopies } from '../files/temporary.js';
import { describeUnsupported, MAGIC_BYTES } from '../files/unsupported-formats.js';
import { isTable } from '../judge/read-table.js';
import { type CaptureEvent, type LeftOutEvent, readArchivePart } from './archive-reader.js';
import {
  ARCHIVE_ENDINGS,
  ARCHIVE_LIST_ENDINGS,
  type Archive,
  type ArchiveFile,
  type ArchivePart,
  archiveFilesOf,
  copyArchive,
  isArchiveName,
} from './archives.js';
import { DirectoryReader, placeParts } from './directory.js';
import type { CacheOptions, EntryEvent, WarningEvent } from './entry.js';
import {
  close,
  decodeName,
  describeArc,
  displayName,
  type FileAccess,
  openFile,
  readChunks,
  realPath,
} from './file.js';
import {
  byteNamesIn,
  isIgnored,
  join,
  type Nested,
  NO_FILE,
  type Place,
  type PlaceNames,
  type RecordFileItem,
  skipEvent,
  splitNames,
  VANISHED,
} from './item.js';
import { isPiped, openPiped, type Piped } from './piped.js';
import {
  RECORD_FILE_ENDINGS,
  RECORD_FILES,
  type RecordColumns,
  type RecordPart,
  recordFileOf,
  recordFileOfPart,
} from './record-files.js';
import { type TableEntries, type TableUse, tableParts } from './table-entries.js';

export type { Archive, ArchivePart } from './archives.js';
export type { RecordColumns } from './record-files.js';

/*
 * A cache is read in two steps, so that several threads can do the second. First the cache is split
 * into parts, which are plain data; then reading a part gives events. An event may be nested: its
 * own parts take its place. In the order of the parts, the events are the same whichever thread
 * reads which part.
 */

/**
 * A part of a cache that any thread can read: names in a directory, records, entries of a table, or
 * captures.
 */
export type CachePart = PlaceNames | RecordPart | TableEntries | ArchivePart;

/** A part, or WARC files, which are read together and have their own parts. */
export type CacheContent = PlaceNames | RecordPart | TableEntries | Archive;

/**
 * An event of a part: a robots.txt, a capture, something skipped, or something with its own parts.
 */
export type CacheEvent = EntryEvent | CaptureEvent | LeftOutEvent | WarningEvent | Nested;

const ENDINGS = [...RECORD_FILE_ENDINGS, ...ARCHIVE_ENDINGS, ...ARCHIVE_LIST_ENDINGS].map(
  (ending) => `*${ending}`,
);

const EXPECTED = `Name a directory of robots.txt files, or a file of records or captures (${ENDINGS.join(', ')}).`;

/**
 * Yields the contents of caches. Archives that are named one after another are one archive.
 *
 * @param tables for what tables are read. Default: a table is no cache
 */
export async function* cacheContents(
  paths: readonly string[],
  followLinks: boolean,
  columns?: RecordColumns,
  tables?: TableUse,
): AsyncGenerator<CacheContent | WarningEvent> {
  let files: ArchiveFile[] = [];
  let copies = new TemporaryCopies();
  const archive = (): Archive => {
    const [of, own] = [files, copies];
    files = [];
    copies = new TemporaryCopies();
    return { kind: 'archive', files: of, release: () => own.discard() };
  };
  for (const path of paths) {
    const ofTable = tables !== undefined && isTable(path) ? tables : undefined;
    const piped = ofTable === undefined ? await pipedAt(path) : undefined;
    try {
      const isArchive = piped !== undefined && piped.kind !== 'records';
      const found = isArchive ? [await copyArchive(piped, copies)] : await archiveFilesOf(path);
      if (found !== undefined) {
        files = [...files, ...found];
        continue;
      }
      if (files.length > 0) yield archive();
      if (piped !== undefined) yield* pipedParts(piped);
      else if (ofTable !== undefined) yield* tableParts(path, ofTable);
      else yield* cacheParts(path, followLinks, columns);
    } finally {
      piped?.close();
    }
  }
  if (files.length > 0) yield archive();
}

/** Opens a path that is a pipe; `undefined` for any other, and for what is no pipe by its name. */
async function pipedAt(path: string): Promise<Piped | undefined> {
  if (recordFileOf(path)?.isSequential === false) return undefined;
  return (await isPiped(path)) ? openPiped(path) : undefined;
}

/** The parts of a pipe of records. */
async function* pipedParts({ chunks, name, source }: Piped): AsyncGenerator<RecordPart> {
  const [kind] = RECORD_FILES;
  yield* kind.parts({ chunks, path: name, source });
}

/** What a walk finds: an entry, something skipped, or WARC files, which it does not read. */
export type Walked = WalkedEntry | WarningEvent | Archive;

/** An entry, and whether it is a file of a directory, or else a record. */
export type WalkedEntry = EntryEvent & { readonly isFile: boolean };

/**
 * Reads contents on this thread. Use the body of an entry before you ask for the next entry, which
 * overwrites the body.
 *
 * @param nested where the entries come that are nested in a part: in their place, as compiling
 *   needs it, because later entries win, or after the rest of the part
 * @throws RobotsFilterError as `cacheParts` and `PartReader.read`
 */
export async function* walk(
  contents: AsyncIterable<CacheContent | WarningEvent>,
  reader: PartReader,
  nested: 'in-place' | 'after',
  columns?: RecordColumns,
): AsyncGenerator<Walked> {
  for await (const part of contents) {
    if (part.kind === 'warning' || part.kind === 'archive') {
      yield part;
      continue;
    }
    if (part.kind !== 'names') {
      for (const event of reader.records(part)) yield asWalked(event, false);
      continue;
    }
    const later: Nested[] = [];
    for await (const event of reader.files(part)) {
      if (event.kind === 'entry' || event.kind === 'warning') yield asWalked(event, true);
      else if (nested === 'after') later.push(event);
      else yield* walk(nestedParts(event, part, columns), reader, nested, columns);
    }
    for (const event of later) {
      yield* walk(nestedParts(event, part, columns), reader, nested, columns);
    }
  }
}

function asWalked(event: EntryEvent | WarningEvent, isFile: boolean): WalkedEntry | WarningEvent {
  return event.kind === 'entry' ? { ...event, isFile } : event;
}

function inputError(path: string, reason: string, cause?: unknown): RobotsFilterError {
  return new RobotsFilterError('input', `${path}: ${reason}. ${EXPECTED}`, { cause });
}

function unreadable(path: string, cause: unknown): RobotsFilterError {
  return inputError(path, `cannot be read: ${describeSystemError(cause)}`, cause);
}

/**
 * Splits a cache of robots.txt files into parts: a directory in the layouts of item.ts, or a file
 * of records (record-files.ts).
 *
 * The order depends only on the cache: the byte order of the paths, and the order of the records in
 * a file. In a directory only regular files are read.
 *
 * @param followLinks whether symbolic links may lead out of the directory; those that stay inside
 *   are always followed
 * @param columns the columns of Parquet files
 * @throws RobotsFilterError `input` if the path is missing, unreadable or of another kind, if a
 *   file of records cannot be read to its end, or if the process runs out of file descriptors
 */
export async function* cacheParts(
  path: string,
  followLinks: boolean,
  columns: RecordColumns = {},
): AsyncGenerator<CacheContent> {
  const status = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (status.isFIFO() && recordFileOf(path)?.isSequential === false) {
    const what = 'a pipe, and Parquet is not read from its start to its end';
    throw new RobotsFilterError('input', `${path}: ${what}. Write it to a file and name that.`);
  }
  if (status.isDirectory()) yield* directoryParts(path, followLinks);
  else if (status.isFile() && recordFileOf(path) !== undefined) {
    yield* recordFileParts(path, columns);
  } else throw await refusal(path, status);
}

async function* directoryParts(
  path: string,
  followLinks: boolean,
): AsyncGenerator<PlaceNames | Archive> {
  let names: readonly string[];
  let boundary: Buffer;
  try {
    boundary = await realPath(path);
    names = await byteNamesIn(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  // A path in the root directory would begin with two slashes.
  const stem = path.endsWith('/') ? path.slice(0, -1) : path;
  const place = { path: stem, displayPath: stem, prefix: '', scheme: undefined };
  const access = { boundary: followLinks ? undefined : boundary, concurrent: false };
  // Captures come first, so that the other files win.
  const archives = names.filter(isArchiveName);
  if (archives.length === 0) {
    yield* splitNames(names, place, access);
    return;
  }
  const files = archives.flatMap((name) => archiveFile(name, place, access));
  yield { kind: 'archive', files, release: () => {} };
  const others = names.filter((name) => !isArchiveName(name));
  yield* splitNames(others, place, access);
}

/** The archive that a name of `byteNamesIn` stands for. */
function archiveFile(byteName: string, place: Place, { boundary }: FileAccess): ArchiveFile[] {
  const name = decodeName(byteName);
  if (name === undefined || isIgnored(name)) return [];
  const source = displayName(byteName);
  const displayPath = `${place.displayPath}/${source}`;
  return [{ path: join(place.path, name), displayPath, source, boundary, isNamed: false }];
}

async function* recordFileParts(path: string, columns: RecordColumns): AsyncGenerator<RecordPart> {
  const kind = recordFileOf(path) ?? RECORD_FILES[0];
  const descriptor = await openToRead(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const source = displayName(Buffer.from(basename(path)).toString('latin1'));
    yield* kind.parts({ descriptor, path, source, columns });
  } finally {
    close(descriptor);
  }
}

/** The error for a path that is neither a directory nor a file of records. */
async function refusal(path: string, status: Stats): Promise<RobotsFilterError> {
  const description = status.isFile() ? await describeFile(path) : undefined;
  return description === undefined
    ? inputError(path, 'neither a directory nor a file of records')
    : new RobotsFilterError('input', `${path}: ${description}`);
}

/**
 * Names the unsupported format of a file, and says how to convert it; `undefined` if the format is
 * supported or the file unreadable.
 */
export async function describeFile(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    const head = Buffer.alloc(MAGIC_BYTES);
    const read = await file?.read(head, 0, head.length, 0);
    const arc = file && (await describeArc(readChunks(file.fd)));
    return arc ?? describeUnsupported(head.subarray(0, read?.bytesRead ?? 0));
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

/**
 * The parts of a nested event among `names`, and warnings for the files that were skipped there.
 */
export function nestedParts(
  nested: Nested,
  names: PlaceNames,
  columns: RecordColumns = {},
): AsyncGenerator<PlaceNames | RecordPart | WarningEvent> {
  return nested.kind === 'records'
    ? nestedRecordParts(nested, names.access, columns)
    : placeParts(nested.place, names.access);
}

/** The parts of a file of records in a directory. */
async function* nestedRecordParts(
  { path, displayPath, source }: RecordFileItem,
  { boundary }: FileAccess,
  columns: RecordColumns,
): AsyncGenerator<RecordPart | WarningEvent> {
  const file = await openFile(path, { boundary, concurrent: true });
  switch (file.kind) {
    case 'file':
      try {
        const kind = recordFileOf(source) ?? RECORD_FILES[0];
        yield* kind.parts({ descriptor: file.descriptor, path: displayPath, source, columns });
      } finally {
        close(file.descriptor);
      }
      break;
    case 'skip':
      yield skipEvent(displayPath, file);
      break;
    case 'directory':
      yield skipEvent(displayPath, { code: 'not-a-file', message: NO_FILE });
      break;
    case 'missing':
      yield skipEvent(displayPath, { code: 'unreadable', message: VANISHED });
  }
}

/** Reads the parts of caches. Each thread has its own. */
export class PartReader {
  readonly #options: CacheOptions;
  readonly #directories: DirectoryReader;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#directories = new DirectoryReader(options);
  }

  /**
   * Passes on the events of a part, in order. A body has at most `maxBodyBytes + 1` bytes; use it
   * before the next event. An authority may come more than once.
   *
   * @throws RobotsFilterError `input` if the process runs out of file descriptors
   */
  async read(part: CachePart, onEvent: (event: CacheEvent) => void): Promise<void> {
    if (part.kind === 'captures') await readArchivePart(part, this.#options, onEvent);
    else if (part.kind === 'names') for await (const event of this.files(part)) onEvent(event);
    else for (const event of this.records(part)) onEvent(event);
  }

  /** The events of names, as `read` passes them on. */
  files(part: PlaceNames): AsyncIterable<EntryEvent | WarningEvent | Nested> {
    return this.#directories.read(part);
  }

  /** The events of records, as `read` passes them on. */
  records(part: RecordPart | TableEntries): Iterable<EntryEvent | WarningEvent> {
    if (part.kind === 'table') return part.entries.map((entry) => ({ kind: 'entry', entry }));
    return recordFileOfPart(part).read(part, this.#options);
  }
}
