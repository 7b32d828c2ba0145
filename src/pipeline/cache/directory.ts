import { opendir } from 'node:fs/promises';
import type { Authority, Scheme } from '../../protocol/authority.js';
import { refuseCompressed } from './compressed-body.js';
import {
  bodyLimit,
  type CacheEntry,
  type CacheOptions,
  type CacheWarningCode,
  type EntryEvent,
  type WarningEvent,
} from './entry.js';
import {
  FETCH_RECORD,
  type FetchFinding,
  type FetchReading,
  type FetchRecord,
  findingOf as fetchFindingOf,
  isLongUnreachable,
  LONGEST_FETCH_RECORD,
  parseFetchRecord,
} from './fetch-record.js';
import {
  type Body,
  close,
  exists,
  type FileAccess,
  type FilePath,
  type LongBody,
  openFile,
  type Refusal,
  readBody,
  refusalOf,
  systemPath,
} from './file.js';
import {
  authorityOfFile,
  authorityOfName,
  isPassedOver,
  isRecordsName,
  ROBOTS_TXT,
  schemeOfName,
} from './layout.js';
import { decodeName, describeName } from './name.js';
import { type RecordLines, readRecordLines } from './ndjson.js';

/** Octets of a body that is read together with others; longer ones are read one at a time. */
const SHORT_BODY = 64 * 1024;

/** Milliseconds for a name: files in memory take 0.01 to 0.03, so these are a network's. */
const NETWORK_PACE = 0.25;

/** Names that the system is asked for at a time. */
const LISTING_BUFFER = 1024;

/** A directory of names of hosts: the cache itself, or one for a scheme in it. */
export interface Place {
  /** The path to read it by. */
  readonly path: FilePath;
  /** The path as the user knows it, for messages. */
  readonly shown: string;
  /** What the sources of its entries begin with: nothing, or `https/`. */
  readonly prefix: string;
  /** `undefined` for the cache itself. */
  readonly scheme: Scheme | undefined;
}

/** What reading a cache needs everywhere. */
interface CacheReading {
  readonly access: FileAccess;
  readonly options: CacheOptions;
}

/** An entry whose body is yet to be read. */
type Heading = Omit<CacheEntry, 'body'>;

/** Something to be warned of. */
interface Complaint {
  /** The path for messages. */
  readonly shown: string;
  readonly refusal: Refusal;
}

interface LongFinding {
  readonly kind: 'long';
  readonly path: FilePath;
  readonly shown: string;
  readonly heading: Heading;
  readonly complaint?: Complaint | undefined;
}

interface RecordsFinding {
  readonly kind: 'records';
  readonly path: FilePath;
  readonly shown: string;
  /** What the sources of its entries begin with. */
  readonly name: string;
}

/** Found in a directory, and to be read in its place: a file of records, or the directory of a scheme. */
export type Nested = RecordsFinding | { readonly kind: 'scheme'; readonly place: Place };

interface EntryFinding {
  readonly kind: 'entry';
  readonly entry: CacheEntry;
  readonly complaint?: Complaint | undefined;
}

type Refused = { readonly kind: 'refused' } & Complaint;

/** What a name turned out to be; `shown` is the path for messages. */
type Finding = EntryFinding | LongFinding | Nested | { readonly kind: 'passed-over' } | Refused;

const NO_FILE = 'A directory, no file; left out.';

const NO_COPY =
  'Its robots.json speaks of a robots.txt that is gone; left out. Fetch it again, or delete the directory.';

const VANISHED = 'It vanished while the directory was read; left out.';

function join(directory: FilePath, name: string): FilePath {
  if (typeof directory === 'string') return `${directory}/${name}`;
  return Buffer.concat([directory, Buffer.from(`/${name}`)]);
}

function refused(shown: string, code: CacheWarningCode, message: string): Finding {
  return { kind: 'refused', shown, refusal: { kind: 'refusal', code, message } };
}

function noHost(shown: string): Finding {
  return refused(shown, 'not-a-host', 'The name is no HOST, HOST:PORT or HOST_PORT; left out.');
}

function hostNotTold(shown: string): Finding {
  const message =
    'A robots.txt whose host is not told; left out. Put it in a directory named for its host.';
  return refused(shown, 'not-a-host', message);
}

/** A list entry of `opendir` with the encoding `buffer`, which Node knows but its types do not. */
interface OctetDirent {
  readonly name: Buffer;
  isDirectory(): boolean;
}

/**
 * The octet names in a directory in the order of their octets. Those of
 * directories end in a slash, so this is the order of the paths below too.
 */
export async function listNames(path: FilePath): Promise<string[]> {
  const directory = await opendir(systemPath(path), {
    encoding: 'buffer' as BufferEncoding,
    bufferSize: LISTING_BUFFER,
  });
  const names: string[] = [];
  for await (const entry of directory as unknown as AsyncIterable<OctetDirent>) {
    const name = entry.name.toString('latin1');
    names.push(entry.isDirectory() ? `${name}/` : name);
  }
  return names.sort();
}

/** Says why a host's directory has no robots.txt, if that needs saying. */
async function examineEmpty(path: FilePath, shown: string): Promise<Finding> {
  let names: string[];
  try {
    names = await listNames(path);
  } catch (error) {
    return { kind: 'refused', shown, refusal: refusalOf(error) };
  }
  // A fetch that found no robots.txt leaves its record alone.
  if (names.length > 0 && names.every(isPassedOver)) return { kind: 'passed-over' };
  const directory = names.find((name) => name.endsWith('/') && !isPassedOver(name));
  if (directory !== undefined) {
    const message = `Directories such as ${describeName(directory)} are nested deeper than HOST/robots.txt or SCHEME/HOST/robots.txt; left out.`;
    return refused(shown, 'too-deep', message);
  }
  return refused(shown, 'no-robots-txt', 'A directory without a robots.txt; left out.');
}

/** The finding that the outcome of reading a body stands for. */
function findingOf(
  outcome: Body | LongBody | Refusal,
  path: FilePath,
  shown: string,
  heading: Heading,
): Finding {
  switch (outcome.kind) {
    case 'body':
      return findingOfBody(outcome.octets, shown, heading);
    case 'long':
      return { kind: 'long', path, shown, heading };
    case 'refusal':
      return { kind: 'refused', shown, refusal: outcome };
  }
}

function findingOfBody(body: Uint8Array, shown: string, heading: Heading): EntryFinding | Refused {
  const refusal = heading.fetched === undefined ? refuseCompressed(body) : undefined;
  if (refusal !== undefined) return { kind: 'refused', shown, refusal };
  return { kind: 'entry', entry: { ...heading, body } };
}

/** Looks into a directory: that of a host, or of a scheme. */
async function exploreDirectory(
  path: FilePath,
  name: string,
  place: Place,
  { access, options }: CacheReading,
): Promise<Finding> {
  const shown = `${place.shown}/${describeName(name)}`;
  const scheme = place.scheme === undefined ? schemeOfName(name) : undefined;
  if (scheme !== undefined) {
    return { kind: 'scheme', place: { path, shown, prefix: `${name}/`, scheme } };
  }
  const authority = authorityOfName(name, place.scheme);
  if (authority === undefined) return noHost(shown);

  // The record first: a fetch puts robots.txt in its place before it, so a new record never meets an old robots.txt.
  const told = await readFetchRecord(path, access);
  const record = told?.kind === 'record' ? told.record : undefined;
  const complaint =
    told?.kind === 'refusal' ? { shown: `${shown}/${FETCH_RECORD}`, refusal: told } : undefined;
  const reading = options.fetchReading ?? {};
  const prefix = `${place.prefix}${name}/`;
  const withoutCopy = record && fetchFindingOf(record, false, reading);
  if (withoutCopy !== undefined && !isCopyWanted(record, reading)) {
    return recordFinding(authority, prefix, withoutCopy);
  }

  const robotsPath = join(path, ROBOTS_TXT);
  const limit = bodyLimit(options.maxBodyBytes);
  const outcome = await readBody(robotsPath, access, limit, SHORT_BODY);
  if (outcome.kind === 'missing') {
    if (complaint !== undefined) return { kind: 'refused', ...complaint };
    if (withoutCopy === undefined) return examineEmpty(path, shown);
    return withoutCopy.access === 'successful'
      ? refused(shown, 'no-robots-txt', NO_COPY)
      : recordFinding(authority, prefix, withoutCopy);
  }
  const robotsShown = `${shown}/${ROBOTS_TXT}`;
  if (outcome.kind === 'directory') {
    return refused(robotsShown, 'not-a-file', NO_FILE);
  }
  const source = `${prefix}${ROBOTS_TXT}`;
  const heading: Heading = {
    authority,
    source,
    status: undefined,
    ...(record === undefined ? {} : { fetched: fetchFindingOf(record, true, reading) }),
  };
  const finding = findingOf(outcome, robotsPath, robotsShown, heading);
  return finding.kind === 'entry' || finding.kind === 'long' ? { ...finding, complaint } : finding;
}

/** Whether the robots.txt beside a record may count. */
function isCopyWanted(
  record: FetchRecord | undefined,
  { unreachableAfter }: FetchReading,
): boolean {
  return (
    record === undefined ||
    record.accessResult === 'successful' ||
    isLongUnreachable(record, unreachableAfter)
  );
}

/** The entry of an authority that has no robots.txt that counts. */
function recordFinding(authority: Authority, prefix: string, fetched: FetchFinding): Finding {
  const entry = {
    authority,
    body: new Uint8Array(0),
    source: `${prefix}${FETCH_RECORD}`,
    status: undefined,
    fetched,
  };
  return { kind: 'entry', entry };
}

/** Reads the robots.json in a host's directory; `undefined` where there is none. */
async function readFetchRecord(
  path: FilePath,
  access: FileAccess,
): Promise<{ kind: 'record'; record: FetchRecord } | Refusal | undefined> {
  const recordPath = join(path, FETCH_RECORD);
  if (!access.concurrent && !exists(recordPath)) return undefined;
  const outcome = await readBody(
    recordPath,
    access,
    LONGEST_FETCH_RECORD + 1,
    LONGEST_FETCH_RECORD,
  );
  switch (outcome.kind) {
    case 'missing':
      return undefined;
    case 'refusal':
      return outcome;
    case 'directory':
      return { kind: 'refusal', code: 'not-a-file', message: NO_FILE };
    case 'long':
      return badRecord('It is longer than 512 KiB');
    case 'body': {
      const record = parseFetchRecord(outcome.octets);
      return typeof record === 'string' ? badRecord(record) : { kind: 'record', record };
    }
  }
}

function badRecord(reason: string): Refusal {
  const message = `${reason}; what it says of the fetch is left out. Mend it, or delete it and fetch again.`;
  return { kind: 'refusal', code: 'bad-record', message };
}

/** Finds out what a name of `listNames` is, and reads it where it is a short robots.txt. */
async function explore(listed: string, place: Place, cache: CacheReading): Promise<Finding> {
  const isDirectory = listed.endsWith('/');
  const octetName = isDirectory ? listed.slice(0, -1) : listed;
  if (isPassedOver(octetName)) return { kind: 'passed-over' };
  const shown = `${place.shown}/${describeName(octetName)}`;
  const name = decodeName(octetName);
  if (name === undefined) {
    return refused(shown, 'not-a-host', 'The name is not UTF-8 and so no host; left out.');
  }
  const path = join(place.path, name);
  if (isDirectory) return exploreDirectory(path, name, place, cache);
  if (isRecordsName(name)) {
    if (place.scheme === undefined) {
      return { kind: 'records', path, shown, name: describeName(octetName) };
    }
    const message = 'Files of records are read from the top of the directory only; left out.';
    return refused(shown, 'too-deep', message);
  }
  const authority = authorityOfFile(name, place.scheme);
  // What is listed as no directory may be a link to one, whose name is read another way.
  if (authority === undefined && authorityOfName(name, place.scheme) === undefined) {
    return name === ROBOTS_TXT ? hostNotTold(shown) : noHost(shown);
  }
  const limit = bodyLimit(cache.options.maxBodyBytes);
  const outcome = await readBody(path, cache.access, limit, SHORT_BODY);
  if (outcome.kind === 'directory') return exploreDirectory(outcome.path, name, place, cache);
  if (outcome.kind === 'missing') return refused(shown, 'unreadable', VANISHED);
  if (authority === undefined) return noHost(shown);
  const source = `${place.prefix}${name}`;
  return findingOf(outcome, path, shown, { authority, source, status: undefined });
}

/** Reads a body that is too long to be read together with others. */
async function readLong(
  { path, shown, heading }: LongFinding,
  { access, options }: CacheReading,
): Promise<EntryEvent | WarningEvent> {
  const limit = bodyLimit(options.maxBodyBytes);
  const outcome = await readBody(path, access, limit, limit);
  if (outcome.kind === 'body') {
    const finding = findingOfBody(outcome.octets, shown, heading);
    return finding.kind === 'entry' ? finding : warningEvent(finding);
  }
  const { code, message } =
    outcome.kind === 'refusal' ? outcome : ({ code: 'unreadable', message: VANISHED } as const);
  return { kind: 'warning', warning: { code, path: shown, message } };
}

function warningEvent({ shown, refusal: { code, message } }: Complaint): WarningEvent {
  return { kind: 'warning', warning: { code, path: shown, message } };
}

/** Reads a file of records that lies in the directory. */
async function* readRecordsFile(
  { path, shown, name }: RecordsFinding,
  { boundary }: FileAccess,
): AsyncGenerator<RecordLines | WarningEvent> {
  const file = await openFile(path, { boundary, concurrent: true });
  switch (file.kind) {
    case 'file':
      try {
        yield* readRecordLines(file.descriptor, shown, name);
      } finally {
        close(file.descriptor);
      }
      break;
    case 'refusal':
      yield warningEvent({ shown, refusal: file });
      break;
    case 'directory':
      yield { kind: 'warning', warning: { code: 'not-a-file', path: shown, message: NO_FILE } };
      break;
    case 'missing':
      yield { kind: 'warning', warning: { code: 'unreadable', path: shown, message: VANISHED } };
  }
}

/** Reads a directory of a scheme. */
async function* readScheme(
  place: Place,
  access: FileAccess,
): AsyncGenerator<PlaceNames | WarningEvent> {
  let names: readonly string[];
  try {
    names = await listNames(place.path);
  } catch (error) {
    yield warningEvent({ shown: place.shown, refusal: refusalOf(error) });
    return;
  }
  yield* cutNames(names, place, access);
}

/** The parts of what was found in a directory and is to be read in its place. */
export function readNested(
  nested: Nested,
  access: FileAccess,
): AsyncGenerator<RecordLines | PlaceNames | WarningEvent> {
  return nested.kind === 'records'
    ? readRecordsFile(nested, access)
    : readScheme(nested.place, access);
}

/** Names in a directory, to be looked at by `filesOf`, on whatever thread. */
export interface PlaceNames {
  readonly kind: 'names';
  /** As `listNames` gives them. */
  readonly names: readonly string[];
  readonly place: Place;
  readonly access: FileAccess;
}

/** Names that are looked at together. */
const NAMES_TOGETHER = 256;

/** Cuts a directory's names, as `listNames` gives them, into parts. */
export function* cutNames(
  names: readonly string[],
  place: Place,
  access: FileAccess,
): Generator<PlaceNames> {
  for (let start = 0; start < names.length; start += NAMES_TOGETHER) {
    yield { kind: 'names', names: names.slice(start, start + NAMES_TOGETHER), place, access };
  }
}

/** Finds out what names stand for. Each thread has its own. */
export class FileReader {
  readonly #options: CacheOptions;
  /** Whether files turned out not to be in memory; then they are read concurrently, which changes nothing about what comes out. */
  #isSlow = false;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** What the names stand for, in their order. */
  async *filesOf({
    names,
    place,
    access,
  }: PlaceNames): AsyncGenerator<EntryEvent | WarningEvent | Nested> {
    const concurrent = access.concurrent || this.#isSlow;
    const reading = { access: { ...access, concurrent }, options: this.#options };
    for (const finding of await this.#exploreAll(names, place, reading)) {
      switch (finding.kind) {
        case 'entry':
          if (finding.complaint !== undefined) yield warningEvent(finding.complaint);
          yield { kind: 'entry', entry: finding.entry };
          break;
        case 'long':
          if (finding.complaint !== undefined) yield warningEvent(finding.complaint);
          yield await readLong(finding, reading);
          break;
        case 'records':
        case 'scheme':
          yield finding;
          break;
        case 'refused':
          yield warningEvent(finding);
          break;
      }
    }
  }

  /**
   * Looks at names one after the other, or all at once if that is how files are
   * accessed; finds out whether one after the other was the slower way.
   */
  async #exploreAll(
    names: readonly string[],
    place: Place,
    reading: CacheReading,
  ): Promise<readonly Finding[]> {
    const blocks = process.resourceUsage().fsRead;
    const begin = performance.now();
    const findings = await Promise.all(names.map((name) => explore(name, place, reading)));
    this.#isSlow ||=
      process.resourceUsage().fsRead - blocks > names.length ||
      performance.now() - begin > names.length * NETWORK_PACE;
    return findings;
  }
}
