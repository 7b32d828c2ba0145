import { ARC_ADVICE } from '../files/unsupported-formats.js';
import { isArchiveName } from './archive-file.js';
import { isArcName, isDocumentName } from './document-name.js';
import { bodyLimit, type CacheOptions, type EntryEvent, type WarningEvent } from './entry.js';
import { type FilePath, readBody, skipOf } from './file.js';
import { decodeName, displayName } from './file-name.js';
import { readHostDirectory } from './host-directory.js';
import {
  type EntryItem,
  type Item,
  itemOf,
  itemOfBody,
  type LongItem,
  type Nested,
  type ReadContext,
  SHORT_BODY,
  skipped,
} from './item.js';
import { authorityOfFile, authorityOfName, isIgnored, ROBOTS_TXT, schemeOfName } from './layout.js';
import { join, listNames, type Place, type PlaceNames, splitNames } from './listing.js';
import { recordFileOf } from './record-files.js';
import { skipEvent } from './skip-event.js';

/** Milliseconds per name above which files are slow. Files in memory are much faster. */
const SLOW_PACE = 0.25;

/** The message for a file that vanished before it was opened. */
export const VANISHED = 'It vanished while the directory was read; skipped.';

const NOT_A_HOST = 'The name is not HOST, HOST:PORT or HOST_PORT; skipped.';
const PORT_0 = 'Nothing can be fetched from port 0; skipped.';
const NO_HOST =
  'A robots.txt whose host is unknown; skipped. Put it in a directory named for its host.';
const DOCUMENT =
  'The name marks a document or data; skipped. If it is a host, name the file HOST.robots.txt.';
const ARC = `The name marks an ARC file, which is not read; skipped. ${ARC_ADVICE}`;
const TOO_DEEP =
  'Files of records and archives are read at the top of the directory only; skipped.';

/** Makes the item for a name of `listNames`. Reads the file if it is a short robots.txt. */
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
  const body = await readBody(path, context.access, limit, SHORT_BODY);
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
  const body = await readBody(path, access, limit, limit);
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
export async function* schemeParts(
  place: Place,
  access: PlaceNames['access'],
): AsyncGenerator<PlaceNames | WarningEvent> {
  let names: readonly string[];
  try {
    names = await listNames(place.path);
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
