/**
 * Reads the names of a directory as robots.txt files: which name is a host, what its `robots.json`
 * says, and what is skipped. A document that passed for the robots.txt of a host would allow
 * everything.
 */

import { HYPHEN, UNDERSCORE, UPPER_A, UPPER_Z } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { ARC_ADVICE } from '../files/unsupported-formats.js';
import { timeOf } from '../kernel/times.js';
import type { Authority } from '../protocol/authority.js';
import { isArchiveName } from './archives.js';
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
  decodeName,
  displayName,
  exists,
  type FileAccess,
  type FilePath,
  readFileBody,
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
  ROBOTS_TXT,
  SHORT_BODY,
  schemeOfName,
  skipEvent,
  skipped,
  splitNames,
  VANISHED,
} from './item.js';
import { recordFileOf } from './record-files.js';

/** Milliseconds per name above which files are slow. Files in memory are much faster. */
const SLOW_PACE = 0.25;

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
    if (!isTop(place)) return skipped(displayPath, 'too-deep', TOO_DEEP);
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
  const { date } = place;
  return itemOf(body, path, displayPath, { entry: { authority, source, status: undefined, date } });
}

/** Whether a place is the robots directory itself. */
function isTop({ prefix }: Place): boolean {
  return prefix === '';
}

/** The item for the directory of a scheme, of a date, or of a host, whose robots.txt is read. */
async function directoryItem(
  path: FilePath,
  name: string,
  place: Place,
  context: ReadContext,
): Promise<Item> {
  const displayPath = `${place.displayPath}/${displayName(name)}`;
  const scheme = place.scheme === undefined ? schemeOfName(name) : undefined;
  const prefix = `${place.prefix}${name}/`;
  if (scheme !== undefined) {
    return { kind: 'place', place: { ...place, path, displayPath, prefix, scheme } };
  }
  // Without the need for dates it may be a host: 20240501 is an address.
  const date = isTop(place) && context.options.needsDates === true ? timeOf(name) : undefined;
  if (date !== undefined) {
    return { kind: 'place', place: { path, displayPath, prefix, scheme: undefined, date } };
  }
  const authority = authorityOfName(name, place.scheme);
  if (authority === undefined) return skipped(displayPath, 'not-a-host', NOT_A_HOST);
  if (authority.port === 0) return skipped(displayPath, 'not-a-host', PORT_0);
  return readHostDirectory({ path, displayPath, authority, prefix, date: place.date }, context);
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

/** The parts of the directory of a scheme or a date. */
export async function* placeParts(
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
export class DirectoryReader {
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
        case 'place':
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
  /** The date of its place. */
  readonly date: number | undefined;
}

/** Reads the robots.txt of a host, the state of its last fetch, or both. */
async function readHostDirectory(
  { path, displayPath, authority, prefix, date }: HostDirectory,
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
  const entry = { authority, source: `${prefix}${ROBOTS_TXT}`, status: undefined, date };
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
