import { isAside } from './aside.js';
import { bodyLimit, type CacheOptions, type EntryEvent, type WarningEvent } from './entry.js';
import { close, type FileAccess, type FilePath, openFile, readBody, refusalOf } from './file.js';
import {
  type CacheReading,
  type Complaint,
  type Finding,
  findingOf,
  findingOfBody,
  type LongFinding,
  type Nested,
  NO_FILE,
  type RecordsFinding,
  refused,
  SHORT_BODY,
} from './finding.js';
import { readHostDirectory } from './host-directory.js';
import {
  authorityOfFile,
  authorityOfName,
  isPassedOver,
  isRecordsName,
  ROBOTS_TXT,
  schemeOfName,
} from './layout.js';
import { cutNames, join, listNames, type Place, type PlaceNames } from './listing.js';
import { decodeName, describeName } from './name.js';
import { type RecordLines, readRecordLines } from './ndjson.js';

/** Milliseconds for a name: files in memory take 0.01 to 0.03, so these are a network's. */
const NETWORK_PACE = 0.25;

const PORT_0 = 'Nothing can be fetched from port 0; left out.';

const VANISHED = 'It vanished while the directory was read; left out.';

function noHost(shown: string): Finding {
  return refused(shown, 'not-a-host', 'The name is no HOST, HOST:PORT or HOST_PORT; left out.');
}

function aside(shown: string): Finding {
  const message = 'By its name no robots.txt; left out. If it is one, name it HOST.robots.txt.';
  return refused(shown, 'aside', message);
}

function hostNotTold(shown: string): Finding {
  const message =
    'A robots.txt whose host is not told; left out. Put it in a directory named for its host.';
  return refused(shown, 'not-a-host', message);
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
  if (isAside(name)) return aside(shown);
  const authority = authorityOfFile(name, place.scheme);
  // What is listed as no directory may be a link to one, whose name is read another way.
  if (authority === undefined && authorityOfName(name, place.scheme) === undefined) {
    return name.toLowerCase() === ROBOTS_TXT ? hostNotTold(shown) : noHost(shown);
  }
  const limit = bodyLimit(cache.options.maxBodyBytes);
  const outcome = await readBody(path, cache.access, limit, SHORT_BODY);
  if (outcome.kind === 'directory') return exploreDirectory(outcome.path, name, place, cache);
  if (outcome.kind === 'missing') return refused(shown, 'unreadable', VANISHED);
  if (authority === undefined) return noHost(shown);
  if (authority.port === 0) return refused(shown, 'not-a-host', PORT_0);
  const source = `${place.prefix}${name}`;
  return findingOf(outcome, path, shown, { entry: { authority, source, status: undefined } });
}

/** Looks into a directory: that of a host, or of a scheme. */
async function exploreDirectory(
  path: FilePath,
  name: string,
  place: Place,
  reading: CacheReading,
): Promise<Finding> {
  const shown = `${place.shown}/${describeName(name)}`;
  const scheme = place.scheme === undefined ? schemeOfName(name) : undefined;
  if (scheme !== undefined) {
    return { kind: 'scheme', place: { path, shown, prefix: `${name}/`, scheme } };
  }
  const authority = authorityOfName(name, place.scheme);
  if (authority === undefined) return noHost(shown);
  if (authority.port === 0) return refused(shown, 'not-a-host', PORT_0);
  const prefix = `${place.prefix}${name}/`;
  return readHostDirectory({ path, shown, authority, prefix }, reading);
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

/** Finds out what names stand for. Each thread has its own. */
export class FileReader {
  readonly #options: CacheOptions;
  /**
   * Whether files turned out not to be in memory; then they are read concurrently, which changes
   * nothing about what comes out.
   */
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
          yield { kind: 'entry', entry: finding.entry };
          break;
        case 'long':
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
