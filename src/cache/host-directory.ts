import type { Authority } from '../protocol/authority.js';
import { bodyLimit } from './entry.js';
import {
  type FetchOutcome,
  type FetchReading,
  isLongUnreachable,
  outcomeOf,
} from './fetch-outcome.js';
import {
  FETCH_RECORD,
  type FetchRecord,
  type LastSuccess,
  LONGEST_FETCH_RECORD,
  parseFetchRecord,
} from './fetch-record.js';
import { exists, type FileAccess, type FilePath, readBody, type Skip, skipOf } from './file.js';
import { displayName } from './file-name.js';
import {
  type Item,
  itemOf,
  NO_FILE,
  type PendingEntry,
  type ReadContext,
  SHORT_BODY,
  skipped,
} from './item.js';
import { isIgnored, ROBOTS_TXT } from './layout.js';
import { join, listNames } from './listing.js';

const NO_COPY =
  'The robots.txt that robots.json describes is missing; skipped. Fetch it again, or delete the directory.';

/** A directory that is named for a host. */
export interface HostDirectory {
  readonly path: FilePath;
  /** The path for messages. */
  readonly displayPath: string;
  readonly authority: Authority;
  /** The beginning of the sources of its entries: `https/example.com/`. */
  readonly prefix: string;
}

/** Reads the robots.txt of a host, the record of its last fetch, or both. */
export async function readHostDirectory(
  { path, displayPath, authority, prefix }: HostDirectory,
  { access, options }: ReadContext,
): Promise<Item> {
  // The record is read first: a fetch replaces it last, so a new record never meets an old
  // robots.txt.
  const read = await readFetchRecord(path, access, authority);
  // Without its record, it is not known whether the robots.txt still counts.
  if (read?.kind === 'skip') {
    return { kind: 'skipped', displayPath: `${displayPath}/${FETCH_RECORD}`, skip: read };
  }
  const record = read?.record;
  const reading = options.fetchReading ?? {};
  const withoutCopy = record && outcomeOf(record, false, reading);
  if (withoutCopy !== undefined && !isCopyUsed(record, reading)) {
    return fetchedItem(authority, prefix, withoutCopy);
  }

  const robotsPath = join(path, ROBOTS_TXT);
  const robotsDisplayPath = `${displayPath}/${ROBOTS_TXT}`;
  const body = await readBody(robotsPath, access, bodyLimit(options.maxBodyBytes), SHORT_BODY);
  if (body.kind === 'missing') {
    if (withoutCopy === undefined) return emptyItem(path, displayPath);
    return withoutCopy.access === 'successful'
      ? skipped(displayPath, 'no-robots-txt', NO_COPY)
      : fetchedItem(authority, prefix, withoutCopy);
  }
  if (body.kind === 'directory') return skipped(robotsDisplayPath, 'not-a-file', NO_FILE);
  const entry = { authority, source: `${prefix}${ROBOTS_TXT}`, status: undefined };
  const pending: PendingEntry =
    record === undefined
      ? { entry }
      : {
          entry: { ...entry, fetched: outcomeOf(record, true, reading) },
          sha256: record.lastSuccess?.sha256,
          truncatedAt: truncatedAt(record.lastSuccess, options.maxBodyBytes),
        };
  return itemOf(body, robotsPath, robotsDisplayPath, pending);
}

/** The item for the directory of a host without a robots.txt and without a fetch record. */
async function emptyItem(path: FilePath, displayPath: string): Promise<Item> {
  let names: string[];
  try {
    names = await listNames(path);
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

/** Whether the robots.txt beside a fetch record may count. */
function isCopyUsed(record: FetchRecord | undefined, { unreachableAfter }: FetchReading): boolean {
  return (
    record === undefined ||
    record.accessResult === 'successful' ||
    isLongUnreachable(record, unreachableAfter)
  );
}

/** The entry of a host whose fetch record alone decides. */
function fetchedItem(authority: Authority, prefix: string, fetched: FetchOutcome): Item {
  const entry = {
    authority,
    body: new Uint8Array(0),
    source: `${prefix}${FETCH_RECORD}`,
    status: undefined,
    fetched,
  };
  return { kind: 'entry', entry };
}

/** Reads the robots.json in the directory of a host; `undefined` if there is none. */
async function readFetchRecord(
  path: FilePath,
  access: FileAccess,
  authority: Authority,
): Promise<{ kind: 'record'; record: FetchRecord } | Skip | undefined> {
  const recordPath = join(path, FETCH_RECORD);
  if (!access.concurrent && !exists(recordPath)) return undefined;
  const limit = LONGEST_FETCH_RECORD;
  const body = await readBody(recordPath, access, limit + 1, limit);
  switch (body.kind) {
    case 'missing':
      return undefined;
    case 'skip':
      return body;
    case 'directory':
      return { kind: 'skip', code: 'not-a-file', message: NO_FILE };
    case 'long':
      return badRecord('It is longer than 512 KiB');
    case 'body': {
      const record = parseFetchRecord(body.bytes, authority);
      return typeof record === 'string' ? badRecord(record) : { kind: 'record', record };
    }
  }
}

function badRecord(reason: string): Skip {
  const message = `${reason}; the host is skipped. Correct it, or delete it and fetch again.`;
  return { kind: 'skip', code: 'bad-record', message };
}
