/** Walks the caches that --robots-dir names, and yields each robots.txt with its authority. */

import type { Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { HYPHEN, UNDERSCORE, UPPER_A, UPPER_Z } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { openToRead } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { ARC_ADVICE, describeUnsupported, MAGIC_BYTES } from '../files/unsupported-formats.js';
import type { Authority } from '../protocol/authority.js';
import {
  ARCHIVE_ENDINGS,
  ARCHIVE_LIST_ENDINGS,
  type Archive,
  type ArchiveFile,
  type ArchivePart,
  archiveFilesOf,
  type CaptureEvent,
  isArchiveName,
  type LeftOutEvent,
  readArchivePart,
} from './archives.js';
import { bodyLimit, type CacheOptions, type EntryEvent, type WarningEvent } from './entry.js';
import {
  FETCH_STATE,
  type FetchOutcome,
  type FetchReading,
  type FetchState,
  isLongUnreachable,
  type LastSuccess,
  LONGEST_FETCH_STATE,
  outcomeOf,
  parseFetchState,
} from './fetch-state.js';
import {
  close,
  decodeName,
  describeArc,
  displayName,
  exists,
  type FileAccess,
  type FilePath,
  openFile,
  readChunks,
  readFileBody,
  realPath,
  type Skip,
  skipOf,
} from './file.js';
import {
  authorityOfFile,
  authorityOfName,
  byteNamesIn,
  type EntryItem,
  type Item,
  isIgnored,
  itemOf,
  itemOfBody,
  join,
  type LongItem,
  type Nested,
  NO_FILE,
  type PendingEntry,
  type Place,
  type PlaceNames,
  type ReadContext,
  type RecordFileItem,
  ROBOTS_TXT,
  SHORT_BODY,
  schemeOfName,
  skipEvent,
  skipped,
  splitNames,
} from './item.js';
import {
  RECORD_FILE_ENDINGS,
  RECORD_FILES,
  type RecordColumns,
  type RecordPart,
  recordFileOf,
  recordFileOfPart,
} from './record-files.js';

export type { Archive, ArchivePart } from './archives.js';
export type { CacheEntry, CacheOptions, CacheWarning, CacheWarningCode } from './entry.js';
export type { Nested } from './item.js';
export type { RecordColumns } from './record-files.js';

/*
 * A cache is read in two steps, so that several threads can do the second. First the cache is split
 * into parts, which are plain data; then reading a part gives events. An event may be nested: its
 * own parts take its place. In the order of the parts, the events are the same whichever thread
 * reads which part.
 */

/** A part of a cache that any thread can read: names in a directory, records, or captures. */
export type CachePart = PlaceNames | RecordPart | ArchivePart;

/** A part, or WARC files, which are read together and have their own parts. */
export type CacheContent = PlaceNames | RecordPart | Archive;

/**
 * An event of a part: a robots.txt, a capture, something skipped, or something with its own parts.
 */
export type CacheEvent = EntryEvent | CaptureEvent | LeftOutEvent | WarningEvent | Nested;

const ENDINGS = [...RECORD_FILE_ENDINGS, ...ARCHIVE_ENDINGS, ...ARCHIVE_LIST_ENDINGS].map(
  (ending) => `*${ending}`,
);

const EXPECTED = `Name a directory of robots.txt files, or a file of records or captures (${ENDINGS.join(', ')}).`;

/** Yields the contents of caches. Archives that are named one after another are one archive. */
export async function* cacheContents(
  paths: readonly string[],
  followLinks: boolean,
  columns?: RecordColumns,
): AsyncGenerator<CacheContent> {
  let files: ArchiveFile[] = [];
  for (const path of paths) {
    const found = await archiveFilesOf(path);
    if (found !== undefined) {
      files = [...files, ...found];
      continue;
    }
    if (files.length > 0) yield { kind: 'archive', files };
    files = [];
    yield* cacheParts(path, followLinks, columns);
  }
  if (files.length > 0) yield { kind: 'archive', files };
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
 * a file. In a directory only regular files are read. The path itself may also be a pipe of
 * records.
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
  else if (status.isFIFO() || (status.isFile() && recordFileOf(path) !== undefined)) {
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
  yield { kind: 'archive', files: archives.flatMap((name) => archiveFile(name, place, access)) };
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
    : schemeParts(nested.place, names.access);
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
  records(part: RecordPart): Iterable<EntryEvent | WarningEvent> {
    return recordFileOfPart(part).read(part, this.#options.maxBodyBytes);
  }
}

/** Milliseconds per name above which files are slow. Files in memory are much faster. */
const SLOW_PACE = 0.25;

/** The message for a file that vanished before it was opened. */
const VANISHED = 'It vanished while the directory was read; skipped.';

const NOT_A_HOST = 'The name is not HOST, HOST:PORT or HOST_PORT; skipped.';
const PORT_0 = 'Nothing can be fetched from port 0; skipped.';
const NO_HOST =
  'A robots.txt whose host is unknown; skipped. Put it in a directory named for its host.';
const DOCUMENT =
  'The name marks a document or data; skipped. If it is a host, name the file HOST.robots.txt.';
const ARC = `The name marks an ARC file, which is not read; skipped. ${ARC_ADVICE}`;
const TOO_DEEP =
  'Files of records and archives are read at the top of the directory only; skipped.';

/** Makes the item for a name of `byteNamesIn`. Reads the file if it is a short robots.txt. */
async function itemAt(listed: string, place: Place, context: ReadContext): Promise<Item> {
  const isDirectory = listed.endsWith('/');
  const byteName = isDirectory ? listed.slice(0, -1) : listed;
  if (isIgnored(byteName)) return { kind: 'ignored' };
  const displayPath = `${place.displayPath}/${displayName(byteName)}`;
  const name = decodeName(byteName);
  if (name === undefined) {
    return skipped(
      displayPath,
      'not-a-host',
      'The name is not UTF-8, so it is not a host; skipped.',
    );
  }
  const path = join(place.path, name);
  if (isDirectory) return directoryItem(path, name, place, context);
  if (recordFileOf(name) !== undefined) {
    if (place.scheme !== undefined) return skipped(displayPath, 'too-deep', TOO_DEEP);
    return { kind: 'records', path, displayPath, source: displayName(byteName) };
  }
  // Archives at the top are no longer among the names.
  if (isArchiveName(name)) return skipped(displayPath, 'too-deep', TOO_DEEP);
  if (isArcName(name)) return skipped(displayPath, 'not-text', ARC);
  if (isDocumentName(name)) return skipped(displayPath, 'document', DOCUMENT);
  const authority = authorityOfFile(name, place.scheme);
  // A name that is not listed as a directory may be a link to one, which is then read another way.
  if (authority === undefined && authorityOfName(name, place.scheme) === undefined) {
    return skipped(
      displayPath,
      'not-a-host',
      name.toLowerCase() === ROBOTS_TXT ? NO_HOST : NOT_A_HOST,
    );
  }
  const limit = bodyLimit(context.options.maxBodyBytes);
  const body = await readFileBody(path, context.access, limit, SHORT_BODY);
  if (body.kind === 'directory') return directoryItem(body.path, name, place, context);
  if (body.kind === 'missing') return skipped(displayPath, 'unreadable', VANISHED);
  if (authority === undefined) return skipped(displayPath, 'not-a-host', NOT_A_HOST);
  if (authority.port === 0) return skipped(displayPath, 'not-a-host', PORT_0);
  const source = `${place.prefix}${name}`;
  return itemOf(body, path, displayPath, { entry: { authority, source, status: undefined } });
}

/** The item for the directory of a scheme, or of a host, whose robots.txt is read. */
async function directoryItem(
  path: FilePath,
  name: string,
  place: Place,
  context: ReadContext,
): Promise<Item> {
  const displayPath = `${place.displayPath}/${displayName(name)}`;
  const scheme = place.scheme === undefined ? schemeOfName(name) : undefined;
  if (scheme !== undefined) {
    return { kind: 'scheme', place: { path, displayPath, prefix: `${name}/`, scheme } };
  }
  const authority = authorityOfName(name, place.scheme);
  if (authority === undefined) return skipped(displayPath, 'not-a-host', NOT_A_HOST);
  if (authority.port === 0) return skipped(displayPath, 'not-a-host', PORT_0);
  const prefix = `${place.prefix}${name}/`;
  return readHostDirectory({ path, displayPath, authority, prefix }, context);
}

/** Reads a robots.txt that is too long to be read together with others. */
async function readLong(
  { path, displayPath, pending }: LongItem,
  { access, options }: ReadContext,
): Promise<EntryItem | WarningEvent> {
  const limit = bodyLimit(options.maxBodyBytes);
  const body = await readFileBody(path, access, limit, limit);
  if (body.kind === 'body') {
    const item = itemOfBody(body.bytes, displayPath, pending);
    return item.kind === 'entry' ? item : skipEvent(item.displayPath, item.skip);
  }
  return skipEvent(
    displayPath,
    body.kind === 'skip' ? body : { code: 'unreadable', message: VANISHED },
  );
}

function* entryEvents({
  entry,
  displayPath = '',
  notice,
}: EntryItem): Generator<EntryEvent | WarningEvent> {
  if (notice !== undefined) yield skipEvent(displayPath, notice);
  yield { kind: 'entry', entry };
}

/** The parts of the directory of a scheme. */
async function* schemeParts(
  place: Place,
  access: PlaceNames['access'],
): AsyncGenerator<PlaceNames | WarningEvent> {
  let names: readonly string[];
  try {
    names = await byteNamesIn(place.path);
  } catch (error) {
    yield skipEvent(place.displayPath, skipOf(error));
    return;
  }
  yield* splitNames(names, place, access);
}

/** Reads the files and directories that names stand for. Each thread has its own. */
class DirectoryReader {
  readonly #options: CacheOptions;
  /** Whether files are slow. Slow files are read concurrently, with the same result. */
  #isSlow = false;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** The events of the names, in their order. */
  async *read({
    names,
    place,
    access,
  }: PlaceNames): AsyncGenerator<EntryEvent | WarningEvent | Nested> {
    const concurrent = access.concurrent || this.#isSlow;
    const context = { access: { ...access, concurrent }, options: this.#options };
    for (const item of await this.#itemsOf(names, place, context)) {
      switch (item.kind) {
        case 'entry':
          yield* entryEvents(item);
          break;
        case 'records':
        case 'scheme':
          yield item;
          break;
        case 'long': {
          const read = await readLong(item, context);
          if (read.kind === 'entry') yield* entryEvents(read);
          else yield read;
          break;
        }
        case 'skipped':
          yield skipEvent(item.displayPath, item.skip);
          break;
      }
    }
  }

  /** Reads names concurrently or one after another, and finds out whether the files are slow. */
  async #itemsOf(
    names: readonly string[],
    place: Place,
    context: ReadContext,
  ): Promise<readonly Item[]> {
    const blocks = process.resourceUsage().fsRead;
    const begin = performance.now();
    const items = await Promise.all(names.map((name) => itemAt(name, place, context)));
    this.#isSlow ||=
      process.resourceUsage().fsRead - blocks > names.length ||
      performance.now() - begin > names.length * SLOW_PACE;
    return items;
  }
}

const NO_COPY =
  'The robots.txt that robots.json describes is missing; skipped. Fetch it again, or delete the directory.';

/** A directory that is named for a host. */
interface HostDirectory {
  readonly path: FilePath;
  /** The path for messages. */
  readonly displayPath: string;
  readonly authority: Authority;
  /** The beginning of the sources of its entries: `https/example.com/`. */
  readonly prefix: string;
}

/** Reads the robots.txt of a host, the state of its last fetch, or both. */
async function readHostDirectory(
  { path, displayPath, authority, prefix }: HostDirectory,
  { access, options }: ReadContext,
): Promise<Item> {
  // The state is read first: a fetch replaces it last, so a new state never meets an old
  // robots.txt.
  const read = await readFetchState(path, access, authority);
  // Without the state, it is not known whether the robots.txt still counts.
  if (read?.kind === 'skip') {
    return { kind: 'skipped', displayPath: `${displayPath}/${FETCH_STATE}`, skip: read };
  }
  const state = read?.state;
  const reading = options.fetchReading ?? {};
  const withoutCopy = state && outcomeOf(state, false, reading);
  if (withoutCopy !== undefined && !isCopyUsed(state, reading)) {
    return fetchedItem(authority, prefix, withoutCopy);
  }

  const robotsPath = join(path, ROBOTS_TXT);
  const robotsDisplayPath = `${displayPath}/${ROBOTS_TXT}`;
  const body = await readFileBody(robotsPath, access, bodyLimit(options.maxBodyBytes), SHORT_BODY);
  if (body.kind === 'missing') {
    if (withoutCopy === undefined) return emptyItem(path, displayPath);
    return withoutCopy.access === 'successful'
      ? skipped(displayPath, 'no-robots-txt', NO_COPY)
      : fetchedItem(authority, prefix, withoutCopy);
  }
  if (body.kind === 'directory') return skipped(robotsDisplayPath, 'not-a-file', NO_FILE);
  const entry = { authority, source: `${prefix}${ROBOTS_TXT}`, status: undefined };
  const pending: PendingEntry =
    state === undefined
      ? { entry }
      : {
          entry: { ...entry, fetched: outcomeOf(state, true, reading) },
          sha256: state.lastSuccess?.sha256,
          truncatedAt: truncatedAt(state.lastSuccess, options.maxBodyBytes),
        };
  return itemOf(body, robotsPath, robotsDisplayPath, pending);
}

/** The item for the directory of a host without a robots.txt and without a fetch state. */
async function emptyItem(path: FilePath, displayPath: string): Promise<Item> {
  let names: string[];
  try {
    names = await byteNamesIn(path);
  } catch (error) {
    return { kind: 'skipped', displayPath, skip: skipOf(error) };
  }
  // A directory of hidden files is ignored, like the files.
  if (names.length > 0 && names.every(isIgnored)) return { kind: 'ignored' };
  const directory = names.find((name) => name.endsWith('/') && !isIgnored(name));
  if (directory !== undefined) {
    const message = `Directories such as ${displayName(directory)} are nested deeper than HOST/robots.txt or SCHEME/HOST/robots.txt; skipped.`;
    return skipped(displayPath, 'too-deep', message);
  }
  return skipped(displayPath, 'no-robots-txt', 'A directory without a robots.txt; skipped.');
}

/**
 * The length in bytes at which a fetch truncated a robots.txt; `undefined` if the robots.txt is
 * whole, or if the parsing limit drops the truncated line anyway.
 */
function truncatedAt(
  lastSuccess: LastSuccess | undefined,
  maxBodyBytes: number,
): number | undefined {
  if (lastSuccess?.cut !== true || lastSuccess.bytes > maxBodyBytes) return undefined;
  return lastSuccess.bytes;
}

/** Whether the robots.txt beside a fetch state may count. */
function isCopyUsed(state: FetchState | undefined, { unreachableAfter }: FetchReading): boolean {
  return (
    state === undefined ||
    state.accessResult === 'successful' ||
    isLongUnreachable(state, unreachableAfter)
  );
}

/** The entry of a host whose fetch state alone decides. */
function fetchedItem(authority: Authority, prefix: string, fetched: FetchOutcome): Item {
  const entry = {
    authority,
    body: new Uint8Array(0),
    source: `${prefix}${FETCH_STATE}`,
    status: undefined,
    fetched,
  };
  return { kind: 'entry', entry };
}

/** Reads the robots.json in the directory of a host; `undefined` if there is none. */
async function readFetchState(
  path: FilePath,
  access: FileAccess,
  authority: Authority,
): Promise<{ kind: 'state'; state: FetchState } | Skip | undefined> {
  const statePath = join(path, FETCH_STATE);
  if (!access.concurrent && !exists(statePath)) return undefined;
  const limit = LONGEST_FETCH_STATE;
  const body = await readFileBody(statePath, access, limit + 1, limit);
  switch (body.kind) {
    case 'missing':
      return undefined;
    case 'skip':
      return body;
    case 'directory':
      return { kind: 'skip', code: 'not-a-file', message: NO_FILE };
    case 'long':
      return badState('It is longer than 512 KiB');
    case 'body': {
      const state = parseFetchState(body.bytes, authority);
      return typeof state === 'string' ? badState(state) : { kind: 'state', state };
    }
  }
}

function badState(reason: string): Skip {
  const message = `${reason}; the host is skipped. Correct it, or delete it and fetch again.`;
  return { kind: 'skip', code: 'bad-record', message };
}

/*
 * Files in a robots directory whose names mark them as documents or data. Read as the robots.txt of
 * a host, such a file would have no rules, and so allow everything.
 *
 * An ending marks a document only if it is not a top-level domain: example.md is a host in Moldova,
 * and example.zip and example.sh are hosts too. Without such an ending, a name marks a document if
 * it is README or the like, or one word in capitals, with or without .md or .txt. Hosts are written
 * in lower case.
 */

/**
 * Endings of data, documents, and leftovers of editors and downloads. None is a top-level domain.
 */
const DOCUMENT_ENDINGS: ReadonlySet<string> = new Set(
  (
    'csv tsv json geojson xml html htm xhtml yaml yml toml ini cfg conf log sql db sqlite sqlite3 pdf rtf docx xls xlsx ods ' +
    'ipynb rst adoc markdown js ts css png jpg jpeg gif svg ico warc wat wet arc paths cdx cdxj parquet arrow feather orc avro ' +
    'pickle pkl npy npz h5 table tar tgz bak backup orig old tmp temp swp swo part crdownload lock diff patch rej md5 sha256 asc sig'
  ).split(' '),
);

/**
 * Endings of compressions, after another ending. A compressed file is recognised by its first
 * bytes.
 */
const COMPRESSIONS: ReadonlySet<string> = new Set(['gz', 'zst', 'xz', 'bz2', 'lz4']);

const DOCUMENTS: ReadonlySet<string> = new Set(
  'readme license licence copying changelog makefile dockerfile'.split(' '),
);

/** Whether the name of a file marks it as a document or data, not a robots.txt. */
function isDocumentName(name: string): boolean {
  if (name.endsWith('~')) return true;
  const [stem, ending] = splitEnding(name);
  if (COMPRESSIONS.has(ending)) return DOCUMENT_ENDINGS.has(splitEnding(stem)[1]);
  if (DOCUMENT_ENDINGS.has(ending)) return true;
  const word = ending === 'md' || ending === 'txt' ? stem : name;
  return DOCUMENTS.has(word.toLowerCase()) || isWordInCapitals(word);
}

/** Whether the name of a file marks it as an ARC file, the predecessor of WARC. */
function isArcName(name: string): boolean {
  const [stem, ending] = splitEnding(name);
  return (COMPRESSIONS.has(ending) ? splitEnding(stem)[1] : ending) === 'arc';
}

/** Splits a name at its last dot. The ending is in lower case; empty if there is none. */
function splitEnding(name: string): [stem: string, ending: string] {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1).toLowerCase()];
}

/** Whether a name is one word in capitals, such as SHA256SUMS or LICENSE-MIT. */
function isWordInCapitals(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    const isCapital = unit >= UPPER_A && unit <= UPPER_Z;
    const isMark = unit === HYPHEN || unit === UNDERSCORE;
    if (!isCapital && (at < 2 || !(isDigit(unit) || isMark))) return false;
  }
  return name.length >= 2;
}
