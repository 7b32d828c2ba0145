/**
 * Reads the names of a directory as robots.txt files: which name is a host, what its `robots.json`
 * says, and what is skipped. A document that passed for the robots.txt of a host would allow
 * everything.
 */

import { HYPHEN, UNDERSCORE, UPPER_A, UPPER_Z } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { ARC_ADVICE } from '../files/unsupported-formats.js';
import { fitsTable, timeOf } from '../kernel/times.js';
import type { Authority } from '../protocol/authority.js';
import { isArchiveName } from './archives.js';
import {
  bodyLimit,
  type CacheEntry,
  type CacheOptions,
  type EntryEvent,
  type WarningEvent,
} from './entry.js';
import {
  type Copy,
  FETCH_STATE_FILE,
  type FetchOutcome,
  type FetchReading,
  type FetchState,
  findingsOf,
  isLongUnreachable,
  type LastSuccess,
  LONGEST_FETCH_STATE,
  outcomeOf,
  parseFetchState,
} from './fetch-state.js';
import {
  close,
  decodeName,
  displayName,
  exists,
  type FileAccess,
  type FilePath,
  openFile,
  readFileBody,
  type Skip,
  skipOf,
} from './file.js';
import {
  authorityOfFile,
  authorityOfName,
  byteNamesIn,
  type EntryItem,
  HISTORY,
  type HostContent,
  type HostDirectory,
  type Item,
  isIgnored,
  itemOf,
  itemOfBody,
  join,
  type LongItem,
  type Nested,
  NO_FILE,
  type Past,
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
  const directory = { path, displayPath, authority, prefix, date: place.date };
  const item = await readHostDirectory(directory, context);
  return context.options.needsDates === true ? { kind: 'host', directory, item } : item;
}

/** Reads a robots.txt that is too long to be read together with others. */
async function readLong(
  { path, displayPath, pending }: LongItem,
  { access, options }: ReadContext,
): Promise<EntryItem | WarningEvent> {
  const limit = bodyLimit(options.maxBodyBytes);
  const body = await readFileBody(path, access, limit, limit);
  if (body.kind === 'body') {
    const item = itemOfBody(body, displayPath, pending);
    return item.kind === 'entry' ? item : skipEvent(item.displayPath, item.skip);
  }
  return skipEvent(
    displayPath,
    body.kind === 'skip' ? body : { code: 'unreadable', message: VANISHED },
  );
}

function* entryEvents(
  { entry, displayPath = '', notice, past }: EntryItem,
  { fetchReading = {} }: CacheOptions,
): Generator<EntryEvent | WarningEvent> {
  if (notice !== undefined) yield skipEvent(displayPath, notice);
  if (past === undefined) yield { kind: 'entry', entry };
  else yield* pastEntries(entry, past, past.copy, fetchReading);
}

/** The entries of each finding of a state: of its first time, and again of its last. */
function* pastEntries(
  entry: CacheEntry,
  { state, prefix }: Past,
  copy: Copy,
  reading: FetchReading,
): Generator<EntryEvent> {
  for (const { access, since, confirmed } of findingsOf(state, copy, reading)) {
    const source = `${prefix}${access === 'successful' ? ROBOTS_TXT : FETCH_STATE_FILE}`;
    // A state that was written by hand has no time: its directory may.
    const last = fitsTable(confirmed) ? confirmed : (entry.date ?? 0);
    const dates = fitsTable(since) && secondOf(since) < secondOf(last) ? [since, last] : [last];
    for (const [index, respondedAt] of dates.entries()) {
      // Whether a finding is stale now does not matter: it counts for its own time.
      const fetched = { access, stale: false, respondedAt };
      const known = index === 0 ? {} : { known: { isAgain: true } };
      yield { kind: 'entry', entry: { ...entry, source, fetched, ...known } };
    }
  }
}

function secondOf(time: number): number {
  return Math.floor(time / SECOND);
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
        case 'records':
        case 'place':
          yield item;
          break;
        case 'host':
          yield* this.#versions(item.directory, context);
          yield* this.#content(item.item, context);
          break;
        default:
          yield* this.#content(item, context);
      }
    }
  }

  async *#content(
    item: HostContent,
    context: ReadContext,
  ): AsyncGenerator<EntryEvent | WarningEvent> {
    switch (item.kind) {
      case 'entry':
        yield* entryEvents(item, this.#options);
        break;
      case 'long': {
        const read = await readLong(item, context);
        if (read.kind === 'entry') yield* entryEvents(read, this.#options);
        else if (item.instead !== undefined) yield* entryEvents(item.instead, this.#options);
        else yield read;
        break;
      }
      case 'skipped':
        yield skipEvent(item.displayPath, item.skip);
        break;
    }
  }

  /**
   * The versions that the directory of a host keeps, in the order of their names. A few are in
   * memory at a time: there may be thousands.
   */
  async *#versions(
    host: HostDirectory,
    context: ReadContext,
  ): AsyncGenerator<EntryEvent | WarningEvent> {
    const path = join(host.path, HISTORY);
    if (!exists(path)) return;
    const displayPath = `${host.displayPath}/${HISTORY}`;
    const prefix = `${host.prefix}${HISTORY}/`;
    const opened = await openDirectory(path, context.access);
    if (opened.kind === 'missing') return;
    if (opened.kind === 'skip') {
      yield skipEvent(displayPath, opened);
      return;
    }
    let names: string[];
    try {
      names = await byteNamesIn(opened.path);
    } catch (error) {
      yield skipEvent(displayPath, skipOf(error));
      return;
    }
    const all = { ...host, path: opened.path, displayPath, prefix };
    for (let start = 0; start < names.length; start += VERSIONS_AT_A_TIME) {
      const some = names.slice(start, start + VERSIONS_AT_A_TIME);
      const items = await Promise.all(some.map((name) => readVersion(name, all, context)));
      for (const item of items) yield* this.#content(item, context);
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

const NO_DIRECTORY = 'A file, not a directory of earlier versions; skipped.';
const NO_NAME = 'The name is not UTF-8; skipped.';

/** Number of versions of a host that are read together. */
const VERSIONS_AT_A_TIME = 64;

/** Digits of a time at the beginning of the name of a version, to the second. */
const TIME_DIGITS = 14;

const SECOND = 1000;

/** Finds a directory behind a path, which may be a link to one. */
async function openDirectory(
  path: FilePath,
  access: FileAccess,
): Promise<{ kind: 'directory'; path: FilePath } | { kind: 'missing' } | Skip> {
  const opened = await openFile(path, access);
  if (opened.kind !== 'file') return opened;
  close(opened.descriptor);
  return { kind: 'skip', code: 'not-a-file', message: NO_DIRECTORY };
}

/**
 * Reads a version of a host: `history/20261128053800123-0f3a9c51/`, or `history/2024-05-01/`.
 *
 * @param listed a name of `byteNamesIn`
 * @param all the directory of the versions
 */
async function readVersion(
  listed: string,
  all: HostDirectory,
  context: ReadContext,
): Promise<HostContent> {
  const isDirectory = listed.endsWith('/');
  const byteName = isDirectory ? listed.slice(0, -1) : listed;
  if (isIgnored(byteName)) return { kind: 'ignored' };
  const displayPath = `${all.displayPath}/${displayName(byteName)}`;
  const name = decodeName(byteName);
  if (name === undefined) return skipped(displayPath, 'unreadable', NO_NAME);
  const path = join(all.path, name);
  const opened = isDirectory
    ? ({ kind: 'directory', path } as const)
    : await openDirectory(path, context.access);
  if (opened.kind === 'missing') return skipped(displayPath, 'unreadable', VANISHED);
  if (opened.kind === 'skip') return { kind: 'skipped', displayPath, skip: opened };
  // Needed of a robots.txt that is not the one of its state, or that has none.
  const date = timeOf(name) ?? timeOf(name.slice(0, TIME_DIGITS));
  const prefix = `${all.prefix}${name}/`;
  return readHostDirectory({ ...all, path: opened.path, displayPath, prefix, date }, context);
}

/** Reads the robots.txt of a host, the state of its last fetch, or both. */
async function readHostDirectory(
  { path, displayPath, authority, prefix, date }: HostDirectory,
  { access, options }: ReadContext,
): Promise<HostContent> {
  // The state is read first: a fetch replaces it last, so a new state never meets an old
  // robots.txt.
  const read = await readFetchState(path, authority, { access, options });
  // Without the state, it is not known whether the robots.txt still counts.
  if (read?.kind === 'skip') {
    return { kind: 'skipped', displayPath: `${displayPath}/${FETCH_STATE_FILE}`, skip: read };
  }
  const state = read?.state;
  const reading = options.fetchReading ?? {};
  const withoutCopy = state && outcomeOf(state, false, reading);
  const isUsed = isCopyUsed(state, reading);
  const limit = bodyLimit(options.maxBodyBytes);
  const past =
    options.needsDates === true && state !== undefined ? { state, prefix, limit } : undefined;
  const fetchedItem = (fetched: FetchOutcome): EntryItem => {
    const body = new Uint8Array(0);
    const source = `${prefix}${FETCH_STATE_FILE}`;
    return {
      kind: 'entry',
      entry: { authority, body, source, status: undefined, date, fetched },
      ...(past === undefined ? {} : { past: { ...past, copy: { kind: 'none' } } }),
    };
  };
  // A history has the last good copy of an unreachable host, too.
  const isWanted = isUsed || (past !== undefined && state?.accessResult === 'unreachable');
  if (withoutCopy !== undefined && !isWanted) return fetchedItem(withoutCopy);

  const robotsPath = join(path, ROBOTS_TXT);
  const robotsDisplayPath = `${displayPath}/${ROBOTS_TXT}`;
  const body = await readFileBody(robotsPath, access, limit, SHORT_BODY);
  if (body.kind === 'missing') {
    if (withoutCopy === undefined) return emptyItem(path, displayPath, options);
    return withoutCopy.access === 'successful'
      ? skipped(displayPath, 'no-robots-txt', NO_COPY)
      : fetchedItem(withoutCopy);
  }
  // Without it the copy would not count, so it matters to nobody that it cannot be read.
  const instead = withoutCopy === undefined || isUsed ? undefined : fetchedItem(withoutCopy);
  if (body.kind === 'directory') {
    return instead ?? skipped(robotsDisplayPath, 'not-a-file', NO_FILE);
  }
  const entry = { authority, source: `${prefix}${ROBOTS_TXT}`, status: undefined, date };
  const pending: PendingEntry =
    state === undefined
      ? { entry }
      : {
          entry: { ...entry, fetched: outcomeOf(state, true, reading) },
          stored: { success: state.lastSuccess, limit },
          truncatedAt: truncatedAt(state.lastSuccess, options.maxBodyBytes),
          ...(past === undefined ? {} : { past }),
        };
  const item = itemOf(body, robotsPath, robotsDisplayPath, pending);
  if (instead === undefined || item.kind === 'entry') return item;
  return item.kind === 'long' ? { ...item, instead } : instead;
}

/** The item for the directory of a host without a robots.txt and without a fetch state. */
async function emptyItem(
  path: FilePath,
  displayPath: string,
  { needsDates = false }: CacheOptions,
): Promise<HostContent> {
  let names: string[];
  try {
    names = await byteNamesIn(path);
  } catch (error) {
    return { kind: 'skipped', displayPath, skip: skipOf(error) };
  }
  // A directory of hidden files is ignored, like the files.
  if (names.length > 0 && names.every(isIgnored)) return { kind: 'ignored' };
  const hasVersions = names.includes(`${HISTORY}/`);
  if (hasVersions && needsDates) return { kind: 'ignored' };
  const directory = names.find(
    (name) => name.endsWith('/') && !isIgnored(name) && name !== `${HISTORY}/`,
  );
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

/** Reads the robots.json in the directory of a host; `undefined` if there is none. */
async function readFetchState(
  path: FilePath,
  authority: Authority,
  { access, options }: ReadContext,
): Promise<{ kind: 'state'; state: FetchState } | Skip | undefined> {
  const statePath = join(path, FETCH_STATE_FILE);
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
      const state = parseFetchState(body.bytes, authority, options.profile);
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
